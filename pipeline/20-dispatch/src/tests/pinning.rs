//! Everything that belongs to a connection comes to one place.

use super::stack::{Layer, TUNNELS, any_ip, any_layer, any_port, wrap_all};
use super::{Pin, Pinned, is_error, is_reassembled, place};
use crate::{DispatchOptions, tunnel_uid, tunnels};
use flowpin_packet::{Endpoints, FrameBytes, PacketFlags, PacketMeta, TunnelKind};
use flowpin_testkit::build::{Ip, IpPacket, Tcp};
use proptest::prelude::*;

/// What the innermost packet is.
#[derive(Clone, Copy, Debug)]
enum Inner {
    Tcp,
    Udp,
    Sctp,
    Echo,
    Other,
}

fn inner(kind: Inner, ip: Ip, ports: (u16, u16), back: bool, payload: &[u8]) -> IpPacket {
    let (ip, (from, to)) = if back {
        (ip.reversed(), (ports.1, ports.0))
    } else {
        (ip, ports)
    };
    let v4 = ip.source.is_ipv4();
    match kind {
        Inner::Tcp => ip.tcp(Tcp::new(from, to, 1, 2, 0x18), payload),
        Inner::Udp => ip.udp(from, to, payload),
        Inner::Sctp => ip.sctp(from, to, 0),
        Inner::Echo => {
            let kind = match (v4, back) {
                (true, false) => 8,
                (true, true) => 0,
                (false, false) => 128,
                (false, true) => 129,
            };
            let id = ports.0.to_be_bytes();
            ip.icmp(kind, 0, &[&[id[0], id[1], 0, 1], payload].concat())
        }
        Inner::Other => ip.packet(89, payload),
    }
}

fn any_inner() -> impl Strategy<Value = Inner> {
    prop::sample::select(vec![
        Inner::Tcp,
        Inner::Udp,
        Inner::Sctp,
        Inner::Echo,
        Inner::Other,
    ])
}

/// An ICMP error about `packet`, from a router to its sender, quoting `len` bytes.
fn error_about(packet: &IpPacket, ip: Ip, len: usize) -> IpPacket {
    let quoted = &packet.bytes[..len.min(packet.bytes.len())];
    let (router, kind, code) = match ip.source {
        std::net::IpAddr::V4(_) => ([172, 31, 0, 1].into(), 11, 0),
        std::net::IpAddr::V6(_) => (
            [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9].into(),
            3,
            0,
        ),
    };
    let back = Ip {
        source: router,
        destination: ip.source,
        ttl: 60,
        identification: 3,
    };
    back.icmp(kind, code, &[&[0; 4], quoted].concat())
}

