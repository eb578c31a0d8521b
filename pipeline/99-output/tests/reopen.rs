//! Files that are moved away while they are written: nothing is lost, nothing is written twice.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_config::{Format, OutputPlan};
use flowpin_output::{Formatter, Merger, Writers};
use flowpin_packet::Timestamp;
use flowpin_record::RecordKey;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs;
use std::path::Path;
use support::{ALL_FORMATS, Any, Random, plan, put};

/// Formatter and merger of one worker.
struct Feeder(Formatter, Merger);

impl Feeder {
    fn new(plan: &OutputPlan) -> Self {
        Self(Formatter::new(plan), Merger::new(1))
    }

    /// Writes records; those of the last moment wait for the next call.
    fn push(&mut self, records: &[(RecordKey, Any)], writers: &mut Writers) {
        let Self(formatter, merger) = self;
        for (key, record) in records {
            put(formatter, *key, record);
        }
        let last = records.last().unwrap().0.time;
        merger.push(0, formatter.take_batch(Timestamp(last.0 - 1)));
        merger
            .drain(writers, |_, batch| formatter.recycle(batch))
            .unwrap();
    }

    fn finish(mut self, writers: &mut Writers) {
        self.1.push(0, self.0.take_batch(Timestamp::MAX));
        self.1.drain(writers, |_, _| ()).unwrap();
        writers.finish().unwrap();
    }
}

/// Records of a file in whatever format, by its name.
fn count(path: &Path) -> usize {
    if path.to_str().unwrap().contains(".parquet") {
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(fs::File::open(path).unwrap()).unwrap();
        return usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap();
    }
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{path:?} ends within a line");
    let comments = text.lines().filter(|line| line.starts_with('#')).count();
    let header = usize::from(path.to_str().unwrap().contains(".csv"));
    text.lines().count() - comments - header
}

/// What `logrotate` does: files are renamed, then we are told. Records before are complete in
/// the old file, those after in a new one with its own header.
#[test]
fn records_before_and_after_a_move_are_in_whole_files() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(dir.path(), &ALL_FORMATS);
    let records = Random(3).records(4000);
    let mut writers = Writers::open(&plan).unwrap();
    let mut feeder = Feeder::new(&plan);
    feeder.push(&records[..1500], &mut writers);
    let before: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    for path in &before {
        fs::rename(path, format!("{}.1", path.display())).unwrap();
    }
    writers.reopen().unwrap();
    for path in &before {
        assert!(path.exists(), "{path:?} is made anew at once");
    }
    feeder.push(&records[1500..], &mut writers);
    feeder.finish(&mut writers);
    let eve = dir.path().join("eve.json");
    let moved = dir.path().join("eve.json.1");
    assert_eq!(count(&moved) + count(&eve), 4000);
    assert!((1400..=1500).contains(&count(&moved)));
    for path in &before {
        let whole = count(Path::new(&format!("{}.1", path.display()))) + count(path);
        let files = writers.summary().files;
        let told = files.iter().filter(|file| file.path == *path);
        assert_eq!(whole as u64, told.map(|file| file.records).sum::<u64>());
    }
}

/// Told without a reason, everything goes on as it was: no file is emptied, no header repeated.
#[test]
fn files_that_stay_are_not_touched() {
    let (told, quiet) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let records = Random(5).records(3000);
    for (dir, reopens) in [(&told, true), (&quiet, false)] {
        let plan = plan(dir.path(), &[Format::Eve, Format::ZeekTsv, Format::Parquet]);
        let mut writers = Writers::open(&plan).unwrap();
        let mut feeder = Feeder::new(&plan);
        for part in records.chunks(700) {
            feeder.push(part, &mut writers);
            if reopens {
                writers.reopen().unwrap();
            }
        }
        feeder.finish(&mut writers);
    }
    assert_eq!(support::files(told.path()), support::files(quiet.path()));
}
