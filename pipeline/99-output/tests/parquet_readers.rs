//! Parquet as the programs that people use read it: DuckDB, pandas with pyarrow, Polars; Spark
//! where it is installed.
//!
//! They are asked for in the Python of `FLOWPIN_PYTHON`; or in that of the environment which
//! `tests/data` makes, once it is there; or in `python3`. What is not installed there is passed
//! over, with a word.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use flowpin_config::{Format, OutputPlan, ParquetTime};
use flowpin_output::Writers;
use flowpin_record::RecordKey;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Any, Random, longest, plan, web, write_all};

fn write(dir: &Path, parquet_time: ParquetTime) {
    let plan = OutputPlan {
        parquet_time,
        ..plan(dir, &[Format::Parquet])
    };
    let mut records = Random(42).records(2000);
    let last = records.last().unwrap().0;
    for (number, record) in [(1, web()), (2, longest())] {
        let number = last.number + number;
        records.push((RecordKey { number, ..last }, Any::Conn(record)));
    }
    let mut writers = Writers::open(&plan).unwrap();
    write_all(&plan, &mut writers, &records).unwrap();
}

fn python() -> PathBuf {
    if let Some(python) = std::env::var_os("FLOWPIN_PYTHON") {
        return python.into();
    }
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("data/bin/python");
    if made.is_file() {
        return made;
    }
    "python3".into()
}

/// Runs a script on a folder, if its module is installed; it fails where the script does.
fn ask(module: &str, script: &str, dir: &Path) {
    let python = python();
    let has = Command::new(&python)
        .args(["-c", &format!("import {module}")])
        .output()
        .is_ok_and(|output| output.status.success());
    if !has {
        return println!("skipped: no {module} in {}", python.display());
    }
    let output = Command::new(&python)
        .args(["-c", script])
        .current_dir(dir)
        .env("TZ", "UTC")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{module}: {errors}");
    println!("{module}: {}", String::from_utf8_lossy(&output.stdout));
}

/// Times can be cut, subtracted and cast; lists are lists.
#[test]
fn duckdb_reckons_with_them() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ParquetTime::Micros);
    let script = r#"
import duckdb
db = duckdb.connect()
db.execute("set TimeZone = 'UTC'")
def one(query): return db.execute(query).fetchone()
count, = one("select count(*) from 'conn.parquet'")
assert count > 100, count
for value in ["date_trunc('minute', ts)", "epoch(ts)", "end_ts - ts", "ts::timestamp",
              "time_bucket(interval 1 minute, ts)", "strftime(ts, '%Y')"]:
    values, = one(f"select count({value}) from 'conn.parquet'")
    assert values == count, (value, values)
apart, = one("select max(abs(epoch(end_ts) - epoch(ts))) from 'conn.parquet'")
assert apart >= 0
for log, column in [("conn", "tunnel_parents"), ("scan", "host_samples"), ("scan", "port_samples"),
                    ("flood", "source_samples")]:
    few, = one(f"select count(*) from (select unnest({column}) from '{log}.parquet')")
    assert few > 0, (log, column)
print(count)
"#;
    ask("duckdb", script, dir.path());
}

#[test]
fn pandas_and_polars_read_them() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ParquetTime::Micros);
    let script = r#"
import pandas, pyarrow.parquet
frame = pandas.read_parquet("conn.parquet")
assert str(frame["ts"].dtype) == "datetime64[us, UTC]", frame["ts"].dtype
assert ((frame["end_ts"] - frame["ts"]).dt.total_seconds() >= 0).any()
schema = pyarrow.parquet.read_schema("scan.parquet")
assert str(schema.field("port_samples").type).startswith("list<"), schema
assert schema.field("ts").metadata[b"comment"]
print(len(frame), frame["service"].dropna().unique()[:3])
"#;
    ask("pandas, pyarrow", script, dir.path());
    let script = r#"
import polars
frame = polars.read_parquet("conn.parquet")
assert frame["ts"].dtype == polars.Datetime("us", "UTC"), frame["ts"].dtype
assert frame.select((polars.col("end_ts") - polars.col("ts")).max())[0, 0].total_seconds() >= 0
assert frame["tunnel_parents"].dtype == polars.List(polars.String)
print(len(frame))
"#;
    ask("polars", script, dir.path());
}

/// Nanoseconds for those who ask for them.
#[test]
fn nanoseconds_are_there_on_request() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ParquetTime::Nanos);
    let script = r#"
import pyarrow.parquet
assert str(pyarrow.parquet.read_schema("conn.parquet").field("ts").type) == "timestamp[ns, tz=UTC]"
"#;
    ask("pyarrow", script, dir.path());
}

#[test]
fn spark_reads_them() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), ParquetTime::Micros);
    let script = r#"
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.sql.session.timeZone", "UTC").getOrCreate())
for log in ["conn", "scan", "flood", "weird", "tunnel"]:
    frame = spark.read.parquet(log + ".parquet")
    assert dict(frame.dtypes)["ts"] == "timestamp", frame.dtypes
    assert frame.count() > 0
conn = spark.read.parquet("conn.parquet")
assert dict(conn.dtypes)["tunnel_parents"] == "array<string>", conn.dtypes
conn.createOrReplaceTempView("conn")
rows = spark.sql("select date_trunc('minute', ts) m, max(end_ts - ts) from conn group by m")
assert rows.count() > 0
spark.stop()
"#;
    ask("pyspark", script, dir.path());
}
