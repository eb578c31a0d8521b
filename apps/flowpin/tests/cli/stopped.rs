//! Commands that write one file, stopped in its midst: the file is whole or is not there.

use crate::program::{capture, code, command, flowpin, text};
use crate::signals::{kill, patiently, stops};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// What is made without end leaves neither a trace nor its truth.
#[test]
fn a_trace_that_is_stopped_is_not_there() {
    for (name, exit) in SIGNALS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.pcap");
        let args = [
            "gen",
            "http",
            "--connections",
            "50000000",
            "-w",
            text(&path),
        ];
        let mut command = command(&args);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let child = child.unwrap();
        patiently("handlers", || stops(child.id()));
        patiently("a trace", || !is_empty(dir.path()));
        kill(name, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), exit, "{output:?}");
        assert!(is_empty(dir.path()), "{name}");
    }
}

/// One that waits for the rest of a pipe leaves nothing either, nor does it harm what was there.
#[test]
fn copies_that_are_stopped_are_not_there() {
    let whole = std::fs::read(capture("lab-day.pcapng")).unwrap();
    let words = ["gen", "replicate", "--copies", "2", "-r", "-"];
    for force in [false, true] {
        for (name, exit) in SIGNALS {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("out.pcapng");
            let mut args = words.to_vec();
            args.extend(["-w", text(&path)]);
            if force {
                std::fs::write(&path, "before").unwrap();
                args.push("--force");
            }
            let mut command = command(&args);
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            patiently("handlers", || stops(child.id()));
            stdin.write_all(&whole[..400_000]).unwrap();
            patiently("its input", || {
                rustix::io::ioctl_fionread(&stdin).unwrap() == 0
            });
            kill(name, child.id());
            let output = child.wait_with_output().unwrap();
            drop(stdin);
            assert_eq!(code(&output), exit, "{words:?} {output:?}");
            let left = std::fs::read_dir(dir.path()).unwrap().count();
            assert_eq!(left, usize::from(force), "{words:?}");
            if force {
                assert_eq!(std::fs::read(&path).unwrap(), b"before");
            }
        }
    }
}

/// What asks for counters, and a hangup beside TERM, as at the end of a session in any order, do no
/// harm: the end is an orderly one.
#[test]
fn a_hangup_beside_another_signal_is_no_second_one() {
    for (names, exit) in [
        (&["USR1", "TERM", "HUP"][..], 143),
        (&["HUP", "TERM"], 143),
        (&["USR1", "HUP", "HUP"], 129),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.pcap");
        let words = ["gen", "http", "--connections", "50000000", "-w"];
        let mut command = command(&[&words[..], &[text(&path)]].concat());
        let child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
        let child = child.unwrap();
        patiently("handlers", || stops(child.id()));
        patiently("a trace", || !is_empty(dir.path()));
        // All at once, and not one after the other.
        kill("STOP", child.id());
        names.iter().for_each(|name| kill(name, child.id()));
        kill("CONT", child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), exit, "{names:?} {output:?}");
        assert!(output.stderr.is_empty(), "{names:?} {output:?}");
        assert!(is_empty(dir.path()), "{names:?}");
    }
}

/// Under `nohup` the end of the session does not end the command.
#[test]
fn nohup_is_heeded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.pcapng");
    let program = env!("CARGO_BIN_EXE_flowpin");
    let line = format!(
        "trap '' HUP; exec {program} gen replicate --copies 2 -r - -w {}",
        text(&path)
    );
    let mut shell = std::process::Command::new("bash");
    let shell = shell.args(["-c", &line]).stdin(Stdio::piped());
    let mut child = shell.stdout(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    patiently("handlers", || stops(child.id()));
    kill("HUP", child.id());
    kill("USR1", child.id());
    let whole = std::fs::read(capture("http.pcapng")).unwrap();
    stdin.write_all(&whole).unwrap();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(path.exists());
}

/// Where nobody can be told (a full disk behind standard error), the exit code still tells.
#[test]
fn exit_codes_stand_though_nothing_can_be_told() {
    let http = capture("http.pcapng");
    for (args, exit) in [
        (
            &["run", "-r", "/none/there.pcap", "--format", "none"][..],
            3,
        ),
        (
            &[
                "run",
                "-r",
                &http,
                "--filter",
                "nonsense at all",
                "--format",
                "none",
            ][..],
            2,
        ),
        (&["run", "--no-such-option"][..], 2),
        (&["run", "-r", &http, "--output", "-"][..], 0),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = command(args);
        let status = command.stdout(Stdio::null()).stderr(full.unwrap()).status();
        assert_eq!(status.unwrap().code(), Some(exit), "{args:?}");
    }
    let full = std::fs::File::options().write(true).open("/dev/full");
    let help = command(&["--help"]).stdout(full.unwrap()).output().unwrap();
    assert_eq!(code(&help), 1, "help could not be written");
    assert_eq!(code(&flowpin(&["--help"])), 0);
}
