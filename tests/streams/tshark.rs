//! Byte for byte against `tshark -z follow,tcp,raw`.
//!
//! Without checksums and time-outs, as Wireshark follows streams without them. What differs for
//! one reason everywhere is recognised by evidence; all else needs a row in
//! `tests/explained/follow.tsv`:
//!
//! - Wireshark writes a NUL behind each of its notes about missing bytes.
//! - *behind a hole*: it shows nothing behind missing bytes until the other side acknowledges
//!   more, so of one-sided captures it shows the bytes before the first hole only. Ours goes on
//!   exactly there, with the note.

use crate::outcome::{Comparison, Streams, differences, ours};
use flowpin_testkit::corpus;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// Streams followed by one process: each is a tap that sees every packet.
const AT_ONCE: u32 = 400;
const AT_FIRST: u32 = 30;

/// Every stream of the categories is what Wireshark shows, or a row says why not.
#[test]
fn streams_are_those_that_wireshark_follows() {
    if Command::new("tshark").arg("-v").output().is_err() {
        corpus::skip("streams against tshark", "tshark is not installed");
        return;
    }
    let bundled = corpus::bundled().into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, path)
    });
    let public = corpus::captures(&["A mix", "C http"], "streams against tshark");
    let public = public
        .into_iter()
        .enumerate()
        .filter(|(nth, capture)| capture.category == "A mix" || corpus::is_long() || nth % 4 == 0);
    let public = public.map(|(_, capture)| (capture.name, capture.path));
    let mut comparison = Comparison::new(include_str!("../explained/follow.tsv"));
    for (name, path) in bundled.chain(public) {
        let (mine, theirs) = (ours(&path, &["--gaps", "note"]), followed(&path));
        let found = differences(&mine, &theirs, goes_on_behind_a_hole);
        comparison.add(&name, theirs.values().map(Vec::len).sum(), &found);
    }
    comparison.finish();
}

/// Ours is theirs, then a note about missing bytes, and more.
fn goes_on_behind_a_hole(ours: &[u8], theirs: &[u8]) -> bool {
    ours.strip_prefix(theirs)
        .and_then(|rest| rest.strip_prefix(b"["))
        .map(|rest| rest.trim_ascii_start())
        .and_then(|rest| {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest.get(digits..)
        })
        .is_some_and(|rest| rest.starts_with(NOTE))
}

const NOTE: &[u8] = b" bytes missing in capture file]";

const SETTINGS: [&str; 4] = ["-o", "tcp.check_checksum:FALSE", "-o", "ip.defragment:TRUE"];

/// What tshark shows of each stream.
fn followed(path: &Path) -> Streams {
    let tshark = |numbers: Range<u32>, more: &[&str]| {
        let mut command = Command::new("tshark");
        command.arg("-n").arg("-r").arg(path);
        command.args(SETTINGS).args(more);
        for number in numbers {
            command.arg("-z").arg(format!("follow,tcp,raw,{number}"));
        }
        let text = command.output().unwrap().stdout;
        String::from_utf8_lossy(&text).into_owned()
    };
    // Most captures have few: then the first process, which also says how many, is the only one.
    let text = tshark(0..AT_FIRST, &["-T", "fields", "-e", "tcp.stream"]);
    let fields = text.split("Follow: ").next().unwrap_or_default();
    let count = fields
        .split([',', '\n'])
        .filter_map(|number| number.parse::<u32>().ok())
        .max()
        .map_or(0, |last| last + 1);
    let mut found = parse(&text);
    for first in (AT_FIRST..count).step_by(AT_ONCE as usize) {
        found.extend(parse(&tshark(first..count.min(first + AT_ONCE), &["-q"])));
    }
    found.sort_by_key(|(number, ..)| *number);
    let mut streams = Streams::new();
    for (_, [a, b], [from_a, from_b]) in found {
        for (ends, bytes) in [((a, b), from_a), ((b, a), from_b)] {
            if !bytes.is_empty() {
                streams.entry(ends).or_default().push(without_nul(&bytes));
            }
        }
    }
    streams
}

type Followed = (u32, [SocketAddr; 2], [Vec<u8>; 2]);

/// The parts of tshark's output, one for each stream that it found.
fn parse(text: &str) -> Vec<Followed> {
    text.split("Follow: tcp,raw")
        .skip(1)
        .filter_map(parse_one)
        .collect()
}

fn parse_one(text: &str) -> Option<Followed> {
    let mut lines = text.lines().skip(1);
    let number = lines.next()?.rsplit_once(' ')?.1.parse().ok()?;
    let mut node = || parse_end(lines.next()?.split_once(": ")?.1);
    let ends = [node()?, node()?];
    let mut bytes = [Vec::new(), Vec::new()];
    for line in lines.take_while(|line| !line.starts_with('=')) {
        let [first, second] = &mut bytes;
        match line.strip_prefix('\t') {
            Some(hex) => second.extend(unhex(hex)),
            None => first.extend(unhex(line)),
        }
    }
    Some((number, ends, bytes))
}

fn parse_end(end: &str) -> Option<SocketAddr> {
    let (address, port) = end.rsplit_once(':')?;
    let address: IpAddr = address.trim_matches(['[', ']']).parse().ok()?;
    Some(SocketAddr::new(address, port.parse().ok()?))
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// Without the NUL behind each note.
fn without_nul(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if byte != 0 || !out.ends_with(NOTE) {
            out.push(byte);
        }
    }
    out
}
