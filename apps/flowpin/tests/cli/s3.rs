//! Parquet to a bucket: the command itself, against a server of the test kit's.
//!
//! With `FLOWPIN_TEST_LONG=1` only, because the server has to be fetched.

use crate::namespace::{Live, inside, send};
use crate::program::{assert_refused, capture, code, command, flowpin, stderr, text};
use flowpin_testkit::s3::Server;
use flowpin_testkit::{corpus, product};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread::sleep;
use std::time::Duration;

/// A server with a bucket `flows`; none, with the reason told, without the long tests.
fn server() -> Option<Server> {
    if !corpus::is_long() {
        corpus::skip("S3", "needs FLOWPIN_TEST_LONG=1");
        return None;
    }
    let server = Server::start()?;
    server.make("flows").unwrap();
    Some(server)
}

fn run(server: &Server, args: &[&str]) -> Output {
    let mut run = command(&[&["run"], args].concat());
    run.envs(server.environment()).output().unwrap()
}

/// The objects below a prefix, by the rest of their names.
fn below(objects: &BTreeMap<String, Vec<u8>>, prefix: &str) -> BTreeMap<String, Vec<u8>> {
    let named = objects.iter().filter_map(|(name, bytes)| {
        let rest = name.strip_prefix(prefix)?.strip_prefix('/')?;
        Some((rest.to_owned(), bytes.clone()))
    });
    named.collect()
}

/// Byte by byte the files of a directory, for every shape, rotated or not; the summary names them.
#[test]
fn a_bucket_gets_the_files_of_parquet() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(server) = server() else { return };
    let lab = capture("lab-day.pcapng");
    let mut wanted = BTreeMap::new();
    for (name, more) in [
        ("whole", &[][..]),
        ("hours", &["--rotate", "1 h"]),
        (
            "both",
            &["--rotate", "1 min,20 KiB", "--parquet-time", "ns"],
        ),
    ] {
        let logs = folder.join(name);
        let args = [
            "run",
            "-q",
            "-r",
            &lab,
            "--format",
            "parquet",
            "-l",
            text(&logs),
        ];
        let files = flowpin(&[&args[..], more].concat());
        assert_eq!(code(&files), 0, "{}", stderr(&files));
        for shape in ["1x1", "3x2"] {
            let to = format!("s3://flows/{name}/{shape}");
            let args = ["-r", &lab, "--json", "--pipeline", shape, "--output", &to];
            let put = run(&server, &[&args[..], more].concat());
            assert_eq!(code(&put), 0, "{}", stderr(&put));
            let summary: Value = serde_json::from_slice(&put.stdout).unwrap();
            assert!(
                summary.to_string().contains(&format!("{to}/conn")),
                "{summary}"
            );
            wanted.insert(format!("{name}/{shape}"), product::files(&logs).unwrap());
        }
    }
    let objects = server.objects("flows", &folder.join("got")).unwrap();
    assert!(wanted.values().all(|files| files.len() > 5));
    for (prefix, files) in &wanted {
        let got = below(&objects, prefix);
        assert!(got.keys().eq(files.keys()), "{prefix}: {:?}", got.keys());
        assert!(got == *files, "{prefix}");
    }
    server.check_uploads("flows").unwrap();
}

/// What cannot be used is told in one line before anything is read.
#[test]
fn a_bucket_that_cannot_be_used_is_told_in_one_line() {
    let Some(server) = server() else { return };
    let http = capture("http.pcapng");
    let put = |to: &str, more: &[&str]| {
        let args = ["-q", "-r", &http, "--output", to];
        run(&server, &[&args[..], more].concat())
    };
    let first = put("s3://flows/one", &[]);
    assert_eq!(code(&first), 0, "{}", stderr(&first));
    assert_refused(&put("s3://flows/one/", &[]), 2, &["has objects", "--force"]);
    assert_eq!(code(&put("s3://flows/one", &["--force"])), 0);
    // Another prefix that only begins like it.
    assert_eq!(code(&put("s3://flows/on", &[])), 0);
    let none = put("s3://absent/one", &[]);
    assert_refused(&none, 2, &["s3://absent/one", "no such bucket"]);
    assert_refused(&put("s3://flows/a b", &[]), 2, &["s3://BUCKET/PREFIX"]);
    let eve = put("s3://flows/two", &["--format", "eve"]);
    assert_refused(&eve, 2, &["only Parquet"]);
    server.cut(true);
    let away = put("s3://flows/two", &[]);
    assert_refused(
        &away,
        1,
        &["cannot send records to s3://flows/two", "--spool"],
    );
}

