//! Splits: runs of a capture's bytes between two borders of records, to be read by different
//! machines.
//!
//! ```text
//!  head │ record record rec│ord record record │ record …
//!       └── walk, from a border ──►│ the border behind the place of the cut
//!                          guess ─►│ the same, found without what came before
//! ```
//!
//! A guess may be wrong: a packet may carry a capture. So it is no more than a guess: who walks the
//! split before it comes to the border, and knows. Beginning with the head, each walk proves the
//! next one's border, so nothing is lost or doubled, whatever the bytes are.
//!
//! Only captures are cut whose records are all alike: those of a pcap file with the captured length
//! first, or the enhanced packets of a pcapng file that describes its interfaces before them.
//! Everything else (compression, damage, a second section) is one split, which a `Source` reads.

use crate::format::{CAPTURED_LEN_MAX, Classic, FLOWPIN, Format, Lengths, Next, Order};
use crate::magic::Compression;
use flowpin_packet::InterfaceNames;

/// What cuts one capture.
#[derive(Debug)]
pub struct Splitter {
    head: Vec<u8>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Classic(Classic),
    Pcapng { order: Order },
}

/// The records of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walked {
    /// Where the first record behind the split begins.
    pub end: usize,
    /// Packets in it.
    pub packets: u64,
}

impl Splitter {
    /// Looks at the first bytes of a capture: [`Splitter::HEAD_LEN`] of them, or all. None: it is
    /// not to be cut.
    pub fn new(head: &[u8]) -> Option<Self> {
        if Compression::of(head) != Compression::None {
            return None;
        }
        let (kind, len) = match Format::identify(head, &InterfaceNames::default()).ok()?? {
            (Format::Classic(classic), len) => {
                (classic.lengths == Lengths::Normal).then_some((Kind::Classic(classic), len))?
            }
            (Format::Pcapng(_), _) => described(head)?,
        };
        Some(Self {
            head: head.get(..len)?.to_vec(),
            kind,
        })
    }

    /// The bytes before the first record: with them, those of a split are a capture.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// A place at or behind `from` where a record seems to begin. `bytes` begin at a multiple of 4
    /// bytes from the beginning of the capture.
    pub fn guess(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let step = match self.kind {
            Kind::Classic(_) => 1,
            Kind::Pcapng { .. } => BLOCK_ALIGN,
        };
        let from = from.next_multiple_of(step);
        (from..bytes.len())
            .step_by(step)
            .find(|&at| self.is_chain(bytes, at))
    }

    /// Whether records seem to follow one another from here on.
    fn is_chain(&self, bytes: &[u8], mut at: usize) -> bool {
        for _ in 0..CHAIN_LEN {
            match self.seems(bytes, at) {
                Some(Some(len)) => at += len,
                // The bytes end: what came before has to do.
                Some(None) => return true,
                None => return false,
            }
        }
        true
    }

    /// The length of the record that seems to be here; `Some(None)` if the bytes end before that
    /// can be told.
    fn seems(&self, bytes: &[u8], at: usize) -> Option<Option<usize>> {
        let rest = bytes.get(at..)?;
        match self.kind {
            Kind::Classic(classic) => {
                let Some(header) = rest.get(..classic.record_header_len) else {
                    return Some(None);
                };
                let word = |at| classic.order.u32_at(header, at);
                let (fraction, captured_len, len) = (word(4), word(8), word(12));
                let is_record = captured_len <= CAPTURED_LEN_MAX
                    && (1..=LEN_MAX).contains(&len)
                    && captured_len <= len
                    && u64::from(fraction) * classic.fraction_ns < SECOND_NS;
                is_record.then_some(Some(classic.record_header_len + captured_len as usize))
            }
            Kind::Pcapng { order } => {
                let Some(header) = rest.get(..8) else {
                    return Some(None);
                };
                let (block_type, len) = (order.u32_at(header, 0), order.u32_at(header, 4));
                if !is_passed(block_type) && block_type != ENHANCED_PACKET || !is_len(len) {
                    return None;
                }
                let len = len as usize;
                match rest.get(..len) {
                    None => Some(None),
                    Some(block) => {
                        let behind = order.u32_at(block, len - TRAILER_LEN) as usize;
                        (behind == len).then_some(Some(len))
                    }
                }
            }
        }
    }

