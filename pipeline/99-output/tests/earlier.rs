//! What is there already when a run begins, and what goes away while it writes.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_config::{Format, OutputPlan};
use flowpin_disk::{Reads, Refused};
use flowpin_output::{Disk, MessageSchemas, OutputError, Writers};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use support::{ALL_FORMATS, Random, files, plan, write_all};

fn written(plan: &OutputPlan, seed: u64) -> Result<Writers, OutputError> {
    let mut writers = Writers::open(plan)?;
    write_all(plan, &mut writers, &Random(seed).records(500))?;
    Ok(writers)
}

/// A second run into the same folder changes nothing there, in whatever format and however rotated
/// the first was.
#[test]
fn a_second_run_is_refused_and_changes_nothing() {
    for first in ALL_FORMATS {
        for second in ALL_FORMATS {
            let dir = tempfile::tempdir().unwrap();
            let mut before = plan(dir.path(), &[first]);
            before.rotate_bytes_max = (second == Format::Csv).then_some(20_000);
            written(&before, 1).unwrap();
            let left = files(dir.path());
            let error = written(&plan(dir.path(), &[second]), 2).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("--force") && !text.contains('\n'), "{text}");
            assert!(files(dir.path()) == left, "{first:?}, then {second:?}");
        }
    }
}

/// With `--force` nothing of the first run is left in the formats of the second, also where the
/// second has no such records; what is in other formats, or not ours, stays.
#[test]
fn replacing_leaves_nothing_of_the_run_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = plan(dir.path(), &[Format::ZeekTsv, Format::Csv]);
    first.rotate_bytes_max = Some(20_000);
    written(&first, 1).unwrap();
    let own = ["notes.txt", "my-conn.log", "conn.log.1"];
    for name in own {
        fs::write(dir.path().join(name), "mine").unwrap();
    }
    let before = files(dir.path());
    let mut again = plan(dir.path(), &[Format::ZeekTsv]);
    again.replace = true;
    let writers = written(&again, 2).unwrap();
    let fresh = tempfile::tempdir().unwrap();
    written(&plan(fresh.path(), &[Format::ZeekTsv]), 2).unwrap();
    let mut expected = files(fresh.path());
    let is_other = |name: &str| name.ends_with(".csv") || own.contains(&name);
    expected.extend(
        before
            .clone()
            .into_iter()
            .filter(|(name, _)| is_other(name)),
    );
    let got = files(dir.path());
    let names = |of: &BTreeMap<String, Vec<u8>>| of.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&got), names(&expected));
    let earlier = writers.summary().earlier;
    let logs = |ending: &str| {
        let ours = before.keys().filter(|name| !own.contains(&name.as_str()));
        ours.filter(|name| name.ends_with(ending)).count()
    };
    assert_eq!(earlier.replaced.len(), logs(".log"));
    assert_eq!(earlier.left.len(), logs(".csv"));
}

/// What is called like a log and is an input, a link or a pipe: refused, `--force` or not, before
/// anything is opened.
#[test]
fn inputs_links_and_pipes_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("input"), "precious").unwrap();
    let mut reads = Reads::default();
    reads.add_path(&at("input"));
    type Plant = fn(&Path, &Path);
    let plants: [(Plant, &str); 4] = [
        (
            |input, log| fs::hard_link(input, log).unwrap(),
            "read by this run",
        ),
        (
            |input, log| symlink(input, log).unwrap(),
            "read by this run",
        ),
        (
            |_, log| symlink("/dev/full", log).unwrap(),
            "a symbolic link",
        ),
        (
            |_, log| {
                let made = Command::new("mkfifo").arg(log).status();
                assert!(made.unwrap().success());
            },
            "a named pipe",
        ),
    ];
    for (plant, what) in plants {
        for replace in [false, true] {
            for format in ALL_FORMATS {
                let name = match format {
                    Format::Eve => "eve.json",
                    Format::ZeekJson => "conn.json",
                    Format::Csv => "weird.csv",
                    Format::Parquet => "scan.parquet",
                    _ => "conn-000003.log",
                };
                plant(&at("input"), &at(name));
                let mut plan = plan(dir.path(), &[format]);
                plan.replace = replace;
                let disk = Disk::new(&MessageSchemas::default(), reads.clone());
                let error = Writers::open_in(&plan, Box::new(disk)).unwrap_err();
                assert!(matches!(error, OutputError::Refused(_)), "{error}");
                assert!(error.to_string().contains(what), "{error}");
                fs::remove_file(at(name)).unwrap();
                assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
            }
        }
    }
    assert_eq!(fs::read(at("input")).unwrap(), b"precious");
}