/// What a bucket has not taken waits in the spool, and the next run puts it where it belongs.
#[test]
fn a_spool_bridges_the_absence_of_a_bucket() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(server) = server() else { return };
    let (http, lab) = (capture("http.pcapng"), capture("lab-day.pcapng"));
    let (spool, logs) = (folder.join("spool"), folder.join("logs"));
    let put = |capture: &str, to: &str| {
        let args = ["-q", "-r", capture, "--output", to, "--spool", text(&spool)];
        run(&server, &args)
    };
    server.cut(true);
    let away = put(&lab, "s3://flows/first");
    assert_eq!(code(&away), 1, "{}", stderr(&away));
    assert!(stderr(&away).contains("wait in"), "{}", stderr(&away));
    server.cut(false);
    let back = put(&http, "s3://flows/second");
    assert_eq!(code(&back), 0, "{}", stderr(&back));
    let objects = server.objects("flows", &folder.join("got")).unwrap();
    for (prefix, capture) in [("first", &lab), ("second", &http)] {
        let logs = logs.join(prefix);
        let args = [
            "run",
            "-q",
            "-r",
            capture,
            "--format",
            "parquet",
            "-l",
            text(&logs),
        ];
        assert_eq!(code(&flowpin(&args)), 0);
        assert!(below(&objects, prefix) == product::files(&logs).unwrap());
    }
    assert!(fs::read_dir(&spool).unwrap().next().is_none());
    // A bucket that is gone holds up no other; its files stay.
    server.cut(true);
    assert_eq!(code(&put(&http, "s3://flows/third")), 1);
    server.cut(false);
    fs::write(spool.join("run-000001/to"), "s3://absent/third").unwrap();
    let other = put(&http, "s3://flows/fourth");
    assert_eq!(code(&other), 0, "{}", stderr(&other));
    assert!(stderr(&other).contains("stays there: s3://absent/third: there is no such bucket"));
    assert!(spool.join("run-000001/conn.parquet").exists());
}

/// Confined, a run puts what its recording gives, also after an absence of the bucket.
#[test]
fn a_confined_run_puts_its_files() {
    if !corpus::is_long() {
        return corpus::skip("S3", "needs FLOWPIN_TEST_LONG=1");
    }
    inside("s3::a_confined_run_puts_its_files", live);
}

fn live() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(server) = server() else { return };
    let (recording, logs) = (folder.join("all.pcapng"), folder.join("logs"));
    let to = ["--output", "s3://flows/live"];
    let environment = server.environment();
    let refused = command(&[&["run", "-i", "b"], &to[..]].concat());
    let refused = { refused }.envs(environment.clone()).output().unwrap();
    assert_refused(&refused, 2, &["--rotate"]);
    let rotate = ["--rotate", "10 KiB"];
    let args = [&to[..], &rotate, &["-w", text(&recording)]].concat();
    let live = Live::start(folder, &args, &environment);
    assert!(live.is_confined(), "{}", live.told());
    send("7");
    sleep(Duration::from_secs(2));
    server.cut(true);
    send("8");
    sleep(Duration::from_secs(2));
    server.cut(false);
    send("9");
    sleep(Duration::from_secs(1));
    let told = live.told();
    assert_eq!(live.stop(), 0, "{told}");
    let args = [
        "-r",
        text(&recording),
        "--format",
        "parquet",
        "-l",
        text(&logs),
    ];
    let again = flowpin(&[&["run", "-q"], &rotate[..], &args].concat());
    assert_eq!(code(&again), 0, "{}", stderr(&again));
    let objects = server.objects("flows", &folder.join("got")).unwrap();
    let rows = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    let files = product::files(Path::new(&logs)).unwrap();
    assert!(
        below(&objects, "live") == files,
        "{:?} {:?}",
        rows(&objects),
        rows(&files)
    );
}
