//! What is read and written: inputs that cannot be opened, an output that is full.

#[cfg(target_os = "linux")]
use crate::program::command;
use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, text};

/// A full standard output gives no advice about directories of logs that there are not.
#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_told_as_that() {
    let http = capture("http.pcapng");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let mut run = command(&["run", "-q", "-r", &http, "--output", "-"]);
    let output = run.stdout(full.unwrap()).output().unwrap();
    assert_refused(&output, 1, &["standard output", "where it goes"]);
    assert!(!stderr(&output).contains("another directory"));
}

/// The length of a body is told as it was sent, whether or not somebody decodes it.
#[test]
fn length_of_a_body_is_that_on_the_wire() {
    let http = capture("http.pcapng");
    let lengths = |more: &[&str]| -> Vec<u64> {
        let args = [&["run", "-q", "-r", &http, "--output", "-"], more].concat();
        let output = flowpin(&args);
        let lines = stdout(&output).lines();
        let events = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let of_http = events.filter(|event| event["event_type"] == "http");
        of_http
            .map(|event| event["http"]["length"].as_u64().unwrap())
            .collect()
    };
    let plain = lengths(&[]);
    assert!(plain.iter().any(|&len| len > 0));
    assert_eq!(lengths(&["--hash", "md5"]), plain);
}

/// Input that cannot be read: exit code 3, the path, nothing written.
#[test]
fn unreadable_input_is_one_line_with_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(empty.join("notes.txt"), "no capture").unwrap();
    let notes = empty.join("notes.txt");
    for path in ["/does/not/exist.pcap", text(&empty), text(&notes)] {
        let output = flowpin(&["run", "-r", path, "-l", text(&logs)]);
        assert_refused(&output, 3, &[path]);
        assert!(!logs.exists());
    }
    let output = flowpin(&["run", "-r", "/does/not/exist.pcap"]);
    assert_eq!(stderr(&output).matches("os error").count(), 1);
}

/// A file and a folder without permission are named as that; the rest is analysed (exit code 4).
#[test]
#[cfg(target_os = "linux")]
fn what_may_not_be_opened_in_a_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let dir = tempfile::tempdir().unwrap();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let (file, folder) = (dir.path().join("locked.pcap"), dir.path().join("locked"));
    std::fs::copy(capture("http.pcapng"), dir.path().join("open.pcapng")).unwrap();
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir(&folder).unwrap();
    mode(dir.path(), 0o755);
    mode(&dir.path().join("open.pcapng"), 0o644);
    let words = [
        "run",
        "-r",
        text(dir.path()),
        "--format",
        "none",
        "-q",
        "--json",
    ];
    let mut run = command(&words);
    // Root may open everything, so somebody else must try: nobody.
    if std::fs::metadata("/proc/self")
        .unwrap()
        .permissions()
        .mode()
        > 0
        && std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
    {
        run.uid(65534);
    }
    for locked in [&file, &folder] {
        mode(locked, 0o000);
    }
    let outcome = run.output();
    mode(&folder, 0o755);
    let Ok(output) = outcome else {
        return println!("skipped: the program cannot be run as another user");
    };
    let told = stderr(&output);
    assert_eq!(code(&output), 4, "{told}");
    for name in ["locked.pcap", "locked"] {
        let path = dir.path().join(name);
        let line = format!("{}: cannot be opened: Permission denied", text(&path));
        assert!(told.contains(&line), "{told}");
        assert!(told.contains("; the other inputs are analysed"), "{told}");
    }
    assert!(!told.contains("at byte 0"), "{told}");
    // `-q` with `--json` is the summary alone.
    let summary: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert!(summary["traffic"]["packets"].as_u64().unwrap() > 0);
}
