//! Hostile, cut and unusual frames; and that it does not matter which path describes a packet, nor
//! where its header is read.

use super::stack::{any_ip, any_layer, any_port, wrap_all};
use super::{Pin, fields, whole_frame};
use crate::dispatcher::Origin;
use crate::quality::LINKS;
use crate::{
    DispatchOptions, Dispatched, Dispatcher, SlowReason, decode, fuzz_dispatch, slow_reason, verify,
};
use flowpin_packet::{Frame, FrameBytes, LinkType, PacketFlags, PacketKind, PacketMeta, Timestamp};
use flowpin_testkit::build::{Ip, IpPacket, Tcp};
use proptest::prelude::*;

const ORIGIN: Origin = Origin {
    number: 9,
    stream_time: Timestamp(5),
};

/// What dispatch and the slow path alone say of a frame.
pub(super) fn both_paths(
    options: DispatchOptions,
    bytes: &[u8],
    frame: &Frame,
) -> (Dispatched, PacketMeta, PacketMeta) {
    let (mut meta, mut slow) = (PacketMeta::default(), PacketMeta::default());
    let mut dispatcher = Dispatcher::new(options);
    let (number, now) = (ORIGIN.number, ORIGIN.stream_time);
    let dispatched = dispatcher.dispatch(bytes, frame, number, now, &mut meta);
    let mut peeled = Dispatcher::new(options);
    let slowly = peeled.dispatch_slow(bytes, *frame, number, now, &mut slow);
    assert_eq!(dispatched, slowly);
    assert_eq!(dispatcher.quality(), peeled.quality());
    if meta.flags.has(PacketFlags::UNDECODED) {
        let captured = &bytes[frame.start as usize..][..frame.captured_len as usize];
        decode(&mut meta, captured);
    }
    (dispatched, meta, slow)
}

/// Whether a frame takes the fast path.
fn is_fast(decode: bool, bytes: &[u8], frame: &Frame) -> bool {
    let options = DispatchOptions {
        decode,
        ..DispatchOptions::default()
    };
    let mut dispatcher = Dispatcher::new(options);
    let (number, now) = (ORIGIN.number, ORIGIN.stream_time);
    let mut meta = PacketMeta::default();
    if decode {
        dispatcher.dispatch_fast::<true>(bytes, frame, number, now, &mut meta)
    } else {
        dispatcher.dispatch_fast::<false>(bytes, frame, number, now, &mut meta)
    }
}

/// The types that announce a VLAN tag.
const TAG_TYPES: [u16; 5] = [0x8100, 0x88a8, 0x9100, 0x9200, 0x9300];

/// A frame with VLAN tags of these types, outermost first.
fn tagged(packet: &IpPacket, types: &[u16]) -> Vec<u8> {
    let vlans: Vec<u16> = (1..).take(types.len()).collect();
    let mut bytes = packet.tagged(&vlans);
    for (nth, tag_type) in types.iter().enumerate() {
        bytes[12 + 4 * nth..][..2].copy_from_slice(&tag_type.to_be_bytes());
    }
    bytes
}

/// The descriptor, however the work is divided between input and worker.
pub(super) fn every_cut(bytes: &[u8], frame: &Frame) -> [Option<PacketMeta>; 3] {
    let cut = |decode_now, verify_now| {
        let options = DispatchOptions {
            decode: decode_now,
            checksums: verify_now,
            ..DispatchOptions::default()
        };
        let mut meta = PacketMeta::default();
        let mut dispatcher = Dispatcher::new(options);
        let dispatched =
            dispatcher.dispatch(bytes, frame, ORIGIN.number, ORIGIN.stream_time, &mut meta);
        if dispatched != Dispatched::Packet {
            return None;
        }
        let captured = FrameBytes {
            piece: bytes,
            extra: &[],
        }
        .frame(&meta);
        if !decode_now {
            decode(&mut meta, captured);
        }
        if !verify_now {
            verify(&mut meta, captured);
        }
        Some(meta)
    };
    [cut(false, false), cut(true, false), cut(true, true)]
}

/// A TCP or UDP packet that the fast path takes.
fn any_packet() -> impl Strategy<Value = IpPacket> {
    let payload = prop::collection::vec(any::<u8>(), 0..60);
    (
        any_ip(),
        any_port(),
        any_port(),
        any::<(u32, u8, bool)>(),
        payload,
    )
        .prop_map(|(ip, from, to, (seq, flags, tcp), payload)| {
            if tcp {
                ip.tcp(Tcp::new(from, to, seq, !seq, flags), &payload)
            } else {
                ip.udp(from, to, &payload)
            }
        })
}

