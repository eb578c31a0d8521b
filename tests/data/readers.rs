//! The same records, from Parquet by each of the programs that people use, and from EVE JSON.
//!
//! Each program prints the rows of its tables as JSON: times as text with microseconds in UTC, lists
//! as lists.

use flowpin_testkit::{corpus, product, python};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// What the tables are asked for, in this order of columns and rows.
const COLUMNS: &str = r#"
import json, sys
TABLES = {
    "conn": (["uid", "ts", "end_ts", "orig_pkts", "resp_pkts", "orig_frame_bytes",
              "resp_frame_bytes"], ["uid"]),
    "http": (["uid", "transaction", "ts", "method", "uri", "status_code", "client_header_names",
              "client_header_values"], ["uid", "transaction"]),
    "dns": (["uid", "query", "answers", "TTLs"], ["uid"]),
    "ssl": (["uid", "client_alpns"], ["uid"]),
    "host_pairs": (["id_orig_h", "id_resp_h", "ts", "end_ts", "connections", "services"],
                   ["id_orig_h", "id_resp_h"]),
}
TIMES, WHERE = ["ts", "end_ts"], {"dns": "qtype_name = 'A' and answers is not null"}
def show(tables): print(json.dumps(tables))
"#;

const DUCKDB: &str = r#"
import duckdb
db, tables = duckdb.connect(), {}
db.execute("set TimeZone = 'UTC'")
for name, (columns, order) in TABLES.items():
    select = [f"strftime({one}, '%Y-%m-%dT%H:%M:%S.%f+0000')" if one in TIMES else one
              for one in columns]
    rows = db.execute(f"select {', '.join(select)} from '{name}.parquet' "
                      f"where {WHERE.get(name, 'true')} order by {', '.join(order)}")
    tables[name] = [list(row) for row in rows.fetchall()]
types = dict(db.execute("select column_name, column_type from (describe select * from "
                        "'dns.parquet')").fetchall())
assert types["ts"] == "TIMESTAMP WITH TIME ZONE", types
assert types["answers"] == "VARCHAR[]" and types["TTLs"] == "DOUBLE[]", types
show(tables)
"#;

const PANDAS: &str = r#"
import numpy, pandas
tables = {}
def plain(value):
    if isinstance(value, numpy.ndarray): return [plain(one) for one in value]
    if isinstance(value, numpy.generic): value = value.item()
    return None if value is None or value is pandas.NA or value != value else value
for name, (columns, order) in TABLES.items():
    frame = pandas.read_parquet(f"{name}.parquet").sort_values(order)
    assert str(frame["ts"].dtype) == "datetime64[us, UTC]", frame["ts"].dtype
    if name == "dns": frame = frame[(frame["qtype_name"] == "A") & frame["answers"].notna()]
    for one in set(TIMES) & set(columns):
        frame[one] = frame[one].dt.strftime("%Y-%m-%dT%H:%M:%S.%f%z")
    tables[name] = [[plain(value) for value in row] for row in frame[columns].itertuples(index=False)]
show(tables)
"#;

const POLARS: &str = r#"
import polars
tables = {}
for name, (columns, order) in TABLES.items():
    frame = polars.read_parquet(f"{name}.parquet").sort(order)
    assert frame["ts"].dtype == polars.Datetime("us", "UTC"), frame["ts"].dtype
    if name == "dns":
        assert frame["answers"].dtype == polars.List(polars.String), frame.schema
        assert frame["TTLs"].dtype == polars.List(polars.Float64), frame.schema
        frame = frame.filter((polars.col("qtype_name") == "A") & polars.col("answers").is_not_null())
    times = [polars.col(one).dt.strftime("%Y-%m-%dT%H:%M:%S%.6f%z") for one in TIMES if one in columns]
    tables[name] = [list(row) for row in frame.with_columns(times).select(columns).iter_rows()]
show(tables)
"#;

const SPARK: &str = r#"
from pyspark.sql import SparkSession
from pyspark.sql.functions import date_format, expr
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.sql.session.timeZone", "UTC").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
tables = {}
for name, (columns, order) in TABLES.items():
    frame = spark.read.parquet(f"{name}.parquet").where(WHERE.get(name, "true")).orderBy(*order)
    assert dict(frame.dtypes)["ts"] == "timestamp", frame.dtypes
    if name == "dns":
        assert dict(frame.dtypes)["answers"] == "array<string>", frame.dtypes
    for one in set(TIMES) & set(columns):
        frame = frame.withColumn(one, date_format(one, "yyyy-MM-dd'T'HH:mm:ss.SSSSSSxx"))
    from decimal import Decimal
    plain = lambda value: int(value) if isinstance(value, Decimal) else value
    tables[name] = [[plain(value) for value in row] for row in frame.select(*columns).collect()]
show(tables)
spark.stop()
"#;

