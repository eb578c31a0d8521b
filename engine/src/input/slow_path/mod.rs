//! The slow path of the input: fragments, refusals, tunnels, unusual headers.

mod fragments;
mod rules;

use crate::exchange::Exchange;
use crate::input::Lane;
use crate::input::anomalies::{Anomalies, Oddity};
use crate::input::tunnels::Tunnels;
use crate::recall::Parts;
use core::net::IpAddr;
use flowpin_counters::Losses;
use flowpin_defrag::{Defragmenter, Inserted, Oddities};
use flowpin_detect::{Inbox, OddFrame, Seen};
use flowpin_dispatch::{Dispatched, Dispatcher};
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::{
    FragmentRef, Frame, FrameBytes, InterfaceId, Layer, LinkType, Malformed, PacketFlags,
    PacketKind, PacketMeta, Piece, Stretch, Tick, Timestamp, bad,
};
use flowpin_record::RecordKey;
use flowpin_wire::ip::{Ipv4Packet, option_flaws, v6_flaws};
use flowpin_wire::ip_protocol::{TCP, UDP};

pub(crate) use fragments::KeptApart;
pub(super) use fragments::addresses;
use fragments::is_atomic;
use rules::PacketRules;

/// The part of the input stage that frames off the fast path need.
pub(crate) struct SlowPath {
    pub(crate) defragmenter: Defragmenter,
    kept_apart: KeptApart,
    pub(crate) anomalies: Anomalies,
    pub(crate) tunnels: Tunnels,
    /// Rules on refused and odd packets.
    rules: Option<Box<PacketRules>>,
    /// Is told which packets are parts of others, for a conditional recording.
    pub(crate) parts: Option<Box<Parts>>,
    pub(crate) formatter: Formatter,
    pub(crate) losses: Losses,
    /// Datagrams that were refused after reassembly.
    pub(crate) datagrams_refused: u64,
    /// The datagram being handled; kept so that its memory is reused.
    datagram: Vec<u8>,
}

/// When a frame arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) number: u64,
    pub(crate) time: Timestamp,
    pub(crate) stream_time: Timestamp,
    /// Where it lies in its piece, and what it starts with.
    pub(crate) place: Stretch,
    pub(crate) link: LinkType,
    pub(crate) interface: InterfaceId,
}

impl Arrival {
    pub(crate) const fn new(frame: &Frame, number: u64, stream_time: Timestamp) -> Self {
        Self {
            number,
            time: frame.time,
            stream_time,
            place: Stretch::of(frame),
            link: frame.link,
            interface: frame.interface,
        }
    }
}

