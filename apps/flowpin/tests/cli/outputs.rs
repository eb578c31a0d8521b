//! Records to another program: unix sockets and TCP.

use crate::program::{assert_refused, capture, code, command, flowpin, stderr, stdout, text};
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::thread;

/// The lines are EVE's, with an identifier that no other has, for every shape the same.
#[test]
fn a_program_gets_the_lines_of_eve_with_identifiers() {
    let lab = capture("lab-day.pcapng");
    let eve = flowpin(&["run", "-q", "-r", &lab, "--output", "-"]);
    let mut first = None;
    for shape in ["1x1", "1x3", "2x2", "3x3"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("tcp://{}", listener.local_addr().unwrap());
        let peer = thread::spawn(move || {
            let mut all = String::new();
            let mut connection = listener.accept().unwrap().0;
            connection.read_to_string(&mut all).unwrap();
            all
        });
        let args = ["run", "-r", &lab, "--output", &address, "--pipeline", shape];
        let run = flowpin(&args);
        assert_eq!(code(&run), 0, "{}", stderr(&run));
        let got = peer.join().unwrap();
        let without: String = got
            .lines()
            .map(|line| format!("{{{}\n", line.split_once(',').unwrap().1))
            .collect();
        assert_eq!(without, stdout(&eve), "{shape}");
        let ids = got.lines().map(|line| line.split_once(',').unwrap().0);
        let mut ids: Vec<_> = ids.collect();
        assert!(ids.iter().all(|id| id.starts_with("{\"record_id\":\"")));
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), got.lines().count());
        assert_eq!(first.get_or_insert(got.clone()), &got, "{shape}");
    }
}

/// What is not there, or is no socket, is told in one line before anything is read.
#[test]
fn a_program_that_is_away_ends_the_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let http = capture("http.pcapng");
    let (socket, link) = (folder.path().join("s"), folder.path().join("link"));
    let run = |address: &str| flowpin(&["run", "-q", "-r", &http, "--output", address]);
    let to = format!("unix:{}", text(&socket));
    assert_refused(&run(&to), 1, &["cannot send records to", &to, "--spool"]);
    let _listener = UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink(&socket, &link).unwrap();
    let to = format!("unix:{}", text(&link));
    assert_refused(&run(&to), 1, &["no socket"]);
    assert_refused(&run("tcp://nowhere"), 2, &["tcp://HOST:PORT"]);
    let spool = ["run", "-r", &http, "--spool", "there"];
    assert_refused(&flowpin(&spool), 2, &["--output"]);
    if !cfg!(feature = "kafka") {
        assert_refused(&run("kafka://127.0.0.1:9/t"), 2, &["built without Kafka"]);
    }
    assert_refused(&run("kafka://127.0.0.1:9"), 2, &["HOST:PORT/TOPIC"]);
    let properties = ["run", "-r", &http, "--kafka-config", "there"];
    assert_refused(&flowpin(&properties), 2, &["kafka://"]);
    let both = ["run", "-r", &http, "--output", &to, "--format", "zeek"];
    assert_refused(&flowpin(&both), 2, &["only EVE JSON lines"]);
}

/// A bucket takes Parquet, in files that become whole; what else is asked for is told in one line.
#[test]
fn a_bucket_takes_whole_files_of_parquet() {
    let http = capture("http.pcapng");
    let to = ["run", "-q", "--output", "s3://flows/x"];
    let run = |more: &[&str]| flowpin(&[&to[..], more].concat());
    if !cfg!(feature = "s3") {
        assert_refused(&run(&["-r", &http]), 2, &["built without S3"]);
    }
    let eve = run(&["-r", &http, "--format", "eve"]);
    assert_refused(&eve, 2, &["only Parquet"]);
    assert_refused(&run(&["-i", "lo"]), 2, &["--rotate"]);
    assert_refused(
        &flowpin(&["run", "-r", &http, "--output", "s3://x"]),
        2,
        &["s3://BUCKET"],
    );
}

/// With a spool, the next run sends what this one could not; the exit code tells that it waits.
#[test]
fn a_spool_bridges_an_absence_over_runs() {
    let folder = tempfile::tempdir().unwrap();
    let http = capture("http.pcapng");
    let (socket, spool) = (folder.path().join("s"), folder.path().join("spool"));
    let to = format!("unix:{}", text(&socket));
    let args = [
        "run",
        "-q",
        "-r",
        &http,
        "--output",
        &to,
        "--spool",
        text(&spool),
    ];
    let alone = command(&args).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(code(&alone), 1);
    assert!(stderr(&alone).contains("is away"), "{}", stderr(&alone));
    assert!(stderr(&alone).contains("wait in"), "{}", stderr(&alone));
    let listener = UnixListener::bind(&socket).unwrap();
    let peer = thread::spawn(move || {
        let mut all = String::new();
        let mut connection = listener.accept().unwrap().0;
        connection.read_to_string(&mut all).unwrap();
        all
    });
    let run = flowpin(&args);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let got = peer.join().unwrap();
    let half = got.lines().count() / 2;
    assert!(half > 0);
    // The same capture twice: the same lines twice, which a consumer tells by their identifiers.
    assert!(got.lines().take(half).eq(got.lines().skip(half)));
}
