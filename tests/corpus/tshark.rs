//! Connection counts, frames and bytes against Wireshark's conversation statistics.
//!
//! Under `--timeouts none -k none`, as tshark knows neither. Five differences are explained by
//! evidence in our own output, connection by connection; all others need a row in
//! `tests/explained/tshark.tsv`:
//!
//! - *outer*: tshark also counts the UDP conversation around a tunnel, which is no connection
//!   here but a tunnel record with the same addresses.
//! - *fragments*: tshark counts only the frame that completes a datagram, we count the bytes of
//!   all its frames.
//! - *incomplete*: tshark reads the ports of a first fragment whose others never come, or do not
//!   fit; no receiver would, and we still hold it, or lost it by name. No more frames may be
//!   missing in a capture than such fragments were in it.
//! - *refused*: tshark counts packets whose lengths contradict each other; we refuse them and say
//!   so. No more frames may be missing in a capture than were refused in it.
//! - *snapped*: we take ports from a packet that was cut short behind them, and say so; tshark
//!   wants the whole header.

use crate::explained::Explained;
use crate::records::{Records, address, number, records};
use flowpin_testkit::corpus;
use flowpin_testkit::oracle::{Conversation, sharkd::Sharkd};
use serde_json::Value;
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
    for (nth, (name, path)) in sample().into_iter().enumerate() {
        if nth % 300 == 299 {
            // It keeps every file open that it ever read.
            sharkd.restart().unwrap();
        }
        let Some(theirs) = sharkd.conversations(&path).unwrap() else {
            continue;
        };
        let ours = records(&path, &["-k", "none", "--timeouts", "none"]);
        connections += theirs.len();
        // Code 3, unreadable: no connections; right where tshark finds none either.
        assert!(matches!(ours.code, 0 | 3 | 4), "{name}: {}", ours.stderr);
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
    let mut mine = ours.conversations();
    mine.retain(|one| matches!(one.protocol.as_str(), "tcp" | "udp" | "sctp"));
    let (mine, theirs) = (by_tuple(mine), by_tuple(theirs.to_vec()));
    let evidence = Evidence::of(ours);
    let mut found = BTreeMap::new();
    let mut note = |kind: &str, example: String| {
        found.entry(kind.to_owned()).or_insert(example);
    };
    let mut summary = None;
    let tuples: BTreeSet<_> = mine.keys().chain(theirs.keys()).collect();
    for tuple in tuples {
        let none = Vec::new();
        let (a, b) = (
            mine.get(tuple).unwrap_or(&none),
            theirs.get(tuple).unwrap_or(&none),
        );
        let (ours, theirs) = (sums(a), sums(b));
        let is_less = ours.0 < theirs.0 && ours.1 <= theirs.1;
        let is_explained = a == b
            || is_less && evidence.is_outer(tuple)
            || b.is_empty() && evidence.is_snapped(tuple);
        if is_explained {
            continue;
        }
        let summary = summary.get_or_insert_with(|| Summary::of(path));
        let example = format!("{tuple:?}: {ours:?} here, {theirs:?} there");
        if is_less && summary.has_refused(theirs.0 - ours.0) {
            // Refused, and said so.
        } else if a.is_empty() && summary.has_incomplete(theirs.0) {
            // Of datagrams that never became whole, and said so.
        } else if a.is_empty() {
            note("missing", example);
        } else if b.is_empty() {
            note("extra", example);
        } else if ours == theirs {
            note(
                "split",
                format!("{tuple:?}: {} here, {} there", a.len(), b.len()),
            );
        } else if !(summary.fragments > 0 && ours.1 >= theirs.1 && a.len() == b.len()) {
            // Frames: one each for a whole datagram; bytes: ours hold all its fragments.
            note("counts", example);
        }
    }
    found
}

/// What our own records say about packets that tshark counts in another way.
struct Evidence {
    tunnels: BTreeSet<Pair>,
    snapped: BTreeSet<Pair>,
}

type Pair = (IpAddr, IpAddr);

impl Evidence {
    fn of(ours: &Records) -> Self {
        let pair = |event: &Value| {
            let (a, b) = (address(event, "src_ip"), address(event, "dest_ip"));
            (a.min(b), a.max(b))
        };
        let is_snapped = |flow: &&Value| number(&flow["flowpin"]["snapped"]) > 0;
        Self {
            tunnels: ours.of("tunnel").map(pair).collect(),
            snapped: ours.flows().filter(is_snapped).map(pair).collect(),
        }
    }

    /// The conversation around a tunnel that we have a record of.
    fn is_outer(&self, tuple: &Tuple) -> bool {
        tuple.0 == "udp" && self.tunnels.contains(&addresses(tuple))
    }

    /// Between addresses of which packets were cut short by the snap length.
    fn is_snapped(&self, tuple: &Tuple) -> bool {
        self.snapped.contains(&addresses(tuple))
    }
}

fn addresses((_, low, high): &Tuple) -> Pair {
    (low.0.min(high.0), low.0.max(high.0))
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

/// What the summary counts.
struct Summary {
    /// Fragments that were absorbed into datagrams, or still held.
    fragments: u64,
    /// Fragments still held or lost, less those that an absence has been explained with.
    incomplete: u64,
    /// Packets refused, less those that tshark's greater count has been explained with.
    refused: u64,
}

impl Summary {
    fn of(path: &Path) -> Self {
        let words = ["run", "--json", "--format", "none", "-k", "none", "-r"];
        let words = [&words[..], &[path.to_str().unwrap()]].concat();
        let outcome = flowpin_testkit::product::run(&words).unwrap();
        // Without a packet that could be read there is no summary, and nothing was refused.
        let summary = outcome.json().unwrap_or_default();
        let conservation = &summary["conservation"];
        Self {
            fragments: number(&conservation["absorbed"]) + number(&conservation["held"]),
            incomplete: number(&conservation["held"]) + number(&conservation["lost"]),
            refused: number(&conservation["malformed"]),
        }
    }

    /// Whether so many frames more were refused than are explained yet.
    fn has_refused(&mut self, frames: u64) -> bool {
        take(&mut self.refused, frames)
    }

    /// Likewise for fragments of datagrams that never became whole.
    fn has_incomplete(&mut self, frames: u64) -> bool {
        take(&mut self.incomplete, frames)
    }
}

/// Takes some of what is left, if there is as much.
fn take(left: &mut u64, count: u64) -> bool {
    let rest = left.checked_sub(count);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}
