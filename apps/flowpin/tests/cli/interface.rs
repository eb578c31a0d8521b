//! `flowpin gen -i`: between two ends of a virtual cable, in a network namespace of its own.

use crate::program::{assert_refused, code, flowpin, stderr, text};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// A cable, nobody on it, frames in at one end; what came out at the other is printed.
const SCRIPT: &str = "
set -e
ip link add name a type veth peer name b
ip link set dev a addrgenmode none
ip link set dev b addrgenmode none
ip link set dev a up
ip link set dev b up
\"$@\"
ip -s -j link show dev b
";

/// Runs a command in a namespace that has nothing else; none if the system does not let us.
fn with_a_cable(words: &[&str]) -> Option<Value> {
    for rights in [&["--net"][..], &["--net", "--user", "--map-root-user"]] {
        let run = |script: &str, words: &[&str]| {
            let mut command = Command::new("unshare");
            command
                .args(rights)
                .args(["sh", "-c", script, "sh"])
                .args(words);
            command.output().ok()
        };
        let is_there = run("ip link add name a type veth peer name b", &[]);
        if !is_there.is_some_and(|done| done.status.success()) {
            continue;
        }
        let done = run(SCRIPT, words)?;
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{told}");
        let out = String::from_utf8(done.stdout).unwrap();
        let json = out.lines().find(|line| line.starts_with('[')).unwrap();
        return serde_json::from_str(json).ok();
    }
    println!("skipped: no network namespace (`unshare`, `ip`) without more rights");
    None
}

/// What leaves is what the truth says, frame by frame and byte by byte.
#[test]
fn every_frame_of_the_trace_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let truth = folder.path().join("truth.json");
    let words = [
        env!("CARGO_BIN_EXE_flowpin"),
        "gen",
        "mix",
        "--connections",
        "60",
        "-i",
        "a",
        "--topspeed",
        "--truth",
        text(&truth),
    ];
    let Some(links) = with_a_cable(&words) else {
        return;
    };
    let truth: Value = serde_json::from_slice(&fs::read(truth).unwrap()).unwrap();
    let seen = &links[0]["stats64"]["rx"];
    assert_eq!(seen["packets"], truth["totals"]["packets"]);
    assert_eq!(seen["bytes"], truth["totals"]["frame_bytes"]);
}

/// A name that no interface has is told, and nothing is written in its place.
#[test]
fn an_interface_that_is_not_there_is_named() {
    let output = flowpin(&[
        "gen",
        "dns",
        "--connections",
        "1",
        "-i",
        "no-such-interface",
    ]);
    assert_refused(&output, 1, &["no-such-interface"]);
    let output = flowpin(&["gen", "dns", "-i", "lo", "-w", "x.pcap"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("cannot be used with"),
        "{}",
        stderr(&output)
    );
}
