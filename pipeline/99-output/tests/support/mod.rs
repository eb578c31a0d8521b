//! Records to write and media to write to.
#![allow(
    dead_code,
    unused_imports,
    reason = "each test program uses its own part"
)]

mod medium;
mod random;
mod samples;

pub(crate) use medium::FullAt;
pub(crate) use random::Random;
pub(crate) use samples::{flood, host_pair, longest, renamed, scan, web};

use flowpin_config::{Format, OutputPlan};
use flowpin_output::{Formatter, Merger, OutputError, Writers};
use flowpin_packet::{InterfaceName, InterfaceNames, Timestamp};
use flowpin_record::{
    AnomalyRecord, ConnRecord, FloodRecord, HostPairRecord, RecordKey, RecordSink, ScanRecord,
    TunnelRecord,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Any record with its key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Any {
    Conn(ConnRecord),
    Anomaly(AnomalyRecord),
    Tunnel(TunnelRecord),
    Scan(ScanRecord),
    Flood(FloodRecord),
    HostPair(HostPairRecord),
}

/// Gives a record to a formatter.
pub(crate) fn put(sink: &mut impl RecordSink, key: RecordKey, record: &Any) {
    match record {
        Any::Conn(record) => sink.conn(key, record),
        Any::Anomaly(record) => sink.anomaly(key, record),
        Any::Tunnel(record) => sink.tunnel(key, record),
        Any::Scan(record) => sink.scan(key, record),
        Any::Flood(record) => sink.flood(key, record),
        Any::HostPair(record) => sink.host_pair(key, record),
    }
}

pub(crate) const SECOND: u64 = 1_000_000_000;

/// 2024-02-29T23:59:58Z: two seconds before a date changes.
pub(crate) const START: Timestamp = Timestamp(1_709_251_198 * SECOND);

/// A plan for some formats into one directory.
pub(crate) fn plan(dir: &Path, formats: &[Format]) -> OutputPlan {
    OutputPlan {
        dir: dir.to_owned(),
        formats: formats.to_vec(),
        ..OutputPlan::default()
    }
}

pub(crate) const ALL_FORMATS: [Format; 5] = [
    Format::Eve,
    Format::ZeekTsv,
    Format::ZeekJson,
    Format::Csv,
    Format::Parquet,
];

/// Interfaces with the numbers 1 and 2.
pub(crate) fn names() -> InterfaceNames {
    let names = InterfaceNames::default();
    for (name, queue) in [("eth0", None), ("eth1", Some(2))] {
        names
            .number(InterfaceName::new(name, queue).unwrap())
            .unwrap();
    }
    names
}

/// Writes records through one formatter and ends the files.
pub(crate) fn write_all(
    plan: &OutputPlan,
    writers: &mut Writers,
    records: &[(RecordKey, Any)],
) -> Result<(), OutputError> {
    let mut formatter = Formatter::new(plan);
    formatter.name_interfaces(&names());
    let mut merger = Merger::new(1);
    for chunk in records.chunks(100) {
        for (key, record) in chunk {
            put(&mut formatter, *key, record);
        }
        let until = chunk
            .last()
            .map_or(Timestamp(0), |(key, _)| Timestamp(key.time.0 - 1));
        merger.push(0, formatter.take_batch(until));
        merger.drain(writers, |_, batch| formatter.recycle(batch))?;
    }
    merger.push(0, formatter.take_batch(Timestamp::MAX));
    merger.drain(writers, |_, batch| formatter.recycle(batch))?;
    writers.finish()
}

/// All files below a directory with their contents.
pub(crate) fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}
