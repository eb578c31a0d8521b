//! `flowpin run --grammar`: a file of the user's, from the wire to records, and what is wrong with
//! it.

use crate::tutorial;
use flowpin_testkit::build::talk;
use flowpin_testkit::product::{self, Outcome};
use serde_json::{Value, json};
use std::path::Path;

/// A folder with the tutorial's grammar, and a capture of what it reads on a port of its own.
fn prepared(grammar: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("memcached.l"), grammar).unwrap();
    let turns: [(bool, f64, &[u8]); 6] = [
        (true, 0.1, b"get a\r\nset b 0 0 3\r\nx"),
        (false, 0.1, b"VALUE a 0 5\r\n\r\n"),
        (true, 0.1, b"yz\r\n"),
        (false, 0.1, b"END\r\nEND\r\nSTORED\r\n"),
        (true, 0.1, b"delete c\r\n"),
        (false, 0.1, b"NOT_FOUND\r\n"),
    ];
    std::fs::write(folder.path().join("a.pcap"), talk(7777, &turns).unwrap()).unwrap();
    folder
}

fn run(folder: &Path, more: &[&str]) -> Outcome {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (capture, grammar) = (path("a.pcap"), path("memcached.l"));
    let words = ["run", "-q", "-r", &capture, "--grammar", &grammar];
    product::run(&[&words, more].concat()).unwrap()
}

/// The tutorial's promise: a file, no build, records of every format, for any number of cores.
#[test]
fn a_grammar_file_gives_records_in_every_format() {
    let folder = prepared(tutorial());
    let out = folder.path().join("out");
    let mut first = None;
    for shape in ["1x1", "2x3"] {
        let _ = std::fs::remove_dir_all(&out);
        let formats = ["--format", "eve,zeek", "--pipeline", shape];
        let outcome = run(
            folder.path(),
            &[&formats, &["-l", out.to_str().unwrap()][..]].concat(),
        );
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let files = product::files(&out).unwrap();
        let eve = String::from_utf8(files["eve.json"].clone()).unwrap();
        let events: Vec<Value> = eve
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let told = events
            .iter()
            .filter(|event| event["event_type"] == "memcached");
        let told: Vec<&Value> = told.map(|event| &event["memcached"]).collect();
        let expected = [
            json!({"command": "get", "key": "a", "status": "END", "bytes": 5}),
            json!({"command": "set", "key": "b", "status": "STORED", "bytes": 3}),
            json!({"command": "delete", "key": "c", "status": "NOT_FOUND"}),
        ];
        assert_eq!(told, expected.iter().collect::<Vec<_>>());
        let flow = events.iter().find(|event| event["event_type"] == "flow");
        assert_eq!(flow.unwrap()["app_proto"], "memcached");
        let zeek = String::from_utf8(files["memcached.log"].clone()).unwrap();
        let rows = zeek.lines().filter(|line| !line.starts_with('#'));
        let commands: Vec<&str> = rows
            .map(|row| {
                let known = ["get", "set", "delete"];
                let cell = row.split('\t').find(|cell| known.contains(cell));
                cell.unwrap_or("?")
            })
            .collect();
        assert_eq!(commands, ["get", "set", "delete"]);
        let files = (eve, zeek);
        assert_eq!(*first.get_or_insert(files.clone()), files, "{shape}");
    }
}

/// A mistake is shown where it is: file, line, column, the line with a caret; exit code 2. `-T`
/// finds it, too.
#[test]
fn a_mistake_in_a_grammar_is_shown_with_its_place() {
    let broken = tutorial().replace("%%", "%%\n\"stat\" { captura(key); }");
    let line = broken.lines().position(|line| line.contains("captura"));
    let folder = prepared(&broken);
    let file = folder.path().join("memcached.l");
    for more in [&["-T"][..], &["--format", "none"]] {
        let outcome = run(folder.path(), more);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        let place = format!("{}:{}:10: error: ", file.display(), line.unwrap() + 1);
        assert!(outcome.stderr.contains(&place), "{}", outcome.stderr);
        let mut lines = outcome.stderr.lines();
        assert!(lines.any(|line| line.trim_start_matches([' ', '|']) == "^"));
        assert!(!outcome.stderr.contains("panic"));
    }
    std::fs::remove_file(&file).unwrap();
    let outcome = run(folder.path(), &["--format", "none"]);
    assert_eq!(outcome.code, 2);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("memcached.l"));
}
