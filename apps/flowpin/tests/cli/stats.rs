//! `--stats`: lines about the run itself.

use crate::program::{assert_refused, capture, code, flowpin, stderr, summary, text};
use crate::signals::{Waiting, patiently};
use serde_json::Value;
use std::path::Path;

fn lines(path: &Path) -> Vec<Value> {
    let all = std::fs::read_to_string(path).unwrap();
    let lines = all.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

/// The last line tells what the summary does; the records are those of a run without it.
#[test]
fn the_last_line_is_the_account_of_the_whole_run() {
    let (lab, dir) = (capture("lab-day.pcapng"), tempfile::tempdir().unwrap());
    let logs = |name: &str| dir.path().join(name);
    let told = summary(&["-r", &lab]);
    for (name, more) in [("without", vec![]), ("with", vec!["--stats-every", "1ms"])] {
        let (folder, stats) = (logs(name), logs("stats.json"));
        let mut args = vec![
            "run",
            "-q",
            "-r",
            &lab,
            "-l",
            text(&folder),
            "--memory",
            "64MiB",
        ];
        if !more.is_empty() {
            args.extend(["--stats", text(&stats)]);
        }
        args.extend(more);
        let output = flowpin(&args);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    let eve = |name| std::fs::read_to_string(logs(name).join("eve.json")).unwrap();
    assert_eq!(eve("with"), eve("without"));
    let lines = lines(&logs("stats.json"));
    let last = lines.last().unwrap();
    assert_eq!(last["event_type"], "stats");
    assert_eq!(last["stats"]["decoder"]["pkts"], told["traffic"]["packets"]);
    assert_eq!(last["flowpin"]["records"], eve("with").lines().count());
    assert!(last["stats"]["capture"].is_null());
    let packets = lines
        .iter()
        .map(|line| line["stats"]["decoder"]["pkts"].as_u64().unwrap());
    assert!(packets.is_sorted());
}

#[test]
fn its_file_takes_no_other_s_place() {
    let (lab, dir) = (capture("lab-day.pcapng"), tempfile::tempdir().unwrap());
    let path = |name: &str| text(&dir.path().join(name)).to_owned();
    std::fs::write(path("there"), "kept").unwrap();
    let run = |stats: &str| {
        flowpin(&[
            "run",
            "-q",
            "-r",
            &lab,
            "-l",
            text(dir.path()),
            "--stats",
            stats,
        ])
    };
    assert_refused(&run(&path("there")), 2, &["there already", "--force"]);
    assert_refused(&run(&path("eve.json")), 2, &["written by this run already"]);
    assert_refused(
        &run(&path("none/stats")),
        1,
        &["cannot write", "none/stats"],
    );
    assert_eq!(std::fs::read_to_string(path("there")).unwrap(), "kept");
    let every = [
        "run",
        "-r",
        &lab,
        "--stats",
        &path("x"),
        "--stats-every",
        "0s",
    ];
    assert_refused(&flowpin(&every), 2, &["stats"]);
}

/// HUP, as of the logs.
#[test]
fn hangup_makes_its_file_anew() {
    let whole = std::fs::read(capture("lab-day.pcapng")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (stats, old) = (dir.path().join("stats.json"), dir.path().join("old.json"));
    let run = Waiting::new(
        &whole[..400_000],
        &["-q", "--stats", text(&stats), "--stats-every", "5ms"],
    );
    patiently("a line", || !lines(&stats).is_empty());
    std::fs::rename(&stats, &old).unwrap();
    run.signal("HUP");
    patiently("a file made anew", || stats.exists());
    assert_eq!(run.finish(&whole[400_000..]), Some(0));
    let (before, after) = (lines(&old), lines(&stats));
    let packets = |lines: &[Value]| lines.last().unwrap()["stats"]["decoder"]["pkts"].as_u64();
    assert!(packets(&before) < packets(&after));
}
