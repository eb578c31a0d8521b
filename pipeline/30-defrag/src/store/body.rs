//! The fragments of a datagram that is not complete yet.

use super::block::{BLOCKS_PER_DATAGRAM, Block, spans};
use super::overlap::{Range, new_wins, trims};
use super::part::Part;
use super::pool::{NONE, Pool};
use flowpin_config::FragmentOverlap;
use flowpin_packet::{PacketFlags, Reason};

/// Bytes of header that are kept; longer chains of IPv6 extension headers are left out of the
/// datagram.
pub(crate) const HEADER_LEN_MAX: usize = 128;

/// The first fragment's headers, without the Fragment header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) bytes: [u8; HEADER_LEN_MAX],
    /// 0: the first fragment is not there yet.
    pub(crate) len: u16,
    /// IPv6: where the protocol belongs that the Fragment header named.
    pub(crate) next_header_at: u16,
    pub(crate) protocol: u8,
}

/// How a fragment lies on those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    /// Where nothing is.
    Free,
    /// On one that it repeats, byte for byte.
    Repeated,
    /// On others, which hold the same bytes.
    Alike,
    /// On others, which hold other bytes.
    Unlike,
}

#[derive(Debug)]
pub(crate) struct Body {
    /// Length of the payload, once the last fragment is there.
    pub(crate) len: Option<u32>,
    /// Where the fragments so far reach to.
    reach: u32,
    /// Units that are there.
    units: u32,
    /// From where on bytes are missing because the capture cut a fragment.
    pub(crate) cut_at: u32,
    pub(crate) wire_len: u32,
    pub(crate) ip_len: u32,
    pub(crate) flags: PacketFlags,
    pub(crate) layers: u8,
    /// Each fragment's part, in order of arrival, without repetitions.
    ranges: Vec<Range>,
    /// Blocks by place; [`NONE`] where there is none.
    pub(crate) blocks: [u32; BLOCKS_PER_DATAGRAM],
    pub(crate) header: Header,
}

impl Body {
    pub(crate) fn new() -> Self {
        Self {
            len: None,
            reach: 0,
            units: 0,
            cut_at: u32::MAX,
            wire_len: 0,
            ip_len: 0,
            flags: PacketFlags(0),
            layers: 0,
            ranges: Vec::with_capacity(RANGES_KEPT),
            blocks: [NONE; BLOCKS_PER_DATAGRAM],
            header: Header {
                bytes: [0; HEADER_LEN_MAX],
                len: 0,
                next_header_at: 0,
                protocol: 0,
            },
        }
    }

    /// Starts over for another datagram; its blocks were given back.
    pub(crate) fn reset(&mut self) {
        self.len = None;
        (self.reach, self.units, self.cut_at) = (0, 0, u32::MAX);
        (self.wire_len, self.ip_len) = (0, 0);
        self.flags = PacketFlags(0);
        self.layers = 0;
        self.ranges.clear();
        // One datagram of thousands of fragments must not hold on to their list for ever.
        self.ranges.shrink_to(RANGES_KEPT);
        self.header.len = 0;
    }

    /// What contradicts the datagram's length, if `part` does.
    pub(crate) fn contradiction(&self, part: &Part<'_>) -> Option<Reason> {
        let end = part.end();
        match (self.len, part.more) {
            (Some(len), false) if len > end => Some(Reason::Teardrop),
            (Some(len), _) if len < end => Some(Reason::LengthConflict),
            (None, false) if self.reach > end => Some(Reason::Teardrop),
            _ => None,
        }
    }

    /// How `part` lies on those before it.
    pub(crate) fn lies(&self, part: &Part<'_>, blocks: &Pool<Block>) -> Lies {
        let range = part.range();
        let there = || {
            spans(range).filter_map(|span| {
                let number = *self.blocks.get(span.index)?;
                Some((span, blocks.get(number)?))
            })
        };
        if there().all(|(span, block)| block.is_free(span)) {
            return Lies::Free;
        }
        if !there().all(|(span, block)| block.agrees(span, part.payload)) {
            return Lies::Unlike;
        }
        let mut owners = there().map(|(span, block)| block.owner(span));
        let first = owners.next().flatten().unwrap_or(0);
        let has_one = owners.all(|owner| owner == Some(first));
        let index = usize::from(first).wrapping_sub(1);
        if has_one && self.ranges.get(index) == Some(&range) {
            Lies::Repeated
        } else {
            Lies::Alike
        }
    }

    /// Whether `part` lies inside one run of the fragments that are there, none of which overlap.
    ///
    /// A run is what Linux calls so (inet_frag_queue_insert): a fragment that follows the one that
    /// reached farthest continues its run, any other one is a run by itself, also if it closes the
    /// gap between two. A fragment across two runs is an overlap.
    #[cold]
    pub(crate) fn has_in_one_run(&self, part: Range) -> bool {
        let is_in = |run: Range| run.start <= part.start && part.end <= run.end;
        let mut last = Range::default();
        for &range in &self.ranges {
            if range.start == last.end {
                last.end = range.end;
            } else if range.end < last.end {
                if is_in(range) {
                    return true;
                }
            } else if is_in(core::mem::replace(&mut last, range)) {
                return true;
            }
        }
        is_in(last)
    }

