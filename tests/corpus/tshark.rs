//! Connection counts, frames and bytes against Wireshark's conversation statistics.
//!
//! Under `--timeouts none -k none`, as tshark knows neither. Two differences are explained by
//! evidence in our own output, capture by capture; all others need a row in
//! `tests/explained/tshark.tsv`:
//!
//! - *outer*: tshark also counts the UDP conversation around a tunnel, which is no connection
//!   here but a tunnel record, with the same addresses.
//! - *fragments*: tshark counts only the frame that completes a datagram, we count the bytes of
//!   all its frames.

use crate::explained::Explained;
use crate::records::{Records, address, number, records};
use flowpin_testkit::corpus;
use flowpin_testkit::oracle::{Conversation, sharkd::Sharkd};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

type Tuple = (String, (IpAddr, u16), (IpAddr, u16));
type ByTuple = BTreeMap<Tuple, Vec<Conversation>>;

/// In the short form every capture of these categories, and every tenth of the others.
const ALWAYS: &[&str] = &["A mix", "D ip-frag", "D tunnels", "E "];

fn sample() -> Vec<(String, PathBuf)> {
    let bundled = corpus::bundled().into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, path)
    });
    let public = corpus::captures(&[], "public captures against tshark");
    let public = public.into_iter().enumerate().filter(|(nth, capture)| {
        let always = ALWAYS
            .iter()
            .any(|start| capture.category.starts_with(start));
        always || corpus::is_long() || nth % 10 == 0
    });
    bundled
        .chain(public.map(|(_, capture)| (capture.name, capture.path)))
        .collect()
}

/// Same connections, same frames, same bytes; or a row in the table that says why not.
#[test]
fn conversations_are_those_of_tshark() {
    let settings = [("ip.defragment", "TRUE"), ("tcp.check_checksum", "FALSE")];
    let Ok(mut sharkd) = Sharkd::start(&settings) else {
        corpus::skip(
            "conversations against tshark",
            "sharkd is not installed (tshark)",
        );
        return;
    };
    let mut explained = Explained::parse(include_str!("../explained/tshark.tsv"));
    let (mut open, mut compared) = (Vec::new(), Vec::new());
    let (mut same, mut connections) = (0, 0);
    for (name, path) in sample() {
        let Some(theirs) = sharkd.conversations(&path).unwrap() else {
            continue;
        };
        let ours = records(&path, &["-k", "none", "--timeouts", "none"]);
        if ours.code == 3 {
            open.push(format!("{name}\tunreadable\t{}", ours.stderr.trim()));
            continue;
        }
        connections += theirs.len();
        let differences = differences(&ours, &theirs, &path);
        same += usize::from(differences.is_empty());
        for (kind, example) in differences {
            if !explained.covers(&name, &kind) {
                open.push(format!("{name}\t{kind}\t{example}"));
            }
        }
        compared.push(name);
    }
    open.extend(explained.stale(&compared));
    println!(
        "{same} of {} captures agree, {connections} conversations",
        compared.len()
    );
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
}

/// Kinds of difference, with an example each.
fn differences(ours: &Records, theirs: &[Conversation], path: &Path) -> BTreeMap<String, String> {
    let (mine, theirs) = (by_tuple(ours.conversations()), by_tuple(theirs.to_vec()));
    let outer = outer_pairs(ours);
    let mut found = BTreeMap::new();
    let mut note = |kind: &str, example: String| {
        found.entry(kind.to_owned()).or_insert(example);
    };
    let mut has_fragments = None;
    let tuples: BTreeSet<_> = mine.keys().chain(theirs.keys()).collect();
    for tuple in tuples {
        match (mine.get(tuple), theirs.get(tuple)) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) if sums(a) == sums(b) => {
                note(
                    "split",
                    format!("{tuple:?}: {} here, {} there", a.len(), b.len()),
                );
            }
            (Some(a), Some(b)) => {
                let fragments = *has_fragments.get_or_insert_with(|| absorbed(path) > 0);
                let (ours, theirs) = (sums(a), sums(b));
                // Frames: one each for a whole datagram; bytes: ours hold all its fragments.
                let is_fragments = fragments && ours.1 >= theirs.1 && a.len() == b.len();
                if !is_fragments {
                    note(
                        "counts",
                        format!("{tuple:?}: {ours:?} here, {theirs:?} there"),
                    );
                }
            }
            (Some(a), None) => note("extra", format!("{tuple:?}: {:?} here only", sums(a))),
            (None, Some(_)) if is_outer(tuple, &outer) => {}
            (None, Some(b)) => note("missing", format!("{tuple:?}: {:?} there only", sums(b))),
            (None, None) => {}
        }
    }
    found
}

fn by_tuple(conversations: Vec<Conversation>) -> ByTuple {
    let mut map = ByTuple::new();
    for conversation in conversations {
        map.entry(conversation.tuple())
            .or_default()
            .push(conversation);
    }
    map
}

/// Frames and bytes of all connections of a tuple.
fn sums(conversations: &[Conversation]) -> (u64, u64) {
    let frames = conversations.iter().map(Conversation::frames).sum();
    (frames, conversations.iter().map(Conversation::bytes).sum())
}

fn outer_pairs(ours: &Records) -> BTreeSet<(IpAddr, IpAddr)> {
    let pair = |event| {
        let (a, b) = (address(event, "src_ip"), address(event, "dest_ip"));
        (a.min(b), a.max(b))
    };
    ours.of("tunnel").map(pair).collect()
}

/// The conversation around a tunnel that we have a record of.
fn is_outer((protocol, low, high): &Tuple, outer: &BTreeSet<(IpAddr, IpAddr)>) -> bool {
    protocol == "udp" && outer.contains(&(low.0.min(high.0), low.0.max(high.0)))
}

/// Fragments that were absorbed into datagrams, or still held.
fn absorbed(path: &Path) -> u64 {
    let words = ["run", "--json", "--format", "none", "-k", "none", "-r"];
    let words = [&words[..], &[path.to_str().unwrap()]].concat();
    let outcome = flowpin_testkit::product::run(&words).unwrap();
    let conservation = outcome.json().unwrap()["conservation"].take();
    number(&conservation["absorbed"]) + number(&conservation["held"])
}
