//! `flowpin streams` over bundled captures.

use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

const SMALL: &str = "010.091.002.002.00080-010.091.001.002.41001";

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

fn written(dir: &Path, more: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let output = flowpin(&[&["streams", "-w", text(dir)], more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    files(dir)
}

/// The record of the connection from this port.
fn record(capture: &str, port: u16) -> Value {
    let output = flowpin(&["run", "-r", capture, "--output", "-"]);
    let mut records = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.find(|record| record["src_port"] == port).unwrap()
}

/// What curl asked and nginx answered is in the files, byte for byte: the body that the answer's
/// own header announces, whole.
#[test]
fn http_bodies_are_in_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let found = written(
        &dir.path().join("new/streams"),
        &["-r", &capture("http.pcapng")],
    );
    assert_eq!(found.len(), 16);
    let answers = &found[SMALL];
    let asked = &found["010.091.001.002.41001-010.091.002.002.00080"];
    assert!(asked.starts_with(b"GET /small.txt HTTP/1.1\r\n"));
    let text = String::from_utf8_lossy(answers);
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"));
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Content-Length: 13"));
    assert!(body.starts_with("thirteen byte\nHTTP/1.1 404") || body.starts_with("thirteen byt"));
    assert!(found.contains_key("fd91:2::2.00080-fd91:1::2.41006"));
}

/// What curl said that it downloaded lies behind the header of nginx's answer, and nothing else.
#[test]
fn bodies_have_the_length_that_the_client_saw() {
    let mut compared = 0;
    for (name, truth) in [
        ("http.pcapng", "http.json"),
        ("lab-day.pcapng", "lab-day.json"),
        ("offload.pcap.gz", "offload.json"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let found = written(dir.path(), &["-r", &capture(name)]);
        let truth: Value = serde_json::from_slice(&std::fs::read(capture(truth)).unwrap()).unwrap();
        let facts = truth["facts"].as_array().unwrap();
        for fact in facts.iter().filter(|fact| fact["body_bytes"].is_u64()) {
            let port = &fact["port"];
            let alone = facts.iter().filter(|other| other["port"] == *port).count() == 1;
            let ending = format!(".{:05}", port.as_u64().unwrap());
            let stream = found
                .iter()
                .find(|(name, _)| name.contains(".00080-") && name.ends_with(&ending));
            let (true, Some((_, answer))) = (alone, stream) else {
                continue;
            };
            let at = find(answer, b"\r\n\r\n").unwrap();
            let head = String::from_utf8_lossy(&answer[..at]).into_owned();
            let status = format!(" {} ", fact["status"]);
            if head.contains(&status) && !head.contains("chunked") {
                let body = (answer.len() - at - 4) as u64;
                assert_eq!(fact["body_bytes"], body, "{name}: {fact}");
                compared += 1;
            }
        }
    }
    assert!(compared > 5, "{compared} bodies compared");
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Names, bytes and their number depend on nothing but the input: not on how many files may be
/// open, nor on how the capture is read.
#[test]
fn files_are_the_same_for_every_run() {
    let dirs: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    let lab = capture("lab-day.pcapng");
    let once = written(dirs[0].path(), &["-r", &lab]);
    assert_eq!(
        once,
        written(dirs[1].path(), &["-r", &lab, "--open-max", "1"])
    );
    let file = std::fs::File::open(&lab).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_flowpin"))
        .args(["streams", "-r", "-", "-w", text(dirs[2].path())])
        .stdin(file)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(once, files(dirs[2].path()));
}

/// A conversation is found by each name that records have for it, and is the same as its files.
#[test]
fn a_conversation_is_followed_by_any_of_its_names() {
    let http = capture("http.pcapng");
    let dir = tempfile::tempdir().unwrap();
    let expected = &written(dir.path(), &["-r", &http])[SMALL];
    let record = record(&http, 41001);
    let names = [
        record["flowpin"]["uid"].as_str().unwrap().to_owned(),
        record["flow_id"].to_string(),
        record["community_id"].as_str().unwrap().to_owned(),
    ];
    let raw = ["--format", "raw", "--from", "server"];
    for name in &names {
        let output = flowpin(&[&["streams", "-r", &http, "--follow", name], &raw[..]].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(&output.stdout, expected);
    }
    let both = flowpin(&["streams", "-r", &http, "--follow", &names[0]]);
    let shown = stdout(&both);
    assert!(!shown.contains('\u{1b}'), "no colours in a pipe");
    let asked = shown.find("GET /small.txt").unwrap();
    let answered = shown.find("thirteen byte").unwrap();
    let asked_again = shown.find("GET /nothing-here").unwrap();
    assert!(asked < answered && answered < asked_again, "as they came");
    let hex = flowpin(&[
        "streams", "-r", &http, "--follow", &names[0], "--format", "hex",
    ]);
    assert!(stdout(&hex).contains("00000000  47 45 54 20 2f 73 6d 61  6c 6c"));
}

/// JSON lines hold both directions with their offsets, and how each ended.
#[test]
fn a_conversation_as_json_has_offsets_and_ends() {
    let http = capture("http.pcapng");
    let uid = record(&http, 41001)["flowpin"]["uid"]
        .as_str()
        .unwrap()
        .to_owned();
    let output = flowpin(&["streams", "-r", &http, "--follow", &uid, "--format", "json"]);
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for side in ["client", "server"] {
        let mut offset = 0;
        for line in lines.iter().filter(|line| line["from"] == side) {
            assert_eq!(line["offset"], offset);
            offset += line["length"].as_u64().unwrap_or(0);
        }
        let last = lines.iter().rfind(|line| line["from"] == side).unwrap();
        assert_eq!(last["end"], "fin");
    }
    assert!(
        lines[0]["payload_printable"]
            .as_str()
            .unwrap()
            .starts_with("GET /small.txt")
    );
}

/// UDP has no streams, but its conversations can be read too.
#[test]
fn a_conversation_over_udp_is_shown() {
    let sip = capture("sip.pcap");
    let output = flowpin(&["run", "-r", &sip, "--output", "-"]);
    let udp = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|record| record["proto"] == "UDP" && record["dest_port"] == 5060)
        .unwrap();
    let uid = udp["flowpin"]["uid"].as_str().unwrap();
    let output = flowpin(&["streams", "-r", &sip, "--follow", uid, "--format", "text"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("INVITE sip:") || stdout(&output).contains("REGISTER sip:"));
}

/// `--depth` is each direction's; `--from` chooses one.
#[test]
fn depth_and_side_limit_what_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let http = capture("http.pcapng");
    let found = written(
        dir.path(),
        &["-r", &http, "--depth", "40 B", "--from", "server"],
    );
    assert_eq!(found.len(), 8);
    assert!(found.values().all(|bytes| bytes.len() == 40));
    assert!(found.keys().all(|name| name.contains(".00080-")));
}

/// A limit ends writing, says so by name, and is no failure.
#[test]
fn limits_are_told_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let http = capture("http.pcapng");
    let path = dir.path().join("few");
    let output = flowpin(&[
        "streams",
        "-r",
        &http,
        "-w",
        text(&path),
        "--files-max",
        "2",
    ]);
    assert_eq!(code(&output), 0);
    assert!(
        stdout(&output).contains("stream_files_over_limit: 14 streams not written"),
        "{}",
        stdout(&output)
    );
    assert_eq!(files(&path).len(), 2);
    let path = dir.path().join("little");
    let output = flowpin(&[
        "streams",
        "-r",
        &http,
        "-w",
        text(&path),
        "--output-max",
        "100 B",
    ]);
    assert_eq!(code(&output), 0);
    assert!(
        stdout(&output).contains("stream_bytes_over_limit: "),
        "{}",
        stdout(&output)
    );
    assert_eq!(files(&path).values().map(Vec::len).sum::<usize>(), 100);
}

/// Each failure is one line with what to do, and its documented exit code.
#[test]
fn failures_are_one_line_each() {
    let dir = tempfile::tempdir().unwrap();
    let http = capture("http.pcapng");
    let full = dir.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("notes"), "mine").unwrap();
    let output = flowpin(&["streams", "-r", &http, "-w", text(&full)]);
    assert_refused(&output, 2, &[text(&full), "not empty", "--force"]);
    let output = flowpin(&["streams", "-r", &http, "-w", text(&full), "--force"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let output = flowpin(&["streams", "-r", &http, "-w", text(&full.join("notes"))]);
    assert_refused(&output, 2, &["notes is a file", "choose another directory"]);
    let missing = dir.path().join("none");
    let output = flowpin(&[
        "streams",
        "-r",
        "/does/not/exist.pcap",
        "-w",
        text(&missing),
    ]);
    assert_refused(&output, 3, &["/does/not/exist.pcap"]);
    assert!(!missing.exists());
    let output = flowpin(&["streams", "-r", &http, "--follow", "C00000000010"]);
    assert_refused(&output, 1, &["not found", "--id-seed"]);
    let output = flowpin(&["streams", "-r", &http, "--follow", "nonsense"]);
    assert_refused(&output, 2, &["`nonsense`", "Community ID"]);
    let output = flowpin(&["streams", "-w", text(&missing)]);
    assert_refused(&output, 2, &["no input"]);
    let both = ["streams", "-r", &http, "-w", "x", "--follow", "1"];
    assert_refused(&flowpin(&both), 2, &["--write", "--follow"]);
    assert_refused(
        &flowpin(&["streams", "-r", &http]),
        2,
        &["--write", "--follow"],
    );
}

/// A capture that is cut short: what came before is written, and the exit code says so.
#[test]
fn a_cut_capture_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(capture("http.pcapng")).unwrap();
    let cut = dir.path().join("cut.pcapng");
    std::fs::write(&cut, &bytes[..bytes.len() / 2 + 3]).unwrap();
    let streams = dir.path().join("streams");
    let output = flowpin(&["streams", "-r", text(&cut), "-w", text(&streams)]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("cut.pcapng"));
    assert!(!files(&streams).is_empty());
}
