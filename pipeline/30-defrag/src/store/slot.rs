//! What is kept of each datagram under way: its key, its place in three orders, and its only
//! fragment as long as that is a small one.
//!
//! A flood is mostly single small fragments of datagrams that never come. They must cost little,
//! or they would push out each other, and with them the datagrams that are real, within a blink.

use super::part::Part;
use super::pool::NONE;
use flowpin_packet::{FragmentRef, PacketFlags, Timestamp};

/// Which fragments belong together: RFC 791 §2.3 and RFC 8200 §4.5, and the VLAN and the tunnel
/// where they are to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) source: [u64; 2],
    pub(crate) destination: [u64; 2],
    pub(crate) id: u32,
    /// What stands around the fragment, as the caller sees it.
    pub(crate) context: u32,
    /// 0 for IPv6, where it may differ between fragments.
    pub(crate) protocol: u8,
    pub(crate) ipv6: bool,
}

impl Key {
    pub(crate) fn new(bytes: &[u8], fragment: &FragmentRef, context: u32) -> Self {
        let header = bytes
            .get(fragment.header_start as usize..)
            .unwrap_or_default();
        let (source, destination) = if fragment.ipv6 {
            let words = |start: usize| {
                let low = start.saturating_add(8);
                [word(header, start), word(header, low)]
            };
            (words(8), words(24))
        } else {
            let word = |start| u64::from(u32::from_be_bytes(at(header, start)));
            ([0, word(12)], [0, word(16)])
        };
        Self {
            source,
            destination,
            id: fragment.id,
            context,
            protocol: if fragment.ipv6 { 0 } else { fragment.protocol },
            ipv6: fragment.ipv6,
        }
    }
}

/// A datagram under way, or what is remembered of one that was given up.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) key: Key,
    pub(crate) deadline: Timestamp,
    /// What it costs of the memory cap.
    pub(crate) cost: u32,
    pub(crate) next_in_bucket: u32,
    pub(crate) older: u32,
    pub(crate) newer: u32,
    pub(crate) host: u32,
    pub(crate) host_older: u32,
    pub(crate) host_newer: u32,
    /// Where its fragments are; [`NONE`]: it has at most the one in the nook.
    pub(crate) body: u32,
    /// Fragments that wait here.
    pub(crate) count: u16,
    /// It has too many fragments, or does not fit into memory: those that come go on alone.
    pub(crate) is_capped: bool,
    pub(crate) nook: Nook,
}

impl Slot {
    pub(crate) const fn new() -> Self {
        Self {
            key: Key {
                source: [0; 2],
                destination: [0; 2],
                id: 0,
                context: 0,
                protocol: 0,
                ipv6: false,
            },
            deadline: Timestamp(0),
            cost: 0,
            next_in_bucket: NONE,
            older: NONE,
            newer: NONE,
            host: NONE,
            host_older: NONE,
            host_newer: NONE,
            body: NONE,
            count: 0,
            is_capped: false,
            nook: Nook::EMPTY,
        }
    }
}

/// A small fragment with its header: 26 bytes behind an IPv4 header fit, which is what the
/// smallest Ethernet frame carries, and 48 of a later fragment.
const NOOK_LEN: usize = 48;

/// Room for one small fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nook {
    wire_len: u32,
    ip_len: u32,
    offset: u16,
    flags: PacketFlags,
    /// 0: empty.
    payload_len: u8,
    header_len: u8,
    next_header_at: u8,
    protocol: u8,
    layers: u8,
    more: bool,
    bytes: [u8; NOOK_LEN],
}

impl Nook {
    pub(crate) const EMPTY: Self = Self {
        wire_len: 0,
        ip_len: 0,
        offset: 0,
        flags: PacketFlags(0),
        payload_len: 0,
        header_len: 0,
        next_header_at: 0,
        protocol: 0,
        layers: 0,
        more: false,
        bytes: [0; NOOK_LEN],
    };

    /// `part`, if it is small enough, whole, and not a datagram by itself.
    pub(crate) fn holding(part: &Part<'_>) -> Option<Self> {
        let is_whole = part.payload.len() == usize::from(part.payload_len);
        let len = part.header.len().saturating_add(part.payload.len());
        if !is_whole || len > NOOK_LEN || (part.offset == 0 && !part.more) {
            return None;
        }
        let mut nook = Self {
            wire_len: part.wire_len,
            ip_len: part.ip_len,
            offset: part.offset,
            flags: part.flags,
            payload_len: u8::try_from(part.payload_len).ok()?,
            header_len: u8::try_from(part.header.len()).ok()?,
            next_header_at: u8::try_from(part.next_header_at).ok()?,
            protocol: part.protocol,
            layers: part.layers,
            more: part.more,
            bytes: [0; NOOK_LEN],
        };
        let (header, rest) = nook.bytes.split_at_mut_checked(part.header.len())?;
        header.copy_from_slice(part.header);
        rest.get_mut(..part.payload.len())?
            .copy_from_slice(part.payload);
        Some(nook)
    }

    /// The fragment that it holds.
    pub(crate) fn part(&self) -> Option<Part<'_>> {
        if self.payload_len == 0 {
            return None;
        }
        let (header, rest) = self.bytes.split_at_checked(usize::from(self.header_len))?;
        Some(Part {
            offset: self.offset,
            payload_len: u16::from(self.payload_len),
            more: self.more,
            protocol: self.protocol,
            next_header_at: u16::from(self.next_header_at),
            payload: rest.get(..usize::from(self.payload_len))?,
            header,
            wire_len: self.wire_len,
            ip_len: self.ip_len,
            flags: self.flags,
            layers: self.layers,
        })
    }
}

fn at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    bytes
        .get(offset..)
        .and_then(|rest| rest.first_chunk())
        .copied()
        .unwrap_or([0; N])
}

fn word(bytes: &[u8], start: usize) -> u64 {
    u64::from_be_bytes(at(bytes, start))
}
