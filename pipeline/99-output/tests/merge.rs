//! The first promise: the files do not depend on how the records were spread over workers.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_config::{Format, OutputPlan};
use flowpin_disk::Existing;
use flowpin_output::{AssembleError, Formatter, Merger, Writers, assemble};
use flowpin_packet::Timestamp;
use flowpin_record::{RecordKey, RecordSink};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use support::{ALL_FORMATS, Any, Random, SECOND, files, longest, plan, put, web};

/// Writes records over `workers` formatters, with ticks every `tick` records, and returns the
/// files. Within a tick each worker gets its records in an order of its own.
fn spread(
    records: &[(RecordKey, Any)],
    workers: usize,
    tick: usize,
    seed: u64,
    change: impl Fn(&mut OutputPlan),
) -> BTreeMap<String, Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(dir.path(), &ALL_FORMATS);
    change(&mut plan);
    let mut random = Random(seed);
    let mut formatters: Vec<_> = (0..workers).map(|_| Formatter::new(&plan)).collect();
    let mut merger = Merger::new(workers);
    let mut writers = Writers::open(&plan).unwrap();
    for chunk in records.chunks(tick) {
        let mut chunk = chunk.to_vec();
        for from in 1..chunk.len() {
            chunk.swap(from, random.below(from as u64 + 1) as usize);
        }
        for (key, record) in &chunk {
            let worker = random.below(workers as u64) as usize;
            put(&mut formatters[worker], *key, record);
        }
        // The watermark is that of a coarse clock: some records are held for later ticks.
        let last = chunk.iter().map(|(key, _)| key.time).max().unwrap();
        let watermark = Timestamp(last.0 / (SECOND / 4) * (SECOND / 4) - 1);
        for (number, formatter) in formatters.iter_mut().enumerate() {
            // Not every worker delivers at once: the merger waits for the slowest.
            if random.below(4) > 0 {
                merger.push(number, formatter.take_batch(watermark));
            }
        }
        merger
            .drain(&mut writers, |number, batch| {
                formatters[number].recycle(batch)
            })
            .unwrap();
    }
    for (number, formatter) in formatters.iter_mut().enumerate() {
        merger.push(number, formatter.take_batch(Timestamp::MAX));
        assert_eq!(formatter.held_bytes(), 0);
    }
    merger
        .drain(&mut writers, |number, batch| {
            formatters[number].recycle(batch)
        })
        .unwrap();
    writers.finish().unwrap();
    let summary = writers.summary();
    let limited = plan.total_bytes_max.is_some();
    assert!(limited || summary.written.iter().sum::<u64>() == records.len() as u64);
    assert_eq!(summary.built.iter().sum::<u64>(), records.len() as u64);
    let files = files(dir.path());
    assert_eq!(summary.files.len(), files.len());
    for info in &summary.files {
        let name = info.path.file_name().unwrap().to_str().unwrap();
        assert_eq!(info.bytes, files[name].len() as u64, "{name}");
    }
    files
}