impl SlowPath {
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
            rules: None,
            parts: None,
            formatter,
            losses: Losses::default(),
            datagrams_refused: 0,
            datagram: Vec::new(),
        }
    }

    /// Compares rules with refused and odd packets, and puts what they alert of into the inbox.
    pub(crate) fn examine(&mut self, rules: &Exchange, inbox: Inbox) {
        self.rules = Some(Box::new(PacketRules::new(rules, inbox)));
    }

    /// Handles a frame that the fast path refused.
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
        lane.slow_path(&frame, &arrival, piece);
        let slot = lane.slot();
        match dispatcher.dispatch_slow(bytes, frame, arrival.number, arrival.stream_time, slot) {
            Dispatched::Packet => {
                if is_noteworthy(bytes, slot) {
                    self.note(bytes, slot, arrival);
                    self.offer_records(lane);
                }
                lane.commit(piece);
            }
            other => {
                let addresses = dispatcher.refused_addresses();
                self.handle((other, addresses), arrival, dispatcher, piece, lane);
                self.offer_records(lane);
            }
        }
    }

    /// Takes note of a packet that is [noteworthy](is_noteworthy).
    pub(crate) fn note(&mut self, bytes: &[u8], meta: &PacketMeta, arrival: Arrival) {
        let frame = frame_of(bytes, meta);
        if meta.flags.has(PacketFlags::TUNNELLED) {
            self.tunnelled(frame, meta);
        }
        if let Some(packet) = atomic(frame, meta) {
            let (low, high) = addresses(packet, true);
            self.report_oddities(Oddities::ATOMIC, (arrival, bytes), Some((low, high)));
        }
        let (packet, options) = options_of(frame, meta);
        for (reason, offset) in option_flaws(options) {
            let offset = offset.saturating_add(Ipv4Packet::HEADER_LEN as u16);
            let what = bad(Layer::Ipv4, reason, offset);
            self.remark(what, (arrival, bytes), Some(addresses(packet, false)));
        }
        if let Some(packet) = with_extensions(frame, meta) {
            v6_flaws(packet, &mut |what| {
                self.remark(what, (arrival, bytes), Some(addresses(packet, true)));
            });
        }
    }

    fn offer_records<L: Lane>(&mut self, lane: &mut L) {
        if !self.formatter.is_empty() {
            lane.input_records(&mut self.formatter);
        }
    }

    /// Handles a frame that did not become a packet at once: what it is, and its addresses if it
    /// was refused and they are legible.
    #[cold]
    #[inline(never)]
    pub(crate) fn handle<L: Lane>(
        &mut self,
        (dispatched, refused): (Dispatched, Option<(IpAddr, IpAddr)>),
        arrival: Arrival,
        dispatcher: &mut Dispatcher,
        piece: &Piece,
        lane: &mut L,
    ) {
        lane.dispatched(&dispatched);
        match dispatched {
            Dispatched::Malformed(what) => {
                let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
                self.report(what, (arrival, bytes), refused);
            }
            Dispatched::Fragment(fragment) => {
                self.fragment(fragment, arrival, dispatcher, piece, lane);
            }
            // The dispatcher has counted it; nothing else to do.
            Dispatched::Packet
            | Dispatched::NonIp
            | Dispatched::Headless
            | Dispatched::UnsupportedLink => {}
        }
    }

    /// Losses so far.
    pub(crate) fn losses(&self) -> Losses {
        let mut losses = self.losses;
        losses.add(&self.defragmenter.stats().losses);
        if let Some(rules) = &self.rules {
            losses.add(&rules.losses());
        }
        losses
    }

    /// The stage's own records up to the last packet.
    pub(crate) fn tick(&mut self, tick: Tick) -> RecordBatch {
        self.defragmenter.expire(tick.time);
        if let Some(rules) = &mut self.rules {
            rules.exchange();
        }
        self.formatter.take_batch_up_to(RecordKey {
            time: tick.time,
            number: tick.number,
            ordinal: u32::MAX,
        })
    }

    /// The last of them; the input has ended at `now`.
    pub(crate) fn last_records(&mut self, now: Timestamp) -> RecordBatch {
        self.tunnels.finish(now, &mut self.formatter);
        self.formatter.take_batch(Timestamp::MAX)
    }

    /// Writes the records of tunnels that have been idle too long.
    #[cold]
    #[inline(never)]
    pub(crate) fn sweep_tunnels<L: Lane>(&mut self, now: Timestamp, number: u64, lane: &mut L) {
        self.tunnels.sweep(now, number, &mut self.formatter);
        self.offer_records(lane);
    }

    /// Adds a tunnelled packet to the sums of its tunnels.
    #[cold]
    #[inline(never)]
    fn tunnelled(&mut self, frame: &[u8], meta: &PacketMeta) {
        let (losses, sink) = (&mut self.losses, &mut self.formatter);
        self.tunnels.count(frame, meta, losses, sink);
    }

    /// Reports what is unusual about a packet that was accepted.
    #[cold]
    fn report_oddities(
        &mut self,
        oddities: Oddities,
        arrival: (Arrival, &[u8]),
        addresses: Option<(IpAddr, IpAddr)>,
    ) {
        for reason in oddities.reasons() {
            self.remark(bad(Layer::Fragment, reason, 0), arrival, addresses);
        }
    }

    /// Reports why a frame of the piece with these bytes was refused.
    fn report(
        &mut self,
        what: Malformed,
        at: (Arrival, &[u8]),
        addresses: Option<(IpAddr, IpAddr)>,
    ) {
        self.tell((what, true), at, addresses);
    }

    /// Reports what is odd about one that was accepted: it is a packet of its connection, too.
    fn remark(
        &mut self,
        what: Malformed,
        at: (Arrival, &[u8]),
        addresses: Option<(IpAddr, IpAddr)>,
    ) {
        self.tell((what, false), at, addresses);
    }

    fn tell(
        &mut self,
        (what, is_refused): (Malformed, bool),
        (arrival, piece): (Arrival, &[u8]),
        addresses: Option<(IpAddr, IpAddr)>,
    ) {
        if let Some(events) = self.rules.as_mut().and_then(|rules| rules.events.as_mut()) {
            let seen = Seen {
                number: arrival.number,
                time: arrival.time,
                stream_time: arrival.stream_time,
                interface: arrival.interface,
            };
            let frames = FrameBytes { piece, extra: &[] };
            let frame = OddFrame {
                bytes: frames.stretch(arrival.place),
                link: arrival.link,
            };
            events.packet((what, is_refused), addresses, (&seen, &frame));
        }
        let oddity = Oddity {
            what,
            time: arrival.time,
            stream_time: arrival.stream_time,
            number: arrival.number,
            interface: arrival.interface,
            addresses,
        };
        self.anomalies
            .report(&oddity, &mut self.losses, &mut self.formatter);
    }

    /// IP → reassemble → peel → IP …: a datagram may hold a fragment of another one. Each round
    /// peels at least one layer, and the number of layers is limited.
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
            if let Some(parts) = &mut self.parts {
                parts.fragment(&fragment, bytes);
            }
            let context = self.kept_apart.context(bytes, &fragment);
            let inserted = self.defragmenter.insert(bytes, &fragment, context);
            lane.fragment_inserted(&inserted);
            let oddities = self.defragmenter.oddities();
            if !oddities.is_empty() || matches!(inserted, Inserted::Refused(_)) {
                let header = bytes.get(fragment.header_start as usize..);
                let addresses = addresses(header.unwrap_or_default(), fragment.ipv6);
                if let Inserted::Refused(what) = inserted {
                    return self.report(what, (arrival, in_piece), Some(addresses));
                }
                self.report_oddities(oddities, (arrival, in_piece), Some(addresses));
                self.offer_records(lane);
            }
            let bytes = if nested {
                self.datagram.as_slice()
            } else {
                in_piece
            };
            let ready = match inserted {
                Inserted::Complete(ready) => ready,
                Inserted::Held | Inserted::Refused(_) => return,
                Inserted::Lone if nested => {
                    self.tell_whole();
                    let bytes = self.datagram.as_slice();
                    return lone(bytes, &fragment, nested, dispatcher, piece, lane);
                }
                Inserted::Lone => return lone(bytes, &fragment, nested, dispatcher, piece, lane),
            };
            let (extra, defragmenter) = (&mut self.datagram, &mut self.defragmenter);
            let datagram = if nested {
                defragmenter.assemble_nested(ready, &fragment, extra)
            } else {
                extra.clear();
                defragmenter.assemble(ready, in_piece, &fragment, extra)
            };
            let whole = dispatcher.dispatch_datagram(&self.datagram, &datagram, lane.slot());
            lane.dispatched(&whole);
            match whole {
                Dispatched::Packet => return self.whole(piece, lane),
                Dispatched::Fragment(inner) => {
                    fragment = inner;
                    nested = true;
                }
                Dispatched::Malformed(what) => {
                    self.datagrams_refused += 1;
                    let refused = dispatcher.refused_addresses();
                    return self.report(what, (arrival, in_piece), refused);
                }
                Dispatched::NonIp | Dispatched::Headless | Dispatched::UnsupportedLink => {
                    self.datagrams_refused += 1;
                    return;
                }
            }
        }
    }

    /// Tells a conditional recording that the last fragment has completed its datagram.
    fn tell_whole(&mut self) {
        if let Some(parts) = &mut self.parts {
            parts.datagram();
        }
    }

    /// Hands the reassembled datagram, which the lane's slot describes, to the lane.
    fn whole<L: Lane>(&mut self, piece: &Piece, lane: &mut L) {
        self.tell_whole();
        let slot = lane.slot();
        let frame = FrameBytes {
            piece: &[],
            extra: &self.datagram,
        }
        .frame(slot);
        if slot.flags.has(PacketFlags::TUNNELLED) {
            let (losses, sink) = (&mut self.losses, &mut self.formatter);
            self.tunnels.count(frame, slot, losses, sink);
            if !sink.is_empty() {
                lane.input_records(sink);
            }
        }
        lane.commit_datagram(piece, frame);
    }
}

