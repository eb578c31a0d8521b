//! How good the capture was, and that no packet was lost sight of.

use super::seconds;
use flowpin_engine::RunReport;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Quality {
    dropped: u64,
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
    record_latency_max_s: Option<f64>,
    record_latency_mean_s: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct Refusal {
    layer: &'static str,
    reason: &'static str,
    packets: u64,
}

#[derive(Serialize)]
pub(super) struct Conservation {
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

pub(super) fn quality(report: &RunReport) -> Quality {
    let quality = &report.quality;
    Quality {
        dropped: quality.dropped,
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
        record_latency_max_s: report.latency.map(|one| one.most.as_secs_f64()),
        record_latency_mean_s: report.latency.map(|one| one.mean.as_secs_f64()),
    }
}

pub(super) fn refusals(report: &RunReport) -> Vec<Refusal> {
    report
        .refusals
        .iter()
        .map(|(layer, reason, packets)| Refusal {
            layer: layer.name(),
            reason: reason.name(),
            packets,
        })
        .collect()
}

pub(super) fn conservation(report: &RunReport) -> Conservation {
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
