//! A datagram that is not complete yet.

use crate::block::{BLOCKS_PER_DATAGRAM, Blocks, NONE, spans};
use crate::overlap::{OverlapPolicy, Range};
use flowpin_packet::{FragmentRef, PacketFlags, Timestamp};

/// Which fragments belong together: RFC 791 §2.3 and RFC 8200 §4.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) source: u128,
    pub(crate) destination: u128,
    pub(crate) id: u32,
    /// 0 for IPv6, where it may differ between fragments.
    pub(crate) protocol: u8,
    pub(crate) ipv6: bool,
}

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

/// Why a datagram was given up while its fragments still come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// It has too many, or does not fit into memory: those that come go on alone.
    Capped,
    /// They overlap where that is forbidden: those that come are refused too (RFC 5722 §4).
    Overlapped,
}

/// A datagram under way, or what is remembered of one that was given up.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) key: Key,
    pub(crate) deadline: Timestamp,
    pub(crate) given_up: Option<GivenUp>,
    /// Length of the payload, once the last fragment is there.
    pub(crate) len: Option<u32>,
    /// Where the fragments so far reach to.
    reach: u32,
    /// Units that are there.
    units: u32,
    /// From where on bytes are missing because the capture cut a fragment.
    pub(crate) cut_at: u32,
    /// Blocks by place; [`NONE`] where there is none.
    pub(crate) blocks: [u32; BLOCKS_PER_DATAGRAM],
    /// Each fragment's part, in order of arrival.
    ranges: Vec<Range>,
    pub(crate) header: Header,
    pub(crate) wire_len: u32,
    pub(crate) ip_len: u32,
    pub(crate) flags: PacketFlags,
    pub(crate) layers: u8,
}

impl Partial {
    pub(crate) fn new() -> Self {
        Self {
            key: Key::default(),
            deadline: Timestamp(0),
            given_up: None,
            len: None,
            reach: 0,
            units: 0,
            cut_at: u32::MAX,
            blocks: [NONE; BLOCKS_PER_DATAGRAM],
            ranges: Vec::new(),
            header: Header {
                bytes: [0; HEADER_LEN_MAX],
                len: 0,
                next_header_at: 0,
                protocol: 0,
            },
            wire_len: 0,
            ip_len: 0,
            flags: PacketFlags(0),
            layers: 0,
        }
    }

    /// Starts over for another datagram; the list of ranges keeps its memory.
    pub(crate) fn reset(&mut self, key: Key, deadline: Timestamp) {
        self.key = key;
        self.deadline = deadline;
        self.given_up = None;
        self.len = None;
        (self.reach, self.units, self.cut_at) = (0, 0, u32::MAX);
        self.ranges.clear();
        // One datagram of thousands of fragments must not hold on to their list for ever.
        self.ranges.shrink_to(RANGES_KEPT);
        self.header.len = 0;
        (self.wire_len, self.ip_len) = (0, 0);
        self.flags = PacketFlags(0);
        self.layers = 0;
    }

    /// Fragments that wait here.
    pub(crate) fn count(&self) -> u64 {
        self.ranges.len() as u64
    }

    /// Whether `fragment` contradicts those before it: in the datagram's length, or by
    /// overlapping where `policy` forbids it.
    pub(crate) fn conflicts(
        &self,
        fragment: &FragmentRef,
        payload: &[u8],
        policy: OverlapPolicy,
        blocks: &Blocks,
    ) -> bool {
        let end = end_of(fragment);
        let wrong_len = match (self.len, fragment.more) {
            (Some(len), false) => len != end,
            (Some(len), true) => end > len,
            (None, false) => self.reach > end,
            (None, true) => false,
        };
        wrong_len || (policy.refuses() && !self.is_new_or_repeated(fragment, payload, blocks))
    }

