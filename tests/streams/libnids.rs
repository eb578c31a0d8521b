//! libnids 1.26 as an oracle: the same connections, the same bytes in each direction.
//!
//! It follows connections over IPv4 whose whole handshake it sees, outside of tunnels and VLANs,
//! in captures without compression. What differs needs a row in `tests/explained/libnids.tsv`.

use crate::outcome::{Comparison, Ends, ours};
use flowpin_testkit::{corpus, product};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

/// By direction: the length and hash of each stream that is not empty.
type Sums = BTreeMap<Ends, Vec<(u64, String)>>;

/// Bundled captures, the mix and ordinary web traffic.
#[test]
fn connections_and_bytes_are_those_of_libnids() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = build(folder.path()) else {
        corpus::skip(
            "streams against libnids",
            "libnids cannot be linked to (libnids-dev)",
        );
        return;
    };
    let bundled = corpus::bundled().into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, path)
    });
    let public = corpus::captures(&["A mix", "C http"], "streams against libnids");
    let public = public
        .into_iter()
        .enumerate()
        .filter(|(nth, capture)| capture.category == "A mix" || corpus::is_long() || nth % 4 == 0);
    let public = public.map(|(_, capture)| (capture.name, capture.path));
    let mut comparison = Comparison::new(include_str!("../explained/libnids.tsv"));
    for (name, path) in bundled.chain(public) {
        let Some((connections, theirs)) = theirs(&program, &path) else {
            continue;
        };
        let mine = sums(&path);
        let mut found = BTreeMap::new();
        let mut note = |kind: &str, all: Vec<String>| {
            if let Some(example) = all.first() {
                found.insert(format!("{kind}={}", all.len()), example.clone());
            }
        };
        let differs = theirs
            .iter()
            .filter(|&(ends, sums)| mine.get(ends) != Some(sums));
        let differs = differs.filter(|(ends, sums)| mine.contains_key(ends) || !sums.is_empty());
        let text = |(ends, sums): (&Ends, _)| {
            format!("{ends:?}: {:?} here, {sums:?} there", mine.get(ends))
        };
        note("bytes", differs.map(text).collect());
        let complete = complete(&path);
        let extra = complete
            .difference(&connections)
            .map(|ends| format!("{ends:?}"));
        note("extra", extra.collect());
        let missing = connections
            .difference(&complete)
            .map(|ends| format!("{ends:?}"));
        note("missing", missing.collect());
        comparison.add(&name, theirs.len(), &found);
    }
    comparison.finish();
}

fn build(folder: &Path) -> Option<PathBuf> {
    let source = corpus::workspace().join("tests/streams/nids_streams.c");
    let program = folder.join("nids_streams");
    let compiler = std::env::var_os("CC").unwrap_or("cc".into());
    let output = Command::new(compiler)
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(source)
        .args(["-lnids", "-lpcap"])
        .output();
    output
        .is_ok_and(|output| output.status.success())
        .then_some(program)
}

/// Its connections, and the sums of their streams; none if it cannot read the capture.
fn theirs(program: &Path, path: &Path) -> Option<(BTreeSet<Ends>, Sums)> {
    let output = Command::new(program).arg(path).output().unwrap();
    if !output.status.success() {
        return None;
    }
    let (mut connections, mut sums) = (BTreeSet::new(), Sums::new());
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let words: Vec<_> = line.split(' ').collect();
        let &[
            client,
            client_port,
            server,
            server_port,
            up,
            up_hash,
            down,
            down_hash,
        ] = words.as_slice()
        else {
            panic!("{line}");
        };
        let end = |address: &str, port: &str| {
            SocketAddr::new(address.parse().unwrap(), port.parse().unwrap())
        };
        let (client, server) = (end(client, client_port), end(server, server_port));
        connections.insert((client, server));
        let both = [
            ((client, server), up, up_hash),
            ((server, client), down, down_hash),
        ];
        for (ends, bytes, hash) in both {
            let streams = sums.entry(ends).or_default();
            if bytes != "0" {
                streams.push((bytes.parse().unwrap(), hash.to_owned()));
            }
        }
    }
    Some((connections, sums))
}

/// Ours, of all streams.
fn sums(path: &Path) -> Sums {
    let of = |bytes: Vec<u8>| {
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (bytes.len() as u64, format!("{hash:016x}"))
    };
    ours(path, &["--gaps", "skip"])
        .into_iter()
        .map(|(ends, streams)| (ends, streams.into_iter().map(of).collect()))
        .collect()
}

/// Our connections that libnids could follow: IPv4, whole handshake, no tunnel.
fn complete(path: &Path) -> BTreeSet<Ends> {
    let path = path.to_str().unwrap();
    let words = [
        "run",
        "-r",
        path,
        "--output",
        "-",
        "-k",
        "none",
        "--timeouts",
        "none",
    ];
    let outcome = product::run(&words).unwrap();
    let records = String::from_utf8(outcome.stdout).unwrap();
    let records = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    records
        .filter_map(|record: Value| complete_ends(&record))
        .collect()
}

fn complete_ends(record: &Value) -> Option<Ends> {
    let history = record["flowpin"]["history"].as_str()?;
    let is_whole = ["ShA", "ShD"]
        .iter()
        .any(|start| history.starts_with(start));
    let is_plain = record["flowpin"]["tunnel"].is_null() && record["vlan"].is_null();
    if record["proto"] != "TCP" || record["ip_v"] != 4 || !is_whole || !is_plain {
        return None;
    }
    let end = |address: &str, port: &str| {
        let address: IpAddr = record[address].as_str()?.parse().ok()?;
        Some(SocketAddr::new(
            address,
            u16::try_from(record[port].as_u64()?).ok()?,
        ))
    };
    Some((end("src_ip", "src_port")?, end("dest_ip", "dest_port")?))
}
