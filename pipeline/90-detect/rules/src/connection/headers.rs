//! What is odd about the headers of packets that were accepted: extension headers of IPv6, options
//! of TCP, types of ICMP. Rules ask for it by Suricata's names; it has no records.

use super::Packet;
use flowpin_packet::PacketKind;

/// Calls `tell` with the name of each oddity, as often as it occurs.
pub(super) fn oddities(packet: &Packet<'_>, tell: &mut dyn FnMut(&'static str)) {
    let meta = packet.meta;
    if meta.kind == PacketKind::IcmpError {
        // What is described is the packet that it quotes.
        return;
    }
    if packet.is_ipv6() {
        let header = packet.between(meta.l3_offset, u16::MAX);
        let behind = header.get(IPV6_HEADER..).unwrap_or_default();
        if let Some(&next) = header.get(NEXT_HEADER) {
            extensions(next, behind, tell);
        }
    }
    match meta.protocol {
        TCP if meta.kind == PacketKind::Tcp => {
            let header = packet.between(meta.l4_offset, meta.payload_offset);
            options(header.get(TCP_HEADER..).unwrap_or_default(), tell);
        }
        // RFC 2784 §2.1: too short to be a tunnel.
        GRE if meta.payload_len < 4 && packet.fragment().is_none_or(|one| one.1 == 0) => {
            tell("gre.pkt_too_small");
        }
        ICMP if packet.is_ipv6() => tell("ipv6.icmpv4"),
        ICMPV6 if !packet.is_ipv6() => tell("ipv4.icmpv6"),
        ICMP => {
            let kind = packet.icmp().map_or(0, |icmp| icmp.0);
            // Those that RFCs have assigned and not taken back.
            if !matches!(kind, 0 | 3..=6 | 8..=18 | 30..=40) {
                tell("icmpv4.unknown_type");
            }
        }
        ICMPV6 => {
            let kind = packet.icmp().map_or(0, |icmp| icmp.0);
            match kind {
                // RFC 4443 §2.1.
                100 | 101 | 200 | 201 => tell("icmpv6.experimentation_type"),
                0 | 5..=99 | 102..=127 | 158 | 162..=199 | 202..=255 => {
                    tell("icmpv6.unassigned_type");
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// RFC 8200 §4: each header at most once, the destination's at most twice.
fn extensions(mut next: u8, mut rest: &[u8], tell: &mut dyn FnMut(&'static str)) {
    let mut counts = [0_u8; KINDS.len()];
    // As many as are read at all.
    for _ in 0..EXTENSIONS_MAX {
        if next == NO_NEXT_HEADER && !rest.is_empty() {
            tell("ipv6.data_after_none_header");
        }
        let Some(place) = KINDS.iter().position(|&(kind, _)| kind == next) else {
            return;
        };
        let (Some(&[following, units]), Some(&(_, duplicate))) =
            (rest.first_chunk(), KINDS.get(place))
        else {
            return;
        };
        if let Some(count) = counts.get_mut(place) {
            *count += 1;
            if *count > 1 + u8::from(next == DESTINATION) {
                tell(duplicate);
            }
        }
        let len = match next {
            FRAGMENT => 8,
            // RFC 4302 §2.2.
            AUTHENTICATION => (usize::from(units) + 2) * 4,
            _ => (usize::from(units) + 1) * 8,
        };
        let (header, behind) = rest.split_at(len.min(rest.len()));
        match next {
            ROUTING if header.get(2) == Some(&0) => tell("ipv6.rh_type_0"),
            FRAGMENT => {
                let reserved = header.get(1).copied().unwrap_or(0);
                let bits = header.get(3).copied().unwrap_or(0) & 6;
                if reserved != 0 || bits != 0 {
                    tell("ipv6.fh_non_zero_reserved_field");
                }
            }
            AUTHENTICATION if header.get(2..4).is_some_and(|two| two != [0, 0]) => {
                tell("ipv6.exthdr_ah_res_not_null");
            }
            HOP_BY_HOP => {
                let names = ["ipv6.hopopts_unknown_opt", "ipv6.hopopts_only_padding"];
                padded(header.get(2..).unwrap_or_default(), names, tell);
            }
            DESTINATION => {
                let names = ["ipv6.dstopts_unknown_opt", "ipv6.dstopts_only_padding"];
                padded(header.get(2..).unwrap_or_default(), names, tell);
            }
            _ => {}
        }
        if next == FRAGMENT && is_part(header) {
            return;
        }
        (next, rest) = (following, behind);
    }
}

/// Whether a fragment header is that of a datagram in parts: what follows is not a whole chain.
fn is_part(header: &[u8]) -> bool {
    matches!(header.get(2..4), Some(&[high, low]) if high != 0 || low & 0xf9 != 0)
}

/// Options of a hop-by-hop or destination header (RFC 8200 §4.2).
fn padded(
    mut rest: &[u8],
    [unknown, only_padding]: [&'static str; 2],
    tell: &mut dyn FnMut(&'static str),
) {
    let mut is_padding = true;
    while let [kind, after @ ..] = rest {
        let (kind, len) = match (*kind, after.first()) {
            (PAD_1, _) => {
                rest = after;
                continue;
            }
            (kind, Some(&len)) => (kind, usize::from(len)),
            (_, None) => {
                tell("ipv6.exthdr_invalid_optlen");
                return;
            }
        };
        let is_right = match kind {
            PAD_N => {
                if len == 0 {
                    tell("ipv6.zero_len_padn");
                }
                true
            }
            // RFC 2711 §2.1, RFC 2675 §2, RFC 6275 §6.3.
            ROUTER_ALERT => len == 2,
            JUMBO => len == 4,
            HOME_ADDRESS => len == 16,
            _ => {
                tell(unknown);
                true
            }
        };
        is_padding &= kind == PAD_N;
        let Some(behind) = after.get(1 + len..).filter(|_| is_right) else {
            tell("ipv6.exthdr_invalid_optlen");
            return;
        };
        rest = behind;
    }
    if is_padding {
        tell(only_padding);
    }
}

/// Options of a TCP header (RFC 9293 §3.2): their lengths, and what may be there but once.
fn options(mut rest: &[u8], tell: &mut dyn FnMut(&'static str)) {
    let mut seen = [false; 256];
    loop {
        let (kind, len) = match rest {
            [] | [0, ..] => return,
            [1, after @ ..] => {
                rest = after;
                continue;
            }
            [_] => return tell("tcp.opt_invalid_len"),
            [kind, len, ..] => (*kind, usize::from(*len)),
        };
        let Some((_, after)) = rest.split_at_checked(len).filter(|_| len >= 2) else {
            return tell("tcp.opt_invalid_len");
        };
        rest = after;
        let is_right = match kind {
            // Maximum segment size, window scale, SACK permitted, SACK, time stamps, MD5, TCP-AO,
            // fast open.
            2 => len == 4,
            3 => len == 3,
            4 => len == 2,
            5 => len <= 34 && len % 8 == 2,
            8 => len == 10,
            19 => len == 18,
            29 => len >= 4,
            34 => len == 2 || (6..=18).contains(&len) && len % 2 == 0,
            _ => continue,
        };
        if !is_right {
            tell("tcp.opt_invalid_len");
        }
        if let Some(seen) = seen.get_mut(usize::from(kind)) {
            if *seen {
                tell("tcp.opt_duplicate");
            }
            *seen = true;
        }
    }
}

const IPV6_HEADER: usize = 40;
/// Where IPv6's header has the kind of the next one.
const NEXT_HEADER: usize = 6;
const TCP_HEADER: usize = 20;
const EXTENSIONS_MAX: usize = 16;
// Protocol numbers of IP.
const HOP_BY_HOP: u8 = 0;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const GRE: u8 = 47;
const AUTHENTICATION: u8 = 51;
const ICMPV6: u8 = 58;
const NO_NEXT_HEADER: u8 = 59;
const DESTINATION: u8 = 60;
/// Extension headers, and the event that there is one too many.
const KINDS: [(u8, &str); 5] = [
    (HOP_BY_HOP, "ipv6.exthdr_dupl_hh"),
    (ROUTING, "ipv6.exthdr_dupl_rh"),
    (FRAGMENT, "ipv6.exthdr_dupl_fh"),
    (AUTHENTICATION, "ipv6.exthdr_dupl_ah"),
    (DESTINATION, "ipv6.exthdr_dupl_dh"),
];
// Options of extension headers.
const PAD_1: u8 = 0;
const PAD_N: u8 = 1;
const ROUTER_ALERT: u8 = 5;
const JUMBO: u8 = 0xc2;
const HOME_ADDRESS: u8 = 0xc9;

#[cfg(test)]
mod tests {
    use super::{extensions, options};
    use flowpin_record::header_event;
    use proptest::prelude::*;

    fn of_options(bytes: &[u8]) -> Vec<&'static str> {
        let mut told = Vec::new();
        options(bytes, &mut |name| told.push(name));
        told
    }

    fn of_extensions(next: u8, bytes: &[u8]) -> Vec<&'static str> {
        let mut told = Vec::new();
        extensions(next, bytes, &mut |name| told.push(name));
        told
    }

    /// What real hosts send is not odd, an empty SACK neither.
    #[test]
    fn lengths_of_options_are_those_of_their_kind() {
        let syn = [
            2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3, 3, 7,
        ];
        assert!(of_options(&syn).is_empty());
        assert!(of_options(&[1, 1, 5, 2]).is_empty() && of_options(&[0, 9]).is_empty());
        for bad in [
            &[2, 3, 5][..],
            &[3, 4, 7, 0],
            &[5, 3, 0],
            &[8, 0],
            &[254],
            &[2, 9, 0],
        ] {
            assert_eq!(of_options(bad), ["tcp.opt_invalid_len"], "{bad:?}");
        }
        assert_eq!(of_options(&[3, 3, 7, 3, 3, 7]), ["tcp.opt_duplicate"]);
    }

    /// Headers that come again, and options that nobody knows.
    #[test]
    fn extension_headers_come_once() {
        let fragments = [44, 0, 0, 0, 0, 0, 0, 1, 58, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(of_extensions(44, &fragments), ["ipv6.exthdr_dupl_fh"]);
        let unknown = [58, 0, 0x1e, 0, 0x1f, 0, 1, 0];
        let expected = [
            "ipv6.dstopts_unknown_opt",
            "ipv6.dstopts_unknown_opt",
            "ipv6.zero_len_padn",
        ];
        assert_eq!(of_extensions(60, &unknown), expected);
        assert_eq!(
            of_extensions(0, &[58, 0, 1, 4, 0, 0, 0, 0]),
            ["ipv6.hopopts_only_padding"]
        );
        assert_eq!(
            of_extensions(43, &[58, 0, 0, 0, 0, 0, 0, 0]),
            ["ipv6.rh_type_0"]
        );
        assert!(of_extensions(0, &[58, 0, 5, 2, 0, 0, 1, 0]).contains(&"ipv6.zero_len_padn"));
    }

    proptest! {
        /// Any bytes: names that rules may ask for.
        #[test]
        fn all_names_are_known(
            next in prop::sample::select(vec![0_u8, 43, 44, 51, 59, 60]),
            bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            for name in of_extensions(next, &bytes).into_iter().chain(of_options(&bytes)) {
                prop_assert_eq!(header_event(name), Some(name));
            }
        }
    }
}
