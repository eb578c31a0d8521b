//! The peel loop's decisions, one by one.

use super::{Pin, whole_frame};
use crate::{DispatchOptions, Dispatched, Dispatcher, NO_VLAN, vlans};
use core::net::Ipv6Addr;
use flowpin_packet::{
    Layer, LinkType, Malformed, PacketFlags, PacketKind, PacketMeta, Reason, Timestamp, bad,
};
use flowpin_testkit::build::{Ip, IpPacket, Tcp, tunnel};
use flowpin_wire::tunnel::UdpTunnel;

const OUTER: ([u8; 4], [u8; 4]) = ([192, 0, 2, 1], [192, 0, 2, 2]);

fn outer() -> Ip {
    Ip::v4(OUTER.0, OUTER.1)
}

fn dispatch(bytes: &[u8]) -> (Dispatched, PacketMeta, Dispatcher) {
    let mut dispatcher = Dispatcher::new(DispatchOptions::default());
    let mut meta = PacketMeta::default();
    let frame = whole_frame(LinkType::Ethernet, bytes);
    let got = dispatcher.dispatch(bytes, &frame, 1, Timestamp(0), &mut meta);
    (got, meta, dispatcher)
}

fn packet(bytes: &[u8]) -> PacketMeta {
    let (got, meta, _) = dispatch(bytes);
    assert_eq!(got, Dispatched::Packet);
    meta
}

fn refused(bytes: &[u8]) -> Malformed {
    match dispatch(bytes).0 {
        Dispatched::Malformed(refused) => refused,
        other => panic!("{other:?}"),
    }
}

fn syn() -> IpPacket {
    Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]).tcp(Tcp::syn(4000, 80, 1), b"")
}

/// Random bytes on a tunnel's port are an ordinary datagram.
#[test]
fn bytes_that_are_no_tunnel_count_for_their_own_endpoints() {
    for &(port, _) in UdpTunnel::PORTS {
        let meta = packet(&outer().udp(5555, port, &[0xff; 64]).ethernet());
        assert_eq!(meta.kind, PacketKind::Udp);
        assert_eq!(meta.key.ports(), (5555, port));
        assert!(!meta.flags.has(PacketFlags::TUNNELLED));
    }
}

/// A receiver would drop what is inside, so it must not touch the inner connection; the outer
/// one carried it all the same.
#[test]
fn a_refused_packet_in_a_tunnel_counts_for_the_tunnel() {
    let mut inner = syn();
    inner.bytes[10] ^= 0xff; // the header's checksum
    let (got, meta, dispatcher) = dispatch(
        &outer()
            .udp(5555, 4789, &tunnel::vxlan(7, &inner.ethernet()))
            .ethernet(),
    );
    assert_eq!(got, Dispatched::Packet);
    assert_eq!(meta.key.ports(), (5555, 4789));
    assert!(!meta.flags.has(PacketFlags::TUNNELLED));
    assert_eq!(dispatcher.quality().inner_refused, 1);
    let counted: Vec<_> = dispatcher.quality().refusals.iter().collect();
    assert_eq!(counted, [(Layer::Ipv4, Reason::Checksum, 1)]);
}

/// RFC 7348 §5: what is reserved is ignored; Wireshark opens such tunnels, too.
#[test]
fn vxlan_with_reserved_bits_is_opened() {
    for (at, bits) in [(0, 0x18), (0, 0x0c), (1, 0xff), (3, 9), (7, 5)] {
        let mut carried = tunnel::vxlan(7, &syn().ethernet());
        carried[at] = bits;
        let meta = packet(&outer().udp(5555, 4789, &carried).ethernet());
        assert_eq!(meta.key.ports(), (4000, 80), "{at} {bits}");
        assert!(meta.flags.has(PacketFlags::TUNNELLED));
    }
}

/// ARP in VXLAN is traffic of the tunnel's endpoints.
#[test]
fn a_frame_without_packet_in_a_tunnel_counts_for_the_tunnel() {
    let mut arp = vec![0xff; 12];
    arp.extend([8, 6]);
    arp.extend([0; 28]);
    let (got, meta, dispatcher) =
        dispatch(&outer().udp(5555, 4789, &tunnel::vxlan(7, &arp)).ethernet());
    assert_eq!(got, Dispatched::Packet);
    assert_eq!(meta.key.ports(), (5555, 4789));
    assert_eq!(dispatcher.quality().refusals.total(), 0);
}

