//! From records to packets and back: names of connections, and what they do not depend on.

use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, summary, text};
use serde_json::Value;
use std::collections::BTreeMap;

/// The EVE records of a run.
#[track_caller]
fn records(args: &[&str]) -> Vec<Value> {
    let output = flowpin(&[&["run", "--output", "-", "-q"], args].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let lines = stdout(&output).lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The connections among them, by uid.
#[track_caller]
fn connections(args: &[&str]) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for record in records(args) {
        if record["event_type"] == "flow" {
            let uid = record["flowpin"]["uid"].as_str().unwrap().to_owned();
            assert_eq!(found.insert(uid, record), None, "a uid twice: {args:?}");
        }
    }
    found
}

/// From a record's uid, its flow_id or its Community ID to exactly the packets that it counted. A
/// run over these gives the same record, with the same identifiers.
#[test]
fn slice_gives_the_packets_of_a_record_and_they_give_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let lab = capture("lab-day.pcapng");
    let all = connections(&["-r", &lab]);
    // One of each kind, IPv4 and IPv6.
    let mut kinds: BTreeMap<String, &Value> = BTreeMap::new();
    for record in all.values() {
        kinds.insert(format!("{} {}", record["proto"], record["ip_v"]), record);
    }
    assert!(kinds.len() >= 4, "{:?}", kinds.keys());
    for record in kinds.values() {
        let uid = record["flowpin"]["uid"].as_str().unwrap();
        let flow_id = record["flow_id"].to_string();
        let community_id = record["community_id"].as_str().unwrap();
        for (nth, id) in [uid, &flow_id, community_id].into_iter().enumerate() {
            let out = dir.path().join(format!("{nth}.pcapng"));
            let slice = [
                "slice",
                "-r",
                &lab,
                "--uid",
                id,
                "--force",
                "-w",
                text(&out),
            ];
            let output = flowpin(&slice);
            assert_eq!(code(&output), 0, "{id}: {}", stderr(&output));
            let again = connections(&["-r", text(&out)]);
            // Ports may have been used again.
            let is_same = |other: &&Value| other["community_id"] == community_id;
            let same = all.values().filter(is_same).count();
            assert_eq!(again.len(), if nth == 2 { same } else { 1 }, "{id}");
            let again = &again[uid];
            assert_eq!(again["flow_id"], record["flow_id"]);
            assert_eq!(again["community_id"], community_id);
            assert_eq!(again["in_iface"], "r0");
            for field in [
                "start",
                "end",
                "pkts_toserver",
                "pkts_toclient",
                "bytes_toserver",
            ] {
                assert_eq!(again["flow"][field], record["flow"][field], "{id}: {field}");
            }
        }
    }
}

/// A run with a filter names connections, and numbers packets, as one without: so what one found
/// can be asked for in the other.
#[test]
fn a_filter_changes_no_name_and_no_number() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["lab-day.pcapng", "http.pcapng", "dns-fragments.pcap"] {
        let path = capture(name);
        let all = connections(&["-r", &path]);
        let mut met = 0;
        for filter in ["tcp port 80", "udp", "ip6", "tcp"] {
            for (uid, record) in connections(&["-r", &path, filter]) {
                let original = all.get(&uid);
                let original = original.unwrap_or_else(|| panic!("{name}, {filter}: {record}"));
                let number = |record: &Value| record["flowpin"]["first_packet"].clone();
                assert_eq!(number(original), number(&record), "{name}, {filter}");
                met += 1;
            }
        }
        assert!(met > 2, "{name}: {met}");
    }
    let path = capture("http.pcapng");
    let from = "tcp port 80";
    let filtered = records(&["-r", &path, from]);
    let whole = records(&["-r", &path]);
    let of = |record: &Value| (record["flowpin"]["uid"].clone(), record["tx_id"].clone());
    let http = |record: &&Value| record["event_type"] == "http";
    for record in filtered.iter().filter(http) {
        let same = whole
            .iter()
            .filter(http)
            .find(|other| of(other) == of(record));
        assert_eq!(same.unwrap()["pcap_cnt"], record["pcap_cnt"]);
    }
    let uid = filtered.iter().find(http).unwrap()["flowpin"]["uid"].clone();
    let uid = uid.as_str().unwrap();
    let out = dir.path().join("one.pcap");
    assert_eq!(
        code(&flowpin(&[
            "slice",
            "-r",
            &path,
            "--uid",
            uid,
            "-w",
            text(&out)
        ])),
        0
    );
    let follow = |more: &[&str]| {
        let output = flowpin(&[&["streams", "--follow", uid, "--format", "raw"], more].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        output.stdout
    };
    let told = follow(&["-r", &path]);
    assert!(!told.is_empty());
    assert_eq!(told, follow(&["-r", &path, from]));
    assert_eq!(told, follow(&["-r", text(&out)]));
}

