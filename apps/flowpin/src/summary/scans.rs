//! Scans and floods: a section of the page, and the same as JSON. The section is omitted if there
//! were none.

use super::page::{Cell, Page};
use super::{Detail, number};
use core::net::IpAddr;
use flowpin_engine::{RunReport, ScanFindings};
use flowpin_packet::Timestamp;
use flowpin_record::{FloodRecord, ScanRecord};
use serde::Serialize;
use std::time::Duration;

/// The section with the largest scans and floods.
pub(super) fn scans(page: &mut Page, report: &RunReport, detail: Detail) {
    let found = &report.found.scans;
    if found.is_empty() {
        return;
    }
    let mut counts = Vec::new();
    for (count, name) in [(found.scan_count, "scan"), (found.flood_count, "flood")] {
        if count > 0 {
            counts.push(number::things(count, name));
        }
    }
    page.title("Scans and floods", &counts.join(", "));
    let shown = detail.rows(ROWS);
    let scans = found.scans.iter().take(shown).map(scan_row);
    let floods = found.floods.iter().take(shown).map(flood_row);
    let rows: Vec<_> = scans.chain(floods).collect();
    page.rows(&rows);
    let total = found.scan_count + found.flood_count;
    let more = total.saturating_sub(u64::try_from(rows.len()).unwrap_or(u64::MAX));
    if more > 0 {
        let hint = match detail {
            Detail::Some => "-v lists more, the records contain all",
            Detail::All => "the records contain all",
        };
        page.line(Cell::dim(format!(
            "and {} more ({hint})",
            number::count(more)
        )));
    }
}

fn scan_row(scan: &ScanRecord) -> Vec<Cell> {
    let about = if scan.estimated { "about " } else { "" };
    let targets = format!(
        "tried {about}{} and {}: {} open, {} closed, {} silent; {}",
        hosts(scan),
        number::things(scan.ports, "port"),
        number::count(scan.open),
        number::count(scan.closed),
        number::count(scan.filtered),
        when(scan.first, scan.last),
    );
    vec![
        Cell::alert(format!("{} {} scan", scan.kind.name(), scan.method.name())),
        Cell::left(format!("by {}", several(scan.source, scan.source_count))),
        Cell::left(targets),
    ]
}

/// One host by its address, several by their number.
fn hosts(scan: &ScanRecord) -> String {
    match scan.host_samples.as_slice() {
        [host] if scan.hosts == 1 => host.to_string(),
        _ => number::things(scan.hosts, "host"),
    }
}

fn flood_row(flood: &FloodRecord) -> Vec<Cell> {
    let about = if flood.estimated { "about " } else { "" };
    let port = flood
        .port
        .map_or(String::new(), |port| format!(", port {port}"));
    let sources = match flood.sources.as_slice() {
        [source] if flood.source_count == 1 => source.to_string(),
        _ => format!("{about}{}", number::things(flood.source_count, "source")),
    };
    let what = format!(
        "{about}{} from {sources}, up to {} a second; {}",
        number::things(flood.packets, "packet"),
        number::count(flood.peak_rate),
        when(flood.first, flood.last),
    );
    vec![
        Cell::alert(format!("{} flood", flood.kind.name())),
        Cell::left(format!("on {}{port}", flood.target)),
        Cell::left(what),
    ]
}

/// `10.0.0.1 and 3 decoys`: the traffic does not show which one is real.
fn several(first: IpAddr, count: u64) -> String {
    match count {
        0 | 1 => first.to_string(),
        _ => format!("{first} and {}", number::things(count - 1, "decoy")),
    }
}

fn when(first: Timestamp, last: Timestamp) -> String {
    let (date, clock) = number::date_and_time(first);
    let length = Duration::from_nanos(last.nanos_since(first));
    format!("from {date} {clock} for {}", number::duration(length))
}

/// The same as JSON.
#[derive(Serialize)]
pub(super) struct Scans {
    scan_count: u64,
    flood_count: u64,
    scans: Vec<Scan>,
    floods: Vec<Flood>,
}

#[derive(Serialize)]
struct Scan {
    uid: String,
    kind: &'static str,
    method: &'static str,
    source: String,
    source_count: u64,
    sources: Vec<String>,
    hosts: u64,
    ports: u64,
    targets: u64,
    open: u64,
    closed: u64,
    filtered: u64,
    attempts: u64,
    estimated: bool,
    host_samples: Vec<String>,
    port_samples: Vec<u16>,
    first: String,
    last: String,
}

#[derive(Serialize)]
struct Flood {
    uid: String,
    kind: &'static str,
    target: String,
    port: Option<u16>,
    source_count: u64,
    sources: Vec<String>,
    packets: u64,
    peak_packets_per_s: u64,
    estimated: bool,
    first: String,
    last: String,
}

impl From<&ScanFindings> for Scans {
    fn from(found: &ScanFindings) -> Self {
        Self {
            scan_count: found.scan_count,
            flood_count: found.flood_count,
            scans: found.scans.iter().map(Scan::from).collect(),
            floods: found.floods.iter().map(Flood::from).collect(),
        }
    }
}

impl From<&ScanRecord> for Scan {
    fn from(scan: &ScanRecord) -> Self {
        Self {
            uid: scan.uid.to_string(),
            kind: scan.kind.name(),
            method: scan.method.name(),
            source: scan.source.to_string(),
            source_count: scan.source_count,
            sources: texts(scan.sources.as_slice()),
            hosts: scan.hosts,
            ports: scan.ports,
            targets: scan.targets,
            open: scan.open,
            closed: scan.closed,
            filtered: scan.filtered,
            attempts: scan.attempts,
            estimated: scan.estimated,
            host_samples: texts(scan.host_samples.as_slice()),
            port_samples: scan.port_samples.as_slice().to_vec(),
            first: number::rfc3339(scan.first),
            last: number::rfc3339(scan.last),
        }
    }
}

impl From<&FloodRecord> for Flood {
    fn from(flood: &FloodRecord) -> Self {
        Self {
            uid: flood.uid.to_string(),
            kind: flood.kind.name(),
            target: flood.target.to_string(),
            port: flood.port,
            source_count: flood.source_count,
            sources: texts(flood.sources.as_slice()),
            packets: flood.packets,
            peak_packets_per_s: flood.peak_rate,
            estimated: flood.estimated,
            first: number::rfc3339(flood.first),
            last: number::rfc3339(flood.last),
        }
    }
}

fn texts(addresses: &[IpAddr]) -> Vec<String> {
    addresses.iter().map(IpAddr::to_string).collect()
}

const ROWS: usize = 5;
