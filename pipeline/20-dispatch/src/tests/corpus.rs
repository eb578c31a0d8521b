//! Real captures: every packet through every path, and the fields that another program reads.

use super::robust::{both_paths, every_cut};
use super::{fields, whole_frame};
use crate::{Clock, DispatchOptions, Dispatched, Dispatcher};
use flowpin_packet::{
    Endpoints, Frame, FrameBytes, InterfaceId, LinkType, PacketKind, PacketMeta, Timestamp,
};
use flowpin_testkit::corpus;
use std::path::Path;
use std::process::Command;

/// Each frame of a capture.
struct Frames {
    bytes: Vec<u8>,
    frames: Vec<Frame>,
}

/// Over the corpus: no panic, both paths agree, all cuts agree, every frame is counted once.
#[test]
fn the_corpus_is_described_alike_by_every_path() {
    let all = corpus::captures(&[], "dispatch over the corpus");
    let (mut read, mut frames_read, mut packets) = (0, 0u64, 0u64);
    for capture in &all {
        // All of it takes minutes in a debug build; a fifth is enough for every day.
        if !corpus::is_long() && !capture.category.starts_with('D') && read % 5 != 0 {
            read += 1;
            continue;
        }
        let Some(Frames { bytes, frames }) = frames_of(&capture.path) else {
            continue;
        };
        read += 1;
        for frame in frames
            .iter()
            .take(if corpus::is_long() { usize::MAX } else { 2000 })
        {
            let options = DispatchOptions::default();
            let (dispatched, meta, slow) = both_paths(options, &bytes, frame);
            frames_read += 1;
            if dispatched != Dispatched::Packet {
                continue;
            }
            packets += 1;
            assert_eq!(fields(&meta), fields(&slow), "{}", capture.name);
            let [capture_cut, l2, l3] = every_cut(&bytes, frame).map(|m| m.map(|m| fields(&m)));
            assert_eq!((&capture_cut, &l2), (&l3, &l3), "{}", capture.name);
        }
        let dispatcher = dispatch_all(&bytes, &frames, |_, _| ());
        let quality = dispatcher.quality();
        let sum = quality.packets
            + quality.fragments
            + quality.non_ip.total()
            + quality.refused
            + quality.headless
            + quality.unsupported_total();
        assert_eq!(sum, frames.len() as u64, "{}", capture.name);
    }
    if !all.is_empty() {
        println!("{read} captures, {frames_read} frames, {packets} packets");
        assert!(packets > 10_000);
    }
}

fn dispatch_all(
    bytes: &[u8],
    frames: &[Frame],
    mut each: impl FnMut(Dispatched, &PacketMeta),
) -> Dispatcher {
    let mut dispatcher = Dispatcher::new(DispatchOptions {
        verify_network: false,
        checksums: false,
        ..DispatchOptions::default()
    });
    let mut clock = Clock::new(3_600_000_000_000);
    for (nth, frame) in frames.iter().enumerate() {
        let mut meta = PacketMeta::default();
        let now = clock.observe(frame.time);
        let dispatched = dispatcher.dispatch(bytes, frame, nth as u64 + 1, now, &mut meta);
        each(dispatched, &meta);
    }
    dispatcher
}

