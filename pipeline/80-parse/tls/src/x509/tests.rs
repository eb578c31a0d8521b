//! Certificates as Zeek's logs show them.

use crate::Tls;
use crate::fuzz::tests::{client_hello, message, record, server_hello, sized};
use crate::fuzz::{AMPLE, fuzz_tls, trial};
use flowpin_counters::Loss;
use flowpin_packet::Timestamp;
use flowpin_parser::{Next, Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Shown, Value};
use proptest::prelude::*;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The columns of each record that are set, by its schema.
#[derive(Default)]
struct Rows {
    rows: Vec<(String, BTreeMap<String, String>)>,
    has_zeek: bool,
}

impl MessageSink for Rows {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        let columns = schema.columns.iter().zip(values);
        let columns =
            columns.filter(|(column, value)| !column.name.is_empty() && **value != Value::Unset);
        let columns = columns.map(|(column, value)| (column.name.to_string(), text(value)));
        self.rows.push((schema.name.to_string(), columns.collect()));
    }

    fn anomaly(&mut self, _: &'static str) {}

    fn reads(&self, schema: &MessageSchema) -> bool {
        self.has_zeek || schema.shown != Shown::InZeek
    }
}

fn text(value: &Value<'_>) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Text(text) => (*text).to_owned(),
        Value::Count(count) => count.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Address(address) => address.to_string(),
        Value::Time(time) => (time.0 / 1_000_000_000).to_string(),
        Value::List(values) => values.iter().map(text).collect::<Vec<_>>().join(","),
        other => format!("{other:?}"),
    }
}

fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let len = match content.len() {
        len @ 0..=0x7f => vec![len as u8],
        len @ 0x80..=0xff => vec![0x81, len as u8],
        len => vec![0x82, (len >> 8) as u8, len as u8],
    };
    [vec![tag], len, content].concat()
}

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];

/// A certificate for a host with a list of other names.
fn certificate(host: &str, names: &[u8]) -> Vec<u8> {
    let algorithm = |last| der(0x30, &[&der(6, &[RSA, &[last]]), &[5, 0]]);
    let name = |host: &str| {
        let pair = [der(6, &[&[0x55, 4, 3]]), der(0x13, &[host.as_bytes()])];
        der(0x30, &[&der(0x31, &[&der(0x30, &[&pair.concat()])])])
    };
    let modulus = der(2, &[&[0, 0x81], &[7; 127]]);
    let key = der(0x30, &[&modulus, &der(2, &[&[1, 0, 1]])]);
    let times = [
        der(0x17, &[b"170323000000Z"]),
        der(0x18, &[b"20500513120000Z"]),
    ];
    let names = der(4, &[&der(0x30, &[names])]);
    let basic = der(0x30, &[&[1, 1, 0xff], &[2, 1, 2]]);
    let extensions = [
        der(0x30, &[&der(6, &[&[0x55, 0x1d, 0x11]]), &names]),
        // A critical one says so.
        der(
            0x30,
            &[
                &der(6, &[&[0x55, 0x1d, 0x13]]),
                &[1, 1, 0xff],
                &der(4, &[&basic]),
            ],
        ),
    ];
    let fields = [
        der(0xa0, &[&[2, 1, 2]]),
        der(2, &[&[0, 0xab, 1]]),
        algorithm(11),
        name("issuer"),
        der(0x30, &[&times.concat()]),
        name(host),
        der(0x30, &[&algorithm(1), &der(3, &[&[0], &key])]),
        der(0xa3, &[&der(0x30, &[&extensions.concat()])]),
    ];
    let fields = der(0x30, &[&fields.concat()]);
    der(0x30, &[&fields, &algorithm(11), &der(3, &[&[0, 1, 2]])])
}

fn chain(certificates: &[Vec<u8>]) -> Vec<u8> {
    let each: Vec<_> = certificates.iter().map(|one| sized::<3>(one)).collect();
    message(11, &sized::<3>(&each.concat()))
}

/// A handshake message in as many records as it takes.
fn records(message: &[u8]) -> Vec<u8> {
    message
        .chunks(16_000)
        .flat_map(|part| record(22, part))
        .collect()
}

/// The turns of a handshake; `true` marks the client's.
fn handshake(of_server: &[Vec<u8>], of_client: &[Vec<u8>]) -> Vec<(bool, Vec<u8>)> {
    let end = [record(20, &[1]), record(22, &[5; 40]), record(23, &[6; 9])].concat();
    let server = [record(22, &server_hello()), records(&chain(of_server))].concat();
    vec![
        (true, record(22, &client_hello("a.example"))),
        (false, server),
        (true, [records(&chain(of_client)), end.clone()].concat()),
        (false, end),
    ]
}

