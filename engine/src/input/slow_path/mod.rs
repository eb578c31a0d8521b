//! Frames that are not plain packets: fragments, refusals, tunnels.

mod fragments;

use crate::input::Lane;
use crate::input::anomalies::{Anomalies, Oddity};
use crate::input::tunnels::Tunnels;
use core::net::IpAddr;
use flowpin_counters::Losses;
use flowpin_defrag::{Defragmenter, Inserted, Oddities};
use flowpin_dispatch::{Dispatched, Dispatcher};
use flowpin_output::Formatter;
use flowpin_packet::{
    FragmentRef, Frame, FrameBytes, Layer, Malformed, PacketFlags, PacketKind, PacketMeta, Piece,
    Timestamp, bad,
};

pub(crate) use fragments::KeptApart;
use fragments::{addresses, is_atomic};

/// The part of the input stage that only odd frames need.
pub(crate) struct Odd {
    pub(crate) defragmenter: Defragmenter,
    kept_apart: KeptApart,
    pub(crate) anomalies: Anomalies,
    pub(crate) tunnels: Tunnels,
    pub(crate) formatter: Formatter,
    pub(crate) losses: Losses,
    /// Datagrams that were refused once they were whole.
    pub(crate) datagrams_refused: u64,
    /// The datagram at hand; kept for its memory.
    datagram: Vec<u8>,
}

/// When a frame came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) number: u64,
    pub(crate) time: Timestamp,
    pub(crate) stream_time: Timestamp,
}

impl Odd {
    pub(crate) fn new(
        defragmenter: Defragmenter,
        kept_apart: KeptApart,
        tunnels: Tunnels,
        formatter: Formatter,
    ) -> Self {
        Self {
            defragmenter,
            kept_apart,
            anomalies: Anomalies::new(),
            tunnels,
            formatter,
            losses: Losses::default(),
            datagrams_refused: 0,
            datagram: Vec::new(),
        }
    }

    /// Does what is to be done with a frame that is not of the commonest form.
    #[inline(never)]
    pub(crate) fn frame<L: Lane>(
        &mut self,
        frame: Frame,
        arrival: Arrival,
        dispatcher: &mut Dispatcher,
        piece: &Piece,
        lane: &mut L,
    ) {
        let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
        let slot = lane.slot();
        match dispatcher.dispatch_other(bytes, frame, arrival.number, arrival.stream_time, slot) {
            Dispatched::Packet => {
                let frames = FrameBytes {
                    piece: bytes,
                    extra: &[],
                };
                let frame = frames.frame(slot);
                if slot.flags.has(PacketFlags::TUNNELLED) {
                    self.tunnelled(frame, slot);
                }
                let packet = frame.get(usize::from(slot.l3_offset)..).unwrap_or_default();
                // An ICMP error is described by the packet that it quotes.
                if slot.kind != PacketKind::IcmpError && is_atomic(packet) {
                    // RFC 6946: it is a packet like any other, and worth a remark.
                    let (low, high) = addresses(packet, true);
                    self.remark(Oddities::ATOMIC, arrival, Some((low, high)));
                }
                lane.commit(piece);
            }
            other => self.handle(other, arrival, dispatcher, piece, lane),
        }
    }

    /// Does what is to be done with a frame that did not become a packet at once.
    #[cold]
    #[inline(never)]
    fn handle<L: Lane>(
        &mut self,
        dispatched: Dispatched,
        arrival: Arrival,
        dispatcher: &mut Dispatcher,
        piece: &Piece,
        lane: &mut L,
    ) {
        match dispatched {
            Dispatched::Malformed(what) => {
                self.tell(what, arrival, dispatcher.refused_addresses());
            }
            Dispatched::Fragment(fragment) => {
                self.fragment(fragment, arrival, dispatcher, piece, lane);
            }
            // Counted by the dispatcher; nothing more to say.
            Dispatched::Packet
            | Dispatched::NonIp
            | Dispatched::Headless
            | Dispatched::UnsupportedLink => {}
        }
    }

    /// Adds a tunnelled packet to its tunnels' sums.
    #[cold]
    #[inline(never)]
    fn tunnelled(&mut self, frame: &[u8], meta: &PacketMeta) {
        self.tunnels.count(frame, meta, &mut self.losses);
    }

