//! Memcached's grammar on a recording of a real server: what is told is what each client saw.

use flowpin_testkit::product;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Each command of three clients and of the meta protocol has its own answer, and those without
/// one (`noreply`, quiet) none; for any number of cores.
#[test]
fn every_command_has_the_answer_that_its_client_saw() {
    let captures = root().join("tests/grammar/captures");
    let truth = std::fs::read_to_string(captures.join("memcached.json")).unwrap();
    let truth: Value = serde_json::from_str(&truth).unwrap();
    let commands = truth["commands"].as_array().unwrap();
    let expected: Vec<String> = commands.iter().map(line).collect();
    for shape in ["1x1", "2x3"] {
        let capture = captures.join("memcached.pcap");
        let grammar = root().join("pipeline/80-parse/grammars/memcached.l");
        let words = ["run", "-q", "--output", "-", "--pipeline", shape, "-r"];
        let files = [
            capture.to_str().unwrap(),
            "--grammar",
            grammar.to_str().unwrap(),
        ];
        let outcome = product::run(&[&words[..], &files[..]].concat()).unwrap();
        // That rules are slow on hostile input is told there.
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let text = String::from_utf8(outcome.stdout).unwrap();
        let events = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let events: Vec<Value> = events.collect();
        assert!(
            events.iter().all(|event| event["event_type"] != "anomaly"),
            "pairs agree"
        );
        let told = events.iter().map(|event| &event["memcached"]);
        let told = told.filter(|told| !told.is_null() && told["command"] != "quit");
        assert_eq!(told.map(line).collect::<Vec<_>>(), expected, "{shape}");
    }
}

/// A command as both tell it: its name, keys, answer, and how long the values are.
fn line(told: &Value) -> String {
    let keys = told["keys"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let keys: Vec<&str> = keys.iter().filter_map(Value::as_str).collect();
    let bytes = told["bytes"].as_u64().filter(|&bytes| bytes > 0);
    let (command, status) = (told["command"].as_str(), told["status"].as_str());
    format!("{} {keys:?} {status:?} {bytes:?}", command.unwrap_or("?"))
}