/// A log that was removed while it was written is an error with its path; so is one whose place
/// another file took. One that was renamed is whole.
#[test]
fn a_log_that_vanished_is_an_error_at_the_end() {
    for format in ALL_FORMATS {
        for hangup in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let plan = plan(dir.path(), &[format]);
            let mut writers = Writers::open(&plan).unwrap();
            let first = files(dir.path()).into_keys().next().unwrap();
            let path = dir.path().join(&first);
            fs::remove_file(&path).unwrap();
            if hangup {
                writers.reopen().unwrap();
                assert!(path.exists(), "the run goes on");
            }
            let error = write_all(&plan, &mut writers, &Random(4).records(50)).unwrap_err();
            assert!(matches!(error, OutputError::Removed { .. }), "{error}");
            assert!(error.to_string().contains(&first), "{error}");
        }
        let dir = tempfile::tempdir().unwrap();
        let plan = plan(dir.path(), &[format]);
        let mut writers = Writers::open(&plan).unwrap();
        for name in files(dir.path()).into_keys() {
            let old = dir.path().join(&name);
            fs::rename(&old, dir.path().join(format!("{name}.1"))).unwrap();
        }
        write_all(&plan, &mut writers, &Random(4).records(50)).unwrap();
    }
}

/// `logrotate` with `create`: the empty file in the old place is taken; one that holds something is
/// somebody else's.
#[test]
fn only_an_empty_file_is_taken_over() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(dir.path(), &[Format::Eve]);
    let mut writers = Writers::open(&plan).unwrap();
    let (eve, old) = (dir.path().join("eve.json"), dir.path().join("eve.json.1"));
    fs::rename(&eve, &old).unwrap();
    fs::write(&eve, "").unwrap();
    writers.reopen().unwrap();
    fs::rename(&eve, &old).unwrap();
    fs::write(&eve, "mine").unwrap();
    writers.reopen().unwrap();
    let error = write_all(&plan, &mut writers, &Random(4).records(50)).unwrap_err();
    assert!(matches!(error, OutputError::NotRemade { .. }), "{error}");
    assert_eq!(fs::read(&eve).unwrap(), b"mine");
    let old = fs::read_to_string(&old).unwrap();
    assert_eq!(old.lines().count(), 50, "the file that was open has them");
    let told = "was not made anew after HUP: another file is there; records since then";
    assert!(error.to_string().contains(told), "{error}");
}

/// Whatever stands in the place of a log that was moved away is left alone, and costs no record:
/// the file that was open goes on, and the next HUP makes a new one if the place is free by then.
#[test]
fn a_log_goes_on_whatever_is_in_its_place() {
    type Put = fn(&Path);
    let things: [(Put, &str); 4] = [
        (|at| symlink("/dev/null", at).unwrap(), "a symbolic link"),
        (|at| fs::create_dir(at).unwrap(), "a directory"),
        (|at| fs::write(at, "mine").unwrap(), "another file"),
        (
            |at| assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
            "a named pipe",
        ),
    ];
    for format in ALL_FORMATS {
        for (put, what) in things {
            let dir = tempfile::tempdir().unwrap();
            let plan = plan(dir.path(), &[format]);
            let mut writers = Writers::open(&plan).unwrap();
            let first = files(dir.path()).into_keys().next().unwrap();
            let (log, old) = (dir.path().join(&first), dir.path().join("old"));
            fs::rename(&log, &old).unwrap();
            put(&log);
            writers.reopen().unwrap();
            let there = fs::symlink_metadata(&log).unwrap();
            let error = write_all(&plan, &mut writers, &Random(4).records(50)).unwrap_err();
            assert!(matches!(error, OutputError::NotRemade { .. }), "{error}");
            let told = error.to_string();
            assert!(told.contains(&format!(": {what} is there;")), "{told}");
            assert!(told.contains(&first) && !told.contains('\n'), "{told}");
            let after = fs::symlink_metadata(&log).unwrap();
            assert_eq!((there.ino(), there.len()), (after.ino(), after.len()));
            let written = writers
                .summary()
                .files
                .iter()
                .map(|file| file.records)
                .sum::<u64>();
            assert!(
                fs::metadata(&old).unwrap().len() > 100 && written >= 50,
                "{told}"
            );
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(dir.path(), &[Format::Eve]);
    let mut writers = Writers::open(&plan).unwrap();
    let (eve, old) = (dir.path().join("eve.json"), dir.path().join("old"));
    fs::rename(&eve, &old).unwrap();
    fs::create_dir(&eve).unwrap();
    writers.reopen().unwrap();
    fs::remove_dir(&eve).unwrap();
    writers.reopen().unwrap();
    assert!(eve.is_file(), "made anew once the place is free");
    write_all(&plan, &mut writers, &Random(4).records(50)).unwrap_err();
    assert_eq!(fs::read_to_string(&eve).unwrap().lines().count(), 50);
}

/// The reason is told once, with its cause.
#[test]
fn a_refusal_names_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(dir.path(), &[Format::ZeekTsv]);
    written(&plan, 1).unwrap();
    match Writers::open(&plan).unwrap_err() {
        OutputError::Refused(Refused::Exists { paths }) => {
            assert_eq!(paths.len(), files(dir.path()).len());
        }
        other => panic!("{other}"),
    }
}
