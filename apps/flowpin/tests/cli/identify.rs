//! `flowpin identify` over bundled captures.

use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, text};
use serde_json::Value;

fn list(more: &[&str]) -> String {
    let lab = capture("lab-day.pcapng");
    let output = flowpin(&[&["identify", "-r", &lab], more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output).to_owned()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The list is that of a run's records: the same connections, order, verdicts and reasons, on any
/// number of cores.
#[test]
fn the_list_is_that_of_the_records() {
    let listed = lines(&list(&["--format", "json"]));
    let lab = capture("lab-day.pcapng");
    let args = [
        "run",
        "-q",
        "-r",
        &lab,
        "--output",
        "-",
        "--pipeline",
        "2x3",
    ];
    let output = flowpin(&args);
    let records: Vec<Value> = lines(stdout(&output))
        .into_iter()
        .filter(|record| record["event_type"] == "flow")
        .collect();
    assert_eq!(listed.len(), records.len());
    for (one, record) in listed.iter().zip(&records) {
        for key in [
            "flow_id",
            "src_port",
            "dest_port",
            "proto",
            "app_proto",
            "app_proto_orig",
        ] {
            assert_eq!(one[key], record[key], "{key}: {one:#} {record:#}");
        }
        for key in ["uid", "app_rule", "app_confidence", "app_by"] {
            assert_eq!(one[key], record["flowpin"][key], "{key}: {one:#}");
        }
        let looked_at = one["packets_inspected"].as_u64().unwrap();
        assert!(one["app_proto"].is_null() || looked_at > 0, "{one:#}");
    }
}

/// The totals are sums of the rows: also of connections that others have named.
#[test]
fn totals_are_those_of_the_rows() {
    let mut sums = std::collections::BTreeMap::new();
    for one in lines(&list(&["--format", "json"])) {
        let is_silent = one["packets_inspected"] == 0;
        let name = match one["app_proto"].as_str() {
            Some(name) => name,
            None if is_silent => continue,
            None => "not identified",
        };
        *sums.entry(name.to_owned()).or_insert(0) += 1;
    }
    assert!(sums["ftp-data"] > 1, "{sums:?}");
    let totals = list(&["--totals"]);
    let rows = totals.lines().filter_map(|line| {
        let (before, _) = line.split_once(" connection")?;
        let (name, count) = before.trim().rsplit_once("  ")?;
        Some((name.trim().to_owned(), count.trim().parse::<i32>().ok()?))
    });
    assert_eq!(
        rows.collect::<std::collections::BTreeMap<_, _>>(),
        sums,
        "{totals}"
    );
}

/// For people, for scripts, for spreadsheets: the same connections.
#[test]
fn every_format_has_every_connection() {
    let count = lines(&list(&["--format", "json"])).len();
    let csv = list(&["--format", "csv"]);
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns));
    assert_eq!(csv.lines().count(), count + 1);
    let table = list(&[]);
    let (rows, totals) = table.split_once("\n\n").unwrap();
    assert_eq!(rows.lines().count(), count);
    assert!(totals.starts_with("Protocols"), "{totals}");
    assert_eq!(list(&["--totals"]), totals);
}

/// `--only` takes names of protocols, and words for those that have none.
#[test]
fn only_the_wanted_connections_are_listed() {
    let only = list(&["--format", "json", "--only", "ssh,unknown"]);
    let names: Vec<Value> = lines(&only)
        .iter()
        .map(|line| line["app_proto"].clone())
        .collect();
    assert!(names.contains(&Value::Null) && names.contains(&"ssh".into()));
    assert!(names.iter().all(|name| name.is_null() || name == "ssh"));
    let http = capture("http.pcapng");
    let wrong = flowpin(&["identify", "-r", &http, "--only", "htttp"]);
    assert_refused(&wrong, 2, &["htttp", "flowpin patterns list"]);
}

