//! Events against the expectations beside Suricata's captures.

use crate::events::events;
use crate::expectations::{Filter, Test, hold};

/// Every filter that counts events of FTP holds, or a row says why not.
#[test]
fn events_are_those_that_suricata_expects() {
    let filters = |test: &Test| {
        let mut filters = test.filters();
        filters.retain(is_ours);
        filters
    };
    let table = include_str!("../explained/ftp.tsv");
    hold(&["ftp", "."], (table, 9), filters, |test| {
        events(&test.capture, test.checksums)
    });
}

/// Whether a filter is about FTP's events, and nothing else.
fn is_ours(filter: &Filter) -> bool {
    let kind = filter.wanted.iter().find(|(key, _)| key == "event_type");
    let is_event = kind.is_some_and(|(_, kind)| matches!(kind.as_str(), "ftp" | "ftp_data"));
    let is_anomaly = filter
        .wanted
        .iter()
        .any(|(key, value)| key == "anomaly.event" && value.ends_with("_command_too_long"));
    !filter.old && (is_event || is_anomaly)
}
