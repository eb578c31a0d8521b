//! The documentation of the records is the tables that the writers use.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

use flowpin_packet::{Layer, Reason};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A column or field that was added must be in the page too.
#[test]
fn the_page_of_records_is_not_stale() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/user/records.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(
        page == flowpin_engine::records_page(),
        "stale: cargo run -p flowpin-engine --example records_page > docs/user/records.md"
    );
}

/// Every name of an anomaly that can be a record stands in the page once, and no other.
#[test]
fn the_page_of_anomalies_has_every_name_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/user/anomalies.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let named: Vec<_> = rows.map(|row| row.split('`').next().unwrap()).collect();
    let once: BTreeSet<_> = named.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(once.len(), named.len(), "a name twice: {named:?}");
    // That of messages, whose records have names of their own.
    let reasons = Reason::ALL.iter().filter(|&&one| one != Reason::Message);
    let mut all: BTreeSet<_> = reasons.map(|one| one.name().to_owned()).collect();
    let of_http = flowpin_http::Anomaly::ALL.iter().map(|one| one.name());
    let of_tls = flowpin_tls::Anomaly::ALL.iter().map(|one| one.name());
    all.extend(of_http.chain(of_tls).map(str::to_owned));
    for parser in [
        "dns",
        "fix",
        "ftp",
        "gopher",
        "nut",
        "ssh",
        "text",
        "tls",
        "websocket",
    ] {
        all.extend(named_in(
            &root.join("pipeline/80-parse").join(parser).join("src"),
        ));
    }
    assert_eq!(once, all);
    for layer in Layer::ALL {
        assert!(
            page.contains(&format!("`{}`", layer.name())),
            "{}",
            layer.name()
        );
    }
}

/// Names that the sources of a parser report: literals where they are handed over, or by the rules
/// of [`REPORTS`].
fn named_in(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in sources(folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for line in text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
        {
            if REPORTS.iter().any(|report| line.contains(report)) {
                let literals = line.split('"').skip(1).step_by(2);
                let is_name = |name: &&str| {
                    name.contains('_')
                        && name
                            .bytes()
                            .all(|one| one.is_ascii_lowercase() || one == b'_')
                };
                names.extend(literals.filter(is_name).map(str::to_owned));
            }
        }
    }
    names
}

/// How anomalies are reported in the sources: by a call, as the name of a flaw, or in the table of
/// a grammar.
const REPORTS: &[&str] = &[
    ".anomaly(\"",
    ".event(\"",
    "no_message(direction, \"",
    "const LATE: &str",
    "_ok, \"fix_",
    "== Some(false), \"fix_",
    ".is_none(), \"fix_",
    "(flaws.",
    " => \"dns_",
    "(MailFlaw::",
    "anomalies: Borrowed(",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path
            .file_name()
            .is_some_and(|name| name != "fuzz.rs" && name != "tests.rs")
        {
            found.push(path);
        }
    }
    found
}
