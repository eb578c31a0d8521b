//! `flowpin gen`: what it says about its traces is what `flowpin run` and `streams` find in them.

use crate::program::{app, assert_refused, capture, code, command, flowpin, stderr, stdout, text};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::net::IpAddr;
use std::path::Path;

/// Makes a trace: its path and its truth.
fn make(folder: &Path, words: &[&str]) -> (String, Value) {
    let path = folder.join("trace.pcap");
    let mut args = vec!["gen"];
    args.extend_from_slice(words);
    args.extend_from_slice(&["-w", text(&path)]);
    let output = flowpin(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let truth = fs::read(path.with_extension("truth.json")).unwrap();
    (
        text(&path).to_owned(),
        serde_json::from_slice(&truth).unwrap(),
    )
}

/// Client and server; addresses are written in more than one way.
fn key(record: &Value, names: [&str; 4]) -> [String; 4] {
    names.map(|name| match record[name].as_str() {
        Some(address) => address.parse::<IpAddr>().unwrap().to_string(),
        None => record[name].to_string(),
    })
}

/// Every connection of the truth is a record, with its packets, bytes and service.
#[test]
fn run_finds_the_connections_of_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "mix",
        "--connections",
        "400",
        "--ipv6",
        "0.2",
        "--vlan",
        "9",
        "--loss",
        "0.01",
    ];
    let (trace, truth) = make(folder.path(), &words);
    let output = flowpin(&["run", "-r", &trace, "--output", "-", "-k", "all"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let flows: HashMap<_, Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record["event_type"] == "flow")
        .map(|flow| {
            (
                key(&flow, ["src_ip", "src_port", "dest_ip", "dest_port"]),
                flow,
            )
        })
        .collect();
    let told = truth["connections"].as_array().unwrap();
    assert_eq!(flows.len(), told.len());
    for connection in told {
        let ends = ["client", "client_port", "server", "server_port"];
        let flow = &flows[&key(connection, ends)];
        for (side, way) in ["toserver", "toclient"].iter().enumerate() {
            let found = |what: &str| flow["flow"][format!("{what}_{way}")].clone();
            assert_eq!(found("pkts"), connection["packets"][side], "{flow}");
            assert_eq!(found("bytes"), connection["frame_bytes"][side], "{flow}");
        }
        if connection["service"] != "probe" {
            assert_eq!(*app(flow), connection["service"], "{flow}");
        }
    }
}

/// What each side said comes out of the streams byte by byte, whatever went wrong on the way.
#[test]
fn streams_have_the_hashes_of_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "http",
        "--connections",
        "150",
        "--loss",
        "0.03",
        "--reorder",
        "0.03",
        "--retransmit",
        "0.03",
        "--duplicate",
        "0.03",
        "--chunked",
        "0.3",
    ];
    let (trace, truth) = make(folder.path(), &words);
    let streams = folder.path().join("streams");
    let output = flowpin(&["streams", "-r", &trace, "-w", text(&streams)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let mut found: Vec<String> = fs::read_dir(&streams)
        .unwrap()
        .map(|entry| {
            format!(
                "{:x}",
                Sha256::digest(fs::read(entry.unwrap().path()).unwrap())
            )
        })
        .collect();
    let told = truth["connections"].as_array().unwrap();
    let mut told: Vec<String> = told
        .iter()
        .flat_map(|one| one["sha256"].as_array().unwrap())
        .map(|hash| hash.as_str().unwrap().to_owned())
        .collect();
    found.sort();
    told.sort();
    assert_eq!(found, told);
}

/// A trace can go through a pipe, and depends on its seed only.
#[test]
fn a_trace_to_standard_output_is_that_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, _) = make(folder.path(), &["fix", "--packets", "500"]);
    let output = flowpin(&["gen", "fix", "--packets", "500", "-w", "-"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(output.stdout, fs::read(trace).unwrap());
    assert!(
        stderr(&output).contains("connections"),
        "{}",
        stderr(&output)
    );
}

/// Copies of a capture have as many connections each as the original, and right checksums.
#[test]
fn copies_have_the_connections_of_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let many = folder.path().join("many.pcapng");
    let original = capture("ftp.pcap.gz");
    let count = |path: &str| {
        let output = flowpin(&["run", "-r", path, "--format", "none", "--json", "-k", "all"]);
        let summary: Value = serde_json::from_str(stdout(&output)).unwrap();
        (
            summary["connections"]["total"].as_u64().unwrap(),
            summary["traffic"]["packets"].as_u64().unwrap(),
        )
    };
    let (connections, packets) = count(&original);
    for appended in [false, true] {
        let mut args = vec![
            "gen",
            "replicate",
            "-r",
            &original,
            "-n",
            "7",
            "--force",
            "-w",
            text(&many),
        ];
        if appended {
            args.push("--appended");
        }
        let output = flowpin(&args);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(count(text(&many)), (7 * connections, 7 * packets));
    }
}

/// Wrong words are the user's mistake; what cannot be had is said.
#[test]
fn what_cannot_be_made_is_refused_or_said() {
    let refused = |args: &[&str], parts: &[&str]| {
        assert_refused(&flowpin(args), 2, parts);
    };
    let target = ["-w", "-"];
    refused(
        &["gen", "http", target[0], target[1], "--ipv6", "2"],
        &["IPv6", "0 to 1"],
    );
    refused(
        &[
            "gen",
            "dns",
            target[0],
            target[1],
            "--preset",
            "parser-file-1",
        ],
        &["parser-file-1", "kind"],
    );
    let unknown = flowpin(&["gen", "http", "-w", "-", "--preset", "file-99"]);
    assert_eq!(code(&unknown), 2);
    assert!(
        stderr(&unknown).contains("ics09-file-10"),
        "{}",
        stderr(&unknown)
    );
    let missing = flowpin(&[
        "gen",
        "replicate",
        "-r",
        "/nowhere.pcap",
        "-n",
        "2",
        "-w",
        "-",
    ]);
    assert_refused(&missing, 3, &["/nowhere.pcap"]);
    let narrow = command(&["gen", "http", "-w", "-", "--packet-len", "60"])
        .output()
        .unwrap();
    assert!(
        stderr(&narrow).contains("instead of 60.000"),
        "{}",
        stderr(&narrow)
    );
}
