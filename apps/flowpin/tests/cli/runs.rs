//! Whole runs over bundled captures.

use crate::program::{
    assert_refused, capture, code, command, flowpin, stderr, stdout, summary, text,
};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Every packet of every bundled capture is accounted for, and none is misdirected.
#[test]
fn every_packet_is_accounted_for() {
    let all = summary(&["-r", &capture("")]);
    assert_eq!(all["conservation"]["missing"], 0);
    assert_eq!(all["losses"]["packets_misdirected"], 0);
    assert_eq!(all["conservation"]["received"], all["traffic"]["packets"]);
    assert!(all["connections"]["total"].as_u64().unwrap() > 100);
    assert!(all["inputs"].as_array().unwrap().len() > 10);
}

/// The summary is the result and goes to standard output; records in a pipe take its place.
#[test]
fn summary_makes_way_for_records() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("new/logs");
    let http = capture("http.pcapng");
    let output = flowpin(&["run", "-r", &http, "-l", text(&logs)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    assert!(stdout(&output).contains("Every packet accounted for"));
    assert!(!stdout(&output).contains('\u{1b}'), "no colours in a pipe");
    let records = std::fs::read_to_string(logs.join("eve.json")).unwrap();

    let output = flowpin(&["run", "-r", &http, "--output", "-"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), records);
    assert!(stderr(&output).contains("Every packet accounted for"));

    let output = flowpin(&["run", "-r", &http, "-l", text(&logs), "-q", "--force"]);
    assert_eq!((stdout(&output), stderr(&output)), ("", ""));
}

/// A filter behind the options and one given by `-f` are the same; what it turns away is told.
#[test]
fn filter_works_as_words_and_as_option() {
    let lab = capture("lab-day.pcapng");
    let words = summary(&["-r", &lab, "udp", "port", "53"]);
    let option = summary(&["-r", &lab, "-f", "udp port 53"]);
    assert_eq!(words["connections"], option["connections"]);
    assert!(words["traffic"]["filtered"].as_u64().unwrap() > 0);
    let count = summary(&["-r", &lab, "-n", "10"]);
    assert_eq!(count["traffic"]["packets"], 10);
    // All was done that was to be done.
    assert_eq!(count["stopped_early"], false);
    assert_eq!(count["stopped_after_packets"], 10);
    assert!(words["stopped_after_packets"].is_null());
    let page = flowpin(&["run", "-r", &lab, "-n", "10", "--format", "none"]);
    assert!(stdout(&page).contains("stopped after 10 packets (-n)"));
}

/// `--since` and `--until` leave packets out, which count as filtered: on the command line in any
/// form of a time, and in the settings file. Windows that meet have every packet once.
#[test]
fn packets_outside_the_wanted_time_are_left_out() {
    let lab = capture("lab-day.pcapng");
    let traffic = |options: &[&str]| summary(&[&["-r", &lab], options].concat())["traffic"].clone();
    let count = |options: &[&str]| {
        let traffic = traffic(options);
        let [packets, filtered] = ["packets", "filtered"].map(|key| traffic[key].as_u64().unwrap());
        (packets, filtered)
    };
    let all = traffic(&[]);
    let total = all["packets"].as_u64().unwrap();
    let [first, last] = ["first", "last"].map(|key| all[key].as_str().unwrap().to_owned());
    assert_eq!(traffic(&["--since", &first]), all);
    assert_eq!(count(&["--until", &first]), (0, total));
    assert_eq!(
        count(&["--since", "0", "--until", "4000000000"]),
        (total, 0)
    );
    let (end, _) = count(&["--since", &last]);
    assert!(end > 0 && end < total, "{end}");
    assert_eq!(count(&["--until", &last]), (total - end, end));

    let printed = flowpin(&["run", "-r", &lab, "--until", &last, "--print-config"]);
    let dir = tempfile::tempdir().unwrap();
    let settings = dir.path().join("flowpin.toml");
    std::fs::write(&settings, stdout(&printed)).unwrap();
    let by_file = summary(&["-c", text(&settings)]);
    assert_eq!(by_file["traffic"], traffic(&["--until", &last]));

    let page = flowpin(&["run", "-r", &lab, "--until", &last, "--format", "none"]);
    assert!(stdout(&page).contains("left out, by the filter or by time"));
    let local = flowpin(&["run", "-r", &lab, "--until", "2026-11-23T08:35:00"]);
    assert_refused(&local, 2, &["2026-11-23T08:35:00", "zone"]);
    let empty = flowpin(&["run", "-r", &lab, "--since", "9", "--until", "9"]);
    assert_refused(&empty, 2, &["--since", "--until"]);
}

/// A capture in a pipe gives what the file gives.
#[test]
fn standard_input_is_read_like_a_file() {
    let http = capture("http.pcapng");
    let mut child = command(&["run", "-r", "-", "--output", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = std::fs::read(&http).unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(code(&output), 0);
    assert_eq!(
        stdout(&output),
        stdout(&flowpin(&["run", "-r", &http, "--output", "-"]))
    );
}

/// A pipe that has a name can be read once: nothing may look into it twice, whatever the shape.
#[test]
#[cfg(target_os = "linux")]
fn named_pipe_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    let http = capture("http.pcapng");
    let expected = summary(&["-r", &http]);
    let script = format!(
        "mkfifo {0}/p && (cat {http} > {0}/p &) && {1} run -r {0}/p --format none --json",
        text(dir.path()),
        env!("CARGO_BIN_EXE_flowpin")
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let got: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert_eq!(got["traffic"]["packets"], expected["traffic"]["packets"]);
}

/// A file cut off in a packet: earlier packets are analysed, the place is named, exit code 4.
#[test]
fn truncated_capture_is_analysed_up_to_the_cut() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(capture("ssh.pcap")).unwrap();
    let cut = dir.path().join("cut.pcap");
    std::fs::write(&cut, &bytes[..bytes.len() - 7]).unwrap();
    let output = flowpin(&["run", "-r", text(&cut), "-l", text(dir.path()), "-q"]);
    assert_refused(&output, 4, &[text(&cut)]);
    let records = std::fs::read_to_string(dir.path().join("eve.json")).unwrap();
    assert!(records.lines().count() > 0);
}

/// A full disk: exit code 1, the path and what to do.
#[test]
#[cfg(target_os = "linux")]
fn full_disk_is_one_line_with_the_path() {
    let lab = capture("lab-day.pcapng");
    let output = command(&["run", "-r", &lab, "--output", "-", "-q"])
        .stdout(std::fs::File::create("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_refused(&output, 1, &["space"]);
}

/// A log directory that cannot be one: exit code 2, the path.
#[test]
fn unusable_log_directory_is_one_line_with_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = flowpin(&["run", "-r", &capture("http.pcapng"), "-l", text(&file)]);
    assert_refused(&output, 2, &[text(&file)]);
}

/// `flowpin … | head -n 1` is no failure.
#[test]
fn closed_pipe_is_success() {
    let mut child = command(&["run", "-r", &capture(""), "--output", "-", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap())
        .read_line(&mut first)
        .unwrap();
    assert!(first.starts_with('{'), "{first}");
    let mut errors = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{errors}");
    assert_eq!(errors, "");
}

/// A bundled capture of nmap: the scan is in the records, on the page and in the JSON.
#[test]
fn a_scan_is_told_everywhere() {
    let scan = capture("scan.pcap");
    let found = summary(&["-r", &scan]);
    assert_eq!(found["scans"]["scan_count"], 1);
    assert_eq!(found["scans"]["flood_count"], 0);
    let scan_found = &found["scans"]["scans"][0];
    assert_eq!(
        (
            &scan_found["kind"],
            &scan_found["method"],
            &scan_found["ports"]
        ),
        (&"block".into(), &"syn".into(), &60.into())
    );
    let page = flowpin(&["run", "-r", &scan, "--format", "none"]);
    let page = stdout(&page);
    assert!(page.contains("Scans and floods  1 scan"), "{page}");
    assert!(page.contains("tried 2 hosts and 60 ports"), "{page}");
    let records = flowpin(&["run", "-r", &scan, "--output", "-", "-q"]);
    assert!(stdout(&records).contains(r#""event_type":"scan""#));
}

/// `off` wins over the settings' file, `on` as well; what is off leaves no trace.
#[test]
fn stages_can_be_switched_off_and_on() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("off.toml");
    std::fs::write(
        &config,
        "[scans]\nenabled = false\n[streams]\nenabled = false\n",
    )
    .unwrap();
    let config = config.to_str().unwrap();
    let (scan, http) = (capture("scan.pcap"), capture("http.pcapng"));
    let inputs = ["-r", &scan, "-r", &http];
    for (more, scans, streams) in [
        (&[][..], true, true),
        (&["--scans", "off"], false, true),
        (&["--streams", "off"], true, false),
        (&["-c", config], false, false),
        (&["-c", config, "--scans", "on"], true, false),
        (&["-c", config, "--streams", "on"], false, true),
    ] {
        let found = summary(&[&inputs[..], more].concat());
        assert_eq!(found["scans"]["scan_count"] != 0, scans, "{more:?}");
        assert_eq!(found["streams"]["payload_bytes"] != 0, streams, "{more:?}");
        assert_eq!(found["conservation"]["missing"], 0);
    }
    let printed = flowpin(&["run", "--scans", "off", "--print-config"]);
    assert!(stdout(&printed).contains("[scans]"), "{}", stdout(&printed));
}

/// Where nearly all packets are left out for their checksums, the summary says so, why, and what
/// helps; and it helps.
#[test]
fn bad_checksums_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(capture("scan.pcap")).unwrap();
    let connections = |path: &str, more: &[&str]| {
        let found = summary(&[&["-r", path], more].concat());
        (
            found["connections"]["total"].clone(),
            found["hints"].clone(),
        )
    };
    let (all, hints) = connections(&capture("scan.pcap"), &[]);
    assert_eq!(hints.as_array().unwrap().len(), 0);
    let word = |bytes: &[u8], at: usize| {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    };
    let mut at = 24;
    while at < bytes.len() {
        let frame = at + 16;
        at = frame + word(&bytes, at + 8);
        // IPv4 in Ethernet: its header's checksum.
        if bytes[frame + 12..frame + 14] == [8, 0] {
            bytes[frame + 24] ^= 0x55;
        }
    }
    let path = dir.path().join("bad.pcap");
    std::fs::write(&path, bytes).unwrap();
    let (none, hints) = connections(text(&path), &[]);
    assert_eq!(none, 0);
    let hint = &hints[0];
    assert_eq!(
        (hints.as_array().unwrap().len(), &hint["name"]),
        (1, &"checksums".into())
    );
    assert!(hint["packets"].as_u64().unwrap() > 100);
    let page = flowpin(&["run", "-r", text(&path), "--format", "none"]);
    let page = stdout(&page)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for words in ["were left out", "offloading", "use `-k none`"] {
        assert!(page.contains(words), "{page}");
        assert!(hint["text"].as_str().unwrap().contains(words));
    }
    let (again, hints) = connections(text(&path), &["-k", "none"]);
    assert_eq!((again, hints.as_array().unwrap().len()), (all, 0));
}

/// Logs divided among files make the logs of a run that does not divide them, whatever its shape;
/// the same option is refused where it cannot be.
#[test]
fn divided_logs_are_merged_to_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let lab = capture("lab-day.pcapng");
    let at = |name: &str| text(&dir.path().join(name)).to_owned();
    let run = |log: &str, more: &[&str]| {
        let all = [
            "run",
            "-r",
            &lab,
            "-l",
            log,
            "-q",
            "--format",
            "eve,zeek,csv",
        ];
        flowpin(&[&all, more].concat())
    };
    assert_eq!(code(&run(&at("whole"), &[])), 0);
    let names = |log: &str| -> Vec<String> {
        let files = std::fs::read_dir(log).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    for (files, shape) in [("2", "1x1"), ("3", "1x3"), ("16", "2x2")] {
        let (log, merged) = (at(shape), at(&format!("merged-{shape}")));
        let output = run(&log, &["--output-files", files, "--pipeline", shape]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let output = flowpin(&["merge", &log, "-l", &merged]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(names(&merged), names(&at("whole")));
        for name in names(&merged) {
            let read = |log: &str| std::fs::read(Path::new(log).join(&name)).unwrap();
            assert!(read(&merged) == read(&at("whole")), "{name} {shape}");
        }
        assert!(names(&log).len() > names(&merged).len());
        // A second run must not mix its files with these.
        assert_refused(&run(&log, &[]), 2, &["--force"]);
        // One log lacks a record: the others are made.
        let part = Path::new(&log).join(format!("eve.1of{files}.json"));
        let eve = std::fs::read(&part).unwrap();
        std::fs::write(&part, &eve[..eve.len() - 1]).unwrap();
        let output = flowpin(&["merge", &log, "-l", &at(&format!("again-{shape}"))]);
        assert_refused(&output, 1, &["eve.1of", "its order more"]);
        assert_eq!(
            names(&at(&format!("again-{shape}"))).len(),
            names(&merged).len() - 1
        );
    }
    assert_refused(
        &flowpin(&["merge", &at("whole")]),
        1,
        &["no log is divided"],
    );
    for (more, told) in [
        (["--output-files", "17"], "16 files at most"),
        (["--output-files", "0"], "more than 0"),
        (["--rotate", "1h"], "leave `--rotate` away"),
        (["--format", "parquet"], "leave the format parquet away"),
        (["--output", "-"], "standard output is one"),
    ] {
        let all = ["run", "-r", &lab, "-q", "--output-files", "2"];
        let all = if more[0] == "--output-files" {
            &all[..4]
        } else {
            &all[..]
        };
        let output = flowpin(&[all, &more].concat());
        assert_refused(&output, 2, &[told]);
    }
}