#[test]
fn parquet_holds_what_events_hold() {
    let Some(python) = crate::python() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let events = run(folder.path());
    let expected = tables(&events);
    for name in ["conn", "http", "dns", "ssl", "host_pairs"] {
        assert!(!expected[name].as_array().unwrap().is_empty(), "{name}");
    }
    for (reader, script) in [("DuckDB", DUCKDB), ("pandas", PANDAS), ("Polars", POLARS)] {
        check(&expected, (reader, script), python, folder.path());
    }
    let python = std::env::var_os("FLOWPIN_PYTHON").unwrap_or("python3".into());
    let java = Command::new("java").arg("-version").output();
    if python::has(Path::new(&python), "pyspark") && java.is_ok() {
        check(
            &expected,
            ("Spark", SPARK),
            Path::new(&python),
            folder.path(),
        );
    } else {
        corpus::skip("Parquet in Spark", "pyspark or java is not installed");
    }
}

fn check(expected: &Value, (reader, script): (&str, &str), python: &Path, folder: &Path) {
    let output = Command::new(python)
        .args(["-c", &format!("{COLUMNS}{script}")])
        .current_dir(folder)
        .env("TZ", "UTC")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reader}: {errors}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (name, rows) in expected.as_object().unwrap() {
        let (rows, found) = (rows.as_array().unwrap(), found[name].as_array().unwrap());
        for (ours, theirs) in rows.iter().zip(found) {
            assert_eq!(ours, theirs, "{name} in {reader}");
        }
        assert_eq!(rows.len(), found.len(), "{name} in {reader}");
    }
}

/// Writes the bundled capture's records in both formats; the events.
fn run(folder: &Path) -> Vec<Value> {
    let capture = corpus::workspace().join("testkit/captures/lab-day.pcapng");
    let words = [
        "run",
        "-q",
        "--format",
        "eve,parquet",
        "--all-fields",
        "--host-pairs",
    ];
    let mut words: Vec<&str> = words.to_vec();
    words.extend(["-r", capture.to_str().unwrap(), "-l"]);
    words.push(folder.to_str().unwrap());
    let outcome = product::run(&words).unwrap();
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let events = std::fs::read_to_string(folder.join("eve.json")).unwrap();
    let events = events.lines().map(serde_json::from_str);
    events.collect::<Result<_, _>>().unwrap()
}

/// The rows of the tables, by EVE's events.
fn tables(events: &[Value]) -> Value {
    let of = |kind: &str| -> Vec<&Value> {
        let events = events.iter();
        events.filter(|event| event["event_type"] == kind).collect()
    };
    let conn = of("flow").into_iter().map(|event| {
        let flow = &event["flow"];
        json!([
            event["flowpin"]["uid"],
            flow["start"],
            flow["end"],
            flow["pkts_toserver"],
            flow["pkts_toclient"],
            flow["bytes_toserver"],
            flow["bytes_toclient"],
        ])
    });
    let http = of("http").into_iter().map(|event| {
        let (http, headers) = (&event["http"], &event["http"]["request_headers"]);
        json!([
            event["flowpin"]["uid"],
            event["tx_id"],
            event["timestamp"],
            http["http_method"],
            http["url"],
            http["status"],
            each(headers, "name"),
            each(headers, "value"),
        ])
    });
    let dns = of("dns").into_iter().filter_map(|event| {
        let (dns, answers) = (&event["dns"], &event["dns"]["answers"]);
        let question = &dns["queries"][0];
        let is_wanted = question["rrtype"] == "A" && answers.is_array();
        is_wanted.then(|| {
            let times = answers.as_array().unwrap().iter();
            let times: Vec<_> = times.map(|one| one["ttl"].as_f64()).collect();
            let names = each(answers, "rdata");
            json!([event["flowpin"]["uid"], question["rrname"], names, times])
        })
    });
    let ssl = of("tls")
        .into_iter()
        .map(|event| json!([event["flowpin"]["uid"], event["tls"]["client_alpns"]]));
    let pairs = of("host_pair").into_iter().map(|event| {
        let pair = &event["host_pair"];
        json!([
            short(&event["src_ip"]),
            short(&event["dest_ip"]),
            pair["start"],
            pair["end"],
            pair["connections"],
            pair["services"],
        ])
    });
    json!({
        "conn": sorted(conn), "http": sorted(http), "dns": sorted(dns), "ssl": sorted(ssl),
        "host_pairs": sorted(pairs),
    })
}

/// One member of each object of a list.
fn each(list: &Value, name: &str) -> Vec<Value> {
    let all = list.as_array().unwrap().iter();
    all.map(|one| one[name].clone()).collect()
}

/// EVE has IPv6 addresses in full.
fn short(address: &Value) -> String {
    let address: std::net::IpAddr = address.as_str().unwrap().parse().unwrap();
    address.to_string()
}

/// In the order of their first two columns: of text, then of text or a number.
fn sorted(rows: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut rows: Vec<Value> = rows.collect();
    rows.sort_by_key(|row| {
        let second = &row[1];
        let text = second.as_str().map(str::to_owned);
        (row[0].as_str().map(str::to_owned), second.as_u64(), text)
    });
    rows
}