fn push_all(pin: &mut Pin, frames: &[Vec<u8>]) -> Pinned {
    let mut last = None;
    for frame in frames {
        assert!(last.is_none(), "complete before its last fragment");
        last = pin.push(frame);
    }
    last.expect("a packet")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Both directions, fragments inside and outside of tunnels, and errors that quote any of
    /// these have one key and one hash. The direction is that of the packet, or of the quoted one.
    #[test]
    fn all_of_a_connection_comes_to_one_place(
        kind in any_inner(),
        ip in any_ip(),
        ports in (any_port(), any_port()),
        layers in prop::collection::vec(any_layer(), 0..3),
        vlans in prop::collection::vec(0u16..4096, 0..3),
        outer_mtu in 100usize..400,
        inner_mtu in 68usize..200,
        quote_len in 0usize..40,
    ) {
        let payload = vec![7; 300];
        let mut pin = Pin::new(DispatchOptions::default());
        let there = inner(kind, ip, ports, false, &payload);
        let back = inner(kind, ip, ports, true, &payload);
        let whole = wrap_all(&there, &layers, false);
        let (key, hash, down) = place(&push_all(&mut pin, &[whole.tagged(&vlans)]));

        let answer = wrap_all(&back, &layers, true);
        let got = place(&push_all(&mut pin, &[answer.tagged(&vlans)]));
        let same = (ip.source, ports.0) == (ip.destination, ports.1)
            || (ip.source == ip.destination && matches!(kind, Inner::Echo | Inner::Other));
        prop_assert_eq!(got, (key, hash, if same { down } else { !down }));

        let outside: Vec<_> =
            whole.fragments(outer_mtu).iter().map(|f| f.tagged(&vlans)).collect();
        let got = push_all(&mut pin, &outside);
        prop_assert_eq!(place(&got), (key, hash, down));
        prop_assert_eq!(is_reassembled(&got), outside.len() > 1);
        prop_assert_eq!(got.meta.wire_len as usize, outside.iter().map(Vec::len).sum::<usize>());

        let inside: Vec<_> = there.fragments(inner_mtu).iter()
            .map(|fragment| wrap_all(fragment, &layers, false).tagged(&vlans)).collect();
        let got = push_all(&mut pin, &inside);
        prop_assert_eq!(place(&got), (key, hash, down));

        let both: Vec<_> = there.fragments(inner_mtu).iter().enumerate()
            .flat_map(|(nth, fragment)| {
                let mut wrapped = wrap_all(fragment, &layers, false);
                if let Some(outer) = layers.last() {
                    let outer = Layer { outer: outer.outer.identified(nth as u16 + 9), ..*outer };
                    let below = wrap_all(fragment, &layers[..layers.len() - 1], false);
                    wrapped = outer.wrap(&below, false);
                    wrapped.fragments(60)
                } else {
                    vec![wrapped]
                }
            })
            .map(|packet| packet.tagged(&vlans)).collect();
        let got = push_all(&mut pin, &both);
        prop_assert_eq!(place(&got), (key, hash, down));

        // Eight bytes of the transport header are all that a router has to quote.
        let least = there.bytes.len() - there.payload().len() + 8;
        let error = error_about(&there, ip, least + quote_len);
        let got = push_all(&mut pin, &[wrap_all(&error, &layers, true).tagged(&vlans)]);
        prop_assert_eq!(place(&got), (key, hash, down));
        prop_assert!(is_error(&got));

        // A router on the tunnel's way quotes the tunnel, and with it the packet.
        if let Some(outer) = layers.last() {
            let error = error_about(&whole, outer.outer, usize::MAX);
            let got = push_all(&mut pin, &[error.tagged(&vlans)]);
            prop_assert_eq!(place(&got), (key, hash, down));
            prop_assert!(!got.meta.flags.has(PacketFlags::TUNNELLED));
        }
        prop_assert_eq!(pin.dispatcher.quality().bad_checksums, 0);
        prop_assert_eq!(pin.dispatcher.quality().refusals.total(), 0);
    }

    /// The key's addresses can be read from the frame where the descriptor says.
    #[test]
    fn endpoints_are_where_the_descriptor_says(
        kind in any_inner(), ip in any_ip(), ports in (any_port(), any_port()),
        layers in prop::collection::vec(any_layer(), 0..3), error in any::<bool>(),
    ) {
        let mut pin = Pin::new(DispatchOptions::default());
        let packet = inner(kind, ip, ports, false, &[1; 30]);
        let sent = if error { error_about(&packet, ip, 60) } else { packet };
        let got = push_all(&mut pin, &[wrap_all(&sent, &layers, false).ethernet()]);
        let endpoints = endpoints(&got);
        let address = |bytes| Endpoints::address(bytes, got.meta.key.is_ipv6());
        let (low, high) = (address(endpoints.low), address(endpoints.high));
        let expected = if got.meta.high_to_low() {
            (ip.destination, ip.source)
        } else {
            (ip.source, ip.destination)
        };
        prop_assert_eq!((low, high), expected);
    }

    /// The tunnels around a packet are reported from the outside in, and a tunnel is one whichever
    /// way its packets go, also around reassembled datagrams.
    #[test]
    fn tunnels_are_told_and_are_the_same_both_ways(
        ip in any_ip(), ports in (any_port(), any_port()),
        layers in prop::collection::vec(any_layer(), 1..3), mtu in 68usize..200,
    ) {
        let mut pin = Pin::new(DispatchOptions::default());
        let there = inner(Inner::Udp, ip, ports, false, &[1; 300]);
        let back = inner(Inner::Udp, ip, ports, true, &[1; 300]);
        let fragments: Vec<_> = there.fragments(mtu).iter()
            .map(|fragment| wrap_all(fragment, &layers, false).ethernet()).collect();
        let found = [
            tunnels_of(&push_all(&mut pin, &[wrap_all(&there, &layers, false).ethernet()])),
            tunnels_of(&push_all(&mut pin, &[wrap_all(&back, &layers, true).ethernet()])),
            tunnels_of(&push_all(&mut pin, &fragments)),
        ];
        prop_assert_eq!(found[0].len(), layers.len());
        prop_assert_eq!(&found[0], &found[1]);
        prop_assert_eq!(&found[0], &found[2]);
    }

    /// What a full shard evicts must not depend on the secret, so the shard must not.
    #[test]
    fn the_secret_moves_no_connection_to_another_shard(
        kind in any_inner(), ip in any_ip(), ports in (any_port(), any_port()),
        secrets in any::<(u64, u64)>(), id_seed in any::<u64>(),
    ) {
        let frame = inner(kind, ip, ports, false, &[1; 30]).ethernet();
        let [one, two] = [secrets.0, secrets.1].map(|secret| {
            let options = DispatchOptions { secret, id_seed, ..DispatchOptions::default() };
            Pin::new(options).push(&frame).unwrap().meta
        });
        prop_assert_eq!(one.key, two.key);
        prop_assert_eq!(one.shard(), two.shard());
    }
}

