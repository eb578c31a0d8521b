//! Every format says the same, as read by independent readers.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod support;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, TimestampMicrosecondType, UInt16Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use flowpin_output::Writers;
use flowpin_record::{ConnRecord, RecordKey};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use support::{ALL_FORMATS, Any, Random, longest, plan, renamed, web, write_all};

/// The same records in every format, and the directory that holds the files.
fn written(count: usize) -> (tempfile::TempDir, Vec<(RecordKey, Any)>) {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(dir.path(), &ALL_FORMATS);
    let mut records = Random(42).records(count);
    let last = records.last().unwrap().0;
    for (number, record) in [(1, web()), (2, longest()), (3, renamed())] {
        let number = last.number + number;
        records.push((RecordKey { number, ..last }, Any::Conn(record)));
    }
    let mut writers = Writers::open(&plan).unwrap();
    write_all(&plan, &mut writers, &records).unwrap();
    (dir, records)
}

fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap()
}

fn json_lines(dir: &Path, name: &str) -> Vec<Value> {
    let text = read(dir, name);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The records of a file in Zeek's format, column by column; unset ones are left out.
fn zeek_lines(dir: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = read(dir, name);
    let mut fields: Vec<String> = Vec::new();
    let mut records = Vec::new();
    for line in text.lines() {
        let mut cells = line.split('\t');
        if line.starts_with('#') {
            if cells.next() == Some("#fields") {
                fields = cells.map(str::to_owned).collect();
            }
            continue;
        }
        let cells: Vec<_> = cells.collect();
        assert_eq!(cells.len(), fields.len(), "{line}");
        let pairs = fields
            .iter()
            .cloned()
            .zip(cells.into_iter().map(str::to_owned));
        records.push(pairs.filter(|(_, cell)| cell != "-").collect());
    }
    assert!(text.ends_with('\n') && text.contains("\n#close\t"));
    records
}

/// The records of a CSV file, column by column; unset ones are left out.
fn csv_lines(dir: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = read(dir, name);
    assert!(
        !text.contains('"'),
        "no cell needs quotes, so this reader may split at commas"
    );
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<_> = lines.next().unwrap().collect();
    let records = lines.map(|cells| {
        let cells: Vec<_> = cells.collect();
        assert_eq!(cells.len(), header.len());
        header
            .iter()
            .cloned()
            .zip(cells)
            .filter(|(_, cell)| !cell.is_empty())
            .collect()
    });
    records.collect()
}

/// The records of a Parquet file as text, column by column; unset ones are left out.
fn parquet_lines(path: &Path) -> Vec<BTreeMap<String, String>> {
    let file = std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    reader
        .flat_map(|batch| batch_lines(&batch.unwrap()))
        .collect()
}

fn batch_lines(batch: &RecordBatch) -> Vec<BTreeMap<String, String>> {
    let schema = batch.schema();
    let row = |row: usize| {
        let cells = schema.fields().iter().zip(batch.columns());
        let cells = cells.filter(|(_, array)| array.is_valid(row));
        cells
            .map(|(field, array)| (field.name().clone(), cell(array.as_ref(), row)))
            .collect()
    };
    (0..batch.num_rows()).map(row).collect()
}

fn cell(array: &dyn Array, row: usize) -> String {
    match array.data_type() {
        DataType::Timestamp(_, zone) => {
            assert_eq!(zone.as_deref(), Some("UTC"));
            array
                .as_primitive::<TimestampMicrosecondType>()
                .value(row)
                .to_string()
        }
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::List(_) => {
            let members = array.as_list::<i32>().value(row);
            let members = (0..members.len()).map(|at| cell(members.as_ref(), at));
            members.collect::<Vec<_>>().join(" ")
        }
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).to_string(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        other => panic!("unexpected type {other}"),
    }
}

fn ended(records: &[(RecordKey, Any)]) -> impl Iterator<Item = &ConnRecord> {
    records.iter().filter_map(|(_, record)| match record {
        Any::Conn(conn) if conn.interim == 0 => Some(conn),
        _ => None,
    })
}

/// All types stand in `eve.json`, in order; numbers are exact in a double where they must be.
#[test]
fn eve_lines_parse_and_say_what_the_records_say() {
    let (dir, records) = written(500);
    let events = json_lines(dir.path(), "eve.json");
    assert_eq!(events.len(), records.len());
    for (event, (_, record)) in events.iter().zip(&records) {
        let Any::Conn(conn) = record else {
            assert_ne!(event["event_type"], "flow");
            continue;
        };
        // Whoever adds up all `flow` events must meet each connection once.
        let kind = if conn.interim == 0 {
            "flow"
        } else {
            "flow_interim"
        };
        assert_eq!(event["event_type"], kind);
        assert!(event["flow_id"].as_u64().unwrap() < 1 << 53);
        assert_eq!(event["flowpin"]["uid"], conn.uid.to_string());
        let address: core::net::IpAddr = event["src_ip"].as_str().unwrap().parse().unwrap();
        assert_eq!(address, conn.client.address);
        assert_eq!(event["flow"]["bytes_toclient"], conn.to_client.frame_bytes);
        assert_eq!(event["flow"]["pkts_toserver"], conn.to_server.packets);
        assert_eq!(event.get("tcp").is_some(), conn.protocol == 6);
        let ported = matches!(conn.protocol, 6 | 17 | 132);
        let port = ported.then_some(u64::from(conn.server.port));
        assert_eq!(event.get("dest_port").and_then(Value::as_u64), port);
    }
}

/// The paths of all leaves of an event.
fn leaves(event: &Value, path: &str, to: &mut BTreeSet<String>) {
    match event {
        Value::Object(fields) => {
            for (name, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                leaves(value, &format!("{path}{dot}{name}"), to);
            }
        }
        _ => {
            to.insert(path.to_owned());
        }
    }
}

/// The documentation names every EVE field that is ever written, and no other.
#[test]
fn every_eve_field_is_documented() {
    let (dir, _) = written(2000);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for event in json_lines(dir.path(), "eve.json") {
        // Both have the same fields.
        let of = match event["event_type"].as_str().unwrap() {
            "flow_interim" => "flow",
            other => other,
        };
        leaves(&event, "", found.entry(of.to_owned()).or_default());
    }
    let page = flowpin_output::records_page(&flowpin_output::MessageSchemas::default());
    let mut documented: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for section in page.split("\n### `").skip(1) {
        let (event_type, rest) = section.split_once('`').unwrap();
        let rows = rest
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let fields = rows.map(|(path, _)| path.to_owned()).collect();
        documented.insert(event_type.to_owned(), fields);
    }
    assert_eq!(found, documented);
}

/// Zeek's TSV and JSON and CSV hold the same cells; each in its own spelling.
#[test]
fn column_formats_agree_cell_by_cell() {
    let (dir, records) = written(500);
    for stem in [
        "conn",
        "conn_long",
        "weird",
        "tunnel",
        "scan",
        "flood",
        "host_pairs",
    ] {
        let tsv = zeek_lines(dir.path(), &format!("{stem}.log"));
        let json = json_lines(dir.path(), &format!("{stem}.json"));
        let csv = csv_lines(dir.path(), &format!("{stem}.csv"));
        assert!(tsv.len() == json.len() && tsv.len() == csv.len() && !tsv.is_empty());
        for ((tsv, json), csv) in tsv.iter().zip(&json).zip(&csv) {
            assert_eq!(tsv.len(), json.as_object().unwrap().len());
            for (name, cell) in tsv {
                match json[name].as_f64() {
                    Some(number) => {
                        let cell: f64 = cell.parse().unwrap();
                        assert!(
                            (number - cell).abs() <= cell * 1e-15,
                            "{name}: {number} {cell}"
                        );
                    }
                    None => assert_eq!(*cell, json_cell(&json[name]), "{name}"),
                }
                if is_zeeks_own(name, tsv) {
                    continue;
                }
                let in_csv = &csv[&name.replace('.', "_")];
                match name.as_str() {
                    "ts" | "end_ts" => assert!(in_csv.ends_with('Z')),
                    "duration" => assert!(in_csv.starts_with(cell.as_str())),
                    "local_orig" | "local_resp" | "estimated" => {
                        assert_eq!(in_csv == "true", cell == "T");
                    }
                    "source_samples" | "host_samples" | "port_samples" | "services" => {
                        assert_eq!(*in_csv, cell.replace(',', " "), "{name}");
                    }
                    _ => assert_eq!(in_csv, cell, "{name}"),
                }
            }
        }
    }
    let conns = zeek_lines(dir.path(), "conn.log");
    assert_eq!(conns.len(), ended(&records).count());
    for (line, conn) in conns.iter().zip(ended(&records)) {
        assert_eq!(line["uid"], conn.uid.to_string());
        assert_eq!(line["id.orig_h"], conn.client.address.to_string());
        let lasting = conn.end > conn.start;
        assert_eq!(
            line.contains_key("duration"),
            lasting,
            "unset as Zeek has it"
        );
        assert_eq!(
            line.contains_key("orig_bytes"),
            lasting,
            "unset as Zeek has it"
        );
    }
}

/// A JSON value as Zeek's TSV spells it.
fn json_cell(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let cells: Vec<_> = values.iter().map(json_cell).collect();
            cells.join(",")
        }
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => if *value { "T" } else { "F" }.to_owned(),
        Value::String(text) => text.clone(),
        other => panic!("unexpected {other}"),
    }
}

