//! Community IDs against the Python package `communityid`, the specification's own code.
//!
//! Skipped, with the reason, where Python or the package is missing; `FLOWPIN_PYTHON` names
//! another interpreter than `python3`.

#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

use core::fmt::Write as _;
use core::net::IpAddr;
use flowpin_record::{CommunityId, Ports};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Reads `seed protocol source destination [port port]` and prints the ID.
const ORACLE: &str = r#"
import sys, communityid
for line in sys.stdin:
    words = line.split()
    seed, proto = int(words[0]), int(words[1])
    ports = [int(word) for word in words[4:]] or [None, None]
    tuple = communityid.FlowTuple(proto, words[2], words[3], *ports)
    print(communityid.CommunityID(seed).calc(tuple))
"#;

fn python() -> String {
    std::env::var("FLOWPIN_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn has_oracle() -> bool {
    let import = Command::new(python())
        .args(["-c", "import communityid"])
        .output();
    import.is_ok_and(|output| output.status.success())
}

/// Every protocol, every ICMP type, both families, few addresses so that some are equal.
fn cases() -> Vec<(u16, u8, IpAddr, IpAddr, u16, u16)> {
    let ipv4 = ["1.2.3.4", "5.6.7.8", "255.0.0.1"];
    let ipv6 = ["::1", "fe80::1:2", "2001:db8::ffff"];
    let mut cases = Vec::new();
    for protocol in 0..=u8::MAX {
        for kind in 0..20 {
            let mixed = usize::from(protocol) * 31 + usize::from(kind) * 7;
            let addresses = if protocol == 58 || mixed % 3 == 0 {
                &ipv6
            } else {
                &ipv4
            };
            let address = |index: usize| addresses[index % 3].parse::<IpAddr>().unwrap();
            let (source, destination) = (address(mixed), address(mixed / 3));
            let (from, to) = (kind + 128 * u16::from(protocol == 58), kind * 300 % 7);
            cases.push((kind % 3, protocol, source, destination, from, to));
        }
    }
    cases
}

fn ours(case: &(u16, u8, IpAddr, IpAddr, u16, u16)) -> String {
    let (seed, protocol, source, destination, from, to) = *case;
    let ports = match protocol {
        6 | 17 | 132 => Ports::Pair(from, to),
        1 | 58 => Ports::icmp(protocol, from, to),
        _ => Ports::None,
    };
    let id = CommunityId::new(seed, protocol, source, destination, ports);
    id.to_string()
}

/// The same text as the reference for every protocol and ICMP type.
#[test]
fn ids_are_those_of_the_reference() {
    if !has_oracle() {
        println!("skipped: {} has no package communityid", python());
        return;
    }
    let mut questions = String::new();
    let cases = cases();
    for (seed, protocol, source, destination, from, to) in &cases {
        write!(questions, "{seed} {protocol} {source} {destination}").unwrap();
        if matches!(protocol, 1 | 6 | 17 | 58 | 132) {
            write!(questions, " {from} {to}").unwrap();
        }
        questions.push('\n');
    }
    let mut child = Command::new(python())
        .args(["-c", ORACLE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(questions.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), cases.len());
    for (case, answer) in cases.iter().zip(answers.lines()) {
        assert_eq!(ours(case), answer, "{case:?}");
    }
}
