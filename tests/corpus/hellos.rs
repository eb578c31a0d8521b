//! JA4 and server names of `tls` and `quic` records against Wireshark's view of the same hellos.
//!
//! Wireshark of Debian 12 has no JA4, but all that it is made of: the fingerprint is put together
//! here, from the published description, out of its fields. A hello that Wireshark shows and that
//! has no record here needs a reason below.

use crate::records::records;
use flowpin_testkit::corpus;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

/// Of which captures: every one in the long form.
const EVERY: usize = 9;

const FIELDS: &[&str] = &[
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "udp.srcport",
    "tls.handshake.type",
    "tls.handshake.version",
    "tls.handshake.ciphersuite",
    "tls.handshake.extension.type",
    "tls.handshake.sig_hash_alg",
    "tls.handshake.extensions.supported_version",
    "tls.handshake.extensions_alpn_str",
    "tls.handshake.extensions_server_name",
];

/// Who said hello, and the fingerprint and name of the first one.
type Hellos = BTreeMap<(IpAddr, u64), (String, String)>;

/// Where both see a hello, they agree on it to the last letter.
#[test]
fn hellos_are_told_as_tshark_sees_them() {
    let what = "hellos against tshark";
    if Command::new("tshark").arg("-v").output().is_err() {
        corpus::skip(what, "tshark is not installed");
        return;
    }
    let captures = corpus::captures(&["F protocol-id", "F l7-other", "A mix"], what);
    let (mut both, mut only_theirs, mut wrong) = (0, 0, Vec::new());
    for (nth, capture) in captures.iter().enumerate() {
        if !corpus::is_long() && nth % EVERY != 0 {
            continue;
        }
        let theirs = theirs(&capture.path);
        if theirs.is_empty() {
            continue;
        }
        let ours = ours(&capture.path);
        for (who, hello) in &theirs {
            match ours.get(who) {
                Some(mine) if mine == hello => both += 1,
                Some(mine) => wrong.push(format!("{}: {who:?} {mine:?} {hello:?}", capture.name)),
                None => only_theirs += 1,
            }
        }
    }
    println!("{both} hellos alike, {only_theirs} that only tshark shows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Whole streams are missing where the capture began late or lacks the hello's first segment,
    // and where tshark reads a hello in a stream that is not TLS by our reading of its beginning.
    assert!(
        only_theirs * 20 <= both + only_theirs,
        "{only_theirs} of {both}"
    );
}

fn ours(path: &Path) -> Hellos {
    let mut found = Hellos::new();
    let ours = records(path, &["-k", "none", "--timeouts", "none"]);
    for (event, name) in ["tls", "quic"]
        .into_iter()
        .flat_map(|name| ours.of(name).map(move |event| (event, name)))
    {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let hello = (text(&event[name]["ja4"]), text(&event[name]["sni"]));
        let address: IpAddr = text(&event["src_ip"]).parse().unwrap();
        let port = event["src_port"].as_u64().unwrap();
        if !hello.0.is_empty() {
            found.entry((address, port)).or_insert(hello);
        }
    }
    found
}

fn theirs(path: &Path) -> Hellos {
    let mut command = Command::new("tshark");
    command.args([
        "-r",
        path.to_str().unwrap(),
        "-Y",
        "tls.handshake.type == 1",
    ]);
    command.args(["-T", "fields", "-E", "separator=|", "-E", "occurrence=a"]);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap().stdout;
    let mut found = Hellos::new();
    for line in String::from_utf8_lossy(&output).lines() {
        let fields: Vec<&str> = line.split('|').collect();
        let Ok(fields) = <[&str; 12]>::try_from(fields) else {
            continue;
        };
        if let Some((who, hello)) = hello(fields) {
            found.entry(who).or_insert(hello);
        }
    }
    found
}

/// One frame's hello; none if it has several messages, whose fields tshark mixes.
fn hello(fields: [&str; 12]) -> Option<((IpAddr, u64), (String, String))> {
    let [
        ipv4,
        ipv6,
        tcp,
        udp,
        kinds,
        version,
        ciphers,
        kinds_of_extensions,
        rest @ ..,
    ] = fields;
    let [signatures, versions, alpn, name] = rest;
    if kinds != "1" {
        return None;
    }
    let last = |text: &str| text.rsplit(',').next().unwrap_or_default().to_owned();
    let address = last(if ipv6.is_empty() { ipv4 } else { ipv6 });
    let is_quic = tcp.is_empty();
    let port = last(if is_quic { udp } else { tcp }).parse().ok()?;
    let carrier = if is_quic { 'q' } else { 't' };
    let print = ja4(
        carrier,
        [version, versions].map(numbers),
        [ciphers, kinds_of_extensions, signatures].map(numbers),
        alpn.split(',').next().unwrap_or_default(),
    );
    Some(((address.parse().ok()?, port), (print, name.to_owned())))
}

/// Numbers as tshark lists them, but for those of RFC 8701, which mean nothing.
fn numbers(text: &str) -> Vec<u16> {
    let number = |one: &str| match one.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => one.parse().ok(),
    };
    let all = text.split(',').filter_map(number);
    all.filter(|one| one & 0x0f0f != 0x0a0a || one >> 8 != one & 0xff)
        .collect()
}

/// The fingerprint, as its description has it.
fn ja4(
    carrier: char,
    [legacy, offered]: [Vec<u16>; 2],
    [mut ciphers, extensions, signatures]: [Vec<u16>; 3],
    alpn: &str,
) -> String {
    let version = match offered.iter().max().or(legacy.first()) {
        Some(0x0304) => "13",
        Some(0x0303) => "12",
        Some(0x0302) => "11",
        Some(0x0301) => "10",
        Some(0x0300) => "s3",
        _ => "00",
    };
    let name = if extensions.contains(&0) { 'd' } else { 'i' };
    let letters = match (alpn.bytes().next(), alpn.bytes().last()) {
        (Some(first), Some(last))
            if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() =>
        {
            format!("{}{}", char::from(first), char::from(last))
        }
        (Some(first), Some(last)) => format!("{:x}{:x}", first >> 4, last & 15),
        _ => "00".to_owned(),
    };
    let list = |numbers: &[u16]| {
        let words: Vec<_> = numbers.iter().map(|one| format!("{one:04x}")).collect();
        words.join(",")
    };
    let hash = |is_empty: bool, text: &str| {
        let sum = Sha256::digest(text);
        let digits: String = sum
            .iter()
            .take(6)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if is_empty { "0".repeat(12) } else { digits }
    };
    ciphers.sort_unstable();
    let mut others: Vec<u16> = extensions.clone();
    others.retain(|kind| !matches!(kind, 0 | 16));
    others.sort_unstable();
    let mut text = list(&others);
    if !signatures.is_empty() {
        text += "_";
        text += &list(&signatures);
    }
    let (count, kinds) = (ciphers.len().min(99), extensions.len().min(99));
    let (first, second) = (
        hash(ciphers.is_empty(), &list(&ciphers)),
        hash(extensions.is_empty(), &text),
    );
    format!("{carrier}{version}{name}{count:02}{kinds:02}{letters}_{first}_{second}")
}