fn assert_same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    assert!(
        one.keys().eq(other.keys()),
        "{:?} {:?}",
        one.keys(),
        other.keys()
    );
    for (name, bytes) in one {
        assert!(*bytes == other[name], "{name} differs");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Any number of workers, any ticks, any order within a tick: the same bytes in all files.
    #[test]
    fn files_do_not_depend_on_the_number_of_workers(seed in any::<u64>(), tick in 1_usize..200) {
        let records = Random(seed).records(600);
        let one = spread(&records, 1, 600, 0, |_| {});
        for workers in 1..=7 {
            assert_same(&one, &spread(&records, workers, tick, seed, |_| {}));
        }
    }

    /// Nor do the borders between rotated files, nor where the limit over all files stops.
    #[test]
    fn rotation_and_limits_do_not_depend_on_the_number_of_workers(
        seed in any::<u64>(), tick in 1_usize..200,
    ) {
        let records = Random(seed).records(600);
        let changes: [fn(&mut OutputPlan); 4] = [
            |plan| plan.rotate_every_ns = Some(60 * SECOND),
            |plan| plan.rotate_bytes_max = Some(20_000),
            |plan| (plan.rotate_every_ns, plan.rotate_bytes_max) = (Some(60 * SECOND), Some(5000)),
            |plan| plan.total_bytes_max = Some(100_000),
        ];
        for change in changes {
            let one = spread(&records, 1, 600, 0, change);
            for workers in [2, 5] {
                assert_same(&one, &spread(&records, workers, tick, seed, change));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// Logs that are divided among files, whoever writes these, make the logs that they would be.
    #[test]
    fn divided_logs_make_the_whole(
        seed in any::<u64>(), count in 2_u16..=16, tick in 1_usize..200,
    ) {
        let records = Random(seed).records(600);
        let one = spread(&records, 1, 600, 0, |_| {});
        for (workers, threads) in [(1, true), (3, true), (4, false)] {
            let files = spread(&records, workers, tick, seed, |plan| {
                (plan.files, plan.file_threads) = (count, threads);
            });
            let dir = tempfile::tempdir().unwrap();
            for (name, bytes) in &files {
                std::fs::write(dir.path().join(name), bytes).unwrap();
            }
            let mut whole = assembled(dir.path());
            whole.extend(files.into_iter().filter(|(name, _)| name.ends_with("parquet")));
            assert_same(&one, &whole);
        }
    }
}

/// The logs that are made of all divided ones in a directory.
fn assembled(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let to = tempfile::tempdir().unwrap();
    for order in flowpin_output::divided_logs(dir).unwrap() {
        let made = assemble(&order, to.path(), Existing::Refuse).unwrap();
        let again = assemble(&order, to.path(), Existing::Refuse).unwrap_err();
        assert!(matches!(again, AssembleError::Refused(_)), "{again}");
        let text = std::fs::read(&made.path).unwrap();
        let lines = memchr::memchr_iter(b'\n', &text).count() as u64;
        assert!(
            made.records <= lines && made.records + 10 > lines,
            "{made:?}"
        );
    }
    files(to.path())
}

/// What does not fit together is told, and leaves no log; nor is the one that was there changed.
#[test]
fn files_that_do_not_fit_make_no_log() {
    let records = Random(11).records(200);
    let files = spread(&records, 1, 600, 0, |plan| plan.files = 2);
    let order = String::from_utf8(files["eve.json.order"].clone()).unwrap();
    let (head, runs) = order.split_once('\n').unwrap();
    let eve = String::from_utf8(files["eve.1of2.json"].clone()).unwrap();
    let cases = [
        ("eve.json.order", format!("{order}a\n"), "has"),
        (
            "eve.json.order",
            format!("{head}\n"),
            "more than the 0 records",
        ),
        (
            "eve.json.order",
            format!("{head}\nc\n{runs}"),
            "eve.json.order:2",
        ),
        (
            "eve.json.order",
            format!("{head}\na0\n{runs}"),
            "eve.json.order:2",
        ),
        (
            "eve.json.order",
            format!("{head}\na+1\n{runs}"),
            "eve.json.order:2",
        ),
        (
            "eve.json.order",
            format!("{head}\n\n{runs}"),
            "eve.json.order:2",
        ),
        (
            "eve.json.order",
            format!("#order 0\n{runs}"),
            "eve.json.order:1",
        ),
        (
            "eve.json.order",
            format!("#order 99999999\n{runs}"),
            "eve.json.order:1",
        ),
        ("eve.json.order", String::new(), "eve.json.order:1"),
        (
            "eve.1of2.json",
            eve[..eve.len() - 1].to_owned(),
            "eve.1of2.json has",
        ),
        (
            "eve.1of2.json",
            eve.clone() + "half a line",
            "eve.1of2.json has more",
        ),
        (
            "eve.1of2.json",
            String::new(),
            "eve.1of2.json has 0 records",
        ),
    ];
    for (name, text, told) in cases {
        let dir = tempfile::tempdir().unwrap();
        for part in ["eve.json.order", "eve.1of2.json", "eve.2of2.json"] {
            std::fs::write(dir.path().join(part), &files[part]).unwrap();
        }
        std::fs::write(dir.path().join(name), text).unwrap();
        std::fs::write(dir.path().join("eve.json"), "before\n").unwrap();
        let order = dir.path().join("eve.json.order");
        let error = assemble(&order, dir.path(), Existing::Replace).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(told) && !error.contains('\n'),
            "{name}: {error}"
        );
        let left = std::fs::read(dir.path().join("eve.json")).unwrap();
        assert_eq!(left, b"before\n", "{name}: {error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4);
    }
}

/// Records with one key must not be (the engine sees to that), but if they are, the order is
/// still not that of the workers.
#[test]
fn ties_are_ordered_by_what_the_records_say() {
    let time = support::START;
    let (key, mut records) = (
        RecordKey {
            time,
            ..RecordKey::default()
        },
        Vec::new(),
    );
    for _ in 0..20 {
        records.push((key, Any::Conn(web())));
        records.push((key, Any::Conn(longest())));
    }
    let one = spread(&records, 1, 40, 0, |_| {});
    assert_same(&one, &spread(&records, 3, 7, 9, |_| {}));
}

/// No text file passes the limit, unless by its one record; together they hold all records.
#[test]
fn rotated_files_stay_below_the_limit_and_lose_nothing() {
    let records = Random(5).records(600);
    let change = |plan: &mut OutputPlan| plan.formats = vec![Format::Eve];
    let whole = spread(&records, 1, 600, 0, change);
    let parts = spread(&records, 1, 600, 0, |plan| {
        change(plan);
        plan.rotate_bytes_max = Some(10_000);
    });
    assert!(parts.len() > 20);
    assert!(parts.values().all(|bytes| bytes.len() <= 10_000));
    let names: Vec<_> = parts.keys().cloned().collect();
    assert_eq!(names[..2], ["eve-000000.json", "eve-000001.json"]);
    assert_eq!(
        whole["eve.json"],
        parts.into_values().collect::<Vec<_>>().concat()
    );
}

/// The limit is kept, what is over it is counted, and what was written are the first records.
#[test]
fn records_over_the_limit_are_counted() {
    let records = Random(6).records(600);
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(dir.path(), &[Format::Eve]);
    plan.total_bytes_max = Some(50_000);
    let mut writers = Writers::open(&plan).unwrap();
    support::write_all(&plan, &mut writers, &records).unwrap();
    let summary = writers.summary();
    let lost = summary.losses.of(flowpin_counters::Loss::RecordsOverLimit);
    let written: u64 = summary.written.iter().sum();
    assert!(lost > 0 && written > 0);
    assert_eq!(written + lost, 600);
    let text = std::fs::read_to_string(dir.path().join("eve.json")).unwrap();
    assert!(text.len() <= 50_000 && text.ends_with('\n'));
    assert_eq!(text.lines().count() as u64, written);
}

/// With `--format none` nothing is made, but what was built is known.
#[test]
fn without_a_format_records_are_counted_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(&dir.path().join("none"), &[Format::None]);
    let (mut formatter, mut merger) = (Formatter::new(&plan), Merger::new(1));
    let mut writers = Writers::open(&plan).unwrap();
    formatter.conn(RecordKey::default(), &web());
    formatter.conn(RecordKey::default(), &longest());
    merger.push(0, formatter.take_batch(Timestamp::MAX));
    merger
        .drain(&mut writers, |_, batch| formatter.recycle(batch))
        .unwrap();
    writers.finish().unwrap();
    assert_eq!(writers.summary().built, [1, 1, 0, 0, 0, 0, 0, 0]);
    assert!(writers.summary().files.is_empty() && !plan.dir.exists());
}
