//! Events against the expectations beside Suricata's captures.
//!
//! Of each `test.yaml` the filters that count events of DNS are taken; those that count alerts or
//! need rules are about something else.

use crate::events::events;
use crate::expectations::{Filter, tests};
use crate::explained::Explained;
use flowpin_testkit::corpus;

/// Every filter holds, or a row says why not.
#[test]
fn events_are_those_that_suricata_expects() {
    let Some(shared) = corpus::shared_dir("DNS against Suricata's expectations") else {
        return;
    };
    let folder = shared.join("corpus/suricata-verify/tests");
    let mut explained = Explained::parse(include_str!("../explained/dns.tsv"));
    let (mut open, mut compared, mut held, mut all) = (Vec::new(), Vec::new(), 0, 0);
    for test in tests(&folder, &["dns", "llmnr", "."]) {
        let filters: Vec<Filter> = test.filters().into_iter().filter(is_ours).collect();
        // Settings that choose which messages are told: ours tells all.
        let chosen = test.name.contains("-only") || test.text.contains("EVE_DNS_VERSION: 2");
        if filters.is_empty() || chosen {
            continue;
        }
        let events = events(&test.capture, test.checksums);
        for (nth, filter) in filters.iter().enumerate() {
            all += 1;
            let count = events.iter().filter(|event| filter.matches(event)).count();
            if count == filter.count {
                held += 1;
            } else if !explained.covers(&test.name, &format!("filter {nth}")) {
                let name = &test.name;
                open.push(format!("{name}\tfilter {nth}\t{count} here: {filter:?}"));
            }
        }
        compared.push(test.name);
    }
    open.extend(explained.stale(&compared));
    println!("{held} of {all} filters hold, in {} tests", compared.len());
    assert!(held > 30, "{held} filters");
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
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
