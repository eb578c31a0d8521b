//! Real scanners, between two network namespaces, each recognised by kind and method.

use crate::detect::{Found, detect};
use flowpin_portscan::ScanOptions;
use flowpin_testkit::{corpus, product};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SKIPPED: &str = "real scanners";

/// Command, and what must be found: the only records' words, without counts.
const SCANS: &[(&str, &str)] = &[
    ("nmap -n -Pn -sS -p 1-300 10.99.0.2", "vertical syn"),
    ("nmap -n -Pn -sT -p 1-300 10.99.0.2", "vertical connect"),
    ("nmap -n -Pn -sF -p 1-100 10.99.0.2", "vertical fin"),
    ("nmap -n -Pn -sN -p 1-100 10.99.0.2", "vertical null"),
    ("nmap -n -Pn -sX -p 1-100 10.99.0.2", "vertical xmas"),
    ("nmap -n -Pn -sM -p 1-100 10.99.0.2", "vertical maimon"),
    ("nmap -n -Pn -sA -p 1-100 10.99.0.2", "vertical ack"),
    ("nmap -n -Pn -sW -p 1-100 10.99.0.2", "vertical ack"),
    (
        "nmap -n -Pn -sU --min-rate 200 --max-retries 1 -p 1-150 10.99.0.2",
        "vertical udp",
    ),
    (
        "nmap -n -Pn -sY --max-retries 1 -p 1-60 10.99.0.2",
        "vertical sctp-init",
    ),
    (
        "nmap -n -Pn -sZ --max-retries 1 -p 1-60 10.99.0.2",
        "vertical sctp-cookie-echo",
    ),
    (
        "nmap -n -Pn -sO --max-retries 1 --min-rate 100 -p 2-60 10.99.0.2",
        "vertical ip-protocol",
    ),
    ("nmap -n -Pn -sS -p 443 10.99.1.0/24", "horizontal syn"),
    (
        "nmap -n -Pn -sS --max-retries 1 --min-rate 500 -p 443 10.99.2.0/24",
        "horizontal syn",
    ),
    ("nmap -n -Pn -sS -p 100-119 10.99.1.0/27", "block syn"),
    (
        "nmap -n -Pn -sS -D 10.99.3.1,10.99.3.2,ME,10.99.3.3 -p 1-200 10.99.0.2",
        "vertical syn",
    ),
    ("hping3 -q --scan 1-200 -S 10.99.0.2", "vertical syn"),
];

const FLOODS: &[(&str, &str)] = &[
    (
        "hping3 -q -S --rand-source -p 80 --flood 10.99.0.2",
        "syn flood",
    ),
    ("hping3 -q --icmp --flood 10.99.0.2", "icmp flood"),
    ("hping3 -q --udp -p 9 --flood 10.99.0.2", "udp flood"),
    ("ping -q -f -c 20000 10.99.0.2", "icmp flood"),
    ("hping3 -q -A -p 80 --flood 10.99.0.2", "ack flood"),
    (
        "hping3 -q -A --rand-source -p 80 --flood 10.99.0.2",
        "ack flood",
    ),
    ("hping3 -q -R -p 80 --flood 10.99.0.2", "rst flood"),
    (
        "hping3 -q -R --rand-source -p 80 --flood 10.99.0.2",
        "rst flood",
    ),
];

