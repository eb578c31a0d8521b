//! JA4 and server names of `tls` and `quic` records against Wireshark's view of the same hellos.
//!
//! Wireshark of Debian 12 has no JA4, but all that it is made of: the fingerprint is put together
//! here, from the published description, out of its fields. A hello that Wireshark shows and that
//! has no record here needs a reason below.

use crate::records::records;
use flowpin_testkit::corpus;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

/// Every so many-th capture in the short form, all in the long one.
const EVERY: usize = 10;

const FIELDS: &[&str] = &[
    "ip.src",
    "ipv6.src",
    "ip.dst",
    "ipv6.dst",
    "tcp.srcport",
    "udp.srcport",
    "tcp.dstport",
    "udp.dstport",
    "tls.handshake.type",
    "tls.handshake.version",
    "tls.handshake.ciphersuite",
    "tls.handshake.extension.type",
    "tls.handshake.sig_hash_alg",
    "tls.handshake.extensions.supported_version",
    "tls.handshake.extensions_alpn_str",
    "tls.handshake.extensions_server_name",
];

/// Who said hello to whom; and the fingerprints and names that were heard.
type Hellos = BTreeMap<Who, BTreeSet<(String, String)>>;
type Who = [(IpAddr, u64); 2];

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
        for (who, hellos) in &theirs {
            match ours.get(who) {
                // A retried hello is one record's, and the first.
                Some(mine) if !mine.is_disjoint(hellos) => both += 1,
                Some(mine) => wrong.push(format!("{}: {who:?} {mine:?} {hellos:?}", capture.name)),
                None if is_inside_another(&capture.name) => {}
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
        let end = |address: &str, port: &str| {
            let address: IpAddr = text(&event[address]).parse().unwrap();
            (address, event[port].as_u64().unwrap())
        };
        let who = [end("src_ip", "src_port"), end("dest_ip", "dest_port")];
        if !hello.0.is_empty() {
            found.entry(who).or_default().insert(hello);
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
        let Ok(fields) = <[&str; 16]>::try_from(fields) else {
            continue;
        };
        if let Some((who, hellos)) = hello(fields) {
            found.entry(who).or_default().extend(hellos);
        }
    }
    found
}

/// Hellos inside another protocol than the connection's, which tshark unwraps.
fn is_inside_another(capture: &str) -> bool {
    ["openvpn", "radius", "haproxy"]
        .iter()
        .any(|name| capture.contains(name))
}

/// One frame's hello; none if it has several messages, whose fields tshark mixes. It also mixes
/// the algorithms of three extensions: then any run of them may be those that count.
fn hello(fields: [&str; 16]) -> Option<(Who, Vec<(String, String)>)> {
    let [ends @ .., _, _, _, _, _, _, _, _] = fields;
    let [
        ..,
        kinds,
        version,
        ciphers,
        extensions,
        signatures,
        versions,
        alpn,
        name,
    ] = fields;
    if kinds != "1" {
        return None;
    }
    let [from, from6, to, to6, tcp, udp, tcp_to, udp_to] = ends;
    // The innermost of several headers comes last.
    let last = |one: &str, other: &str| {
        let text = if one.is_empty() { other } else { one };
        text.rsplit(',').next().unwrap_or_default().to_owned()
    };
    let end = |address: String, port: String| Some((address.parse().ok()?, port.parse().ok()?));
    let who = [
        end(last(from6, from), last(tcp, udp))?,
        end(last(to6, to), last(tcp_to, udp_to))?,
    ];
    let [ciphers, extensions, signatures] = [ciphers, extensions, signatures].map(numbers);
    let hello = |signatures: &[u16]| {
        let print = ja4(
            if tcp.is_empty() { 'q' } else { 't' },
            [version, versions].map(numbers),
            [&ciphers, &extensions, signatures],
            alpn.split(',').next().unwrap_or_default(),
        );
        (print, name.to_owned())
    };
    let is_mixed = extensions.contains(&DELEGATED) || extensions.contains(&CERTIFICATES);
    let count = if is_mixed { signatures.len() } else { 0 };
    let begins = (0..count).flat_map(|from| (from + 1..=signatures.len()).map(move |to| from..to));
    let runs = begins.map(|run| hello(&signatures[run]));
    Some((who, runs.chain([hello(&signatures)]).collect()))
}

/// RFC 9345 §4.1.1 and RFC 8446 §4.2.3: extensions with algorithms that say nothing of the hello's.
const DELEGATED: u16 = 34;
const CERTIFICATES: u16 = 50;

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
    [ciphers, extensions, signatures]: [&[u16]; 3],
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
    let mut ciphers = ciphers.to_vec();
    ciphers.sort_unstable();
    let mut others: Vec<u16> = extensions.to_vec();
    others.retain(|kind| !matches!(kind, 0 | 16));
    others.sort_unstable();
    let mut text = list(&others);
    if !signatures.is_empty() {
        text += "_";
        text += &list(signatures);
    }
    let (count, kinds) = (ciphers.len().min(99), extensions.len().min(99));
    let (first, second) = (
        hash(ciphers.is_empty(), &list(&ciphers)),
        hash(extensions.is_empty(), &text),
    );
    format!("{carrier}{version}{name}{count:02}{kinds:02}{letters}_{first}_{second}")
}