/// An IPv6 packet that holds nothing (RFC 8200 §4.7), as Teredo sends to keep a way open, is no
/// connection of its own inside a tunnel; by itself it is all that there is.
#[test]
fn a_packet_without_content_counts_for_the_tunnel() {
    let empty = Ip::v6(1, 2).packet(59, b"");
    let meta = packet(&outer().udp(5555, 3544, &tunnel::teredo(&empty)).ethernet());
    assert_eq!(
        (meta.key.ports(), meta.kind),
        ((5555, 3544), PacketKind::Udp)
    );
    let meta = packet(&empty.ethernet());
    assert_eq!((meta.protocol, meta.kind), (59, PacketKind::Other));
}

/// Clients of Teredo talk to each other on whatever ports their translators gave them (RFC 4380
/// §5.2). Other IPv6 in a datagram is ordinary payload.
#[test]
fn teredo_between_clients_is_passed_on_any_port() {
    let address = |words: [u16; 2]| Ipv6Addr::new(words[0], words[1], 0, 0, 0, 0, 0, 1);
    for (from, is_client) in [([0x2001, 0], true), ([0x2002, 0], false)] {
        let ip = Ip::new(address(from), address([0x2a00, 1]));
        let syn = ip.tcp(Tcp::syn(4000, 80, 1), b"");
        let frame = outer()
            .udp(50_001, 50_002, &tunnel::teredo(&syn))
            .ethernet();
        let mut ports = packet(&frame).key.ports();
        if ports.0 < ports.1 {
            ports = (ports.1, ports.0);
        }
        let inner = if is_client {
            (4000, 80)
        } else {
            (50_002, 50_001)
        };
        assert_eq!(ports, inner, "{from:x?}");
    }
}

/// Tags of bridges and fabrics stand between a frame's addresses and its type.
#[test]
fn tags_of_fabrics_are_passed() {
    let plain = syn().ethernet();
    let (addresses, rest) = plain.split_at(12);
    let e_tag = [0x89, 0x3f, 0x10, 0, 0, 0xd8, 0, 0];
    let metadata = [0x89, 0x09, 1, 1, 0, 1, 0, 2];
    for tag in [e_tag, metadata] {
        let meta = packet(&[addresses, &tag, rest].concat());
        assert_eq!(meta.key, packet(&plain).key);
    }
}

/// However deep the stack, the loop ends, and the packet counts for what was reached.
#[test]
fn nesting_has_a_limit() {
    let mut stack = syn();
    for _ in 0..40 {
        stack = outer().ip(&stack);
    }
    let (got, meta, dispatcher) = dispatch(&stack.ethernet());
    assert_eq!(got, Dispatched::Packet);
    assert_eq!((meta.kind, meta.protocol), (PacketKind::Other, 4));
    let counted: Vec<_> = dispatcher.quality().refusals.iter().collect();
    assert_eq!(counted, [(Layer::Nesting, Reason::TooDeep, 1)]);
    let tags = vec![5; 40];
    assert_eq!(
        refused(&syn().tagged(&tags)),
        bad(Layer::Nesting, Reason::TooDeep, 0)
    );
}

/// An IP header that does not hold is refused, one left to the adapter is not.
#[test]
fn ip_checksums_are_verified() {
    let mut frame = syn().ethernet();
    frame[14 + 10] ^= 1;
    assert_eq!(refused(&frame), bad(Layer::Ipv4, Reason::Checksum, 10));
    frame[14 + 10..14 + 12].fill(0);
    let (got, meta, dispatcher) = dispatch(&frame);
    assert_eq!((got, meta.kind), (Dispatched::Packet, PacketKind::Tcp));
    assert_eq!(dispatcher.quality().offloaded_ip_checksums, 1);
}

/// A bad checksum must be distinguished from one captured before the adapter completed it.
#[test]
fn transport_checksums_are_judged() {
    for packet_of in [
        |ip: Ip| ip.tcp(Tcp::syn(1, 2, 3), b"abc"),
        |ip: Ip| ip.udp(1, 2, b"abc"),
    ] {
        for ip in [outer(), Ip::v6(1, 2)] {
            let good = packet_of(ip);
            let flags = packet(&good.ethernet()).flags;
            assert!(!flags.has_any(BOTH), "{flags:?}");
            let mut bad = good.clone();
            *bad.bytes.last_mut().unwrap() ^= 1;
            assert_eq!(
                packet(&bad.ethernet()).flags.0 & BOTH.0,
                PacketFlags::BAD_CHECKSUM.0
            );
        }
    }
    let icmp = outer().icmp(8, 0, &[0, 1, 0, 1, 9]);
    assert!(!packet(&icmp.ethernet()).flags.has_any(BOTH));
    let mut bad = icmp;
    *bad.bytes.last_mut().unwrap() ^= 1;
    assert!(packet(&bad.ethernet()).flags.has(PacketFlags::BAD_CHECKSUM));
}

