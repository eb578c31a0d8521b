//! Events against the expectations beside Suricata's captures.
//!
//! Of each `test.yaml` the filters that count events of DNS are taken; those that count alerts or
//! need rules are about something else.

use crate::events::events;
use crate::expectations::{Filter, Test, hold};

/// Every filter holds, or a row says why not.
#[test]
fn events_are_those_that_suricata_expects() {
    let filters = |test: &Test| {
        // Settings that choose which messages are told: ours tells all.
        let chosen = test.name.contains("-only") || test.text.contains("EVE_DNS_VERSION: 2");
        let mut filters = test.filters();
        filters.retain(|filter| !chosen && is_ours(filter));
        filters
    };
    let table = include_str!("../explained/dns.tsv");
    hold(&["dns", "llmnr", "."], (table, 30), filters, |test| {
        events(&test.capture, test.checksums)
    });
}

/// Whether a filter is about DNS events, and nothing else.
fn is_ours(filter: &Filter) -> bool {
    let about = |word: &str| {
        filter.wanted.iter().any(|(key, value)| {
            (key == "event_type" && value == word) || key.starts_with(&format!("{word}."))
        })
    };
    let kind = filter.wanted.iter().find(|(key, _)| key == "event_type");
    let other = kind.is_some_and(|(_, kind)| !matches!(kind.as_str(), "dns" | "mdns" | "llmnr"));
    let alert = filter.wanted.iter().any(|(key, _)| {
        ["alert", "direction", "stats", "ether", "has-key"]
            .iter()
            .any(|word| key.starts_with(word))
    });
    !filter.old && !other && !alert && (about("dns") || about("mdns") || about("llmnr"))
}
