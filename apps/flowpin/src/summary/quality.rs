//! Sections about missing data: from the capture itself, by refusals, by caps.

use super::page::{Cell, Page};
use super::{Detail, number};
use flowpin_engine::{CaptureQuality, RunReport};
use std::time::Duration;

/// One finding about the capture.
struct Finding {
    /// Its name, if it occurred.
    name: &'static str,
    /// Its name in the list of findings that did not occur.
    absent: &'static str,
    count: u64,
    shown: String,
    share: String,
    meaning: String,
}

/// The findings about the capture.
pub(super) fn quality(page: &mut Page, report: &RunReport) {
    let findings = findings(report.packets, &report.quality);
    // Most files do not say.
    let is_live = report.inputs.iter().any(|input| input.is_live);
    page.title(
        "Quality of the capture",
        "losses of the tap or the recorder",
    );
    let rows: Vec<_> = findings
        .iter()
        .filter(|finding| finding.count > 0)
        .map(|finding| {
            vec![
                Cell::left(finding.name),
                Cell::right(finding.shown.clone()),
                Cell::right(finding.share.clone()),
                Cell::dim(finding.meaning.clone()),
            ]
        })
        .collect();
    page.rows(&rows);
    let absent: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.count == 0 && (is_live || finding.name != DROPPED))
        .map(|finding| finding.absent)
        .collect();
    if !absent.is_empty() {
        page.line(Cell::dim(format!("none: {}", absent.join(", "))));
    }
    if let Some(latency) = report.latency.filter(|latency| latency.times > 0) {
        page.line(Cell::dim(format!(
            "records were in the logs {} after their packets at most, {} on average",
            number::duration(latency.most),
            number::duration(latency.mean),
        )));
    }
    reloads(page, report);
}

/// What of the run the recording does not give.
fn reloads(page: &mut Page, report: &RunReport) {
    if report.reloads > 0 {
        let times = number::things(report.reloads, "time");
        page.line(Cell::dim(format!(
            "settings were reloaded {times}: the recording gives all records but alerts"
        )));
    }
}

/// The finding that only a live run, and its recording, can exclude.
const DROPPED: &str = "dropped";

fn findings(packets: u64, quality: &CaptureQuality) -> [Finding; 9] {
    let of_packets = |count: u64| (number::count(count), number::percent(count, packets));
    let finding = |name, absent, count, (shown, share), meaning: &str| Finding {
        name,
        absent,
        count,
        shown,
        share,
        meaning: meaning.to_owned(),
    };
    let back = number::duration(Duration::from_nanos(quality.backwards_max_ns));
    [
        finding(
            DROPPED,
            "packets dropped before they were read",
            quality.dropped,
            (
                number::count(quality.dropped),
                number::percent(quality.dropped, packets + quality.dropped),
            ),
            "of packets found no room in the capturing system's memory: raise `--ring`, or give \
             the capture more processors",
        ),
        finding(
            "duplicates",
            "packets captured twice",
            quality.duplicates,
            of_packets(quality.duplicates),
            "of packets were captured twice: the mirror port copies both ingress and egress, or \
             two taps see one path",
        ),
        finding(
            "one-sided",
            "one-sided connections",
            quality.one_sided,
            (
                number::count(quality.one_sided),
                number::percent(quality.one_sided, quality.tcp_connections),
            ),
            "of TCP connections have one direction only, although the other side sent data: the \
             routes differ, or the mirror copies one direction",
        ),
        finding(
            "never seen",
            "bytes acknowledged but never seen",
            quality.missed_bytes,
            (
                number::bytes(quality.missed_bytes),
                number::percent(
                    quality.missed_bytes,
                    quality.stream_bytes.max(quality.missed_bytes),
                ),
            ),
            "of TCP payload was acknowledged but is not in the capture: the receiver had it, so \
             the tap or the recorder dropped it",
        ),
        finding(
            "cut short",
            "packets cut short",
            quality.snapped,
            of_packets(quality.snapped),
            "of packets are longer than the recorder's snap length: their lengths count in full, \
             their last bytes are lost",
        ),
        finding(
            "offload",
            "unfinished checksums",
            quality.offloaded,
            of_packets(quality.offloaded),
            "of packets have a checksum that the sender's network card was to complete: they \
             were recorded on the sending host, and are accepted",
        ),
        finding(
            "bad checksums",
            "bad checksums",
            quality.bad_checksums,
            of_packets(quality.bad_checksums),
            "of packets do not match their transport checksum and changed no connection's state: \
             damaged in transit, or rewritten by a tool (then use `-k none`)",
        ),
        finding(
            "out of order",
            "times that go backwards",
            quality.backwards,
            of_packets(quality.backwards),
            &format!(
                "of packets are earlier than a previous one, by up to {back}: recorded from \
                 several queues, or a clock was set back"
            ),
        ),
        finding(
            "clock leaps",
            "leaps of the clock",
            quality.leaps,
            (number::count(quality.leaps), String::new()),
            "far forward: the link was quiet, a clock was set, or a recording was paused",
        ),
    ]
}

/// Packets whose headers contradict themselves.
pub(super) fn refusals(page: &mut Page, report: &RunReport, detail: Detail) {
    let total = report.refusals.total();
    if total == 0 {
        return;
    }
    page.title(
        "Refused packets",
        &format!(
            "{}, {} of all: a header contradicts itself",
            number::count(total),
            number::percent(total, report.packets)
        ),
    );
    let mut refusals: Vec<_> = report.refusals.iter().collect();
    refusals.sort_by_key(|&(.., count)| std::cmp::Reverse(count));
    let rows: Vec<_> = refusals
        .iter()
        .take(detail.rows(REFUSAL_ROWS))
        .map(|(layer, reason, count)| {
            vec![
                Cell::left(layer.name()),
                Cell::left(reason.name()),
                Cell::right(number::count(*count)),
            ]
        })
        .collect();
    page.rows(&rows);
    if refusals.len() > rows.len() {
        let more = (refusals.len() - rows.len()) as u64;
        page.line(Cell::dim(format!(
            "and {} (-v lists them)",
            number::things(more, "more kind")
        )));
    }
}

/// Losses of Flowpin itself, each by the name of its counter.
pub(super) fn losses(page: &mut Page, report: &RunReport) {
    page.title("Losses and caps", "data that Flowpin itself did not keep");
    let rows: Vec<_> = report
        .losses
        .iter()
        .map(|(loss, count)| {
            vec![
                Cell::alert(loss.name()),
                Cell::right(number::things(count, loss.unit())),
                Cell::left(loss.explanation()),
            ]
        })
        .collect();
    if rows.is_empty() {
        page.line(Cell::dim("none: no cap was reached, no queue was full"));
    }
    page.rows(&rows);
}

const REFUSAL_ROWS: usize = 5;
