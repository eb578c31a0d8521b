//! Many captures out of a real one: every copy with hosts of its own.

use crate::options::Format;
use crate::out::Capture;
use crate::{Error, random::Random};
use flowpin_capture::{FileReport, Options as ReadOptions, Source};
use flowpin_config::Input;
use flowpin_packet::{LinkType, Piece};
use flowpin_testkit::multiply::{Layout, Written, replicas};
use flowpin_testkit::pcap;
use serde::Serialize;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// What to multiply, and how.
#[derive(Clone, Debug)]
pub struct Replication {
    /// The captures, merged by time; `-` is standard input.
    pub read: Vec<PathBuf>,
    /// Copies, the original not counted: it is one of them, with other addresses.
    pub copies: u32,
    /// One copy behind the other, instead of all within `window_ns`.
    pub appended: bool,
    /// From the first packet to the last, at most; a copy that is longer starts at once.
    pub window_ns: u64,
    /// Where each copy starts within the window.
    pub seed: u64,
    /// Captured bytes of a frame, at most.
    pub snap_len: u32,
    /// How the result is laid out.
    pub format: Format,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replicated {
    /// Packets written.
    pub packets: u64,
    /// Bytes of their frames.
    pub frame_bytes: u64,
    /// Bytes of the capture.
    pub file_bytes: u64,
    /// Hosts, over all copies.
    pub hosts: u64,
    /// Packets of the original that are not IP, and so are the same in every copy.
    pub not_ip: u64,
    /// Packets of the original that were left out, as their link type cannot become Ethernet.
    pub left_out: u64,
    /// Captures of which what stands before some damage was multiplied: where and how.
    pub damaged: Vec<Damaged>,
}

/// A capture of which not all could be multiplied. Prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damaged {
    /// The capture.
    pub path: PathBuf,
    /// Where it stops being readable, and how.
    pub damage: String,
    /// Whether nothing of it was read.
    pub unopened: bool,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = match self.unopened {
            true => "the other captures are multiplied",
            false => "everything before it is multiplied",
        };
        write!(f, "{}: {}; {rest}", self.path.display(), self.damage)
    }
}

/// Writes copies of captures whose hosts have other addresses, one to one within each copy, all
/// checksums mended. Link types that are IP behind few bytes become Ethernet.
///
/// # Errors
/// A capture cannot be read, there are more hosts than addresses for them, `out` fails, or `stop`
/// was set while the captures were read.
pub fn replicate(
    what: &Replication,
    stop: &AtomicBool,
    out: impl Write,
) -> Result<Replicated, Error> {
    let Original {
        capture: original,
        left_out,
        damaged,
    } = read(what, stop)?;
    let layout = if what.appended {
        Layout::Appended
    } else {
        Layout::Interleaved {
            window_ns: what.window_ns,
        }
    };
    let seed = Random::new(what.seed).next();
    let mut capture = Capture::new(out, what.format, what.snap_len);
    let Written {
        packets,
        bytes,
        hosts,
        not_ip,
    } = replicas(
        &original,
        what.copies,
        layout,
        seed,
        |time_ns, wire_len, frame| {
            capture.begin().extend_from_slice(frame);
            capture.end_cut(time_ns, wire_len)
        },
    )?;
    let (_, file_bytes) = capture.finish()?;
    Ok(Replicated {
        packets,
        frame_bytes: bytes,
        file_bytes,
        hosts,
        not_ip,
        left_out,
        damaged,
    })
}

/// What is multiplied.
struct Original {
    /// All frames in memory, as Ethernet.
    capture: pcap::Capture,
    /// How many could not be.
    left_out: u64,
    damaged: Vec<Damaged>,
}

fn read(what: &Replication, stop: &AtomicBool) -> Result<Original, Error> {
    let inputs: Vec<Input> = what.read.iter().map(|path| Input::at(path)).collect();
    let mut source = Source::open(&inputs, &ReadOptions::default())?;
    let mut original = pcap::Capture {
        bytes: Vec::new(),
        nanos: true,
        link: pcap::ETHERNET,
        packets: Vec::new(),
    };
    let mut left_out = 0;
    let mut piece = Piece::default();
    while source.fill(&mut piece)? {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Write(io::Error::other("stopped")));
        }
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            let start = frame.start as usize;
            let bytes = piece.bytes.get(start..start + frame.captured_len as usize);
            let bytes = bytes.unwrap_or_default();
            let Some((head, skipped)) = ethernet(frame.link, bytes) else {
                left_out += 1;
                continue;
            };
            let from = original.bytes.len();
            original.bytes.extend_from_slice(&head);
            original
                .bytes
                .extend_from_slice(bytes.get(skipped..).unwrap_or_default());
            let grown = u32::try_from(head.len()).unwrap_or(0);
            let shrunk = u32::try_from(skipped).unwrap_or(0);
            original.packets.push(pcap::Packet {
                time_ns: frame.time.0,
                bytes: from..original.bytes.len(),
                wire_len: (frame.wire_len + grown).saturating_sub(shrunk),
            });
        }
    }
    let damage = |file: FileReport| {
        let damage = file.damage?;
        Some(Damaged {
            path: file.path,
            unopened: damage.unopened,
            damage: damage.to_string(),
        })
    };
    Ok(Original {
        capture: original,
        left_out,
        damaged: source
            .report()
            .files
            .into_iter()
            .filter_map(damage)
            .collect(),
    })
}

/// What stands before the packet in Ethernet, and how many bytes it stands for.
fn ethernet(link: LinkType, bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (skipped, ether_type) = match link {
        LinkType::Ethernet => return Some((Vec::new(), 0)),
        LinkType::Raw | LinkType::Ipv4 | LinkType::Ipv6 => (0, None),
        LinkType::Null | LinkType::Loop => (4, None),
        LinkType::LinuxSll => (16, bytes.get(14..16)),
        LinkType::LinuxSll2 => (20, bytes.get(0..2)),
        _ => return None,
    };
    let by_version = match bytes.get(skipped)? >> 4 {
        4 => Some(&[8u8, 0][..]),
        6 => Some(&[0x86, 0xdd][..]),
        _ => None,
    };
    let mut head = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    head.extend_from_slice(ether_type.or(by_version)?);
    Some((head, skipped))
}
