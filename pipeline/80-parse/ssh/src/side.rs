//! One direction: its identification line, then its first packet.

use flowpin_memory::Chain;
use flowpin_parser::{KeptBytes, Lines, PartialLine};

/// The state of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    pub(crate) step: Step,
    line: PartialLine,
    /// Lines before the identification; whether the next one has begun.
    before: u8,
    has_begun: bool,
    /// The identification, without its end.
    pub(crate) banner: Chain,
    /// The length of the first packet, as far as it was received.
    header: [u8; 4],
    header_len: u8,
    /// The packet behind its length, and how many bytes it has.
    pub(crate) packet: Chain,
    len: u32,
}

/// How far a direction is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Step {
    /// Its identification is not complete.
    #[default]
    Banner,
    /// The first packet is not complete.
    Packet,
    /// Nothing more is read.
    Done,
}

/// What the bytes of a direction show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Nothing yet.
    Nothing,
    /// An identification line.
    Banner,
    /// One that is longer than it may be.
    LongBanner,
    /// A line before it.
    OtherLine,
    /// No identification.
    NoBanner,
    /// A packet whose length cannot be.
    BadLength,
    /// A packet that is longer than is kept.
    LongPacket,
    /// For the identification or the packet there is no memory.
    NoRoom,
}

impl Side {
    /// Reads bytes up to the first thing that they show; how many were read.
    pub(crate) fn read(
        &mut self,
        to_server: bool,
        (shard, lines, kept): (u8, &mut Lines, &mut KeptBytes),
        bytes: &[u8],
    ) -> (usize, Shown) {
        match self.step {
            Step::Banner => {
                // Whatever stands before is text, too.
                let is_binary = bytes.first().is_some_and(|&first| is_control(first));
                if !core::mem::replace(&mut self.has_begun, true) && is_binary {
                    self.step = Step::Done;
                    return (bytes.len(), Shown::NoBanner);
                }
                let (used, line) = lines.next(&mut self.line, shard, bytes);
                let Some(line) = line else {
                    return (used, Shown::Nothing);
                };
                self.has_begun = false;
                // RFC 4253 §4.2: a server may send other lines before.
                if !line.text.starts_with(b"SSH-") {
                    self.before = self.before.saturating_add(1);
                    if to_server || self.before > LINES_BEFORE_MAX {
                        self.step = Step::Done;
                        return (used, Shown::NoBanner);
                    }
                    return (used, Shown::OtherLine);
                }
                let is_old = is_version_1(line.text);
                self.step = if is_old { Step::Done } else { Step::Packet };
                let shown = match (line.is_cut, kept.append(shard, &mut self.banner, line.text)) {
                    (_, false) => Shown::NoRoom,
                    (true, true) => Shown::LongBanner,
                    (false, true) => Shown::Banner,
                };
                (used, shown)
            }
            Step::Packet if usize::from(self.header_len) < self.header.len() => {
                let mut used = 0usize;
                let free = self.header.iter_mut().skip(self.header_len.into());
                for (place, &byte) in free.zip(bytes) {
                    *place = byte;
                    used = used.saturating_add(1);
                }
                let more = u8::try_from(used).unwrap_or(4);
                self.header_len = self.header_len.saturating_add(more);
                if usize::from(self.header_len) < self.header.len() {
                    return (used, Shown::Nothing);
                }
                self.len = u32::from_be_bytes(self.header);
                let shown = match self.len {
                    PACKET_MIN..=PACKET_KEPT => Shown::Nothing,
                    PACKET_LONG..=PACKET_MAX => Shown::LongPacket,
                    _ => Shown::BadLength,
                };
                if shown != Shown::Nothing {
                    self.step = Step::Done;
                }
                (used, shown)
            }
            Step::Packet => {
                let have = u32::try_from(self.packet.len()).unwrap_or(u32::MAX);
                let missing = self.len.saturating_sub(have) as usize;
                let part = bytes.get(..missing).unwrap_or(bytes);
                if !kept.append(shard, &mut self.packet, part) {
                    kept.release(shard, &mut self.packet);
                    self.step = Step::Done;
                    return (bytes.len(), Shown::NoRoom);
                }
                if part.len() == missing {
                    self.step = Step::Done;
                }
                (part.len(), Shown::Nothing)
            }
            Step::Done => (bytes.len(), Shown::Nothing),
        }
    }

    /// Nothing more is read: bytes are missing, or the stream has ended.
    pub(crate) fn stop(&mut self, shard: u8, lines: &mut Lines, kept: &mut KeptBytes) {
        lines.release(&mut self.line, shard);
        if self.step == Step::Packet {
            kept.release(shard, &mut self.packet);
        }
        self.step = Step::Done;
    }

    /// Gives all memory back.
    pub(crate) fn release(&mut self, shard: u8, lines: &mut Lines, kept: &mut KeptBytes) {
        lines.release(&mut self.line, shard);
        kept.release(shard, &mut self.banner);
        kept.release(shard, &mut self.packet);
    }
}

/// Whether no line of text begins with this byte.
const fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\r' | b'\n' | 0x1b)
}

/// Whether a side speaks version 1 alone (RFC 4253 §5.1: 1.99 stands for both).
fn is_version_1(banner: &[u8]) -> bool {
    banner.starts_with(b"SSH-1.") && !banner.starts_with(b"SSH-1.99-")
}

/// Lines that servers send before their identification.
const LINES_BEFORE_MAX: u8 = 64;
/// RFC 4253 §6: padding alone is at least 4 bytes, and a packet at least 16 with its length.
const PACKET_MIN: u32 = 12;
/// RFC 4253 §6.1.
const PACKET_MAX: u32 = 35_000;
/// Real ones have about 1,500 bytes.
const PACKET_KEPT: u32 = 16 << 10;
const PACKET_LONG: u32 = PACKET_KEPT + 1;
