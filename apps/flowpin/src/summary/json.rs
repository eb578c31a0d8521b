//! The summary as JSON. The schema is documented in `docs/user/summary.md` and only grows.

use super::hints::{Hint, hints};
use super::scans::Scans;
use super::streams::Streams;
use super::{number, ranking, service};
use flowpin_counters::Loss;
use flowpin_engine::{ConnectionSums, Findings, RunReport, Traffic};
use flowpin_record::ConnState;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The summary as one JSON object in several lines.
///
/// # Errors
/// None in practice: every value is a number or text.
pub(crate) fn json(report: &RunReport) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(&Summary::from(report))?;
    text.push('\n');
    Ok(text)
}

#[derive(Serialize)]
struct Summary {
    schema: u32,
    flowpin: &'static str,
    stopped_early: bool,
    stopped_after_packets: Option<u64>,
    damaged: bool,
    hints: Vec<Hint>,
    run: Run,
    traffic: Volume,
    connections: Connections,
    scans: Scans,
    identification: Identification,
    messages: Messages,
    quality: Quality,
    streams: Streams,
    losses: BTreeMap<&'static str, u64>,
    refusals: Vec<Refusal>,
    conservation: Conservation,
    workers: Vec<Worker>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    replaced: Vec<String>,
    left: Vec<String>,
}

#[derive(Serialize)]
struct Run {
    pipeline: String,
    wall_s: f64,
    cpu_s: f64,
    packets_per_s: f64,
    bits_per_s: f64,
    packets_per_cpu_s: f64,
    peak_memory_bytes: u64,
}

#[derive(Serialize)]
struct Volume {
    packets: u64,
    bytes: u64,
    filtered: u64,
    first: Option<String>,
    last: Option<String>,
    duration_s: f64,
}

#[derive(Serialize)]
struct Connections {
    total: u64,
    by_transport: Vec<Row<Transport>>,
    by_state: BTreeMap<&'static str, u64>,
    by_protocol: Vec<Row<Protocol>>,
    not_identified: Row<Nothing>,
    by_server_port: Vec<Row<Port>>,
    by_unidentified_server_port: Vec<Row<Port>>,
    top_talkers: Vec<ranking::Row<ranking::Talker>>,
    addresses_untracked: u64,
    top_host_pairs: Vec<ranking::Row<ranking::Pair>>,
    host_pairs_untracked: u64,
    top_vlans: Vec<ranking::Row<ranking::Vlan>>,
    vlans_untracked: u64,
    without_vlan: Row<Nothing>,
}

