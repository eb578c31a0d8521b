//! TCP streams: what became of their bytes, as a section of the page, and the same for machines.

use super::number;
use super::page::{Cell, Page};
use flowpin_engine::{Anomaly, ReassemblyStats, RunReport};
use serde::Serialize;
use std::collections::BTreeMap;

/// What putting TCP streams in order met with.
pub(super) fn streams(page: &mut Page, report: &RunReport) {
    let stats = &report.reassembly;
    let received = stats.received();
    if received == 0 && anomalies(stats).next().is_none() {
        return;
    }
    page.title("TCP streams", "what their bytes met with on the way");
    let mut rows = vec![row(
        "in order",
        number::bytes(delivered(stats)),
        number::percent(delivered(stats), received),
        "of the payload went up in order, each byte once",
    )];
    let mut more = |count: u64, name, shown: String, share: String, meaning| {
        if count > 0 {
            rows.push(row(name, shown, share, meaning));
        }
    };
    let count = number::count;
    more(
        stats.out_of_order,
        "waited",
        count(stats.out_of_order),
        String::new(),
        "segments came before one that precedes them",
    );
    more(
        stats.gaps,
        "gaps",
        count(stats.gaps),
        number::bytes(stats.gap_bytes),
        "are not in the capture; the streams went on behind them",
    );
    more(
        stats.duplicate,
        "repeated",
        number::bytes(stats.duplicate),
        number::percent(stats.duplicate, received),
        "of the payload had come before",
    );
    more(
        stats.midstream,
        "midstream",
        count(stats.midstream),
        String::new(),
        "connections had begun before the capture",
    );
    for (anomaly, times) in anomalies(stats) {
        let mut cells = row(
            anomaly.name(),
            count(times),
            String::new(),
            meaning(anomaly),
        );
        if let Some(name) = cells.first_mut() {
            *name = Cell::alert(anomaly.name());
        }
        rows.push(cells);
    }
    page.rows(&rows);
}

/// Bytes that went up, by the short way or not.
const fn delivered(stats: &ReassemblyStats) -> u64 {
    stats.in_order.saturating_add(stats.delivered)
}

fn row(name: &str, shown: String, share: String, meaning: &str) -> Vec<Cell> {
    vec![
        Cell::left(name),
        Cell::right(shown),
        Cell::right(share),
        Cell::dim(meaning),
    ]
}

/// Those that were seen.
fn anomalies(stats: &ReassemblyStats) -> impl Iterator<Item = (Anomaly, u64)> {
    let all = Anomaly::ALL.iter().zip(stats.anomalies);
    all.map(|(&anomaly, count)| (anomaly, count))
        .filter(|&(_, count)| count > 0)
}

/// What an anomaly says about who sent it.
const fn meaning(anomaly: Anomaly) -> &'static str {
    match anomaly {
        Anomaly::OverlapDiffers => "overlaps whose bytes differ: one of the two was for us only",
        Anomaly::SynInConnection => "a SYN inside a connection",
        Anomaly::SynAckMismatch => "a SYN-ACK that acknowledges something else than the SYN",
        Anomaly::InvalidReset => "a RST whose number the receiver would not accept",
        Anomaly::DataAfterClose => "data behind the end of its stream",
        Anomaly::DataOnSyn => "a SYN with data",
        Anomaly::OutOfWindow => "data outside any window that the receiver could have",
        Anomaly::OldTimestamp => "a time stamp older than the last one: the receiver drops it",
        Anomaly::UrgentData => "the urgent pointer, which receivers read in two ways",
        Anomaly::FinChanged => "a second FIN with another number",
        Anomaly::CloseIgnored => "data behind a FIN or RST that the receiver took: it goes on",
        Anomaly::InvalidFin => "a FIN where the receiver would not accept it",
        Anomaly::MissingAck => "neither SYN nor RST, and acknowledges nothing",
        Anomaly::InvalidAck => "acknowledges what was never sent, or what is very old",
    }
}

/// The same for machines.
#[derive(Serialize)]
pub(super) struct Streams {
    payload_bytes: u64,
    delivered_bytes: u64,
    duplicate_bytes: u64,
    overlapped_bytes: u64,
    out_of_order_segments: u64,
    gaps: u64,
    gap_bytes: u64,
    midstream_connections: u64,
    one_sided_connections: u64,
    anomalies: BTreeMap<&'static str, u64>,
}

impl From<&ReassemblyStats> for Streams {
    fn from(stats: &ReassemblyStats) -> Self {
        Self {
            payload_bytes: stats.received(),
            delivered_bytes: delivered(stats),
            duplicate_bytes: stats.duplicate,
            overlapped_bytes: stats.overlapped,
            out_of_order_segments: stats.out_of_order,
            gaps: stats.gaps,
            gap_bytes: stats.gap_bytes,
            midstream_connections: stats.midstream,
            one_sided_connections: stats.one_sided,
            anomalies: Anomaly::ALL
                .iter()
                .map(|anomaly| anomaly.name())
                .zip(stats.anomalies)
                .collect(),
        }
    }
}