/// A port is a hint, marked as such, and only where nothing is known.
#[test]
fn a_port_is_only_a_hint() {
    let listed = lines(&list(&["--format", "json"]));
    let hinted: Vec<_> = listed
        .iter()
        .filter(|one| !one["port_hint"].is_null())
        .collect();
    assert!(!hinted.is_empty());
    assert!(hinted.iter().all(|one| one["app_proto"].is_null()));
}

/// The user's patterns name what built-in rules leave over, and nothing else.
#[test]
fn patterns_name_what_is_left_over() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("traced.pat");
    std::fs::write(
        &file,
        "# From traceroute.\ntraced\n^@ABCDEFGHIJKLMNOPQRSTUVWXYZ\n",
    )
    .unwrap();
    let before = lines(&list(&["--format", "json"]));
    let after = lines(&list(&["--format", "json", "--patterns", text(dir.path())]));
    let mut named = 0;
    for (one, other) in before.iter().zip(&after) {
        if one["app_proto"].is_null() && !other["app_proto"].is_null() {
            assert_eq!(other["app_proto"], "traced");
            assert_eq!(other["app_rule"], "traced.pat");
            named += 1;
        } else {
            assert_eq!(one["app_proto"], other["app_proto"]);
        }
    }
    assert!(named > 0);
    let none = flowpin(&["identify", "-r", "x.pcap", "--patterns", "/nowhere"]);
    assert_eq!(code(&none), 3, "{}", stderr(&none));
    let lab = capture("http.pcapng");
    let none = flowpin(&["identify", "-r", &lab, "--patterns", "/nowhere"]);
    assert_refused(&none, 2, &["/nowhere", "cannot read patterns"]);
    assert_refused(&flowpin(&["identify"]), 2, &["no input"]);
}

/// An author sees each pattern's file, what it costs, what it matches and where, what comes first,
/// and what is wrong with those that are refused.
#[test]
fn patterns_are_tried_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("bad.pat", "bad\n^(a\n"),
        ("dns.pat", "dns\n^.\\x01.?.?.?.?[\\x01-?][a-z0-9].*\n"),
        ("greeting.pat", "greeting\n^220 .*smtp\n"),
    ] {
        std::fs::write(dir.path().join(file), text).unwrap();
    }
    let lab = capture("lab-day.pcapng");
    let output = flowpin(&["patterns", "test", text(dir.path()), &lab]);
    assert_eq!(
        code(&output),
        2,
        "a refused pattern is a mistake in what was given"
    );
    for part in [
        "bad.pat:2: a group without its end",
        "decides",
        "hints",
        "built-in: smtp",
    ] {
        assert!(
            stdout(&output).contains(part),
            "{part}: {}",
            stdout(&output)
        );
    }
    std::fs::remove_file(dir.path().join("bad.pat")).unwrap();
    let args = ["patterns", "test", text(dir.path()), "-r", &lab];
    let output = flowpin(&[&args[..], &["--format", "json"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    assert!(report["refused"].as_array().unwrap().is_empty());
    let greeting = &report["patterns"][1];
    assert_eq!(greeting["name"], "greeting");
    assert_eq!(
        (&greeting["verdicts"], &greeting["line"]),
        (&true.into(), &2.into())
    );
    assert_eq!(greeting["matched"], greeting["decided_by_built_in"]["smtp"]);
    let found = &greeting["matches"][0];
    assert_eq!(
        (&found["from"], &found["dest_port"]),
        (&"server".into(), &25.into())
    );
    assert!(report["patterns"][0]["is_built_in_name"] == true);
}

/// What `--only` takes and rules are called is there to be looked up.
#[test]
fn built_in_protocols_are_listed() {
    let output = flowpin(&["patterns", "list", "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_str(stdout(&output)).unwrap();
    assert!(rows.len() >= 150, "{}", rows.len());
    let ssh = rows.iter().find(|row| row["name"] == "ssh").unwrap();
    assert_eq!(ssh["ports"], serde_json::json!([22]));
    let table = flowpin(&["patterns", "list"]);
    for row in &rows {
        assert!(stdout(&table).contains(row["name"].as_str().unwrap()));
    }
}
