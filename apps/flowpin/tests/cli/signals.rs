//! Signals and silence, while the input waits for a pipe: the hardest moment to be heard in.

use crate::program::{capture, code, command, text};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A run that has read a capture from a pipe which stays open.
pub(crate) struct Waiting {
    child: Child,
    stdin: ChildStdin,
    dir: TempDir,
}

impl Waiting {
    /// Starts it; what is in `sent` will have been read.
    pub(crate) fn new(sent: &[u8], arguments: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut args = vec!["run", "-r", "-", "-l", text(dir.path())];
        args.extend(arguments);
        let mut child = command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        while !catches(child.id(), [1, 2, 10, 15]) {
            std::thread::yield_now();
        }
        stdin.write_all(sent).unwrap();
        let waiting = Self { child, stdin, dir };
        while rustix::io::ioctl_fionread(&waiting.stdin).unwrap() > 0 {
            std::thread::yield_now();
        }
        waiting
    }

    pub(crate) fn signal(&self, name: &str) {
        kill(name, self.child.id());
    }

    /// Sends the rest, and returns the exit code.
    pub(crate) fn finish(mut self, rest: &[u8]) -> Option<i32> {
        self.stdin.write_all(rest).unwrap();
        drop(self.stdin);
        self.child.wait().unwrap().code()
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }
}

/// Asks until it is so; fails, rather than hangs, if it never is.
pub(crate) fn patiently(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < NEVER, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Nothing here takes so long, however busy the machine.
const NEVER: Duration = Duration::from_secs(300);

/// Whether a process has handlers for these signals, by the kernel's word.
fn catches(pid: u32, signals: [u32; 4]) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let caught = status
        .lines()
        .find_map(|line| line.strip_prefix("SigCgt:"))
        .unwrap();
    let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
    signals
        .iter()
        .all(|signal| caught & (1 << (signal - 1)) != 0)
}

fn http() -> Vec<u8> {
    std::fs::read(capture("http.pcapng")).unwrap()
}

/// INT and TERM stop cleanly though no byte comes: what was read is written, and the exit code
/// tells which signal it was.
#[test]
fn stop_is_heard_while_the_input_waits() {
    for (name, exit) in [("INT", 130), ("TERM", 143)] {
        for shape in ["1x1", "1x2", "2x2", "3x1"] {
            let run = Waiting::new(&http(), &["--json", "--pipeline", shape]);
            run.signal(name);
            let Waiting { child, stdin, dir } = run;
            let output = child.wait_with_output().unwrap();
            drop(stdin);
            assert_eq!(code(&output), exit);
            let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(summary["conservation"]["missing"], 0);
            assert_eq!(summary["stopped_early"], true);
            assert_eq!(summary["damaged"], false);
            assert!(summary["traffic"]["packets"].as_u64().unwrap() > 0);
            let records = std::fs::read_to_string(dir.path().join("eve.json")).unwrap();
            let connections = summary["connections"]["total"].as_u64().unwrap();
            let is_flow = |line: &&str| line.contains("\"event_type\":\"flow\"");
            let flows = records.lines().filter(is_flow).count();
            assert_eq!(flows as u64, connections);
        }
    }
}

/// A pipe that falls silent keeps nothing back: what has come is analysed and its records are in
/// the file, though the piece is not full. In the end they are what they would have been without a
/// pause.
#[test]
fn records_do_not_wait_for_a_silent_pipe() {
    let lab = capture("lab-day.pcapng");
    let whole = std::fs::read(&lab).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let args = ["run", "-r", &lab, "-q", "-l", text(dir.path())];
    assert!(command(&args).status().unwrap().success());
    let expected = std::fs::read_to_string(dir.path().join("eve.json")).unwrap();
    for shape in ["1x1", "1x2", "2x2", "3x1"] {
        // Far less than a piece, and nothing but the silence ends it.
        let (first, rest) = whole.split_at(60_000);
        let mut run = Waiting::new(first, &["-q", "--pipeline", shape]);
        let eve = run.path("eve.json");
        let lines = || std::fs::read_to_string(&eve).map_or(0, |text| text.lines().count());
        patiently("records in the file", || lines() > 10);
        run.stdin.write_all(rest).unwrap();
        drop(run.stdin);
        assert_eq!(run.child.wait().unwrap().code(), Some(0));
        let records = std::fs::read_to_string(&eve).unwrap();
        assert!(records == expected, "{shape}: other records");
    }
}