/// Whether a packet that took the slow path asks for more than to be handed on: it is in a tunnel,
/// or an atomic fragment, or has options of an odd form.
pub(crate) fn is_noteworthy(bytes: &[u8], meta: &PacketMeta) -> bool {
    let frame = frame_of(bytes, meta);
    meta.flags.has(PacketFlags::TUNNELLED)
        || atomic(frame, meta).is_some()
        || option_flaws(options_of(frame, meta).1).next().is_some()
        || with_extensions(frame, meta).is_some_and(has_v6_flaws)
}

fn has_v6_flaws(packet: &[u8]) -> bool {
    let mut has_any = false;
    v6_flaws(packet, &mut |_| has_any = true);
    has_any
}

/// The IP packet and the options of its IPv4 header. A packet whose options are of an odd form is
/// one of its connection, but a receiver may drop it.
fn options_of<'a>(frame: &'a [u8], meta: &PacketMeta) -> (&'a [u8], &'a [u8]) {
    let packet = frame.get(usize::from(meta.l3_offset)..).unwrap_or_default();
    // Version 4, and more words than a header without options has. An ICMP error is described by
    // the packet that it quotes.
    let has_options = matches!(packet.first(), Some(0x46..=0x4f));
    if !has_options || meta.kind == PacketKind::IcmpError {
        return (packet, &[]);
    }
    let parsed = Ipv4Packet::parse(packet, usize::MAX);
    (packet, parsed.map_or(&[], |packet| packet.options()))
}

