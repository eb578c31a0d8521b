//! Row groups follow from the memory for them, and what is read of the file does not.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use arrow_array::RecordBatch;
use flowpin_config::{Format, OutputPlan};
use flowpin_output::Writers;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use support::{Random, plan, write_all};

/// The sizes of the row groups of `conn.parquet`, and its rows, with this much memory.
fn written(parquet_bytes: u64) -> (Vec<i64>, Vec<RecordBatch>) {
    let dir = tempfile::tempdir().unwrap();
    let plan = OutputPlan {
        parquet_bytes,
        ..plan(dir.path(), &[Format::Parquet])
    };
    let mut writers = Writers::open(&plan).unwrap();
    write_all(&plan, &mut writers, &Random(7).records(20_000)).unwrap();
    let file = File::open(dir.path().join("conn.parquet")).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let groups = reader.metadata().row_groups().iter();
    let sizes = groups.map(|group| group.num_rows()).collect();
    let batches = reader.with_batch_size(500).build().unwrap();
    (sizes, batches.map(Result::unwrap).collect())
}

#[test]
fn little_memory_makes_smaller_row_groups_of_the_same_rows() {
    let (one, expected) = written(1 << 30);
    assert_eq!(one.len(), 1);
    let (many, rows) = written(2 << 20);
    assert!(many.len() > 4, "{many:?}");
    assert_eq!(many.iter().sum::<i64>(), one[0]);
    assert!(many.iter().all(|&rows| rows < one[0] / 2), "{many:?}");
    assert!(rows == expected, "the same rows");
}
