//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian, times in nanoseconds.

use crate::format::FLOWPIN;
use flowpin_packet::Timestamp;
use flowpin_socket::{Packet, RingStats};

/// Blocks on their way, those that found no room kept until there is.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    kept: Vec<u8>,
    /// How many of the kept bytes are served.
    served: usize,
}

impl Blocks {
    /// Serves kept bytes.
    pub(super) fn serve(&mut self, into: &mut [u8]) -> usize {
        let rest = self.kept.get(self.served..).unwrap_or_default();
        let count = rest.len().min(into.len());
        if let (Some(into), Some(rest)) = (into.get_mut(..count), rest.get(..count)) {
            into.copy_from_slice(rest);
        }
        self.served += count;
        if self.served == self.kept.len() {
            self.kept.clear();
            self.served = 0;
        }
        count
    }

    /// Moves kept bytes behind others.
    pub(super) fn take(&mut self, into: &mut Vec<u8>) {
        into.extend_from_slice(self.kept.get(self.served..).unwrap_or_default());
        self.kept.clear();
        self.served = 0;
    }

    /// A section header, which names who writes it.
    pub(super) fn section(&mut self) {
        let name = format!("{FLOWPIN} {}", env!("CARGO_PKG_VERSION"));
        let mut content = Vec::new();
        put_words(&mut content, &[BYTE_ORDER, VERSION, u32::MAX, u32::MAX]);
        put_option(&mut content, APPLICATION, name.as_bytes());
        put_option(&mut content, END, &[]);
        self.block(SECTION_HEADER, &content);
    }

    /// An interface description; without a name where that is empty.
    pub(super) fn interface(&mut self, name: &str, link_number: u16, snap_len: u32) {
        let mut content = Vec::new();
        put_words(&mut content, &[link_number.into(), snap_len]);
        if !name.is_empty() {
            put_option(&mut content, INTERFACE_NAME, name.as_bytes());
        }
        put_option(&mut content, RESOLUTION, &[9]);
        put_option(&mut content, END, &[]);
        self.block(INTERFACE, &content);
    }

    /// Statistics of an interface, up to a time.
    pub(super) fn statistics(&mut self, number: u32, time: Timestamp, stats: RingStats) {
        let mut content = Vec::new();
        let (high, low) = halves(time);
        put_words(&mut content, &[number, high, low]);
        put_option(&mut content, RECEIVED, &stats.received.to_le_bytes());
        put_option(&mut content, DROPPED, &stats.dropped.to_le_bytes());
        put_option(&mut content, END, &[]);
        self.block(STATISTICS, &content);
    }

    fn block(&mut self, block_type: u32, content: &[u8]) {
        let len = u32::try_from(content.len() + 12).unwrap_or(u32::MAX);
        put_words(&mut self.kept, &[block_type, len]);
        self.kept.extend_from_slice(content);
        put_words(&mut self.kept, &[len]);
    }

    /// A packet, in the room or kept as far as that is too small. Returns how much of the room it
    /// takes.
    #[inline]
    pub(super) fn packet(&mut self, room: &mut [u8], number: u32, packet: &Packet<'_>) -> usize {
        let tag = packet.vlan.as_ref().map_or(&[][..], |tag| &tag[..]);
        // A tag stands behind both addresses, so a frame cut before has none.
        let (addresses, rest) = match tag {
            [] => (packet.bytes, &[][..]),
            _ => match packet.bytes.split_at_checked(ADDRESSES_LEN) {
                Some(parts) => parts,
                None => (packet.bytes, &[][..]),
            },
        };
        let tag = if addresses.len() == packet.bytes.len() {
            &[]
        } else {
            tag
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most the snap length")]
        let (captured_len, tag_len) = ((packet.bytes.len() + tag.len()) as u32, tag.len() as u32);
        let len = 32 + captured_len.next_multiple_of(4);
        let (high, low) = halves(packet.time);
        let wire_len = (packet.wire_len + tag_len).max(captured_len);
        let head: [u32; 7] = [
            ENHANCED_PACKET,
            len,
            number,
            high,
            low,
            captured_len,
            wire_len,
        ];
        let head = head.map(u32::to_le_bytes);
        let len_bytes = len.to_le_bytes();
        // PERF: the ordinary frame, without a tag and with room, is two copies.
        if let Some(place) = room.get_mut(..len as usize)
            && tag.is_empty()
            && let Some((head_place, place)) = place.split_at_mut_checked(head.as_flattened().len())
            && let Some((frame_place, len_place)) = place.split_last_chunk_mut()
        {
            head_place.copy_from_slice(head.as_flattened());
            *len_place = len_bytes;
            if let Some(last) = frame_place.last_chunk_mut() {
                *last = [0; 4];
            }
            if let Some(place) = frame_place.get_mut(..packet.bytes.len()) {
                place.copy_from_slice(packet.bytes);
            }
            return len as usize;
        }
        let padding = [0; 3];
        let padding = padding.get(..len as usize - 32 - captured_len as usize);
        let parts = [
            head.as_flattened(),
            addresses,
            tag,
            rest,
            padding.unwrap_or_default(),
            &len_bytes,
        ];
        if room.len() < len as usize {
            parts
                .iter()
                .for_each(|part| self.kept.extend_from_slice(part));
            return self.serve(room);
        }
        let mut at = 0;
        for part in parts {
            if let Some(place) = room.get_mut(at..at + part.len()) {
                place.copy_from_slice(part);
            }
            at += part.len();
        }
        at
    }
}

#[expect(clippy::cast_possible_truncation, reason = "split into halves")]
const fn halves(time: Timestamp) -> (u32, u32) {
    ((time.0 >> 32) as u32, time.0 as u32)
}

fn put_words(into: &mut Vec<u8>, words: &[u32]) {
    words
        .iter()
        .for_each(|word| into.extend(word.to_le_bytes()));
}

fn put_option(into: &mut Vec<u8>, code: u16, value: &[u8]) {
    let len = u16::try_from(value.len()).unwrap_or(u16::MAX);
    into.extend(code.to_le_bytes());
    into.extend(len.to_le_bytes());
    into.extend(value);
    into.resize(into.len().next_multiple_of(4), 0);
}

pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
pub(super) const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
pub(super) const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// 1.0.
const VERSION: u32 = 1;

const END: u16 = 0;
/// `shb_userappl`.
const APPLICATION: u16 = 4;
/// `if_name`.
const INTERFACE_NAME: u16 = 2;
/// `if_tsresol`.
const RESOLUTION: u16 = 9;
/// `isb_ifrecv`.
const RECEIVED: u16 = 4;
/// `isb_ifdrop`.
const DROPPED: u16 = 5;

/// Destination and source of an Ethernet frame.
const ADDRESSES_LEN: usize = 12;