/// USR1 tells how far the run is, and the run goes on.
#[test]
fn user_signal_prints_counters() {
    let mut run = Waiting::new(&http(), &["-q"]);
    run.signal("USR1");
    let mut line = String::new();
    let mut errors = BufReader::new(run.child.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    assert!(line.starts_with("flowpin: packets "), "{line}");
    assert!(line.contains(" records 0 "), "{line}");
    drop(run.stdin);
    assert_eq!(run.child.wait().unwrap().code(), Some(0));
}

/// What was lost so far stands there by name, whichever thread lost it: a run that may keep next to
/// nothing is asked until it tells of a stream that was cut short.
#[test]
fn user_signal_tells_losses() {
    let dir = tempfile::tempdir().unwrap();
    let settings = dir.path().join("shallow.toml");
    std::fs::write(&settings, "[streams]\ndepth = \"64 B\"\n").unwrap();
    for shape in ["1x1", "1x2", "3x2"] {
        let mut run = Waiting::new(&http(), &["-q", "--pipeline", shape, "-c", text(&settings)]);
        let mut errors = BufReader::new(run.child.stderr.take().unwrap());
        let mut line = String::new();
        patiently("losses in the line", || {
            run.signal("USR1");
            line.clear();
            errors.read_line(&mut line).unwrap();
            line.contains(" reassembly_depth ")
        });
        let count = line.trim_end().rsplit_once(' ').unwrap().1;
        assert!(count.parse::<u64>().unwrap() > 0, "{line}");
        drop(run.stdin);
        assert_eq!(run.child.wait().unwrap().code(), Some(0));
    }
}

/// HUP after a file was moved away, as `logrotate` does: records before stay in the old file,
/// those after are in a new one, and together they are what they would have been.
#[test]
fn hangup_makes_moved_files_anew() {
    let whole = std::fs::read(capture("lab-day.pcapng")).unwrap();
    for shape in ["1x1", "1x2", "3x2"] {
        let dir = tempfile::tempdir().unwrap();
        let lab = capture("lab-day.pcapng");
        let args = ["run", "-r", &lab, "-q", "-l", text(dir.path())];
        assert!(command(&args).status().unwrap().success());
        let expected = std::fs::read_to_string(dir.path().join("eve.json")).unwrap();

        let mut run = Waiting::new(&whole[..400_000], &["-q", "--pipeline", shape]);
        let (eve, old) = (run.path("eve.json"), run.path("eve.json.1"));
        std::fs::rename(&eve, &old).unwrap();
        run.signal("HUP");
        patiently("a file made anew", || eve.exists());
        run.stdin.write_all(&whole[400_000..]).unwrap();
        drop(run.stdin);
        assert_eq!(run.child.wait().unwrap().code(), Some(0));
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(read(&old) + &read(&eve), expected);
    }
}

/// What somebody else put in a log's place stays as it is, and costs no record: the run goes on in
/// the file that was open, and its end says so.
#[test]
fn hangup_leaves_what_is_in_a_log_s_place() {
    let whole = std::fs::read(capture("lab-day.pcapng")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let lab = capture("lab-day.pcapng");
    let args = ["run", "-r", &lab, "-q", "-l", text(dir.path())];
    assert!(command(&args).status().unwrap().success());
    let expected = std::fs::read_to_string(dir.path().join("eve.json")).unwrap();
    for shape in ["1x1", "1x2", "3x2"] {
        let mut run = Waiting::new(&whole[..400_000], &["-q", "--pipeline", shape]);
        let (eve, old) = (run.path("eve.json"), run.path("eve.json.1"));
        std::fs::rename(&eve, &old).unwrap();
        let made = Command::new("mkfifo").arg(&eve).status();
        assert!(made.unwrap().success());
        run.signal("HUP");
        // One thread hears both: once it has answered this, it has heard that.
        run.signal("USR1");
        let mut errors = BufReader::new(run.child.stderr.take().unwrap());
        let (mut counters, mut told) = (String::new(), String::new());
        errors.read_line(&mut counters).unwrap();
        run.stdin.write_all(&whole[400_000..]).unwrap();
        let Waiting {
            mut child,
            stdin,
            dir,
        } = run;
        drop(stdin);
        errors.read_to_string(&mut told).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{shape}");
        assert_eq!(told.lines().count(), 1, "{told}");
        let parts = [text(&eve), "HUP", "a named pipe is there"];
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
        assert_eq!(std::fs::read_to_string(&old).unwrap(), expected, "{shape}");
        drop(dir);
    }
}

/// One signal is enough where nobody can hear it: while a pipe that nobody reads is full. What was
/// in it is whole up to there.
#[test]
fn one_signal_ends_a_run_that_is_stuck() {
    for (name, exit) in [("INT", 130), ("TERM", 143)] {
        for shape in ["1x1", "1x2", "2x2", "3x1"] {
            let args = [
                "run",
                "-r",
                &capture(""),
                "--output",
                "-",
                "-q",
                "--pipeline",
                shape,
            ];
            let mut child = command(&args)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let unread = child.stdout.take().unwrap();
            // A pipe holds 64 KiB, if nobody asks for less.
            let is_full = || rustix::io::ioctl_fionread(&unread).unwrap() >= 4096;
            patiently("a full pipe", is_full);
            kill(name, child.id());
            let mut ended = None;
            patiently("the end", || {
                ended = child.try_wait().unwrap();
                ended.is_some()
            });
            assert_eq!(ended.unwrap().code(), Some(exit), "{shape}");
        }
    }
}

/// Likewise where the input is a named pipe that nobody writes to.
#[test]
fn one_signal_ends_a_wait_for_a_writer() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let logs = dir.path().join("logs");
    let slice = dir.path().join("x.pcap");
    for args in [
        &["run", "-r", text(&pipe), "-q", "-l", text(&logs)][..],
        &["identify", "-r", text(&pipe)],
        &["slice", "-r", text(&pipe), "-w", text(&slice), "tcp"],
    ] {
        let mut child = command(args).stdout(Stdio::null()).spawn().unwrap();
        patiently("a handler", || stops(child.id()));
        kill("TERM", child.id());
        let mut ended = None;
        patiently("the end", || {
            ended = child.try_wait().unwrap();
            ended.is_some()
        });
        assert_eq!(ended.unwrap().code(), Some(143), "{args:?}");
    }
    assert!(!slice.exists());
}

/// Logs that somebody cut while they were written, as `copytruncate` does, are no success either:
/// records are lost, and where they were is a hole.
#[test]
fn logs_that_are_cut_are_an_error() {
    let whole = std::fs::read(capture("lab-day.pcapng")).unwrap();
    for (format, log) in [("eve", "eve.json"), ("zeek", "dns.log")] {
        for shape in ["1x1", "3x1"] {
            for more in [&whole[..0], &whole[400_000..]] {
                let words = ["-q", "--format", format, "--pipeline", shape];
                let mut run = Waiting::new(&whole[..400_000], &words);
                let path = run.path(log);
                patiently("records in the file", || {
                    std::fs::metadata(&path).is_ok_and(|meta| meta.len() > 1000)
                });
                std::fs::File::create(&path).unwrap();
                run.stdin.write_all(more).unwrap();
                let Waiting { child, stdin, dir } = run;
                drop(stdin);
                let output = child.wait_with_output().unwrap();
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                assert_eq!(code(&output), 1, "{shape} {format}: {told}");
                assert!(told.contains(text(&path)) && told.contains("HUP"), "{told}");
                drop(dir);
            }
        }
    }
}

/// Logs that somebody removed while they were written are no success, whatever was analysed.
#[test]
fn logs_that_vanish_are_an_error() {
    for shape in ["1x1", "1x2", "2x2", "3x1"] {
        for format in ["eve", "zeek", "csv", "parquet"] {
            let run = Waiting::new(&http(), &["-q", "--format", format, "--pipeline", shape]);
            std::fs::remove_dir_all(run.dir.path()).unwrap();
            let Waiting { child, stdin, dir } = run;
            drop(stdin);
            let output = child.wait_with_output().unwrap();
            assert_eq!(code(&output), 1, "{shape} {format}");
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(error.lines().count(), 1, "{error}");
            assert!(error.contains(text(dir.path())), "{error}");
        }
    }
    // A new folder in the old place does not bring them back.
    let run = Waiting::new(&http(), &["-q"]);
    let path = run.dir.path().to_owned();
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    drop(run.stdin);
    let output = run.child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1);
}

pub(crate) fn kill(name: &str, id: u32) {
    let kill = format!("kill -{name} {id}");
    let killed = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(killed.success());
}

/// Whether INT and TERM have handlers.
pub(crate) fn stops(id: u32) -> bool {
    catches(id, [2, 15, 2, 15])
}