/// The IP packet, if it is an atomic fragment (RFC 6946): an ordinary packet, but worth an anomaly
/// record.
fn atomic<'a>(frame: &'a [u8], meta: &PacketMeta) -> Option<&'a [u8]> {
    let packet = frame.get(usize::from(meta.l3_offset)..).unwrap_or_default();
    // An ICMP error is described by the packet that it quotes.
    (meta.kind != PacketKind::IcmpError && is_atomic(packet)).then_some(packet)
}

/// The IP packet, if it is of version 6 and has extension headers or a message of ICMPv6, which may
/// be odd.
fn with_extensions<'a>(frame: &'a [u8], meta: &PacketMeta) -> Option<&'a [u8]> {
    let packet = frame.get(usize::from(meta.l3_offset)..).unwrap_or_default();
    let is_v6 = packet.first().is_some_and(|byte| byte >> 4 == 6);
    let next_header = packet.get(6).copied().unwrap_or(TCP);
    // An ICMP error is described by the packet that it quotes.
    let is_plain = matches!(next_header, TCP | UDP) || meta.kind == PacketKind::IcmpError;
    (is_v6 && !is_plain).then_some(packet)
}

fn frame_of<'a>(bytes: &'a [u8], meta: &PacketMeta) -> &'a [u8] {
    let frames = FrameBytes {
        piece: bytes,
        extra: &[],
    };
    frames.frame(meta)
}

/// Passes on a fragment by itself, keyed by its addresses.
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
        // Its bytes lie in a reassembled datagram, which the lane must keep.
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

#[cfg(test)]
mod tests {
    use super::{is_noteworthy, option_flaws, options_of};
    use flowpin_packet::{PacketKind, PacketMeta, Reason};

    /// An option of an odd form is worth a record; well-formed ones are not, nor are those around
    /// an ICMP error, which is described by the packet that it quotes.
    #[test]
    fn options_of_an_odd_form_are_noteworthy() {
        let frame = |options: [u8; 4]| {
            let mut frame = vec![0; 14];
            frame.extend([0x46, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0]);
            frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
            frame.extend(options);
            frame.extend([0; 8]);
            frame
        };
        let meta = PacketMeta {
            captured_len: 46,
            wire_len: 46,
            l3_offset: 14,
            kind: PacketKind::Udp,
            ..PacketMeta::default()
        };
        let odd = frame([1, 130, 2, 0]);
        assert!(is_noteworthy(&odd, &meta));
        let flaws: Vec<_> = option_flaws(options_of(&odd, &meta).1).collect();
        assert_eq!(flaws, [(Reason::OptionLength, 1)]);
        assert!(!is_noteworthy(&frame([148, 4, 0, 0]), &meta));
        let error = PacketMeta {
            kind: PacketKind::IcmpError,
            ..meta
        };
        assert!(!is_noteworthy(&odd, &error));
    }

    /// RFC 4861 §4.2: a router advertisement has sixteen bytes.
    #[test]
    fn messages_that_end_too_early_are_noteworthy() {
        let frame = |len: u8| {
            let mut frame = vec![0x60, 0, 0, 0, 0, len, 58, 255];
            frame.extend([0xfe; 32]);
            frame.push(134);
            frame.resize(40 + usize::from(len), 0);
            frame
        };
        let meta = |len: u8| PacketMeta {
            captured_len: 40 + u32::from(len),
            wire_len: 40 + u32::from(len),
            kind: PacketKind::Icmp,
            ..PacketMeta::default()
        };
        assert!(is_noteworthy(&frame(12), &meta(12)));
        assert!(!is_noteworthy(&frame(16), &meta(16)));
    }
}
