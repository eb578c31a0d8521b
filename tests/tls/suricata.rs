//! Events against the expectations beside Suricata's captures.
//!
//! Of each `test.yaml` the filters that count events of TLS and QUIC are taken, and of these what
//! both tools have; those that need rules are about something else.

use crate::expectations::{Filter, Test, hold};
use crate::written::files;

/// What both tell of a handshake. Addresses of IPv6 are spelt differently.
const COMMON: &[&str] = &[
    "event_type",
    "src_port",
    "dest_port",
    "proto",
    "tls.sni",
    "tls.version",
    "tls.subject",
    "tls.issuerdn",
    "tls.notbefore",
    "tls.notafter",
    "tls.ja4",
    "tls.session_resumed",
    "quic.version",
    "quic.sni",
    "quic.ja4",
];

/// Every filter holds, or a row says why not.
#[test]
fn events_are_those_that_suricata_expects() {
    let events = |test: &Test| {
        let files = files(&test.capture, "eve", test.checksums);
        let text = files.get("eve.json").map_or("", String::as_str);
        let event = |line| serde_json::from_str(line).unwrap();
        text.lines().map(event).collect()
    };
    let table = include_str!("../explained/tls.tsv");
    hold(&["tls", "quic", "."], (table, 30), ours, events);
}

/// Filters about events of TLS or QUIC and nothing else, as far as both have what they name.
fn ours(test: &Test) -> Vec<Filter> {
    let other = ["alert", "stats", "has-key", "not-has-key", "ether"];
    let is_about = |filter: &Filter| {
        let kind = filter.wanted.iter().find(|(key, _)| key == "event_type");
        let is_kind = kind.is_some_and(|(_, kind)| kind == "tls" || kind == "quic");
        let mut keys = filter.wanted.iter().map(|(key, _)| key);
        is_kind && !filter.old && !keys.any(|key| other.iter().any(|one| key.starts_with(one)))
    };
    let mut filters = test.filters();
    filters.retain(is_about);
    for filter in &mut filters {
        let is_quic = filter.wanted.iter().any(|(_, value)| value == "quic");
        filter.wanted.retain(|(key, _)| {
            // Which of a connection's hellos is meant.
            let is_place = key == "pcap_cnt" || key.starts_with("quic.extensions");
            COMMON.contains(&key.as_str()) || (is_quic && is_place)
        });
    }
    filters
}
