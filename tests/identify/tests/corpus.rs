//! Identification on public captures, where they are at hand.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use flowpin_identify::{Identifier, On, Search, SearchOptions, Searches, Step, Whose};
use flowpin_identify_score::{How, read};
use flowpin_packet::Shard;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn shared() -> Option<PathBuf> {
    let shared = std::env::var_os("FLOWPIN_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let captures = shared.join("corpus/nDPI/tests/cfgs/default/pcap");
    if !captures.is_dir() {
        println!("skipped: {} is not there", captures.display());
        return None;
    }
    Some(shared)
}

fn all(shared: &Path, how: How) -> Vec<String> {
    let identifier = Arc::new(Identifier::new().unwrap());
    let folder = shared.join("corpus/nDPI/tests/cfgs/default/pcap");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .flat_map(|path| read(path, &identifier, how).unwrap_or_default())
        .collect()
}

/// Segments decide nothing: byte by byte the verdicts are the same.
#[test]
fn verdicts_are_the_same_byte_by_byte() {
    let Some(shared) = shared() else { return };
    let whole = all(&shared, How::ALL);
    for part in [1, 5] {
        let cut = all(&shared, How { part, ..How::ALL });
        assert_eq!(whole.len(), cut.len());
        let columns = |line: &str| line.split('\t').take(8).collect::<Vec<_>>().join(" ");
        for (one, other) in whole.iter().zip(&cut) {
            assert_eq!(columns(one), columns(other), "in parts of {part}");
        }
    }
}

/// Protocols some of whose flows need both directions: how many of a hundred are named from one
/// alone at least, and why not more.
const NEED_BOTH: &[(&str, usize, &str)] = &[
    (
        "ethereum",
        30,
        "RLPx: two bytes of length and one of a key; that the turn ends there tells",
    ),
    (
        "mqtt",
        25,
        "flows of pings alone: two bytes, and the same two with one bit changed",
    ),
    (
        "socks",
        80,
        "version 4: eight bytes, a port and an address among them; the reply tells, or the port",
    ),
];

/// One direction is enough wherever the protocol allows it: flows are named from what the client
/// sends alone, or from what the server sends alone, or the table says why not. And what one
/// direction is named is what both are, but for what only the other tells.
#[test]
fn one_direction_is_enough() {
    let Some(shared) = shared() else { return };
    let only = |to_server| How {
        to_server,
        to_client: !to_server,
        ..How::ALL
    };
    let [both, client, server] = [How::ALL, only(true), only(false)].map(|how| {
        let named = |line: &String| {
            let columns: Vec<&str> = line.split('\t').collect();
            (columns[..6].join(" "), columns[6].to_owned())
        };
        let lines = all(&shared, how);
        lines.iter().map(named).collect::<BTreeMap<_, _>>()
    });
    // By protocol: its flows, those named from one direction.
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut others = 0;
    for (flow, name) in both.iter().filter(|(_, name)| !name.is_empty()) {
        let sides = [&client[flow], &server[flow]];
        let count = counts.entry(name).or_default();
        count[0] += 1;
        count[1] += usize::from(sides.contains(&name));
        others += sides
            .iter()
            .filter(|one| !one.is_empty() && **one != name)
            .count();
    }
    for (name, [flows, alone]) in &counts {
        let row = NEED_BOTH.iter().find(|row| row.0 == *name);
        let percent = alone * 100 / flows;
        match row {
            Some((_, least, why)) => assert!((*least..100).contains(&percent), "{name}: {why}"),
            None => assert_eq!(alone, flows, "{name}: {percent} %"),
        }
    }
    let [flows, alone] = counts
        .values()
        .fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
    println!(
        "{alone} of {flows} flows of {} protocols by one direction",
        counts.len()
    );
    assert!(
        others * 200 < flows,
        "{others} of {flows} are something else by one direction"
    );
}

/// Against another classifier's reviewed results, weighed so that no capture dominates.
#[test]
fn verdicts_agree_with_the_expected_results() {
    let Some(shared) = shared() else { return };
    let script = shared.join("tools/ident_score.py");
    if !script.is_file() || Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: needs python3 and {}", script.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let verdicts = folder.path().join("verdicts.tsv");
    std::fs::write(&verdicts, all(&shared, How::ALL).join("\n")).unwrap();
    let output = Command::new("python3")
        .arg(&script)
        .arg(shared.join("corpus/nDPI/tests/cfgs/default/result"))
        .arg(&verdicts)
        .arg("--map")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("synonyms.tsv"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    println!("{text}");
    let after = |label: &str| -> f64 {
        let rest = &text[text.find(label).unwrap() + label.len()..];
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(after("precision") >= 0.992);
    assert!(after("core recall") >= 0.98);
    assert!(after("macro recall") >= 0.945);
    assert!(after(">= 50 % recall") >= 102.0);
}

/// What bytes are, as the beginning of a stream of either side, or as a datagram.
fn told(searches: &mut Searches, bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    for (on, to_server) in [(On::Tcp, true), (On::Tcp, false), (On::Udp, true)] {
        let whose = Whose {
            shard: Shard(0),
            ports: (50_000, 50_001),
            on,
            to_server,
            connection: 0,
            lives: None,
            offset: 0,
            again: None,
        };
        let mut search = Search::default();
        let mut steps = Vec::new();
        if on == On::Udp {
            steps.push(searches.datagram(&mut search, whose, bytes, bytes.len()));
        } else {
            steps.push(searches.stream_bytes(&mut search, whose, bytes));
            steps.push(searches.stream_ended(&mut search, whose));
        }
        for step in steps {
            if let Step::Verdict(verdict) = step {
                names.push(searches.identifier().name(verdict.protocol).to_owned());
            }
        }
        searches.release(&mut search);
    }
    names
}

/// What files begin with, and what they are.
const EXPECTED: &[(&str, &str)] = &[
    ("aim", "aim"),
    ("bittorrent", "bittorrent"),
    ("dce-rpc", "dcerpc"),
    ("edonkey-tcp", "edonkey"),
    ("ftp", "ftp"),
    ("gnutella", "gnutella"),
    ("http", "http"),
    ("imap", "imap"),
    ("jabber", "xmpp"),
    ("ssh", "ssh"),
    ("validcertssl", "tls"),
    ("x11", "x11"),
];

/// The conversations that came with l7-filter's patterns, of protocols that are built in.
#[test]
fn conversations_of_l7_filter_are_told() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("corpus/l7-protocols/testing/data");
    let identifier = Arc::new(Identifier::new().unwrap());
    let mut searches = Searches::new(identifier, SearchOptions::default()).unwrap();
    let mut known = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        let expected = EXPECTED.iter().find(|(begin, _)| file.starts_with(begin));
        let names = told(&mut searches, &std::fs::read(&path).unwrap());
        if let Some((_, expected)) = expected {
            assert!(
                names.iter().any(|name| name == expected),
                "{file}: {names:?}"
            );
            known += 1;
        }
    }
    assert!(known >= 20, "{known}");
}