fn endpoints(pinned: &Pinned) -> Endpoints {
    let bytes = FrameBytes {
        piece: &pinned.frame,
        extra: &pinned.frame,
    };
    bytes.endpoints(&pinned.meta)
}

fn tunnels_of(pinned: &Pinned) -> Vec<flowpin_record::Uid> {
    let mut found = Vec::new();
    tunnels(&pinned.meta, &pinned.frame, |layer| {
        found.push(tunnel_uid(5, &layer))
    });
    found
}

/// Each kind of tunnel by itself: peeled, flagged, reported once. A new kind must be among them.
#[test]
fn every_kind_of_tunnel_is_peeled() {
    let packet = Ip::v6(1, 2).udp(1000, 53, &[9; 40]);
    let plain = Pin::new(DispatchOptions::default())
        .push(&packet.ethernet())
        .unwrap();
    let mut missing = TunnelKind::ALL.to_vec();
    for &tunnel in TUNNELS {
        let layer = Layer {
            tunnel,
            outer: Ip::v4([1, 1, 1, 1], [2, 2, 2, 2]),
            ids: (5, 6),
            vlan: None,
        };
        let mut pin = Pin::new(DispatchOptions::default());
        let got = pin.push(&layer.wrap(&packet, false).ethernet()).unwrap();
        assert_eq!(place(&got), place(&plain), "{tunnel:?}");
        assert!(got.meta.flags.has(PacketFlags::TUNNELLED), "{tunnel:?}");
        assert_eq!(tunnels_of(&got).len(), 1, "{tunnel:?}");
        let PacketMeta {
            payload_len,
            ip_len,
            ..
        } = got.meta;
        assert_eq!((payload_len, ip_len), (40, 88), "{tunnel:?}");
        tunnels(&got.meta, &got.frame, |layer| {
            missing.retain(|kind| *kind != layer.kind);
        });
    }
    assert_eq!(missing, []);
}
