//! The slow path: any frame, layer by layer, through the peel loop; and datagrams that were
//! reassembled.

use crate::dispatcher::{Dispatched, Dispatcher, Origin};
use crate::peel::{Found, Network, NonIp, Outcome, Peel};
use flowpin_packet::{
    Datagram, FragmentRef, Frame, PacketFlags, PacketKind, PacketMeta, PeelContext, Timestamp,
};
use flowpin_wire::Next;

impl Dispatcher {
    /// As [`Dispatcher::dispatch`], for a datagram made from fragments. `bytes` are the extra
    /// bytes that it lies in.
    #[cold]
    #[inline(never)]
    pub fn dispatch_datagram(
        &mut self,
        bytes: &[u8],
        datagram: &Datagram,
        meta: &mut PacketMeta,
    ) -> Dispatched {
        let (start, header) = (
            datagram.frame_start as usize,
            datagram.header_start as usize,
        );
        let header_len = header.saturating_sub(start);
        let captured_len = header_len.saturating_add(datagram.captured_len as usize);
        let captured = bytes
            .get(start..start.saturating_add(captured_len))
            .unwrap_or_default();
        let wire_end = header_len.saturating_add(datagram.len as usize);
        let mut peel = Peel::new(captured, wire_end, ());
        peel.at = header_len;
        peel.layers = datagram.context.layers;
        peel.flags = datagram.context.flags.with(PacketFlags::REASSEMBLED);
        peel.verify = self.options.verify_network;
        if (datagram.captured_len) < datagram.len {
            peel.flags = peel.flags.with(PacketFlags::SNAPPED);
        }
        self.quality.datagrams += 1;
        let common = PacketMeta {
            time: datagram.time,
            stream_time: datagram.stream_time,
            number: datagram.number,
            frame_start: datagram.frame_start,
            captured_len: u32::try_from(captured.len()).unwrap_or(u32::MAX),
            wire_len: datagram.wire_len,
            link: datagram.context.link,
            interface: datagram.context.interface,
            ..PacketMeta::default()
        };
        let outcome = peel.run(Next::Ip);
        let sum = (header_len, datagram.ip_len);
        self.conclude(outcome, &mut peel, &common, Some(sum), meta)
    }

    /// Describes a fragment that could not wait for the others: keyed by addresses and protocol.
    /// `bytes` are those that it was found in.
    #[cold]
    #[inline(never)]
    pub fn dispatch_lone(&mut self, bytes: &[u8], fragment: &FragmentRef, meta: &mut PacketMeta) {
        let relative = |at: u32| at.saturating_sub(fragment.frame_start) as u16;
        let header = bytes
            .get(fragment.header_start as usize..)
            .unwrap_or_default();
        let (source, destination) = addresses(header, fragment.ipv6);
        let l3 = relative(fragment.header_start);
        let payload_offset = relative(fragment.payload_start);
        let captured_len = fragment
            .payload_start
            .saturating_sub(fragment.frame_start)
            .saturating_add(u32::from(fragment.captured_len));
        let network = Network {
            l3,
            ipv6: fragment.ipv6,
            source,
            destination,
            final_destination: destination,
            ip_len: fragment.ip_len,
            identification: 0,
            unsegmented: false,
            later_fragment: true,
        };
        let described = PacketMeta {
            time: fragment.time,
            stream_time: fragment.stream_time,
            number: fragment.number,
            frame_start: fragment.frame_start,
            captured_len,
            wire_len: fragment.wire_len,
            ip_len: fragment.ip_len,
            payload_len: u32::from(fragment.payload_len),
            l3_offset: l3,
            l4_offset: payload_offset,
            payload_offset,
            kind: PacketKind::Other,
            protocol: fragment.protocol,
            flags: fragment.context.flags.with(PacketFlags::LONE_FRAGMENT),
            link: fragment.context.link,
            interface: fragment.context.interface,
            ..PacketMeta::default()
        };
        let mut found = Found {
            meta: described,
            network,
            ports: (0, 0),
            protocol: fragment.protocol,
            subkind: 0,
        };
        *meta = *found.seal(&self.hasher);
    }

    /// The slow path: describes any frame. Called for those that [`Dispatcher::dispatch_fast`]
    /// refused.
    // PERF: the frame by value, so that the caller can keep its fields in registers.
    #[cold]
    #[inline(never)]
    pub fn dispatch_slow(
        &mut self,
        bytes: &[u8],
        frame: Frame,
        number: u64,
        stream_time: Timestamp,
        meta: &mut PacketMeta,
    ) -> Dispatched {
        let start = frame.start as usize;
        let captured = bytes
            .get(start..start.wrapping_add(frame.captured_len as usize))
            .unwrap_or_default();
        let origin = Origin {
            number,
            stream_time,
        };
        self.peel(captured, &frame, origin, meta)
    }