/// The records of a handshake, and how many certificates were left out.
fn told(turns: &[(bool, Vec<u8>)], has_zeek: bool) -> (Rows, u64) {
    told_with(turns, has_zeek, None)
}

fn told_with(turns: &[(bool, Vec<u8>)], has_zeek: bool, roots: Option<PathBuf>) -> (Rows, u64) {
    let mut sink = Rows {
        has_zeek,
        ..Rows::default()
    };
    let new = |setup: &ParserSetup| {
        let mut setup = setup.clone();
        setup.parse.roots.clone_from(&roots);
        Tls::prepare(&mut setup).unwrap();
        Tls::new(&setup)
    };
    let mut tls = trial(&new, AMPLE).unwrap();
    let connection = tls.begin(0).unwrap();
    for (to_server, bytes) in turns {
        let next = tls.data(connection, Timestamp(1), *to_server, bytes, &mut sink);
        if next == Next::Nothing {
            break;
        }
    }
    let parser = tls.finish(&mut sink);
    (sink, parser.losses().of(Loss::TlsCertificates))
}

fn print(certificate: &[u8]) -> String {
    let digest = Sha256::digest(certificate);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Rows {
    fn certificates(&self) -> Vec<&BTreeMap<String, String>> {
        let rows = self.rows.iter().filter(|(name, _)| name == "x509");
        rows.map(|(_, columns)| columns).collect()
    }

    /// Of the record of the handshake.
    fn of_handshake(&self, column: &str) -> &str {
        let (_, columns) = self.rows.iter().find(|(name, _)| name == "tls").unwrap();
        columns.get(column).map_or("", String::as_str)
    }
}

const NAMES: &[u8] =
    b"\x82\x09*.example\x82\x09a.example\x86\x03x:y\x81\x03a@b\x87\x04\x0a\0\0\x01";

/// Each certificate of both sides has a record with what it says, and the handshake's record
/// lists their fingerprints in order.
#[test]
fn certificates_of_both_sides_have_records() {
    let certificates = [
        certificate("a.example", NAMES),
        certificate("issuer", &[]),
        certificate("me", &[]),
    ];
    let [host, issuer, mine] = certificates.each_ref().map(|one| print(one));
    let (of_server, of_client) = certificates.split_at(2);
    let (rows, left_out) = told(&handshake(of_server, of_client), true);
    let expected = [
        ("fingerprint", &*host),
        ("certificate.version", "3"),
        ("certificate.serial", "AB01"),
        ("certificate.subject", "CN=a.example"),
        ("certificate.issuer", "CN=issuer"),
        ("certificate.not_valid_before", "1490227200"),
        ("certificate.not_valid_after", "2536056000"),
        ("certificate.key_alg", "rsaEncryption"),
        ("certificate.sig_alg", "sha256WithRSAEncryption"),
        ("certificate.key_type", "rsa"),
        ("certificate.key_length", "1024"),
        ("certificate.exponent", "65537"),
        ("san.dns", "*.example,a.example"),
        ("san.uri", "x:y"),
        ("san.email", "a@b"),
        ("san.ip", "10.0.0.1"),
        ("basic_constraints.ca", "true"),
        ("basic_constraints.path_len", "2"),
        ("host_cert", "true"),
        ("client_cert", "false"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let told = rows.certificates();
    assert_eq!(*told[0], BTreeMap::from(expected));
    let places = |row: &BTreeMap<String, String>| {
        ["fingerprint", "host_cert", "client_cert"].map(|name| row[name].clone())
    };
    assert_eq!(places(told[1]), [&*issuer, "false", "false"]);
    assert_eq!(places(told[2]), [&*mine, "true", "true"]);
    assert_eq!((told.len(), left_out), (3, 0));
    assert_eq!(
        rows.of_handshake("cert_chain_fps"),
        format!("{host},{issuer}")
    );
    assert_eq!(rows.of_handshake("client_cert_chain_fps"), mine);
    assert_eq!(rows.of_handshake("sni_matches_cert"), "true");
}

/// Without names of hosts the subject's own is the host's; of another host the answer is no.
#[test]
fn names_are_held_to_the_one_that_the_client_sent() {
    for (host, names, matches) in [
        ("a.example", &b""[..], "true"),
        ("a.example", b"\x82\x01b", "false"),
        ("b.example", b"", "false"),
    ] {
        let (rows, _) = told(&handshake(&[certificate(host, names)], &[]), true);
        assert_eq!(rows.of_handshake("sni_matches_cert"), matches, "{host}");
    }
}

/// The chain of a handshake is held against the roots that are asked for, in every format.
#[test]
fn chains_are_validated_on_request() {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["a.example".to_owned()]).unwrap();
    params.not_before = date_time_ymd(1970, 1, 1);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = params.clone().self_signed(&key).unwrap();
    let own_key = KeyPair::generate().unwrap();
    params.is_ca = IsCa::NoCa;
    let own = params.signed_by(&own_key, &root, &key).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("A root:\n{}", root.pem())).unwrap();
    let turns = handshake(&[own.der().to_vec(), root.der().to_vec()], &[]);
    for has_zeek in [true, false] {
        let (rows, left_out) = told_with(&turns, has_zeek, Some(file.path().to_owned()));
        assert_eq!(rows.of_handshake("validation_status"), "ok");
        assert_eq!(
            (rows.certificates().len(), left_out),
            (if has_zeek { 2 } else { 0 }, 0)
        );
        let (rows, _) = told_with(&turns, has_zeek, None);
        assert_eq!(rows.of_handshake("validation_status"), "");
    }
}

/// Where Zeek's logs are not written, there is neither a record nor a list, and nothing of a
/// client's certificate is kept.
#[test]
fn nothing_is_read_that_nobody_reads() {
    let certificates = [certificate("a.example", &[])];
    let (rows, left_out) = told(&handshake(&certificates, &certificates), false);
    assert_eq!((rows.rows.len(), left_out), (1, 0));
    assert_eq!(rows.of_handshake("cert_chain_fps"), "");
    assert_eq!(rows.of_handshake("subject"), "CN=a.example");
    for has_zeek in [true, false] {
        let mut tls = trial(&Tls::new, AMPLE).unwrap();
        let connection = tls.begin(0).unwrap();
        let mut sink = Rows {
            has_zeek,
            ..Rows::default()
        };
        let hello = record(22, &client_hello("a.example"));
        let begun = record(22, &chain(&certificates)[..200]);
        tls.data(connection, Timestamp(1), true, &hello, &mut sink);
        let before = tls.left();
        tls.data(connection, Timestamp(1), true, &begun, &mut sink);
        assert_eq!(tls.left() < before, has_zeek);
        tls.finish(&mut sink);
    }
}

/// Of long chains and lists the first ones are told of, and the rest is counted; what cannot be
/// read has a fingerprint alone.
#[test]
fn no_certificate_takes_more_than_its_share() {
    let many = vec![certificate("a.example", &[]); 17];
    let (rows, left_out) = told(&handshake(&many, &[]), true);
    assert_eq!((rows.certificates().len(), left_out), (16, 1));
    let listed = rows.of_handshake("cert_chain_fps");
    assert_eq!(listed.split(',').count(), 16);

    let names = certificate("a.example", &b"\x82\x01x".repeat(600));
    let (rows, left_out) = told(&handshake(&[names], &[]), true);
    let names = &rows.certificates()[0]["san.dns"];
    assert_eq!((names.split(',').count(), left_out), (512, 1));

    let long = certificate("a.example", &b"\xff\x7f".repeat(1500));
    let (rows, left_out) = told(&handshake(&vec![long; 8], &[]), true);
    assert_eq!((rows.certificates().len(), left_out), (4, 1));

    let long = certificate(&"x".repeat(1000), &[]);
    let (rows, left_out) = told(&handshake(&[long], &[]), true);
    let subject = &rows.certificates()[0]["certificate.subject"];
    assert_eq!((subject.len(), left_out), (640, 1));

    let none = [
        vec![],
        vec![0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
        vec![0x30, 0x80],
    ];
    let (rows, left_out) = told(&handshake(&none, &[]), true);
    assert_eq!((rows.certificates().len(), left_out), (0, 0));
    assert_eq!(rows.of_handshake("cert_chain_fps").split(',').count(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Certificates with some bytes changed do no harm, and are told of alike in any parts.
    #[test]
    fn changed_certificates_are_read_alike_in_any_parts(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let certificates = [certificate("a.example", NAMES), certificate("b", &[])];
        let mut data = Vec::new();
        for (to_server, bytes) in handshake(&certificates, &certificates) {
            let [high, low] = (bytes.len() as u16).to_be_bytes();
            data.extend([if to_server { high } else { high | 0x80 }, low]);
            data.extend(bytes);
        }
        for (at, byte) in &changes {
            let at = at.index(data.len());
            data[at] = *byte;
        }
        fuzz_tls(&data);
    }
}