    /// Whether a fragment overlaps nothing, or repeats an earlier one byte for byte.
    fn is_new_or_repeated(&self, fragment: &FragmentRef, payload: &[u8], blocks: &Blocks) -> bool {
        let range = range_of(fragment);
        let mut owner = None;
        for span in spans(range) {
            let block = self
                .blocks
                .get(span.index)
                .and_then(|&number| blocks.get(number));
            let here = match block {
                None => 0,
                Some(block) => match block.owner(span) {
                    Some(here) if here == 0 || block.holds(span, payload) => here,
                    _ => return false,
                },
            };
            if *owner.get_or_insert(here) != here {
                return false;
            }
        }
        match owner {
            None | Some(0) => true,
            Some(owner) => self.range_of_owner(owner) == range,
        }
    }

    fn range_of_owner(&self, owner: u16) -> Range {
        let index = usize::from(owner).wrapping_sub(1);
        self.ranges.get(index).copied().unwrap_or_default()
    }

    /// How many blocks a fragment needs that are not there.
    pub(crate) fn blocks_missing(&self, fragment: &FragmentRef) -> usize {
        spans(range_of(fragment))
            .filter(|span| self.blocks.get(span.index) == Some(&NONE))
            .count()
    }

    /// Adds a fragment that does not conflict; blocks that it needs may be taken.
    pub(crate) fn add(
        &mut self,
        fragment: &FragmentRef,
        payload: &[u8],
        policy: OverlapPolicy,
        blocks: &mut Blocks,
    ) {
        let range = range_of(fragment);
        self.ranges.push(range);
        let owner = u16::try_from(self.ranges.len()).unwrap_or(u16::MAX);
        let ranges = &self.ranges;
        let wins = |old: u16| {
            let old = ranges.get(usize::from(old).wrapping_sub(1)).copied();
            policy.new_wins(old.unwrap_or_default(), range)
        };
        for span in spans(range) {
            let Some(number) = self.blocks.get_mut(span.index) else {
                continue;
            };
            if *number == NONE {
                *number = blocks.take();
            }
            if let Some(block) = blocks.get_mut(*number) {
                let new = block.place(span, payload, owner, wins);
                self.units = self.units.saturating_add(new);
            }
        }
        let end = end_of(fragment);
        self.reach = self.reach.max(end);
        if !fragment.more {
            self.len = Some(end);
        }
        if payload.len() < usize::from(fragment.payload_len) {
            let captured = u32::try_from(payload.len()).unwrap_or(u32::MAX);
            self.cut_at = self
                .cut_at
                .min(u32::from(fragment.offset).saturating_add(captured));
        }
        self.wire_len = self.wire_len.saturating_add(fragment.wire_len);
        self.ip_len = self.ip_len.saturating_add(fragment.ip_len);
        self.flags = self.flags.with(fragment.context.flags);
        self.layers = self.layers.max(fragment.context.layers);
    }

    /// Keeps the headers of the first fragment; what came first stays.
    pub(crate) fn keep_header(&mut self, fragment: &FragmentRef, header: &[u8]) {
        if fragment.offset != 0 || self.header.len != 0 {
            return;
        }
        // The extension headers that do not fit go, all of them, and the fixed header stays.
        let (len, next_header_at) = if header.len() <= HEADER_LEN_MAX {
            (header.len(), fragment.next_header_at)
        } else {
            (40, 6)
        };
        for (to, from) in self.header.bytes.iter_mut().zip(header) {
            *to = *from;
        }
        self.header.len = u16::try_from(len).unwrap_or(0);
        self.header.next_header_at = next_header_at;
        self.header.protocol = fragment.protocol;
    }

    /// Whether every byte is there.
    pub(crate) fn is_complete(&self) -> bool {
        self.len
            .is_some_and(|len| self.units == len.div_ceil(UNIT_LEN))
    }
}

/// Where a fragment's payload ends in the datagram's.
pub(crate) fn end_of(fragment: &FragmentRef) -> u32 {
    u32::from(fragment.offset).saturating_add(u32::from(fragment.payload_len))
}

fn range_of(fragment: &FragmentRef) -> Range {
    let end = end_of(fragment).div_ceil(UNIT_LEN);
    Range {
        start: fragment.offset >> 3,
        end: u16::try_from(end).unwrap_or(u16::MAX),
    }
}

/// Bytes in a unit, for lengths.
const UNIT_LEN: u32 = 8;

/// Entries that a list of ranges keeps for the next datagram.
const RANGES_KEPT: usize = 64;