/// Addresses, ports, numbers and lengths of every packet of the mixed trace, as tshark has them.
#[test]
fn fields_are_those_that_tshark_reads() {
    let Some(shared) = corpus::shared_dir("fields against tshark") else {
        return;
    };
    let path = shared.join("corpus/mix/mix-dev.pcap");
    let Some(theirs) = tshark_fields(&path) else {
        corpus::skip("fields against tshark", "tshark is not there");
        return;
    };
    let Frames { bytes, frames } = frames_of(&path).unwrap();
    let mut theirs = theirs.lines();
    let (mut compared, mut wrong) = (0u64, Vec::new());
    dispatch_all(&bytes, &frames, |dispatched, meta| {
        let line = theirs.next().unwrap_or_default();
        if dispatched != Dispatched::Packet {
            return;
        }
        let Some(expected) = expected(line, meta) else {
            return;
        };
        compared += 1;
        let ours = described(&bytes, meta);
        if ours != expected {
            wrong.push(format!("packet {}: {ours} | {expected}", meta.number));
        }
    });
    assert!(
        wrong.is_empty(),
        "{} of {compared}:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    println!("{compared} of {} frames compared", frames.len());
    assert!(compared * 100 > frames.len() as u64 * 95);
}

const FIELDS: [&str; 15] = [
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.len",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.window_size_value",
    "udp.srcport",
    "udp.dstport",
    "udp.length",
    "frame.protocols",
];

/// One line a frame, fields by tabs; of repeated fields the last, the innermost.
fn tshark_fields(path: &Path) -> Option<String> {
    let mut command = Command::new("tshark");
    command
        .arg("-n")
        .arg("-r")
        .arg(path)
        .args(["-T", "fields", "-E", "occurrence=l"]);
    // Reassembly would move fields to other frames.
    for option in ["tcp.desegment_tcp_streams:FALSE", "ip.defragment:FALSE"] {
        command.args(["-o", option]);
    }
    for field in FIELDS {
        command.args(["-e", field]);
    }
    let output = command.output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What tshark says of a TCP or UDP packet, in our words; none for others.
fn expected(line: &str, meta: &PacketMeta) -> Option<String> {
    let field: Vec<_> = line.split('\t').collect();
    let at = |name| {
        FIELDS
            .iter()
            .position(|&field| field == name)
            .and_then(|n| field.get(n).copied())
    };
    let number = |name| at(name).and_then(|text: &str| text.parse::<u64>().ok());
    let (source, destination) = if meta.key.is_ipv6() {
        (at("ipv6.src")?, at("ipv6.dst")?)
    } else {
        (at("ip.src")?, at("ip.dst")?)
    };
    match meta.kind {
        PacketKind::Tcp => {
            let flags = u16::from_str_radix(at("tcp.flags")?.trim_start_matches("0x"), 16).ok()?;
            Some(format!(
                "tcp {source}:{} {destination}:{} len {} seq {} ack {} flags {:#x} window {}",
                number("tcp.srcport")?,
                number("tcp.dstport")?,
                number("tcp.len")?,
                number("tcp.seq_raw")?,
                number("tcp.ack_raw")?,
                flags & 0xff,
                number("tcp.window_size_value")?,
            ))
        }
        PacketKind::Udp => Some(format!(
            "udp {source}:{} {destination}:{} len {}",
            number("udp.srcport")?,
            number("udp.dstport")?,
            number("udp.length")?.checked_sub(8)?,
        )),
        _ => None,
    }
}

fn described(bytes: &[u8], meta: &PacketMeta) -> String {
    let endpoints = FrameBytes {
        piece: bytes,
        extra: &[],
    }
    .endpoints(meta);
    let address = |bytes| Endpoints::address(bytes, meta.key.is_ipv6());
    let (low, high) = (address(endpoints.low), address(endpoints.high));
    let (low_port, high_port) = meta.key.ports();
    let ends = if meta.high_to_low() {
        format!("{high}:{high_port} {low}:{low_port}")
    } else {
        format!("{low}:{low_port} {high}:{high_port}")
    };
    let len = meta.payload_len;
    if meta.kind == PacketKind::Udp {
        return format!("udp {ends} len {len}");
    }
    let (seq, ack, flags) = (meta.seq.0, meta.ack.0, meta.tcp_flags.0);
    format!(
        "tcp {ends} len {len} seq {seq} ack {ack} flags {flags:#x} window {}",
        meta.window
    )
}

/// The frames of a pcap or pcapng file, as far as they can be read; none for other files.
fn frames_of(path: &Path) -> Option<Frames> {
    let bytes = std::fs::read(path).ok()?;
    let magic: [u8; 4] = *bytes.first_chunk()?;
    let frames = match magic {
        [0x0a, 0x0d, 0x0d, 0x0a] => pcapng_frames(&bytes),
        [0xd4 | 0x4d, 0xc3 | 0x3c, 0xb2, 0xa1] => pcap_frames(&bytes, u32::from_le_bytes),
        [0xa1, 0xb2, 0xc3 | 0x3c, 0xd4 | 0x4d] => pcap_frames(&bytes, u32::from_be_bytes),
        _ => return None,
    };
    Some(Frames { bytes, frames })
}

fn word(bytes: &[u8], at: usize, from: fn([u8; 4]) -> u32) -> Option<u32> {
    Some(from(*bytes.get(at..)?.first_chunk()?))
}

fn pcap_frames(bytes: &[u8], from: fn([u8; 4]) -> u32) -> Vec<Frame> {
    let link = link_type(word(bytes, 20, from).unwrap_or(0) & 0xffff);
    let mut frames = Vec::new();
    let mut at = 24;
    while let (Some(secs), Some(micros), Some(captured_len), Some(wire_len)) = (
        word(bytes, at, from),
        word(bytes, at + 4, from),
        word(bytes, at + 8, from),
        word(bytes, at + 12, from),
    ) {
        at += 16;
        if bytes.len() < at + captured_len as usize {
            break;
        }
        let time = Timestamp::new(u64::from(secs), micros.wrapping_mul(1000));
        let wire_len = wire_len.max(captured_len);
        frames.push(Frame {
            start: at as u32,
            captured_len,
            wire_len,
            link,
            interface: InterfaceId::NONE,
            time,
        });
        at += captured_len as usize;
    }
    frames
}

fn pcapng_frames(bytes: &[u8]) -> Vec<Frame> {
    let (mut frames, mut links) = (Vec::new(), Vec::new());
    let mut from: fn([u8; 4]) -> u32 = u32::from_le_bytes;
    let mut at = 0;
    while let Some(kind) = word(bytes, at, from) {
        if kind == 0x0a0d_0d0a {
            let little = word(bytes, at + 8, u32::from_le_bytes) == Some(0x1a2b_3c4d);
            from = if little {
                u32::from_le_bytes
            } else {
                u32::from_be_bytes
            };
            links.clear();
        }
        let Some(len) = word(bytes, at + 4, from).map(|len| len as usize) else {
            break;
        };
        let Some(block) = bytes.get(at..at + len) else {
            break;
        };
        if len < 12 {
            break;
        }
        let pair = word(block, 8, from).unwrap_or(0);
        match kind {
            1 => {
                let low = if from([1, 0, 0, 0]) == 1 {
                    pair & 0xffff
                } else {
                    pair >> 16
                };
                links.push(link_type(low));
            }
            6 if len >= 32 => {
                let captured_len = word(block, 20, from).unwrap_or(0).min(len as u32 - 32);
                let wire_len = word(block, 24, from).unwrap_or(0).max(captured_len);
                let link = links.get(pair as usize).copied().unwrap_or_default();
                let start = at as u32 + 28;
                frames.push(Frame {
                    start,
                    captured_len,
                    wire_len,
                    link,
                    interface: InterfaceId::NONE,
                    time: Timestamp(0),
                });
            }
            _ => {}
        }
        at += len;
    }
    frames
}

fn link_type(number: u32) -> LinkType {
    match number {
        0 => LinkType::Null,
        1 => LinkType::Ethernet,
        6 => LinkType::TokenRing,
        7 => LinkType::ArcnetBsd,
        9 => LinkType::Ppp,
        10 => LinkType::Fddi,
        12 | 14 | 101 => LinkType::Raw,
        50 => LinkType::PppSerial,
        51 => LinkType::PppEther,
        100 => LinkType::AtmRfc1483,
        104 => LinkType::CiscoHdlc,
        105 => LinkType::Ieee80211,
        107 => LinkType::FrameRelay,
        108 => LinkType::Loop,
        113 => LinkType::LinuxSll,
        117 => LinkType::Pflog,
        119 => LinkType::Ieee80211Prism,
        122 => LinkType::IpOverFc,
        129 => LinkType::ArcnetLinux,
        127 => LinkType::Ieee80211Radiotap,
        163 => LinkType::Ieee80211Avs,
        178 => LinkType::JuniperEther,
        192 => LinkType::Ppi,
        228 => LinkType::Ipv4,
        229 => LinkType::Ipv6,
        239 => LinkType::Nflog,
        276 => LinkType::LinuxSll2,
        _ => LinkType::Unsupported,
    }
}

/// The reader used here must find frames, or the tests above would pass on nothing.
#[test]
fn bundled_captures_are_read_and_dispatched() {
    let mut packets = 0;
    for path in corpus::bundled() {
        let Some(Frames { bytes, frames }) = frames_of(&path) else {
            continue;
        };
        dispatch_all(&bytes, &frames, |dispatched, _| {
            packets += u64::from(dispatched == Dispatched::Packet);
        });
        assert!(
            !matches!(frames.first(), Some(frame) if frame == &whole_frame(LinkType::Raw, &[]))
        );
    }
    assert!(packets > 500, "{packets}");
}
