//! Byte for byte, and name for name, against tcpflow's files.
//!
//! tcpflow takes the padding of short Ethernet frames for data, so it gets the captures without.
//! What else differs needs a row in `tests/explained/tcpflow.tsv`.

use crate::outcome::{Comparison, Streams, differences, ours, read_folder};
use flowpin_testkit::corpus;
use flowpin_testkit::pcap::{Capture, ETHERNET, Writer};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// Every stream of the categories has the name and the bytes that tcpflow gives it, or a row says
/// why not.
#[test]
fn streams_are_those_that_tcpflow_writes() {
    if Command::new("tcpflow").arg("-V").output().is_err() {
        corpus::skip("streams against tcpflow", "tcpflow is not installed");
        return;
    }
    let bundled = corpus::bundled().into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, path)
    });
    let public = corpus::captures(&["A mix", "C http"], "streams against tcpflow");
    let public = public
        .into_iter()
        .enumerate()
        .filter(|(nth, capture)| capture.category == "A mix" || corpus::is_long() || nth % 4 == 0);
    let public = public.map(|(_, capture)| (capture.name, capture.path));
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain.pcap");
    let mut comparison = Comparison::new(include_str!("../explained/tcpflow.tsv"));
    for (name, path) in bundled.chain(public) {
        if !without_padding(&path, &plain) {
            continue;
        }
        let theirs = written(&plain, &folder.path().join("theirs"));
        let mine = ours(&plain, &[]);
        let found = differences(&mine, &theirs, |_, _| false);
        comparison.add(&name, theirs.values().map(Vec::len).sum(), &found);
    }
    comparison.finish();
}

/// What tcpflow writes, its reports left out.
fn written(path: &Path, folder: &Path) -> Streams {
    fs::create_dir(folder).unwrap();
    let status = Command::new("tcpflow")
        .args(["-q", "-x", "http", "-r"])
        .arg(path)
        .arg("-o")
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    let found = read_folder(folder);
    fs::remove_dir_all(folder).unwrap();
    // It ends with a failure for some captures that are cut short, after all was written.
    if status.code().is_none() {
        return Streams::new();
    }
    found
}

/// Writes a capture anew, each Ethernet frame as long as its IP packet says; false if it is none
/// that can be compared.
fn without_padding(from: &Path, to: &Path) -> bool {
    let Ok(capture) = Capture::open(from) else {
        return false;
    };
    if capture.link != ETHERNET {
        return false;
    }
    let file = File::create(to).unwrap();
    let mut writer = Writer::new(file, ETHERNET, capture.nanos).unwrap();
    for packet in &capture.packets {
        let data = capture.data(packet);
        let len = ip_end(data).filter(|&len| len < data.len());
        let wire_len = match len {
            Some(len) => u32::try_from(len).unwrap(),
            None => packet.wire_len,
        };
        let data = &data[..len.unwrap_or(data.len())];
        writer.packet(packet.time_ns, wire_len, data).unwrap();
    }
    writer.finish().unwrap();
    true
}

/// Where the IP packet of an Ethernet frame ends.
fn ip_end(frame: &[u8]) -> Option<usize> {
    let mut at = 12;
    while matches!(
        frame.get(at..at + 2)?,
        [0x81, 0x00] | [0x88, 0xa8] | [0x91, 0x00]
    ) {
        at += 4;
    }
    let word = |at: usize| {
        let two = frame.get(at..at + 2)?;
        Some(usize::from(u16::from_be_bytes([two[0], two[1]])))
    };
    match word(at)? {
        // RFC 791 §3.1: total length; 0 where the card segments.
        0x0800 => word(at + 4).filter(|&len| len > 0).map(|len| at + 2 + len),
        // RFC 8200 §3: payload length, without the header.
        0x86dd => word(at + 6).filter(|&len| len > 0).map(|len| at + 42 + len),
        _ => None,
    }
}
