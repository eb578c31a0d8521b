//! `flowpin explain` over a small capture in which packets end in every way.
//!
//! What is printed stands in `tests/explain/`; `UPDATE_GOLDEN=1` writes it again.

use crate::program::{assert_refused, capture, code, command, flowpin, stderr, stdout};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/explain")
}

fn story() -> String {
    folder().join("story.pcap").to_str().unwrap().to_owned()
}

/// What is printed about the story.
fn explained(more: &[&str]) -> String {
    let story = story();
    let output = flowpin(&[&["explain", "-r", &story], more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output).to_owned()
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Without the lines of records, whose fields have tests of their own.
fn shape(printed: &str) -> String {
    let mut lines = String::new();
    for line in printed.lines() {
        let is_record = line.contains("eve.json  ");
        let end = line.find('{').filter(|_| is_record);
        lines.push_str(line.get(..end.unwrap_or(line.len())).unwrap().trim_end());
        lines.push('\n');
    }
    lines
}

#[track_caller]
fn assert_golden(name: &str, printed: &str) {
    let path = folder().join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, printed).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(
        golden == printed,
        "{name}: mend it by UPDATE_GOLDEN=1:\n{printed}"
    );
}

/// Each kind of packet: handshake, data in order, held, filled, sent again, a RST that is not
/// believed, a gap, the end, refused, fragments, a tunnel, no IP, DNS, cut.
#[test]
fn packets_are_explained_as_text() {
    for number in [1, 2, 4, 5, 6, 7, 8, 11, 16, 17, 18, 20, 21, 23, 24] {
        let printed = explained(&["--packet", &number.to_string()]);
        assert_golden(&format!("packet-{number:02}.txt"), &shape(&printed));
    }
}

/// A connection in a line or two for each packet, then its end.
#[test]
fn connections_are_explained_in_short() {
    let [packet, _] = lines(&explained(&["--packet", "1", "--json"]))
        .try_into()
        .unwrap();
    let uid = packet["connection"]["uid"].as_str().unwrap().to_owned();
    let by_uid = explained(&["--uid", &uid]);
    assert_golden("connection.txt", &shape(&by_uid));
    let run = flowpin(&["run", "-r", &story(), "--output", "-"]);
    let records = lines(stdout(&run)).into_iter();
    let flow_id = records
        .filter(|record| record["flowpin"]["uid"] == uid)
        .find_map(|record| record["flow_id"].as_u64());
    assert_eq!(explained(&["--uid", &flow_id.unwrap().to_string()]), by_uid);
}

/// JSON has the same, with names that stay.
#[test]
fn packets_are_explained_as_json() {
    let printed = explained(&["--packet", "6", "--json"]);
    let parts = lines(&printed);
    let mut shown = parts.clone();
    shown[0]["records"][0]["lines"][0]["line"] = "…".into();
    shown[1]["connection_end"]["records"][0]["lines"][0]["line"] = "…".into();
    let pretty = |line: &Value| serde_json::to_string_pretty(line).unwrap() + "\n";
    assert_golden(
        "packet-06.json",
        &shown.iter().map(pretty).collect::<String>(),
    );
    assert_eq!(parts[0]["reassembly"]["counters"]["held"], -23);
    assert_eq!(parts[0]["connection"]["after"]["conn_state"], "S1");
    assert_eq!(parts[0]["records"][0]["kind"], "http");
    assert_eq!(parts[1]["connection_end"]["end"]["reason"], "end_of_input");
    let refused = lines(&explained(&["--packet", "17", "--json"]));
    let decision = &refused[0]["decisions"][0];
    assert_eq!(decision["decision"], "refused");
    assert_eq!(decision["refused"]["layer"], "ipv4");
    assert_eq!(decision["refused"]["offset"], 10);
}

/// A record leads to its packet, or to its connection, from an argument or standard input.
#[test]
fn records_lead_to_what_caused_them() {
    let story = story();
    let run = flowpin(&["run", "-r", &story, "--output", "-"]);
    let records = stdout(&run).lines();
    let dns = records
        .clone()
        .find(|line| line.contains("\"dns\""))
        .unwrap();
    let printed = explained(&["--record", dns, "--json"]);
    let number = lines(dns)[0]["pcap_cnt"].clone();
    assert_eq!(lines(&printed)[0]["packet"], number);
    let flow = records
        .clone()
        .find(|line| line.contains("\"SF\""))
        .unwrap();
    let mut child = command(&["explain", "-r", &story, "--record", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(flow.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let end = lines(stdout(&output)).pop().unwrap();
    let uid = &lines(flow)[0]["flowpin"]["uid"];
    assert_eq!(end["connection_end"]["uid"], *uid);
    // A tunnel's is of many connections.
    let tunnel = records
        .clone()
        .find(|line| line.contains("\"tunnel\""))
        .unwrap();
    let refused = flowpin(&["explain", "-r", &story, "--record", tunnel]);
    assert_refused(&refused, 2, &["neither a packet", "nor a connection"]);
}

/// The settings of a run count: formats, shapes, filter, checksums.
#[test]
fn settings_are_those_of_a_run() {
    let zeek = explained(&["--packet", "6", "--format", "zeek"]);
    assert!(
        zeek.contains("http.log") && zeek.contains("conn.log"),
        "{zeek}"
    );
    let worker = explained(&["--packet", "6", "--pipeline", "2x3"]);
    assert!(worker.contains("(of 3, counted from 0)"), "{worker}");
    let unverified = explained(&["--packet", "17", "--checksums", "none"]);
    assert!(unverified.contains("begins a connection"), "{unverified}");
    let alone = explained(&["--packet", "5", "--streams", "off"]);
    assert!(!alone.contains("Reassembly"), "{alone}");
}

/// What is not there is one line, with a code of its own.
#[test]
fn what_is_not_there_is_one_line() {
    let story = story();
    let ask = |more: &[&str]| flowpin(&[&["explain", "-r", &story], more].concat());
    assert_refused(
        &ask(&["--packet", "25"]),
        1,
        &["no packet 25", "24 packets"],
    );
    let filtered = ask(&["--packet", "21", "tcp"]);
    assert_refused(&filtered, 1, &["packet 21", "filter"]);
    let unknown = ask(&["--uid", "C00000000001"]);
    assert_refused(&unknown, 1, &["no such connection", "--id-seed"]);
    assert_refused(
        &ask(&["--uid", "nobody"]),
        2,
        &["does not name a connection"],
    );
    assert_refused(&ask(&["--record", "{}"]), 2, &["no record"]);
    assert_refused(&ask(&["--record", r#"{"ts":1}"#]), 2, &["neither a packet"]);
    assert_refused(&ask(&["--packet", "0"]), 2, &["--packet"]);
    assert_refused(&ask(&[]), 2, &["--packet", "--uid", "--record"]);
    let mut piped = command(&["explain", "-r", "-", "--packet", "1"]);
    let piped = piped.stdin(std::fs::File::open(&story).unwrap()).output();
    assert_refused(&piped.unwrap(), 2, &["standard input", "two passes"]);
    let pipe = format!(
        "exec {} explain -r <(cat {story}) --packet 1",
        env!("CARGO_BIN_EXE_flowpin")
    );
    let piped = std::process::Command::new("bash")
        .args(["-c", &pipe])
        .output();
    assert_refused(&piped.unwrap(), 2, &["cannot explain a pipe", "two passes"]);
    let help = flowpin(&["explain", "--help"]);
    let read = stdout(&help).split("--read <FILE>").nth(1).unwrap();
    let read = read.split("--filter").next().unwrap();
    assert!(!read.contains("standard input"), "{read}");
    for format in ["parquet", "none"] {
        let refused = ask(&["--packet", "1", "--format", format]);
        assert_refused(&refused, 2, &["no", "eve, zeek, zeek-json or csv"]);
    }
    let times = ask(&["--packet", "1", "--parquet-time", "ns"]);
    assert_refused(&times, 2, &["--parquet-time"]);
}

/// `--extract` is that of a run, except that no file is written.
#[test]
fn no_body_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let bodies = folder.path().join("bodies");
    let printed = explained(&[
        "--packet",
        "6",
        "--extract",
        bodies.to_str().unwrap(),
        "--json",
    ]);
    let [packet, _] = lines(&printed).try_into().unwrap();
    let records = packet["records"].as_array().unwrap().iter();
    let texts: Vec<&str> = records
        .map(|one| one["lines"][0]["line"].as_str().unwrap())
        .collect();
    assert!(
        texts.iter().any(|line| line.contains("\"stored\":true")),
        "{texts:?}"
    );
    assert!(!bodies.exists());
}

/// What follows a packet stands with it: what became of its held bytes, which packet completes
/// its message; and why there is no parser.
#[test]
fn what_comes_later_is_named() {
    let [packet, end] = lines(&explained(&["--packet", "5", "--json"]))
        .try_into()
        .unwrap();
    assert_eq!(packet["completed"]["by"], 6);
    assert_eq!(packet["reassembly"]["held"]["reason"], "hole");
    let held = &end["connection_end"]["held"][0];
    assert_eq!(
        (&held["outcome"], &held["by"]),
        (&"delivered".into(), &6.into())
    );
    let off = explained(&["--packet", "4", "--parse", "off"]);
    assert!(off.contains("nothing is parsed (--parse off)"), "{off}");
    let ended = explained(&["--packet", "16"]);
    assert!(ended.contains("http → none"), "{ended}");
}

/// The last packet of a capture that is cut off is still explained, and the damage told.
#[test]
fn a_damaged_capture_is_explained_as_far_as_it_goes() {
    let bytes = std::fs::read(capture("http.pcapng")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.pcapng");
    std::fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    let output = flowpin(&["explain", "-r", path.to_str().unwrap(), "--packet", "4"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    assert!(stdout(&output).starts_with("Packet 4 "));
}