    fn peel(
        &mut self,
        captured: &[u8],
        frame: &Frame,
        origin: Origin,
        meta: &mut PacketMeta,
    ) -> Dispatched {
        let snapped = frame.captured_len < frame.wire_len;
        self.quality.snapped += u64::from(snapped);
        let mut peel = Peel::new(captured, frame.wire_len as usize, ());
        peel.verify = self.options.verify_network;
        if snapped {
            peel.flags = peel.flags.with(PacketFlags::SNAPPED);
        }
        if frame.time < origin.stream_time {
            peel.flags = peel.flags.with(PacketFlags::OUT_OF_ORDER);
        }
        let common = PacketMeta {
            time: frame.time,
            stream_time: origin.stream_time,
            number: origin.number,
            frame_start: frame.start,
            captured_len: frame.captured_len,
            wire_len: frame.wire_len,
            link: frame.link,
            interface: frame.interface,
            ..PacketMeta::default()
        };
        let outcome = peel.run(Next::Link(frame.link));
        self.quality.offloaded_ip_checksums += u64::from(peel.ip_checksum_offloaded);
        let dispatched = self.conclude(outcome, &mut peel, &common, None, meta);
        match dispatched {
            Dispatched::Packet => self.quality.packets += 1,
            Dispatched::Fragment(_) => self.quality.fragments += 1,
            Dispatched::Malformed(_) => self.quality.refused += 1,
            Dispatched::Headless => self.quality.headless += 1,
            Dispatched::NonIp | Dispatched::UnsupportedLink => {}
        }
        dispatched
    }

    /// Turns what the peel loop found into what the caller gets. `common` holds what the frame
    /// knows; `sum`, of a datagram, where its header starts and its fragments' IP length.
    fn conclude(
        &mut self,
        outcome: Outcome,
        peel: &mut Peel<'_, ()>,
        common: &PacketMeta,
        sum: Option<(usize, u32)>,
        meta: &mut PacketMeta,
    ) -> Dispatched {
        match outcome {
            Outcome::Packet(refusal) => {
                let Some(found) = &mut peel.found else {
                    return Dispatched::Headless;
                };
                if let Some(refusal) = refusal {
                    self.quality.refusals.count(refusal);
                    self.quality.inner_refused += 1;
                }
                self.quality.unsegmented += u64::from(found.network.unsegmented);
                let reassembled = sum.filter(|&(l3, _)| l3 == usize::from(found.network.l3));
                *meta = *found.seal(&self.hasher);
                if let Some((_, ip_len)) = reassembled {
                    meta.ip_len = ip_len;
                }
                meta.time = common.time;
                meta.stream_time = common.stream_time;
                meta.number = common.number;
                meta.frame_start = common.frame_start;
                meta.captured_len = common.captured_len;
                meta.wire_len = common.wire_len;
                meta.link = common.link;
                meta.interface = common.interface;
                self.quality.tunnelled += u64::from(meta.flags.has(PacketFlags::TUNNELLED));
                self.count_checksum(meta);
                if self.options.checksums {
                    self.verify(peel.bytes, meta);
                }
                Dispatched::Packet
            }
            Outcome::Fragment(fragment) => Dispatched::Fragment(place(fragment, common)),
            Outcome::NonIp(what) => self.count_non_ip(what),
            Outcome::Headless => Dispatched::Headless,
            Outcome::Malformed(refused) => {
                self.quality.refusals.count(refused);
                self.refused_addresses = peel.network.map(|network| network.addresses());
                Dispatched::Malformed(refused)
            }
        }
    }

    fn count_non_ip(&mut self, what: NonIp) -> Dispatched {
        let counts = &mut self.quality.non_ip;
        match what {
            NonIp::Arp => counts.arp += 1,
            NonIp::Lldp => counts.lldp += 1,
            NonIp::Stp => counts.stp += 1,
            NonIp::Ppp => counts.ppp += 1,
            NonIp::Ieee80211 => counts.ieee80211 += 1,
            NonIp::Other => counts.other += 1,
            NonIp::UnsupportedLink(link) => {
                self.quality.count_unsupported(link);
                return Dispatched::UnsupportedLink;
            }
        }
        Dispatched::NonIp
    }

    /// Counts what the peel loop itself verified.
    fn count_checksum(&mut self, meta: &PacketMeta) {
        self.quality.bad_checksums += u64::from(meta.flags.has(PacketFlags::BAD_CHECKSUM));
        self.quality.offloaded_checksums +=
            u64::from(meta.flags.has(PacketFlags::OFFLOADED_CHECKSUM));
    }
}

/// A fragment's offsets counted from where the frame's bytes lie, and what the frame knows.
fn place(fragment: FragmentRef, common: &PacketMeta) -> FragmentRef {
    let start = common.frame_start;
    FragmentRef {
        frame_start: start,
        header_start: start.saturating_add(fragment.header_start),
        payload_start: start.saturating_add(fragment.payload_start),
        wire_len: common.wire_len,
        number: common.number,
        time: common.time,
        stream_time: common.stream_time,
        context: PeelContext {
            link: common.link,
            interface: common.interface,
            ..fragment.context
        },
        ..fragment
    }
}

/// Source and destination of the IP header that starts here; an IPv4 address in the low bits.
fn addresses(header: &[u8], ipv6: bool) -> (u128, u128) {
    if ipv6 {
        let at = |at: usize| {
            header
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .map_or(0, |b| u128::from_be_bytes(*b))
        };
        (at(8), at(24))
    } else {
        let at = |at: usize| {
            header
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .map_or(0, |b| u32::from_be_bytes(*b))
        };
        (u128::from(at(12)), u128::from(at(16)))
    }
}
