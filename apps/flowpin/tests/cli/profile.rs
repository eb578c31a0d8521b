//! `flowpin profile` and `flowpin plan`: finish, and say what can be true. No figure is held to a
//! clock: what a stage costs is not for a test to say.

use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, text};
use serde_json::Value;
use std::fs;

/// The short form of a profile: every stage is there, costs add up, nothing is written.
#[test]
fn a_profile_has_every_stage_and_adds_up() {
    let folder = tempfile::tempdir().unwrap();
    let (saved, svg) = (folder.path().join("p.json"), folder.path().join("p.svg"));
    let trace = folder.path().join("t.pcap");
    let made = flowpin(&[
        "gen",
        "mix",
        "--packets",
        "20000",
        "--no-truth",
        "-w",
        text(&trace),
    ]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let words = [
        "profile",
        "-r",
        text(&trace),
        "--cores",
        "1",
        "--save",
        text(&saved),
        "--svg",
        text(&svg),
    ];
    let output = flowpin(&words);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    for word in [
        "connections",
        "checksums",
        "scans",
        "streams",
        "identification",
        "write",
    ] {
        assert!(
            stdout(&output).contains(word),
            "{word}: {}",
            stdout(&output)
        );
    }
    let profile: Value = serde_json::from_slice(&fs::read(&saved).unwrap()).unwrap();
    let stages = profile["stages"].as_array().unwrap();
    let cycles = |of: &Value| of["cycles"].as_f64().unwrap();
    let added: f64 = stages.iter().map(cycles).sum();
    let sum = cycles(&profile["sum"]);
    assert!((added - sum).abs() < 1e-6 * sum, "{added} {sum}");
    assert!(sum > 0.0 && profile["total_cycles"].as_f64().unwrap() > 0.0);
    assert_eq!(profile["mappings"].as_array().unwrap().len(), 64);
    let first = &profile["mappings"][0];
    assert_eq!(first["pipeline"], "1x1");
    // None where others kept the processors busy.
    let measured = &first["measured_packets_per_s"];
    assert!(measured.is_null() || measured.as_f64().unwrap() > 0.0);
    assert!(fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    let names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap())
        .collect();
    assert_eq!(names.len(), 3, "a profile writes no records: {names:?}");

    let plan = [
        "plan",
        "--gbps",
        "10",
        "--packet",
        "764",
        "--profile",
        text(&saved),
    ];
    let output = flowpin(&plan);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        stdout(&output).contains("1.59 Mpackets/s"),
        "{}",
        stdout(&output)
    );
    assert!(
        stdout(&output).contains("receive queue"),
        "{}",
        stdout(&output)
    );
}

/// Stages that are off cost nothing and are not listed.
#[test]
fn a_profile_follows_the_switches() {
    let trace = capture("http.pcapng");
    let words = [
        "profile",
        "-r",
        &trace,
        "--cores",
        "0",
        "--json",
        "--format",
        "none",
        "-k",
        "none",
        "--scans",
        "off",
        "--streams",
        "off",
        "--identify",
        "off",
    ];
    let output = flowpin(&words);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let profile: Value = serde_json::from_str(stdout(&output)).unwrap();
    let stages = profile["stages"].as_array().unwrap();
    let names: Vec<&str> = stages
        .iter()
        .map(|stage| stage["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["read, find packets", "decode, peel, hash", "connections"]
    );
    assert!(profile["mappings"][0]["measured_packets_per_s"].is_null());
}

/// What cannot be profiled or planned with is the user's mistake.
#[test]
fn a_pipe_and_a_wrong_file_are_refused() {
    assert_refused(&flowpin(&["profile", "-r", "-"]), 2, &["standard input"]);
    let trace = capture("http.pcapng");
    let wrong = flowpin(&["plan", "--gbps", "1", "--packet", "64", "--profile", &trace]);
    assert_refused(&wrong, 2, &["http.pcapng"]);
    let other = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testkit/captures/http.json"
    );
    let wrong = flowpin(&["plan", "--gbps", "1", "--packet", "64", "--profile", other]);
    assert_refused(&wrong, 2, &["http.json", "flowpin profile --save"]);
    let zero = flowpin(&["plan", "--gbps", "0", "--packet", "64", "--profile", &trace]);
    assert_refused(&zero, 2, &["above 0"]);
}
