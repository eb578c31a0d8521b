//! What dispatch promises, tried on built packets and on the corpus.

mod corpus;
mod page;
mod peel;
mod pinning;
mod robust;
mod stack;

use crate::{DispatchOptions, Dispatched, Dispatcher};
use flowpin_packet::{
    Datagram, FragmentRef, Frame, InterfaceId, LinkType, PacketFlags, PacketKind, PacketMeta,
    Timestamp,
};

/// A dispatcher followed by the simplest reassembly: everything is kept, nothing overlaps.
pub(crate) struct Pin {
    pub(crate) dispatcher: Dispatcher,
    waiting: Vec<(FragmentRef, Vec<u8>)>,
    number: u64,
}

/// A described packet and the bytes that its offsets count in.
#[derive(Clone, Debug)]
pub(crate) struct Pinned {
    pub(crate) meta: PacketMeta,
    pub(crate) frame: Vec<u8>,
}

impl Pin {
    pub(crate) fn new(options: DispatchOptions) -> Self {
        Self {
            dispatcher: Dispatcher::new(options),
            waiting: Vec::new(),
            number: 0,
        }
    }

    /// The packet in a frame, unless it is a fragment and others are missing.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<Pinned> {
        self.push_as(LinkType::Ethernet, bytes)
    }

    pub(crate) fn push_as(&mut self, link: LinkType, bytes: &[u8]) -> Option<Pinned> {
        self.number += 1;
        let frame = whole_frame(link, bytes);
        let mut meta = PacketMeta::default();
        let dispatched =
            self.dispatcher
                .dispatch(bytes, &frame, self.number, Timestamp(0), &mut meta);
        match dispatched {
            Dispatched::Packet => Some(Pinned {
                meta,
                frame: bytes.to_vec(),
            }),
            Dispatched::Fragment(fragment) => self.wait(fragment, bytes),
            other => panic!("not a packet: {other:?}"),
        }
    }

    fn wait(&mut self, fragment: FragmentRef, bytes: &[u8]) -> Option<Pinned> {
        let key = |(other, found): &(FragmentRef, Vec<u8>)| {
            let addresses = if other.ipv6 { 8..40 } else { 12..20 };
            let start = other.header_start as usize;
            let header = found[start..][addresses].to_vec();
            (other.id, other.ipv6, header)
        };
        self.waiting.push((fragment, bytes.to_vec()));
        let wanted = key(self.waiting.last().unwrap());
        let mut parts: Vec<_> = self
            .waiting
            .iter()
            .filter(|part| key(part) == wanted)
            .cloned()
            .collect();
        parts.sort_by_key(|(part, _)| part.offset);
        let mut reach = 0;
        for (part, _) in &parts {
            if usize::from(part.offset) != reach {
                return None;
            }
            reach += usize::from(part.payload_len);
        }
        if parts.last().unwrap().0.more {
            return None;
        }
        self.waiting.retain(|part| key(part) != wanted);
        let (extra, datagram) = reassembled(&parts, &fragment, bytes);
        let mut meta = PacketMeta::default();
        match self
            .dispatcher
            .dispatch_datagram(&extra, &datagram, &mut meta)
        {
            Dispatched::Packet => Some(Pinned { meta, frame: extra }),
            Dispatched::Fragment(inner) => self.wait(inner, &extra),
            other => panic!("not a packet: {other:?}"),
        }
    }
}

/// The bytes around the last fragment's header, the first one's header patched, all payloads.
fn reassembled(
    parts: &[(FragmentRef, Vec<u8>)],
    last: &FragmentRef,
    last_bytes: &[u8],
) -> (Vec<u8>, Datagram) {
    let (first, first_bytes) = &parts[0];
    let mut extra = last_bytes[last.frame_start as usize..last.header_start as usize].to_vec();
    let header_start = extra.len();
    let from = first.header_start as usize;
    extra.extend(&first_bytes[from..from + usize::from(first.unfragmentable_len)]);
    for (part, bytes) in parts {
        let from = part.payload_start as usize;
        extra.extend(&bytes[from..from + usize::from(part.captured_len)]);
    }
    let len = extra.len() - header_start;
    let header = &mut extra[header_start..];
    if first.ipv6 {
        header[4..6].copy_from_slice(&(len as u16 - 40).to_be_bytes());
        header[usize::from(first.next_header_at)] = first.protocol;
    } else {
        header[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        header[6..8].fill(0);
        header[10..12].fill(0);
        let sum = flowpin_wire::checksum::Sum::of(&header[..20]).fold();
        header[10..12].copy_from_slice(&(!sum).to_be_bytes());
    }
    let datagram = Datagram {
        frame_start: 0,
        header_start: header_start as u32,
        captured_len: len as u32,
        len: len as u32,
        wire_len: parts.iter().map(|(part, _)| part.wire_len).sum(),
        ip_len: parts.iter().map(|(part, _)| part.ip_len).sum(),
        number: last.number,
        time: last.time,
        stream_time: last.stream_time,
        context: last.context,
    };
    (extra, datagram)
}

/// A frame that was captured whole, at the start of its piece.
pub(crate) fn whole_frame(link: LinkType, bytes: &[u8]) -> Frame {
    let len = bytes.len() as u32;
    Frame {
        start: 0,
        captured_len: len,
        wire_len: len,
        link,
        interface: InterfaceId::NONE,
        time: Timestamp(0),
    }
}

/// Every field of a descriptor, for comparing.
pub(crate) fn fields(meta: &PacketMeta) -> String {
    format!("{meta:?}")
}

/// What pins a packet: key, hash, and whether it goes up or down.
pub(crate) fn place(pinned: &Pinned) -> (flowpin_packet::FlowKey, u32, bool) {
    (pinned.meta.key, pinned.meta.hash, pinned.meta.high_to_low())
}

pub(crate) fn is_error(pinned: &Pinned) -> bool {
    pinned.meta.kind == PacketKind::IcmpError
}

pub(crate) fn is_reassembled(pinned: &Pinned) -> bool {
    pinned.meta.flags.has(PacketFlags::REASSEMBLED)
}
