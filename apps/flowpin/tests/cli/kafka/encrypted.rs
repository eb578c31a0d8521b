//! Encryption by TLS, with a login by SCRAM: librdkafka's own, built in by `kafka-tls`.

use super::{broker, lines};
use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, text};
use flowpin_testkit::corpus;
use flowpin_testkit::kafka::Extras;
use std::fs;
use std::path::Path;
use std::process::Command;

const PASSWORD: &str = "of-the-store";

/// Makes a key for 127.0.0.1 in `NAME.p12`, and its certificate in `NAME.pem`, which signs itself.
fn make_key(folder: &Path, name: &str) {
    let store = folder.join(format!("{name}.p12"));
    let certificate = folder.join(format!("{name}.pem"));
    let keytool = |args: &[&str]| {
        let mut command = Command::new("keytool");
        command.args(args).args(["-alias", name]);
        command.args(["-keystore", text(&store), "-storepass", PASSWORD]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    keytool(&[
        "-genkeypair",
        "-keyalg",
        "EC",
        "-storetype",
        "PKCS12",
        "-dname",
        "CN=broker",
        "-ext",
        "SAN=ip:127.0.0.1",
    ]);
    keytool(&["-exportcert", "-rfc", "-file", text(&certificate)]);
}

/// What the broker needs for it.
fn settings(folder: &Path) -> String {
    format!(
        "listener.name.sasl_ssl.ssl.keystore.type=PKCS12\n\
         listener.name.sasl_ssl.ssl.keystore.location={}\n\
         listener.name.sasl_ssl.ssl.keystore.password={PASSWORD}\n\
         listener.name.sasl_ssl.sasl.enabled.mechanisms=SCRAM-SHA-512\n\
         listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=\
         org.apache.kafka.common.security.scram.ScramLoginModule required;",
        folder.join("broker.p12").display()
    )
}

/// The same lines as `eve.json` over TLS; a certificate that nobody vouches for, and a wrong
/// password, are told in one line each, and no password is.
#[test]
fn records_go_encrypted_with_a_login_by_scram() {
    if !corpus::is_long() {
        return corpus::skip("Kafka", "needs FLOWPIN_TEST_LONG=1");
    }
    let folder = tempfile::tempdir().unwrap();
    make_key(folder.path(), "broker");
    make_key(folder.path(), "stranger");
    let properties = settings(folder.path());
    let extras = Extras {
        door: Some("SASL_SSL"),
        properties: &properties,
        scram: Some("SCRAM-SHA-512=[name=flowpin,password=secret]"),
    };
    let Some(broker) = broker(folder.path(), extras) else {
        return;
    };
    let http = capture("http.pcapng");
    let config = folder.path().join("kafka.properties");
    let to = format!("kafka://{}/in", broker.door_address());
    let run = |trusted: &str, password: &str| {
        let trusted = folder.path().join(format!("{trusted}.pem"));
        let properties = format!(
            "security.protocol=SASL_SSL\nssl.ca.location={}\nsasl.mechanism=SCRAM-SHA-512\n\
             sasl.username=flowpin\nsasl.password={password}\n",
            trusted.display()
        );
        fs::write(&config, properties).unwrap();
        let args = ["run", "-q", "-r", &http, "--output", &to, "--kafka-config"];
        flowpin(&[&args[..], &[text(&config)]].concat())
    };
    let stranger = run("stranger", "secret");
    assert_refused(&stranger, 1, &["cannot send records to", "certificate"]);
    let wrong = run("broker", "guessed");
    assert_refused(&wrong, 1, &["cannot send records to", "uthentication"]);
    assert!(!stderr(&wrong).contains("guessed"), "{}", stderr(&wrong));
    let right = run("broker", "secret");
    assert_eq!(code(&right), 0, "{}", stderr(&right));
    let eve = flowpin(&["run", "-q", "-r", &http, "--output", "-"]);
    let (got, doubled) = lines(&broker.read("in").unwrap());
    assert_eq!(doubled, 0);
    assert!(got.iter().eq(&stdout(&eve).lines().collect::<Vec<_>>()));
}