const BOTH: PacketFlags = PacketFlags::BAD_CHECKSUM.with(PacketFlags::OFFLOADED_CHECKSUM);

/// Pings of different programs are different connections, request and reply are one.
#[test]
fn echo_is_keyed_by_its_identifier() {
    let ping = |kind, id: u8, ip: Ip| packet(&ip.icmp(kind, 0, &[0, id, 0, 1]).ethernet());
    let request = ping(8, 5, outer());
    let reply = ping(0, 5, outer().reversed());
    assert_eq!(request.key, reply.key);
    assert_eq!((request.key.subkind(), request.key.ports()), (8, (5, 5)));
    assert_ne!(request.high_to_low(), reply.high_to_low());
    assert_ne!(request.key, ping(8, 6, outer()).key);
    let one_way = packet(&outer().icmp(40, 3, &[0; 4]).ethernet());
    assert_eq!((one_way.key.subkind(), one_way.key.ports()), (40, (3, 3)));
    assert_eq!((one_way.icmp_type(), one_way.icmp_code), (40, 3));
}

/// Neighbour solicitation and advertisement answer each other, without an identifier.
#[test]
fn neighbour_discovery_is_a_pair() {
    let there = packet(&Ip::v6(1, 2).icmp(135, 0, &[0; 20]).ethernet());
    let back = packet(&Ip::v6(2, 1).icmp(136, 0, &[1; 20]).ethernet());
    assert_eq!(there.key, back.key);
    assert_eq!(there.key.ports(), (0, 0));
}

/// An error about a fragment that is not the first finds no ports: it is keyed by addresses, as a
/// lone fragment is.
#[test]
fn an_error_about_a_later_fragment_is_keyed_by_addresses() {
    let whole = outer().udp(1000, 2000, &[1; 200]);
    let pieces = whole.fragments(100);
    let error = outer().reversed().unreachable(&pieces[1]);
    let meta = packet(&error.ethernet());
    assert_eq!(
        (meta.kind, meta.key.ports()),
        (PacketKind::IcmpError, (0, 0))
    );
    assert_eq!(meta.key.protocol(), 17);
    let first = outer().reversed().unreachable(&pieces[0]);
    assert_eq!(packet(&first.ethernet()).key, packet(&whole.ethernet()).key);
    // What goes on alone has the same key.
    let (got, _, mut dispatcher) = dispatch(&pieces[1].ethernet());
    let Dispatched::Fragment(fragment) = got else {
        panic!("{got:?}")
    };
    let mut lone = PacketMeta::default();
    dispatcher.dispatch_lone(&pieces[1].ethernet(), &fragment, &mut lone);
    assert_eq!((lone.key, lone.hash), (meta.key, meta.hash));
    assert!(lone.flags.has(PacketFlags::LONE_FRAGMENT));
    assert_eq!((lone.ip_len, lone.payload_len), (100, 80));
}

/// An error whose quote is not legible is a message of its own.
#[test]
fn an_error_without_a_quote_is_a_one_way_message() {
    for quote in [&[][..], &[0x45], &[0x99; 40]] {
        let meta = packet(&outer().icmp(3, 1, &[&[0; 4], quote].concat()).ethernet());
        assert_eq!(meta.kind, PacketKind::Icmp);
        assert_eq!((meta.key.subkind(), meta.key.ports()), (3, (1, 1)));
    }
}

/// RFC 6946: a Fragment header in a packet that is whole needs no state.
#[test]
fn an_atomic_fragment_is_a_packet() {
    let whole = Ip::v6(1, 2).udp(7, 8, b"abc");
    let atomic = whole.fragment(0, false, whole.payload());
    let meta = packet(&atomic.ethernet());
    assert_eq!(meta.key, packet(&whole.ethernet()).key);
    assert_eq!((meta.kind, meta.payload_len), (PacketKind::Udp, 3));
    assert!(!meta.flags.has_any(BOTH));
}

/// IPv4 options and IPv6 extension headers are stepped over, and covered by no checksum.
#[test]
fn options_are_stepped_over() {
    let mut frame = syn().ethernet();
    frame[14] = 0x46;
    frame[17] += 4;
    frame.splice(34..34, [1, 1, 1, 0]);
    frame[24..26].fill(0);
    let meta = packet(&frame);
    assert_eq!(meta.key, packet(&syn().ethernet()).key);
    assert_eq!((meta.l4_offset - meta.l3_offset, meta.payload_len), (24, 0));

    let plain = Ip::v6(1, 2).udp(7, 8, b"abc");
    let options = [&[17, 0, 1, 4, 0, 0, 0, 0][..], plain.payload()].concat();
    let meta = packet(&Ip::v6(1, 2).packet(60, &options).ethernet());
    assert_eq!(meta.key, packet(&plain.ethernet()).key);
    assert!(!meta.flags.has_any(BOTH));
}