/// A frame with tags, padding, a snap length and perhaps a changed byte: on the fast path or
/// nearly.
fn any_frame() -> impl Strategy<Value = (Vec<u8>, Frame)> {
    (
        any_packet(),
        prop::collection::vec(prop::sample::select(TAG_TYPES.to_vec()), 0..4),
        0usize..8,
        prop::option::weighted(0.3, any::<prop::sample::Index>()),
        prop::option::weighted(0.5, (any::<prop::sample::Index>(), any::<u8>())),
    )
        .prop_map(|(packet, types, padding, snap, change)| {
            let mut bytes = tagged(&packet, &types);
            bytes.extend(vec![0; padding]);
            if let Some((at, value)) = change {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            let mut frame = whole_frame(LinkType::Ethernet, &bytes);
            if let Some(snap) = snap {
                frame.captured_len = snap.index(bytes.len()) as u32;
            }
            (bytes, frame)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// The fast path decides nothing: the slow path gives the same descriptor and counts the same,
    /// for every cut.
    #[test]
    fn the_fast_path_gives_what_the_slow_path_gives(
        (bytes, frame) in any_frame(), verify in any::<bool>(), decode in any::<bool>(),
    ) {
        let options = DispatchOptions {
            verify_network: verify, checksums: verify, decode, ..DispatchOptions::default()
        };
        let (dispatched, meta, slow) = both_paths(options, &bytes, &frame);
        if dispatched == Dispatched::Packet {
            prop_assert_eq!(fields(&meta), fields(&slow));
        }
    }

    /// An explanation has a reason for the slow path exactly if a run takes it.
    #[test]
    fn the_slow_path_has_a_reason((bytes, frame) in any_frame()) {
        let captured = &bytes[frame.start as usize..][..frame.captured_len as usize];
        let reason = slow_reason(captured, &frame, true);
        prop_assert_eq!(reason.is_none(), is_fast(true, &bytes, &frame), "{:?}", reason);
    }

    /// Bytes of other link types may look like Ethernet: they take the slow path all the same.
    #[test]
    fn other_link_types_take_the_slow_path(
        (bytes, mut frame) in any_frame(), link in 1usize..LINKS.len(),
    ) {
        frame.link = LINKS[link];
        prop_assert!(!is_fast(true, &bytes, &frame) && !is_fast(false, &bytes, &frame));
        let (dispatched, meta, slow) = both_paths(DispatchOptions::default(), &bytes, &frame);
        if dispatched == Dispatched::Packet {
            prop_assert_eq!(fields(&meta), fields(&slow));
        }
    }

    /// `--cut` moves work, not results.
    #[test]
    fn every_cut_gives_the_same_descriptor((bytes, frame) in any_frame()) {
        let [capture, l2, l3] = every_cut(&bytes, &frame).map(|meta| meta.map(|m| fields(&m)));
        prop_assert_eq!(&capture, &l3);
        prop_assert_eq!(&l2, &l3);
    }

    /// However short a snap length, nothing panics, the flag is set, and as long as the ports
    /// were captured the packet keeps its connection.
    #[test]
    fn a_snapped_packet_keeps_its_key(
        packet in any_packet(), layers in prop::collection::vec(any_layer(), 0..2),
    ) {
        let bytes = wrap_all(&packet, &layers, false).ethernet();
        let mut dispatcher = Dispatcher::new(DispatchOptions::default());
        let mut whole = PacketMeta::default();
        let mut frame = whole_frame(LinkType::Ethernet, &bytes);
        dispatcher.dispatch(&bytes, &frame, 1, Timestamp(0), &mut whole);
        for captured_len in 0..bytes.len() {
            frame.captured_len = captured_len as u32;
            let mut meta = PacketMeta::default();
            let got = dispatcher.dispatch(&bytes, &frame, 1, Timestamp(0), &mut meta);
            if got == Dispatched::Packet {
                prop_assert!(meta.flags.has(PacketFlags::SNAPPED));
                prop_assert!(!meta.flags.has(PacketFlags::BAD_CHECKSUM));
            } else {
                prop_assert_eq!(got, Dispatched::Headless);
            }
            if captured_len >= usize::from(whole.l4_offset) + 4 {
                prop_assert_eq!(meta.key, whole.key);
                prop_assert_eq!(meta.hash, whole.hash);
                prop_assert_eq!(meta.ip_len, whole.ip_len);
            }
            if captured_len >= usize::from(whole.payload_offset) {
                prop_assert_eq!(meta.payload_len, whole.payload_len);
                prop_assert_eq!(meta.seq, whole.seq);
            }
        }
    }

    /// Changed bytes in stacks of tunnels: no panic, and lengths that the frame has.
    #[test]
    fn damaged_stacks_do_no_harm(
        packet in any_packet(), layers in prop::collection::vec(any_layer(), 0..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        mtu in 60usize..2000, link in 0u8..26,
    ) {
        let wrapped = wrap_all(&packet, &layers, false);
        for fragment in wrapped.fragments(mtu) {
            let mut bytes = fragment.ethernet();
            for (at, value) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            fuzz_dispatch(&[&[0, 0][..], &bytes].concat());
            fuzz_dispatch(&[&[link, 0][..], &bytes].concat());
        }
    }

    /// Random bytes of any link type.
    #[test]
    fn random_bytes_do_no_harm(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz_dispatch(&data);
    }
}

/// Ordinary packets take the fast path: either family, up to two tags of any type, every cut.
#[test]
fn ordinary_packets_take_the_fast_path() {
    let addresses = [Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]), Ip::v6(1, 2)];
    let packets = addresses.into_iter().flat_map(|ip| {
        let segment = ip.tcp(Tcp::new(40_000, 80, 7, 8, 0x10), b"GET");
        [
            segment,
            ip.udp(40_000, 53, b""),
            ip.udp(40_000, 53, &[0; 500]),
        ]
    });
    let pairs = TAG_TYPES
        .iter()
        .flat_map(|&a| TAG_TYPES.map(|b| vec![a, b]));
    let singles = TAG_TYPES.map(|tag_type| vec![tag_type]);
    let stacks: Vec<Vec<u16>> = pairs.chain(singles).chain([vec![]]).collect();
    for packet in packets {
        for types in &stacks {
            let bytes = tagged(&packet, types);
            let frame = whole_frame(LinkType::Ethernet, &bytes);
            for decode in [true, false] {
                assert!(is_fast(decode, &bytes, &frame), "{types:x?} {decode}");
            }
        }
        let bytes = tagged(&packet, &TAG_TYPES[..3]);
        let frame = whole_frame(LinkType::Ethernet, &bytes);
        assert!(!is_fast(true, &bytes, &frame));
    }
}

/// Each check of the fast path gives its own reason.
#[test]
fn each_refusal_has_its_reason() {
    let v4 = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
    let tcp = v4.tcp(Tcp::new(40_000, 80, 7, 8, 0x10), b"GET").ethernet();
    let udp = |port| v4.udp(40_000, port, &[0; 40]).ethernet();
    let changed = |mut bytes: Vec<u8>, at: usize, to: u8| {
        bytes[at] = to;
        bytes
    };
    let fragment = v4.identified(7).udp(40_000, 53, &[0; 80]).fragments(76);
    for (bytes, expected) in [
        (tcp.clone(), None),
        (tcp[..30].to_vec(), Some(SlowReason::Short)),
        (
            changed(tcp.clone(), 13, 6),
            Some(SlowReason::EtherType(0x0806)),
        ),
        (changed(tcp.clone(), 14, 0x46), Some(SlowReason::IpHeader)),
        (changed(tcp.clone(), 16, 9), Some(SlowReason::IpLength)),
        (fragment[0].ethernet(), Some(SlowReason::Fragment)),
        (changed(tcp.clone(), 23, 47), Some(SlowReason::Protocol(47))),
        (
            changed(tcp.clone(), 46, 0x40),
            Some(SlowReason::TransportHeader),
        ),
        (changed(tcp, 24, 0x55), Some(SlowReason::HeaderChecksum)),
        (udp(53), None),
        (udp(4789), Some(SlowReason::TunnelPort)),
        (changed(udp(53), 39, 7), Some(SlowReason::TransportHeader)),
    ] {
        let frame = whole_frame(LinkType::Ethernet, &bytes);
        assert_eq!(slow_reason(&bytes, &frame, true), expected, "{bytes:x?}");
    }
}

/// A packet is described whatever the link type in front of it.
#[test]
fn bare_packets_and_frames_have_the_same_key() {
    let packet = Ip::v4([1, 2, 3, 4], [5, 6, 7, 8]).udp(9, 10, b"x");
    let mut pin = Pin::new(DispatchOptions::default());
    let framed = pin.push(&packet.ethernet()).unwrap();
    let raw = pin.push_as(LinkType::Raw, &packet.bytes).unwrap();
    assert_eq!(
        (framed.meta.key, framed.meta.hash),
        (raw.meta.key, raw.meta.hash)
    );
    assert_eq!(raw.meta.kind, PacketKind::Udp);
    let null = [&[2, 0, 0, 0][..], &packet.bytes].concat();
    let null = pin.push_as(LinkType::Null, &null).unwrap();
    assert_eq!(null.meta.key, framed.meta.key);
}