/// Parquet holds every record of the other formats with the same columns as CSV.
#[test]
fn parquet_says_what_csv_says() {
    let (dir, _) = written(10_000);
    for stem in [
        "conn",
        "conn_long",
        "weird",
        "tunnel",
        "scan",
        "flood",
        "host_pairs",
    ] {
        let csv = csv_lines(dir.path(), &format!("{stem}.csv"));
        let parquet = parquet_lines(&dir.path().join(format!("{stem}.parquet")));
        assert_eq!(csv.len(), parquet.len());
        for (csv, parquet) in csv.iter().zip(&parquet) {
            assert!(csv.keys().eq(parquet.keys()));
            for (name, cell) in csv {
                match name.as_str() {
                    "ts" | "end_ts" => {
                        // CSV has nanoseconds.
                        let end = format!("{:06}", micros(&parquet[name]));
                        assert!(cell[..cell.len() - 4].ends_with(&end), "{cell} {end}");
                    }
                    "duration" | "rtt" => {
                        let (a, b): (f64, f64) =
                            (cell.parse().unwrap(), parquet[name].parse().unwrap());
                        assert!((a - b).abs() < 1e-6, "{a} {b}");
                    }
                    _ => assert_eq!(*cell, parquet[name], "{name}"),
                }
            }
        }
    }
}

fn micros(timestamp: &str) -> u64 {
    timestamp.parse::<u64>().unwrap() % 1_000_000
}

/// What Zeek's logs have in their own way: names of oddities and the ports of those that belong to
/// no connection; of transports that it does not know no ports, sizes or states.
fn is_zeeks_own(name: &str, line: &BTreeMap<String, String>) -> bool {
    let is_weird = line.contains_key("notice");
    let is_unknown = line
        .get("proto")
        .is_some_and(|proto| proto == "unknown_transport");
    match name {
        "name" | "addl" | "notice" | "peer" | "source" => is_weird,
        "id.orig_p" | "id.resp_p" => is_unknown || is_weird,
        "orig_bytes" | "resp_bytes" | "conn_state" | "history" => is_unknown,
        _ => false,
    }
}