/// Segmentation offload leaves a length of 0: the packet reaches to the end of the frame.
#[test]
fn a_packet_without_length_reaches_to_the_end() {
    let mut frame = outer().tcp(Tcp::new(1, 2, 3, 4, 16), &[1; 100]).ethernet();
    frame[16..18].fill(0);
    frame[24..26].fill(0);
    let (got, meta, dispatcher) = dispatch(&frame);
    assert_eq!(
        (got, meta.payload_len, meta.ip_len),
        (Dispatched::Packet, 100, 140)
    );
    assert_eq!(dispatcher.quality().unsegmented, 1);
}

/// Frames without an IP packet are counted by kind, and every frame once.
#[test]
fn frames_without_packet_are_counted_by_kind() {
    let frame = |kind: [u8; 2], rest: &[u8]| [&[2; 12][..], &kind, rest, &[0; 40]].concat();
    let mut dispatcher = Dispatcher::new(DispatchOptions::default());
    let mut meta = PacketMeta::default();
    let mut give = |bytes: &[u8], link| {
        dispatcher.dispatch(bytes, &whole_frame(link, bytes), 1, Timestamp(0), &mut meta)
    };
    let ethernet = LinkType::Ethernet;
    assert_eq!(give(&frame([8, 6], &[]), ethernet), Dispatched::NonIp);
    assert_eq!(give(&frame([0x88, 0xcc], &[]), ethernet), Dispatched::NonIp);
    assert_eq!(
        give(&frame([0, 38], &[0x42, 0x42, 3]), ethernet),
        Dispatched::NonIp
    );
    assert_eq!(give(&frame([0x88, 0x63], &[]), ethernet), Dispatched::NonIp);
    assert_eq!(give(&frame([0x12, 0x34], &[]), ethernet), Dispatched::NonIp);
    assert_eq!(
        give(&[0; 20], LinkType::Unsupported),
        Dispatched::UnsupportedLink
    );
    assert_eq!(give(&syn().ethernet(), ethernet), Dispatched::Packet);
    assert!(matches!(
        give(&frame([8, 0], &[0x35]), ethernet),
        Dispatched::Malformed(_)
    ));
    let pieces = outer().udp(1, 2, &[0; 200]).fragments(100);
    assert!(matches!(
        give(&pieces[0].ethernet(), ethernet),
        Dispatched::Fragment(_)
    ));
    let quality = dispatcher.quality();
    let non_ip = quality.non_ip;
    assert_eq!(
        (
            non_ip.arp,
            non_ip.lldp,
            non_ip.stp,
            non_ip.ppp,
            non_ip.other
        ),
        (1, 1, 1, 1, 1)
    );
    let links: Vec<_> = quality.unsupported_links().collect();
    assert_eq!(links, [(LinkType::Unsupported, 1)]);
    let sum = quality.packets
        + quality.fragments
        + non_ip.total()
        + quality.refused
        + quality.headless
        + quality.unsupported_total();
    assert_eq!(sum, 9);
}

/// VLANs are read from the outside in.
#[test]
fn vlans_are_told_from_the_outside_in() {
    for (tags, expected) in [
        (&[][..], [NO_VLAN; 2]),
        (&[5], [5, NO_VLAN]),
        (&[5, 6], [5, 6]),
        (&[5, 6, 7], [5, 6]),
    ] {
        let mut pin = Pin::new(DispatchOptions::default());
        let got = pin.push(&syn().tagged(tags)).unwrap();
        assert_eq!(vlans(&got.meta, &got.frame), expected);
        assert_eq!(got.meta.key, packet(&syn().ethernet()).key);
    }
}

/// The addresses go with a refusal, so that a record can name them.
#[test]
fn a_refusal_names_the_addresses() {
    let mut frame = syn().ethernet();
    frame[14 + 20 + 12] = 0x10; // data offset 1
    let (got, _, dispatcher) = dispatch(&frame);
    assert_eq!(
        got,
        Dispatched::Malformed(bad(Layer::Tcp, Reason::LengthTooSmall, 12))
    );
    let expected = (([10, 0, 0, 1]).into(), ([10, 0, 0, 2]).into());
    assert_eq!(dispatcher.refused_addresses(), Some(expected));
}