    /// Tells what is odd about a packet that was accepted.
    #[cold]
    fn remark(
        &mut self,
        oddities: Oddities,
        arrival: Arrival,
        addresses: Option<(IpAddr, IpAddr)>,
    ) {
        for reason in oddities.reasons() {
            self.tell(bad(Layer::Fragment, reason, 0), arrival, addresses);
        }
    }

    fn tell(&mut self, what: Malformed, arrival: Arrival, addresses: Option<(IpAddr, IpAddr)>) {
        let oddity = Oddity {
            what,
            time: arrival.time,
            stream_time: arrival.stream_time,
            number: arrival.number,
            addresses,
        };
        self.anomalies
            .tell(&oddity, &mut self.losses, &mut self.formatter);
    }

    /// IP → reassemble → peel → IP …: a datagram may hold a fragment of another one. Each round
    /// peels at least one layer, and the layers are limited.
    fn fragment<L: Lane>(
        &mut self,
        mut fragment: FragmentRef,
        arrival: Arrival,
        dispatcher: &mut Dispatcher,
        piece: &Piece,
        lane: &mut L,
    ) {
        let in_piece = piece.bytes.get(..piece.len).unwrap_or_default();
        let mut nested = false;
        loop {
            let bytes = if nested {
                self.datagram.as_slice()
            } else {
                in_piece
            };
            lane.fragment(&fragment, bytes);
            let context = self.kept_apart.context(bytes, &fragment);
            let inserted = self.defragmenter.insert(bytes, &fragment, context);
            let odd = self.defragmenter.oddities();
            if !odd.is_empty() || matches!(inserted, Inserted::Refused(_)) {
                let header = bytes.get(fragment.header_start as usize..);
                let addresses = addresses(header.unwrap_or_default(), fragment.ipv6);
                if let Inserted::Refused(what) = inserted {
                    return self.tell(what, arrival, Some(addresses));
                }
                self.remark(odd, arrival, Some(addresses));
            }
            let bytes = if nested {
                self.datagram.as_slice()
            } else {
                in_piece
            };
            let ready = match inserted {
                Inserted::Complete(ready) => ready,
                Inserted::Held | Inserted::Refused(_) => return,
                Inserted::Lone => return lone(bytes, &fragment, nested, dispatcher, piece, lane),
            };
            let (extra, defragmenter) = (&mut self.datagram, &mut self.defragmenter);
            let datagram = if nested {
                defragmenter.assemble_nested(ready, &fragment, extra)
            } else {
                extra.clear();
                defragmenter.assemble(ready, in_piece, &fragment, extra)
            };
            match dispatcher.dispatch_datagram(&self.datagram, &datagram, lane.slot()) {
                Dispatched::Packet => return self.whole(piece, lane),
                Dispatched::Fragment(inner) => {
                    fragment = inner;
                    nested = true;
                }
                Dispatched::Malformed(what) => {
                    self.datagrams_refused += 1;
                    return self.tell(what, arrival, dispatcher.refused_addresses());
                }
                Dispatched::NonIp | Dispatched::Headless | Dispatched::UnsupportedLink => {
                    self.datagrams_refused += 1;
                    return;
                }
            }
        }
    }

    /// Hands the datagram at hand, which the lane's slot describes, to the lane.
    fn whole<L: Lane>(&mut self, piece: &Piece, lane: &mut L) {
        let slot = lane.slot();
        let frame = FrameBytes {
            piece: &[],
            extra: &self.datagram,
        }
        .frame(slot);
        if slot.flags.has(PacketFlags::TUNNELLED) {
            self.tunnels.count(frame, slot, &mut self.losses);
        }
        lane.commit_datagram(piece, frame);
    }
}

/// A fragment that goes on alone, keyed by its addresses.
fn lone<L: Lane>(
    bytes: &[u8],
    fragment: &FragmentRef,
    nested: bool,
    dispatcher: &mut Dispatcher,
    piece: &Piece,
    lane: &mut L,
) {
    let slot = lane.slot();
    dispatcher.dispatch_lone(bytes, fragment, slot);
    if nested {
        // Its bytes are a datagram's, which the lane must keep.
        slot.flags = slot.flags.with(PacketFlags::REASSEMBLED);
        let start = fragment.frame_start as usize;
        let frame = bytes
            .get(start..start + slot.captured_len as usize)
            .unwrap_or_default();
        lane.commit_datagram(piece, frame);
    } else {
        lane.commit(piece);
    }
}