/// Captures given twice, and one that was appended to itself: each connection has a uid of its own,
/// for any number of cores.
#[test]
fn repeated_captures_have_distinct_names() {
    let dir = tempfile::tempdir().unwrap();
    let scan = capture("scan.pcap");
    let once = std::fs::read(&scan).unwrap();
    let path = dir.path().join("thrice.pcap");
    std::fs::write(&path, [&once[..], &once[24..], &once[24..]].concat()).unwrap();
    for inputs in [&["-r", text(&path)][..], &["-r", &scan, "-r", &scan]] {
        let one = connections(inputs);
        let two = connections(&[inputs, &["--pipeline", "2x2", "--seed", "7"]].concat());
        assert_eq!(
            one.keys().collect::<Vec<_>>(),
            two.keys().collect::<Vec<_>>()
        );
    }
}

/// The name's ending decides the format; a pcap file cannot hold two link types, which is said
/// with the way out.
#[test]
fn slice_writes_the_format_of_the_name() {
    let dir = tempfile::tempdir().unwrap();
    let http = capture("http.pcapng");
    // A raw IP packet of another link type (101), a day before all others.
    let raw = dir.path().join("raw.pcap");
    let words: [u32; 10] = [
        0xa1b2_c3d4,
        0x0004_0002,
        0,
        0,
        65535,
        101,
        1_000_000,
        0,
        20,
        20,
    ];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend([
        0x45, 0, 0, 20, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ]);
    std::fs::write(&raw, bytes).unwrap();
    let slice = |out: &str, more: &[&str]| {
        let mut args = vec!["slice", "-r", &http, "--filter", "ip", "--force", "-w", out];
        args.extend(more);
        flowpin(&args)
    };
    let begins = |path: &str, magic: u32| {
        assert!(
            std::fs::read(path)
                .unwrap()
                .starts_with(&magic.to_le_bytes())
        );
        assert_eq!(summary(&["-r", path])["conservation"]["missing"], 0);
    };
    let name = |name: &str| text(&dir.path().join(name)).to_owned();
    let (pcap, pcapng, none) = (name("a.pcap"), name("a.pcapng"), name("a"));
    for (path, magic) in [
        (&pcap, 0xa1b2_3c4d),
        (&pcapng, 0x0a0d_0d0a),
        (&none, 0x0a0d_0d0a),
    ] {
        assert_eq!(code(&slice(path, &[])), 0);
        begins(path, magic);
    }
    let counts = [&pcap, &pcapng].map(|path| summary(&["-r", path])["traffic"].clone());
    assert_eq!(counts[0]["bytes"], counts[1]["bytes"]);
    assert_eq!(counts[0]["first"], counts[1]["first"]);
    let both = ["-r", text(&raw)];
    assert_eq!(code(&slice(&pcapng, &both)), 0);
    assert_refused(
        &slice(&pcap, &both),
        2,
        &[&pcap, "one link type", ".pcapng"],
    );
    begins(&pcap, 0xa1b2_3c4d);
    let piped = slice("-", &[]);
    assert!(piped.stdout.starts_with(&0x0a0d_0d0a_u32.to_le_bytes()));
    assert!(stderr(&piped).ends_with(" packets\n"));
}