#[derive(Serialize)]
struct Row<K: Serialize> {
    #[serde(flatten)]
    key: K,
    connections: u64,
    packets: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Transport {
    protocol: u8,
    name: String,
}

#[derive(Serialize)]
struct Protocol {
    name: &'static str,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct Identification {
    connections: u64,
    packets: u64,
    packets_per_connection: f64,
    verdicts_taken_back: u64,
}

#[derive(Serialize)]
struct Messages {
    connections: u64,
    by_kind: BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct Port {
    protocol: u8,
    port: u16,
    service: Option<&'static str>,
}

#[derive(Serialize)]
struct Quality {
    duplicates: u64,
    one_sided_connections: u64,
    tcp_connections: u64,
    missed_bytes: u64,
    stream_bytes: u64,
    snapped: u64,
    offloaded_checksums: u64,
    bad_checksums: u64,
    backwards: u64,
    backwards_max_s: f64,
    clock_leaps: u64,
}

#[derive(Serialize)]
struct Refusal {
    layer: &'static str,
    reason: &'static str,
    packets: u64,
}

#[derive(Serialize)]
struct Conservation {
    received: u64,
    on_connections: u64,
    icmp_errors: u64,
    non_ip: u64,
    unsupported_link: u64,
    absorbed: u64,
    held: u64,
    malformed: u64,
    lost: u64,
    missing: i64,
}

#[derive(Serialize)]
struct Worker {
    packets: u64,
    connections: u64,
    heaviest_connection_packets: u64,
    cpu_s: f64,
}

#[derive(Serialize)]
struct Input {
    path: String,
    format: String,
    packets: u64,
    notes: Vec<String>,
    damage: Option<String>,
}

#[derive(Serialize)]
struct Output {
    path: String,
    records: u64,
    bytes: u64,
}

impl From<&RunReport> for Summary {
    fn from(report: &RunReport) -> Self {
        Self {
            schema: SCHEMA,
            flowpin: env!("CARGO_PKG_VERSION"),
            stopped_early: report.stopped_early,
            stopped_after_packets: report.stopped_after,
            damaged: report.is_damaged(),
            hints: hints(report),
            run: run(report),
            traffic: volume(report),
            connections: connections(&report.found),
            scans: Scans::from(&report.found.scans),
            identification: identification(report),
            messages: messages(report),
            quality: quality(report),
            streams: Streams::from(&report.reassembly),
            losses: Loss::ALL
                .iter()
                .map(|&loss| (loss.name(), report.losses.of(loss)))
                .collect(),
            refusals: report
                .refusals
                .iter()
                .map(|(layer, reason, packets)| Refusal {
                    layer: layer.name(),
                    reason: reason.name(),
                    packets,
                })
                .collect(),
            conservation: conservation(report),
            workers: workers(report),
            inputs: inputs(report),
            outputs: outputs(report),
            replaced: names(&report.earlier.replaced),
            left: names(&report.earlier.left),
        }
    }
}

fn run(report: &RunReport) -> Run {
    Run {
        pipeline: report.pipeline.clone(),
        wall_s: report.wall.as_secs_f64(),
        cpu_s: report.cpu.as_secs_f64(),
        packets_per_s: number::rate(report.packets, report.wall),
        bits_per_s: 8.0 * number::rate(report.frame_bytes, report.wall),
        packets_per_cpu_s: number::rate(report.packets, report.cpu),
        peak_memory_bytes: report.peak_memory_bytes,
    }
}

fn volume(report: &RunReport) -> Volume {
    let span = match (report.first, report.last) {
        (Some(first), Some(last)) => last.nanos_since(first),
        _ => 0,
    };
    Volume {
        packets: report.packets,
        bytes: report.frame_bytes,
        filtered: report.filtered,
        first: report.first.map(number::rfc3339),
        last: report.last.map(number::rfc3339),
        duration_s: seconds(span),
    }
}

fn connections(found: &Findings) -> Connections {
    let sums = &found.connections;
    Connections {
        total: sums.total(),
        by_transport: rows(
            ConnectionSums::top(&sums.by_protocol, usize::MAX),
            |protocol| Transport {
                protocol,
                name: service::transport(protocol).to_lowercase(),
            },
        ),
        by_state: ConnState::ALL
            .into_iter()
            .map(ConnState::name)
            .zip(sums.by_state)
            .collect(),
        by_protocol: rows(ConnectionSums::top(&sums.by_app, usize::MAX), |name| {
            Protocol { name }
        }),
        not_identified: row(Nothing {}, &sums.unknown),
        by_server_port: rows(ConnectionSums::top(&sums.by_port, PORTS_MAX), port),
        by_unidentified_server_port: rows(
            ConnectionSums::top(&sums.by_unknown_port, PORTS_MAX),
            port,
        ),
        top_talkers: ranking::talker_rows(&found.hosts.talkers),
        addresses_untracked: found.hosts.talkers.rest.connections,
        top_host_pairs: ranking::host_pair_rows(&found.hosts.pairs),
        host_pairs_untracked: found.hosts.pairs.rest.connections,
        top_vlans: ranking::vlan_rows(&found.vlans.tagged),
        vlans_untracked: found.vlans.tagged.rest.connections,
        without_vlan: row(Nothing {}, &found.vlans.untagged),
    }
}

fn port((protocol, port): (u8, u16)) -> Port {
    Port {
        protocol,
        port,
        service: Some(service::name(protocol, port)).filter(|name| !name.is_empty()),
    }
}

fn identification(report: &RunReport) -> Identification {
    let stats = &report.identify;
    Identification {
        connections: stats.searched,
        packets: stats.inspected,
        packets_per_connection: number::real(stats.inspected) / number::real(stats.searched.max(1)),
        verdicts_taken_back: stats.taken_back,
    }
}

fn messages(report: &RunReport) -> Messages {
    let read = report.messages.iter().filter(|kind| kind.built > 0);
    Messages {
        connections: report.parse.connections,
        by_kind: read.map(|kind| (kind.name.clone(), kind.built)).collect(),
    }
}

fn rows<K, T: Serialize>(table: Vec<(K, Traffic)>, key: impl Fn(K) -> T) -> Vec<Row<T>> {
    table
        .into_iter()
        .map(|(k, traffic)| row(key(k), &traffic))
        .collect()
}

const fn row<T: Serialize>(key: T, traffic: &Traffic) -> Row<T> {
    Row {
        key,
        connections: traffic.connections,
        packets: traffic.packets,
        bytes: traffic.bytes,
    }
}

fn quality(report: &RunReport) -> Quality {
    let quality = &report.quality;
    Quality {
        duplicates: quality.duplicates,
        one_sided_connections: quality.one_sided,
        tcp_connections: quality.tcp_connections,
        missed_bytes: quality.missed_bytes,
        stream_bytes: quality.stream_bytes,
        snapped: quality.snapped,
        offloaded_checksums: quality.offloaded,
        bad_checksums: quality.bad_checksums,
        backwards: quality.backwards,
        backwards_max_s: seconds(quality.backwards_max_ns),
        clock_leaps: quality.leaps,
    }
}

fn conservation(report: &RunReport) -> Conservation {
    let sums = &report.conservation;
    Conservation {
        received: sums.received,
        on_connections: sums.on_connections,
        icmp_errors: sums.icmp_errors,
        non_ip: sums.non_ip,
        unsupported_link: sums.unsupported_link,
        absorbed: sums.absorbed,
        held: sums.held,
        malformed: sums.malformed,
        lost: sums.lost,
        missing: i64::try_from(sums.missing()).unwrap_or(i64::MAX),
    }
}

fn workers(report: &RunReport) -> Vec<Worker> {
    let workers = report.workers.iter();
    workers
        .map(|worker| Worker {
            packets: worker.packets,
            connections: worker.connections,
            heaviest_connection_packets: worker.heaviest_packets,
            cpu_s: seconds(worker.cpu_ns),
        })
        .collect()
}

fn inputs(report: &RunReport) -> Vec<Input> {
    let inputs = report.inputs.iter();
    inputs
        .map(|input| Input {
            path: input.path.display().to_string(),
            format: input.format.clone(),
            packets: input.packets,
            notes: input.notes.clone(),
            damage: input.damage.clone(),
        })
        .collect()
}

fn outputs(report: &RunReport) -> Vec<Output> {
    let outputs = report.outputs.iter();
    outputs
        .map(|output| Output {
            path: output.path.display().to_string(),
            records: output.records,
            bytes: output.bytes,
        })
        .collect()
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

fn seconds(nanos: u64) -> f64 {
    number::real(nanos) / 1e9
}

/// Raised when a field is renamed, removed or changes its meaning; new fields do not raise it.
const SCHEMA: u32 = 1;
const PORTS_MAX: usize = 100;
