//! Logins, and encryption.

use super::{broker, lines};
use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, text};
use flowpin_testkit::kafka::Extras;
use std::fs;

/// What the broker knows of users.
const PLAIN: &str = "listener.name.sasl_plaintext.sasl.enabled.mechanisms=PLAIN\n\
    listener.name.sasl_plaintext.plain.sasl.jaas.config=\
    org.apache.kafka.common.security.plain.PlainLoginModule required \
    username=\"admin\" password=\"x\" user_flowpin=\"secret\";";

/// By SASL's PLAIN; a wrong password is told in one line, and not repeated.
#[test]
fn a_login_by_name_and_password() {
    let folder = tempfile::tempdir().unwrap();
    let extras = Extras {
        door: Some("SASL_PLAINTEXT"),
        properties: PLAIN,
        ..Extras::default()
    };
    let Some(broker) = broker(folder.path(), extras) else {
        return;
    };
    let http = capture("http.pcapng");
    let config = folder.path().join("kafka.properties");
    let to = format!("kafka://{}/in", broker.door_address());
    let run = |password: &str| {
        let properties = format!(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n\
             sasl.username=flowpin\nsasl.password={password}\n"
        );
        fs::write(&config, properties).unwrap();
        let args = ["run", "-q", "-r", &http, "--output", &to, "--kafka-config"];
        flowpin(&[&args[..], &[text(&config)]].concat())
    };
    let wrong = run("guessed");
    assert_refused(&wrong, 1, &["cannot send records to", "uthentication"]);
    assert!(!stderr(&wrong).contains("guessed"), "{}", stderr(&wrong));
    let right = run("secret");
    assert_eq!(code(&right), 0, "{}", stderr(&right));
    let eve = flowpin(&["run", "-q", "-r", &http, "--output", "-"]);
    let (got, doubled) = lines(&broker.read("in").unwrap());
    assert_eq!(doubled, 0);
    assert!(got.iter().eq(&stdout(&eve).lines().collect::<Vec<_>>()));
}