/// What names no connection is a usage error; what no connection has is told, and no file is left.
#[test]
fn slice_says_what_is_wrong_with_a_name() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("none.pcap");
    let http = capture("http.pcapng");
    let slice = |id: &str, more: &[&str]| {
        let args = [
            "slice",
            "-r",
            &http,
            "--uid",
            id,
            "--force",
            "-w",
            text(&out),
        ];
        flowpin(&[&args, more].concat())
    };
    for id in ["CX", "1:short", ""] {
        assert_refused(
            &slice(id, &[]),
            2,
            &[&format!("`{id}`"), "flow_id", "Community ID"],
        );
    }
    for id in ["C00000000001", "123456", "1:wCb3OG7yAFWelaUydu0D+125CLM="] {
        assert_refused(&slice(id, &[]), 1, &["no packet found", "--community-seed"]);
        assert!(!out.exists());
    }
    let known = connections(&["-r", &http, "--community-seed", "9"]);
    let (uid, record) = known.first_key_value().unwrap();
    let community_id = record["community_id"].as_str().unwrap();
    assert_eq!(code(&slice(community_id, &[])), 1);
    assert_eq!(code(&slice(community_id, &["--community-seed", "9"])), 0);
    let some = slice(uid, &["--uid", "C00000000001"]);
    assert_eq!(code(&some), 1);
    assert!(
        stderr(&some).contains("1 of 2 connections not found"),
        "{}",
        stderr(&some)
    );
}

/// From alerts to the packets of their connections: those that a run over the same rules tells of,
/// and no others.
#[test]
fn slice_gives_the_packets_of_connections_that_rules_alert_of() {
    let dir = tempfile::tempdir().unwrap();
    let lab = capture("lab-day.pcapng");
    let rules = dir.path().join("a.rules");
    let text_of_rules = "\
alert dns any any -> any any (dns.query; content:\"a\"; sid:1;)
alert http any any -> any any (http.method; content:\"GET\"; sid:2;)
alert http any any -> any any (http.host; content:\"no.such.host\"; sid:3;)
alert tcp any any -> any any (flags:S; sid:4;)
";
    std::fs::write(&rules, text_of_rules).unwrap();
    let (rules, out) = (text(&rules), dir.path().join("a.pcapng"));
    let out = text(&out);
    let mut expected = Vec::new();
    for record in records(&["-r", &lab, "-S", rules]) {
        let sid = &record["alert"]["signature_id"];
        if record["event_type"] == "alert" && (*sid == 1 || *sid == 2) {
            expected.push(record["flow_id"].as_u64().unwrap());
        }
    }
    expected.sort_unstable();
    expected.dedup();
    assert!(expected.len() > 1);
    let slice = |sids: &str, more: &[&str]| {
        let own = [
            "slice", "-r", &lab, "--sid", sids, "-S", rules, "--force", "-w", out,
        ];
        flowpin(&[&own[..], more].concat())
    };
    let output = slice("1,2", &[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let again = connections(&["-r", out]);
    let mut found: Vec<u64> = again
        .values()
        .map(|one| one["flow_id"].as_u64().unwrap())
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    let output = slice("2,3", &[]);
    assert_eq!(code(&output), 1);
    assert!(
        stderr(&output).contains("no alert of 3"),
        "{}",
        stderr(&output)
    );
    let output = slice("3", &[]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("have not alerted"));
    let output = slice("99", &[]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("no rule has the number 99"));
    let output = flowpin(&["slice", "-r", &lab, "--sid", "1", "-w", out]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("-S PATH"));
}