/// What each scanner does is one scan of its kind, and nothing else is found: by the detector
/// alone, and by the command.
#[test]
fn real_scanners_are_recognised() {
    if !can_run() {
        return;
    }
    let mut wrong = Vec::new();
    for (command, expected) in SCANS {
        let words: Vec<_> = command.split(' ').collect();
        if !is_there(words[0]) {
            continue;
        }
        let found = record(&words);
        let is_one = found.scans.len() == 1 && found.floods.is_empty();
        if !is_one || !found.words().starts_with(&format!("{expected} ")) {
            wrong.push(format!(
                "{command}: {} ({} packets)",
                found.words(),
                found.packets
            ));
        }
        let sources = if command.contains("-D") { 4 } else { 1 };
        if found.scans.iter().any(|scan| scan.source_count != sources) {
            wrong.push(format!("{command}: {:?}", found.scans));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Connections without a word before a scan are none of it.
#[test]
fn a_connection_before_a_scan_does_not_colour_it() {
    if !can_run() || !is_there("nmap") {
        return;
    }
    for (flag, method) in [("-sS", "syn"), ("-sT", "connect"), ("-sF", "fin")] {
        let command = format!(
            "exec 3<>/dev/tcp/10.99.0.2/22; exec 3>&-; sleep 1; \
             nmap -n -Pn {flag} -p 80-379 10.99.0.2"
        );
        let found = record(&["bash", "-c", &command]);
        let [scan] = found.scans.as_slice() else {
            panic!("{flag}: {}", found.words());
        };
        assert_eq!(
            (scan.method.name(), scan.targets),
            (method, 300),
            "{scan:?}"
        );
        assert!(scan.first_packet > 1, "{scan:?}");
        // Port 80 is open; who sends FINs cannot know.
        assert_eq!(scan.open, u64::from(flag != "-sF"), "{scan:?}");
    }
}

/// Floods by hping3 and ping, and a SYN flood of our own from 20,000 forged sources.
#[test]
fn real_floods_are_recognised() {
    if !can_run() {
        return;
    }
    let script = corpus::workspace().join("testkit/record/synflood.py");
    let script = script.to_string_lossy();
    let found = record(&["python3", &script, "10.99.0.2", "80", "20000"]);
    assert!(
        found.scans.is_empty() && found.floods.len() == 1,
        "{found:#?}"
    );
    let flood = found.floods[0];
    assert_eq!((flood.kind.name(), flood.port), ("syn", Some(80)));
    assert!(
        flood.source_count > 5000 && flood.packets > 10_000,
        "{flood:?}"
    );
    for (command, expected) in FLOODS {
        let words: Vec<_> = ["timeout", "3"]
            .into_iter()
            .chain(command.split(' '))
            .collect();
        if is_there(words[2]) {
            let found = record(&words);
            assert!(
                found.words().starts_with(expected),
                "{command}: {}",
                found.words()
            );
        }
    }
}

/// Records what a command does between two namespaces, and looks for scans in it.
fn record(command: &[&str]) -> Found {
    let dir = tempfile::tempdir().unwrap();
    let capture = dir.path().join("capture.pcap");
    let script = corpus::workspace().join("testkit/record/scanners.sh");
    let status = Command::new(script).arg(&capture).args(command).status();
    assert!(status.unwrap().success(), "{command:?}");
    let found = detect(&capture, &ScanOptions::default());
    assert_eq!(words_of_run(&capture), found.words(), "{command:?}");
    found
}

/// What `flowpin run` as a whole says, on several workers, in the words of [`Found::words`].
fn words_of_run(capture: &Path) -> String {
    let capture = capture.to_str().unwrap();
    let words = ["run", "--json", "--format", "none", "--pipeline", "2x3"];
    let outcome = product::run(&[&words[..], &["-r", capture]].concat()).unwrap();
    let summary = outcome.json().unwrap();
    let list = |kind: &str| summary["scans"][kind].as_array().cloned().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let scans = list("scans").into_iter().map(|scan| {
        let (kind, method) = (text(&scan["kind"]), text(&scan["method"]));
        format!(
            "{kind} {method} {} hosts {} ports",
            scan["hosts"], scan["ports"]
        )
    });
    let floods = list("floods").into_iter().map(|flood| {
        let kind = text(&flood["kind"]);
        format!("{kind} flood {} sources", flood["source_count"])
    });
    let mut words: Vec<_> = scans.chain(floods).collect();
    words.sort();
    words.join("; ")
}

fn can_run() -> bool {
    for tool in ["ip", "tcpdump", "python3"] {
        if !is_there(tool) {
            return false;
        }
    }
    let output = Command::new("unshare").args(["-n", "true"]).output();
    let may = output.is_ok_and(|output| output.status.success());
    if !may {
        corpus::skip(SKIPPED, "network namespaces need root");
    }
    may
}

fn is_there(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
        || Path::new("/usr/sbin").join(tool).is_file();
    if !found {
        corpus::skip(SKIPPED, &format!("{tool} is not installed"));
    }
    found
}
