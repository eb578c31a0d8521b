//! Streams by their ends, whoever wrote them, and how two sets of them differ.

use crate::explained::Explained;
use flowpin_testkit::product;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Sender, receiver.
pub(crate) type Ends = (SocketAddr, SocketAddr);

/// All streams from one end to another, in the order of their connections.
pub(crate) type Streams = BTreeMap<Ends, Vec<Vec<u8>>>;

/// What `flowpin streams` writes for a capture, as tools see it that know neither checksums nor
/// time-outs; none if it cannot be read.
pub(crate) fn ours(path: &Path, more: &[&str]) -> Streams {
    let folder = tempfile::tempdir().unwrap();
    let (path, to) = (path.to_str().unwrap(), folder.path().to_str().unwrap());
    let mut words = vec!["streams", "-r", path, "-w", to, "-k", "none"];
    words.extend(["--timeouts", "none"]);
    words.extend(more);
    let outcome = product::run(&words).unwrap();
    assert!(
        matches!(outcome.code, 0 | 3 | 4),
        "{path}: {} {}",
        outcome.code,
        outcome.stderr
    );
    read_folder(folder.path())
}

/// The streams in a folder, by the names that tcpflow made up.
pub(crate) fn read_folder(folder: &Path) -> Streams {
    let mut found: BTreeMap<Ends, Vec<(u32, Vec<u8>)>> = BTreeMap::new();
    for (name, bytes) in product::files(folder).unwrap() {
        if let Some((ends, count)) = parse_name(&name) {
            found.entry(ends).or_default().push((count, bytes));
        }
    }
    let in_order = |mut streams: Vec<(u32, Vec<u8>)>| {
        streams.sort();
        streams.into_iter().map(|(_, bytes)| bytes).collect()
    };
    found
        .into_iter()
        .map(|(ends, streams)| (ends, in_order(streams)))
        .collect()
}

/// `ADDRESS.PORT-ADDRESS.PORT`, then perhaps `--VLAN` and `cCOUNT`.
fn parse_name(name: &str) -> Option<(Ends, u32)> {
    let (name, count) = match name.rsplit_once('c') {
        // `c` is a digit of IPv6 addresses, too, but ports have none.
        Some((before, count)) if !count.is_empty() && !before.is_empty() => match count.parse() {
            Ok(count) => (before, count),
            Err(_) => (name, 0),
        },
        _ => (name, 0),
    };
    let name = name.split_once("--").map_or(name, |(name, _)| name);
    let (from, to) = name.split_once('-')?;
    Some(((parse_end(from)?, parse_end(to)?), count))
}

fn parse_end(end: &str) -> Option<SocketAddr> {
    let (address, port) = end.rsplit_once('.')?;
    let address: IpAddr = if address.contains(':') {
        address.parse().ok()?
    } else {
        let bytes: Vec<u8> = address
            .split('.')
            .map(|byte| byte.parse().ok())
            .collect::<Option<_>>()?;
        let bytes: [u8; 4] = bytes.try_into().ok()?;
        bytes.into()
    };
    Some(SocketAddr::new(address, port.parse().ok()?))
}

/// How two sets of streams differ: `kind=count`, with an example each.
pub(crate) fn differences(
    ours: &Streams,
    theirs: &Streams,
    is_explained: impl Fn(&[u8], &[u8]) -> bool,
) -> BTreeMap<String, String> {
    let mut kinds: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    let ends: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    let none = Vec::new();
    for ends in ends {
        let mine = ours.get(ends).unwrap_or(&none);
        let other = theirs.get(ends).unwrap_or(&none);
        let (a, b) = (mine.concat(), other.concat());
        let kind = if mine == other || is_explained(&a, &b) {
            continue;
        } else if a == b {
            "split"
        } else if b.is_empty() {
            "extra"
        } else if a.is_empty() {
            "missing"
        } else if a.starts_with(&b) {
            "longer"
        } else if b.starts_with(&a) {
            "shorter"
        } else {
            "bytes"
        };
        let lens = |streams: &[Vec<u8>]| streams.iter().map(Vec::len).collect::<Vec<_>>();
        let example = || format!("{ends:?}: {:?} here, {:?} there", lens(mine), lens(other));
        kinds.entry(kind).or_insert_with(|| (0, example())).0 += 1;
    }
    kinds
        .into_iter()
        .map(|(kind, (count, example))| (format!("{kind}={count}"), example))
        .collect()
}

/// Collects what is not explained over many captures.
pub(crate) struct Comparison {
    explained: Explained,
    open: Vec<String>,
    compared: Vec<String>,
    same: usize,
    streams: usize,
}

impl Comparison {
    /// With a table of explanations.
    pub(crate) fn new(table: &str) -> Self {
        Self {
            explained: Explained::parse(table),
            open: Vec::new(),
            compared: Vec::new(),
            same: 0,
            streams: 0,
        }
    }

    /// One capture's outcome.
    pub(crate) fn add(
        &mut self,
        name: &str,
        streams: usize,
        differences: &BTreeMap<String, String>,
    ) {
        self.same += usize::from(differences.is_empty());
        self.streams += streams;
        for (kind, example) in differences {
            if !self.explained.covers(name, kind) {
                self.open.push(format!("{name}\t{kind}\t{example}"));
            }
        }
        self.compared.push(name.to_owned());
    }

    /// Fails if anything is left to explain, or explained in vain.
    pub(crate) fn finish(mut self) {
        self.open.extend(self.explained.stale(&self.compared));
        println!(
            "{} of {} captures agree, {} streams",
            self.same,
            self.compared.len(),
            self.streams
        );
        let (count, open) = (self.open.len(), self.open.join("\n"));
        assert!(self.open.is_empty(), "{count} not explained:\n{open}");
    }
}
