//! A full disk, a file that cannot be made, a reader that leaves: what is left is whole.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_config::{Format, OutputPlan};
use flowpin_output::{OutputError, Writers};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::io::ErrorKind;
use std::path::Path;
use support::{ALL_FORMATS, FullAt, Random, files, plan, write_all};

/// However much space there is: the error names the file, and every file ends with a whole
/// record; Parquet can be read.
#[test]
fn a_full_disk_leaves_whole_records() {
    let records = Random(7).records(3000);
    let mut failed_in = std::collections::BTreeSet::new();
    let all = &ALL_FORMATS[..];
    for (formats, files) in [
        (all, 1),
        (&[Format::Csv], 1),
        (&[Format::Parquet], 1),
        (&[Format::Eve, Format::ZeekTsv], 3),
    ] {
        for space in (0..400_000).step_by(13_777) {
            let medium = FullAt::bytes(space);
            let mut plan = plan(Path::new("/tmp"), formats);
            plan.files = files;
            let opened = Writers::open_in(&plan, Box::new(medium.clone()));
            let error = match opened {
                Ok(mut writers) => match write_all(&plan, &mut writers, &records) {
                    Ok(()) => continue,
                    Err(error) => {
                        assert!(writers.is_closed());
                        assert!(writers.finish().is_ok(), "a failure is told once");
                        check_summary(&writers, &medium);
                        error
                    }
                },
                Err(error) => error,
            };
            assert!(matches!(error, OutputError::Write { .. }), "{error}");
            let text = error.to_string();
            assert!(
                text.contains("free some space") && !text.contains('\n'),
                "{text}"
            );
            failed_in.insert(error.path().cloned());
            check_contents(&medium);
        }
    }
    assert!(failed_in.len() > 3, "{failed_in:?}");
}

/// Every text file ends with a whole line, every Parquet file can be read.
fn check_contents(medium: &FullAt) {
    for (path, bytes) in medium.contents() {
        if path.extension().unwrap() == "parquet" {
            // One that had no space for its first few bytes is empty.
            if !bytes.is_empty() {
                parquet_rows(bytes);
            }
        } else {
            assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "{path:?}");
        }
    }
}

/// The summary says how long the files really are and how many records are really in them.
fn check_summary(writers: &Writers, medium: &FullAt) {
    let contents = medium.contents();
    for file in writers.summary().files {
        let bytes = &contents[&file.path];
        assert_eq!(file.bytes, bytes.len() as u64, "{:?}", file.path);
        let rows = match file.path.extension().unwrap().to_str().unwrap() {
            "parquet" if bytes.is_empty() => 0,
            "parquet" => parquet_rows(bytes.clone()),
            "csv" => lines(bytes).saturating_sub(1),
            _ => lines(bytes),
        };
        assert_eq!(file.records, rows, "{:?}", file.path);
    }
}

fn lines(bytes: &[u8]) -> u64 {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).count() as u64
}

fn parquet_rows(bytes: Vec<u8>) -> u64 {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes_of(bytes)).unwrap();
    reader
        .build()
        .unwrap()
        .map(|batch| batch.unwrap().num_rows() as u64)
        .sum()
}

fn bytes_of(bytes: Vec<u8>) -> std::fs::File {
    use std::io::Write;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    file
}

/// A disk that fills up between two row groups: the first one stays readable.
#[test]
fn parquet_keeps_its_finished_row_groups() {
    let records: Vec<_> = (0..140_000)
        .map(|number| {
            let key = flowpin_record::RecordKey {
                time: support::START,
                number,
                ordinal: 0,
            };
            let uid = flowpin_record::Uid(number);
            (
                key,
                support::Any::Conn(flowpin_record::ConnRecord {
                    uid,
                    ..support::web()
                }),
            )
        })
        .collect();
    let plan = plan(Path::new("/tmp"), &[Format::Parquet]);
    let whole = FullAt::bytes(u64::MAX / 2);
    let mut writers = Writers::open_in(&plan, Box::new(whole.clone())).unwrap();
    write_all(&plan, &mut writers, &records).unwrap();
    let len = whole.contents().values().next().unwrap().len() as u64;
    let medium = FullAt::bytes(len - 100);
    let mut writers = Writers::open_in(&plan, Box::new(medium.clone())).unwrap();
    write_all(&plan, &mut writers, &records).unwrap_err();
    check_summary(&writers, &medium);
    assert_eq!(writers.summary().files[0].records, 131_072);
}

/// A reader that has seen enough is no failure.
#[test]
fn a_reader_that_leaves_is_success() {
    let records = Random(8).records(3000);
    let mut medium = FullAt::bytes(100_000);
    medium.error = Some(ErrorKind::BrokenPipe);
    let plan = OutputPlan {
        to_stdout: true,
        ..plan(Path::new("/nowhere"), &[Format::Csv])
    };
    let mut writers = Writers::open_in(&plan, Box::new(medium.clone())).unwrap();
    write_all(&plan, &mut writers, &records).unwrap();
    assert!(writers.is_closed() && writers.summary().reader_left);
    let text = medium.contents().into_values().next().unwrap();
    assert!(text.starts_with(b"{\"timestamp\":"));
}

/// A directory that cannot be made is told when the files are opened, not hours later.
#[test]
fn what_is_wrong_with_the_directory_is_said_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Writers::open(&plan(&file.join("below"), &[Format::Eve])).unwrap_err();
    assert!(matches!(error, OutputError::Directory { .. }), "{error}");
    assert!(error.to_string().contains("-l"), "{error}");
    std::fs::create_dir(dir.path().join("eve.json")).unwrap();
    let error = Writers::open(&plan(dir.path(), &[Format::Eve])).unwrap_err();
    assert!(matches!(error, OutputError::Refused(_)), "{error}");
}

/// The directory of a small file system, for the test below; in a child process only.
const SMALL_DISK: &str = "FLOWPIN_SMALL_DISK";

/// Fills a small file system. Runs in the child process that
/// [`a_really_full_disk_leaves_whole_records`] starts.
#[test]
#[ignore = "needs the small disk that another test makes"]
fn fill_the_small_disk() {
    let Some(dir) = std::env::var_os(SMALL_DISK) else {
        return;
    };
    let dir = Path::new(&dir);
    for formats in [&[Format::Eve][..], &[Format::Parquet], &ALL_FORMATS] {
        let plan = plan(&dir.join("logs"), formats);
        let mut writers = Writers::open(&plan).unwrap();
        let records = Random(7).records(20_000);
        let error = write_all(&plan, &mut writers, &records).unwrap_err();
        println!("{error}");
        let text = error.to_string();
        assert!(text.contains("free some space"), "{text}");
        let written = files(&plan.dir);
        assert!(!written.is_empty());
        for (name, bytes) in written {
            match name.rsplit_once('.').unwrap().1 {
                "parquet" if bytes.is_empty() => {}
                "parquet" => drop(parquet_rows(bytes)),
                _ => assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "{name}"),
            }
        }
        std::fs::remove_dir_all(&plan.dir).unwrap();
    }
}

/// A file system that the kernel says is full, as far as a test may mount one.
#[test]
fn a_really_full_disk_leaves_whole_records() {
    let dir = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=400k none '{dir}' || exit 77
         {SMALL_DISK}='{dir}' exec '{program}' --exact fill_the_small_disk --ignored --nocapture",
        dir = dir.path().display(),
        program = program.display(),
    );
    let unshare = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .output();
    match unshare {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("1 passed"), "{said}");
        }
        Ok(output) if output.status.code() == Some(101) => {
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        }
        _ => println!("skipped: no file system may be mounted here"),
    }
}