    /// How many blocks a fragment needs that are not there.
    pub(crate) fn blocks_missing(&self, range: Range) -> usize {
        spans(range)
            .filter(|span| self.blocks.get(span.index) == Some(&NONE))
            .count()
    }

    /// What the list of fragments will take when one more is added.
    pub(crate) fn list_growth_bytes(&self) -> usize {
        if self.ranges.len() == self.ranges.capacity() {
            self.ranges.len().saturating_mul(size_of::<Range>())
        } else {
            0
        }
    }

    /// Counts a fragment, one that repeats another too.
    pub(crate) fn count(&mut self, part: &Part<'_>) {
        self.wire_len = self.wire_len.saturating_add(part.wire_len);
        self.ip_len = self.ip_len.saturating_add(part.ip_len);
        self.flags = self.flags.with(part.flags);
        self.layers = self.layers.max(part.layers);
    }

    /// Places a fragment, which does not contradict, as it [lies](Body::lies), and returns how
    /// many blocks it took.
    pub(crate) fn place(
        &mut self,
        part: &Part<'_>,
        lies: Lies,
        policy: FragmentOverlap,
        blocks: &mut Pool<Block>,
    ) -> usize {
        let range = part.range();
        if self.ranges.len() == self.ranges.capacity() {
            self.ranges.reserve_exact(self.ranges.len());
        }
        let owner = u16::try_from(self.ranges.len().saturating_add(1)).unwrap_or(u16::MAX);
        let mut mine = range;
        let mut taken = 0usize;
        for span in spans(range) {
            let Some(number) = self.blocks.get_mut(span.index) else {
                continue;
            };
            if *number == NONE {
                *number = blocks.take(Block::new);
                taken = taken.saturating_add(1);
            }
            let Some(block) = blocks.get_mut(*number) else {
                continue;
            };
            if lies == Lies::Free {
                block.fill(span, part.payload, owner);
                continue;
            }
            let ranges = &mut self.ranges;
            let new = block.merge(span, part.payload, owner, |old| {
                decide(ranges, old, range, &mut mine, policy)
            });
            self.units = self.units.saturating_add(new);
        }
        if lies == Lies::Free {
            let units = range.end.saturating_sub(range.start);
            self.units = self.units.saturating_add(u32::from(units));
        }
        self.ranges.push(mine);
        self.note_extent(part);
        self.keep_header(part);
        taken
    }

    /// Counts a fragment that is ignored, but for what it says of the datagram's length.
    pub(crate) fn ignore(&mut self, part: &Part<'_>) {
        self.count(part);
        if !part.more {
            self.len = Some(part.end());
        }
    }

    /// Notes where a fragment ends: in the datagram, and in the capture.
    pub(crate) fn note_extent(&mut self, part: &Part<'_>) {
        let end = part.end();
        self.reach = self.reach.max(end);
        if !part.more {
            self.len = Some(end);
        }
        if part.payload.len() < usize::from(part.payload_len) {
            let captured = u32::try_from(part.payload.len()).unwrap_or(u32::MAX);
            let cut_at = u32::from(part.offset).saturating_add(captured);
            self.cut_at = self.cut_at.min(cut_at);
        }
    }

    /// Keeps the headers of the first fragment; what came first stays.
    fn keep_header(&mut self, part: &Part<'_>) {
        if part.offset != 0 || self.header.len != 0 {
            return;
        }
        // The extension headers that do not fit go, all of them, and the fixed header stays.
        let (len, next_header_at) = if part.header.len() <= HEADER_LEN_MAX {
            (part.header.len(), part.next_header_at)
        } else {
            (40, 6)
        };
        for (to, from) in self.header.bytes.iter_mut().zip(part.header) {
            *to = *from;
        }
        self.header.len = u16::try_from(len).unwrap_or(0);
        self.header.next_header_at = next_header_at;
        self.header.protocol = part.protocol;
    }

    /// Whether every byte is there.
    pub(crate) fn is_complete(&self) -> bool {
        self.len.is_some_and(|len| self.units == len.div_ceil(8))
    }
}

/// Whether a unit of the fragment `old` goes to the new one, which claims `new` and is left with
/// `mine`.
fn decide(
    ranges: &mut [Range],
    old: u16,
    new: Range,
    mine: &mut Range,
    policy: FragmentOverlap,
) -> bool {
    let Some(old) = ranges.get_mut(usize::from(old).wrapping_sub(1)) else {
        return false;
    };
    let wins = new_wins(policy, *old, new);
    if trims(policy) {
        if wins {
            old.start = new.end;
        } else {
            mine.start = mine.start.max(old.end);
        }
    }
    wins
}

/// Entries that a list of ranges keeps for the next datagram.
pub(crate) const RANGES_KEPT: usize = 64;