    /// Walks from the border `start` to the first border at or behind `until`, which may be the end
    /// of the bytes. None: what is there is not to be cut, or the bytes end before that border.
    pub fn walk(&self, bytes: &[u8], start: usize, until: usize) -> Option<Walked> {
        let (mut format, _) = Format::identify(&self.head, &InterfaceNames::default()).ok()??;
        if let Format::Pcapng(pcapng) = &mut format {
            let mut pos = 0;
            let Next::Need(_) = pcapng.next(&self.head, &mut pos) else {
                return None;
            };
        }
        let (mut at, mut packets) = (start, 0);
        while at < until {
            if let Kind::Pcapng { order } = self.kind {
                let header = bytes.get(at..at + 8)?;
                let (block_type, len) = (order.u32_at(header, 0), order.u32_at(header, 4));
                let block = bytes.get(at..at.checked_add(len as usize)?)?;
                if !is_len(len) || order.u32_at(block, block.len() - TRAILER_LEN) != len {
                    return None;
                }
                if is_passed(block_type) {
                    at += block.len();
                    continue;
                }
                if block_type != ENHANCED_PACKET {
                    return None;
                }
            }
            let Next::Frame(..) = format.next(bytes, &mut at) else {
                return None;
            };
            packets += 1;
        }
        Some(Walked { end: at, packets })
    }

    /// So many bytes show where the first record begins, in captures that are cut.
    pub const HEAD_LEN: usize = 1 << 20;

    /// No record that is cut off by a split's end has more bytes than these behind it.
    pub const RECORD_LEN_MAX: usize = BLOCK_LEN_MAX as usize;
}

/// The order of a pcapng file, and how many bytes describe its one section and interfaces.
fn described(head: &[u8]) -> Option<(Kind, usize)> {
    let magic = head.get(8..12)?;
    let order = match magic {
        [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
        _ => Order::Big,
    };
    let (mut at, mut interfaces) = (0, 0);
    loop {
        let Some(header) = head.get(at..at + 8) else {
            // The head ends here: a capture without a packet, or with many interfaces.
            return None;
        };
        let (block_type, len) = (order.u32_at(header, 0), order.u32_at(header, 4));
        let is_expected = match block_type {
            SECTION_HEADER => at == 0,
            INTERFACE => true,
            _ => break,
        };
        let block = head.get(at..at.checked_add(len as usize)?)?;
        // A recording of our own says how late it was, which belongs to the clock.
        let is_own = at == 0
            && block
                .windows(FLOWPIN.len())
                .any(|part| part == FLOWPIN.as_bytes());
        if !is_expected || !is_len(len) || is_own {
            return None;
        }
        interfaces += usize::from(block_type == INTERFACE);
        at += block.len();
    }
    (interfaces > 0).then_some((Kind::Pcapng { order }, at))
}

/// Whether a block may be passed over: it changes nothing that packets depend on.
const fn is_passed(block_type: u32) -> bool {
    !matches!(
        block_type,
        SECTION_HEADER | INTERFACE | OBSOLETE_PACKET | SIMPLE_PACKET | ENHANCED_PACKET
    ) && block_type < BLOCK_TYPES
}

const fn is_len(len: u32) -> bool {
    len >= BLOCK_LEN_MIN && len <= BLOCK_LEN_MAX && len.is_multiple_of(BLOCK_ALIGN as u32)
}

/// Records that seem to follow one another, where a guess begins.
const CHAIN_LEN: usize = 8;
/// The longest packet that a guess believes in.
const LEN_MAX: u32 = 1 << 24;
const SECOND_NS: u64 = 1_000_000_000;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Blocks of other types are custom ones, which are not worth guessing.
const BLOCK_TYPES: u32 = 0x100;
const BLOCK_ALIGN: usize = 4;
const BLOCK_LEN_MIN: u32 = 12;
const BLOCK_LEN_MAX: u32 = 1 << 20;
const TRAILER_LEN: usize = 4;

#[cfg(test)]
mod tests;
