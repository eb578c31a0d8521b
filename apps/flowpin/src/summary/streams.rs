//! TCP streams: the results of reassembly, as a section of the page and as JSON.

use super::number;
use super::page::{Cell, Page};
use flowpin_engine::{Anomaly, ReassemblyStats, RunReport};
use serde::Serialize;
use std::collections::BTreeMap;

/// The results of reassembly.
pub(super) fn streams(page: &mut Page, report: &RunReport) {
    let stats = &report.reassembly;
    let received = stats.received();
    if received == 0 && anomalies(stats).next().is_none() {
        return;
    }
    page.title("TCP streams", "put in order as their receivers did");
    let mut rows = vec![row(
        "in order",
        number::bytes(delivered(stats)),
        number::percent(delivered(stats), received),
        "of the payload was delivered in order, each byte once",
    )];
    let mut more = |count: u64, name, shown: String, share: String, meaning| {
        if count > 0 {
            rows.push(row(name, shown, share, meaning));
        }
    };
    more(
        stats.out_of_order,
        "waited",
        number::things(stats.out_of_order, "segment"),
        String::new(),
        "received before an earlier one",
    );
    more(
        stats.gaps,
        "gaps",
        number::things(stats.gaps, "gap"),
        number::bytes(stats.gap_bytes),
        "missing in the capture; the streams continue after it",
    );
    more(
        stats.duplicate,
        "repeated",
        number::bytes(stats.duplicate),
        number::percent(stats.duplicate, received),
        "of the payload had been received before",
    );
    more(
        stats.midstream,
        "midstream",
        number::things(stats.midstream, "connection"),
        String::new(),
        "open before the capture began",
    );
    for (anomaly, times) in anomalies(stats) {
        let mut cells = row(
            anomaly.name(),
            number::count(times),
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

/// Bytes delivered, on the fast path or not.
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

/// The anomalies that occurred.
fn anomalies(stats: &ReassemblyStats) -> impl Iterator<Item = (Anomaly, u64)> {
    let all = Anomaly::ALL.iter().zip(stats.anomalies);
    all.map(|(&anomaly, count)| (anomaly, count))
        .filter(|&(_, count)| count > 0)
}

/// The meaning of an anomaly.
const fn meaning(anomaly: Anomaly) -> &'static str {
    match anomaly {
        Anomaly::OverlapDiffers => {
            "overlapping segments with different bytes: one was meant for an analyser only"
        }
        Anomaly::SynInConnection => "a SYN inside a connection",
        Anomaly::SynAckMismatch => "a SYN-ACK that does not acknowledge the SYN",
        Anomaly::InvalidReset => "a RST with a sequence number that the receiver would not accept",
        Anomaly::DataAfterClose => "data after the end of its stream",
        Anomaly::DataOnSyn => "a SYN with data",
        Anomaly::OutOfWindow => "data outside every possible window of the receiver",
        Anomaly::OldTimestamp => {
            "a time stamp older than the last one: the receiver drops the segment"
        }
        Anomaly::UrgentData => "an urgent pointer, which receivers read in two ways",
        Anomaly::FinChanged => "a second FIN with another sequence number",
        Anomaly::CloseIgnored => "data accepted after a FIN or RST: the stream continues",
        Anomaly::InvalidFin => "a FIN that the receiver would not accept",
        Anomaly::MissingAck => "a segment without ACK that is neither SYN nor RST",
        Anomaly::InvalidAck => "an acknowledgement of data never sent, or of very old data",
    }
}

/// The same as JSON.
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
