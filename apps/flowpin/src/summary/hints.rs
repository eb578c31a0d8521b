//! Advice for inputs whose recording hides most of their content.

use super::number;
use super::page::{Cell, Page};
use flowpin_engine::RunReport;
use flowpin_packet::Reason;
use serde::Serialize;

/// One piece of advice.
#[derive(Debug, Serialize)]
pub(super) struct Hint {
    /// Its subject, in one stable word.
    name: &'static str,
    /// How many packets it concerns.
    packets: u64,
    /// The finding, its probable cause, and what to do.
    text: String,
}

/// The section with all hints, after the figures about the input.
pub(super) fn section(page: &mut Page, report: &RunReport) {
    for hint in hints(report) {
        page.title("Hint", "");
        page.line(Cell::alert(hint.text));
    }
}

/// The hints for JSON.
pub(super) fn hints(report: &RunReport) -> Vec<Hint> {
    checksums(report).into_iter().collect()
}

/// Many packets left out, or without effect, because of their checksums.
fn checksums(report: &RunReport) -> Option<Hint> {
    let refused: u64 = report
        .refusals
        .iter()
        .filter(|(_, reason, _)| *reason == Reason::Checksum)
        .map(|(.., packets)| packets)
        .sum();
    let ineffective = report.quality.bad_checksums;
    let packets = refused + ineffective;
    if packets == 0 || packets.saturating_mul(SHARE) < report.packets {
        return None;
    }
    let mut parts = Vec::new();
    if refused > 0 {
        let (packets, verb) = number::things_and(refused, "packet", ["was", "were"]);
        let share = number::percent(refused, report.packets);
        parts.push(format!("{packets} ({share}) {verb} left out"));
    }
    if ineffective > 0 {
        parts.push(format!(
            "{} ({}) changed no connection's state",
            number::things(ineffective, "packet"),
            number::percent(ineffective, report.packets)
        ));
    }
    let text = format!(
        "{}, because of bad checksums. Probably the capture was made on the sending host, whose \
         network card computes checksums later (offloading), or a tool rewrote packets. To analyse \
         such packets all the same, use `-k none`.",
        parts.join(" and ")
    );
    Some(Hint {
        name: "checksums",
        packets,
        text,
    })
}

/// A hint is given from one packet in ten on.
const SHARE: u64 = 10;

#[cfg(test)]
mod tests {
    use super::hints;
    use flowpin_engine::RunReport;
    use flowpin_packet::{Layer, Reason, bad};

    fn report(ipv4: u64, tcp: u64, others: u64) -> RunReport {
        let mut report = RunReport {
            packets: 1000,
            ..RunReport::default()
        };
        report.quality.bad_checksums = tcp;
        for _ in 0..ipv4 {
            report
                .refusals
                .count(bad(Layer::Ipv4, Reason::Checksum, 10));
        }
        for _ in 0..others {
            report
                .refusals
                .count(bad(Layer::Ipv4, Reason::Truncated, 0));
        }
        report
    }

    /// A tenth of the packets is worth a hint, whichever checksum it is; other refusals are none.
    #[test]
    fn a_large_share_of_bad_checksums_is_worth_a_hint() {
        for (ipv4, tcp, words) in [
            (1000, 0, "1,000 packets (100 %) were left out, because"),
            (
                0,
                100,
                "100 packets (10.0 %) changed no connection's state, because",
            ),
            (
                60,
                40,
                "60 packets (6.0 %) were left out and 40 packets (4.0 %) changed",
            ),
        ] {
            let hints = hints(&report(ipv4, tcp, 0));
            assert_eq!(hints.len(), 1);
            assert_eq!((hints[0].name, hints[0].packets), ("checksums", ipv4 + tcp));
            let text = &hints[0].text;
            assert!(
                text.starts_with(words) && text.contains("`-k none`"),
                "{text}"
            );
        }
        for (ipv4, tcp, others) in [(0, 0, 0), (50, 49, 0), (0, 0, 1000)] {
            assert!(hints(&report(ipv4, tcp, others)).is_empty());
        }
    }
}
