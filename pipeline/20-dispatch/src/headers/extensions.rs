//! The extension headers of IPv6, and the one that IPv4 shares (RFC 4302), one by one.

use super::Header;
use flowpin_wire::ip::{Extensions, Ipv4Packet, Ipv6Packet};
use flowpin_wire::ip_protocol::{
    AH, DESTINATION_OPTIONS, FRAGMENT, HIP, HOP_BY_HOP, MOBILITY, ROUTING, SHIM6,
};

/// Adds a header to the list. An IP header is divided into its own bytes and its extension headers;
/// `rest` begins with it.
pub(super) fn push(all: &mut Vec<Header>, mut header: Header, rest: &[u8]) {
    let own = match header.name {
        // Of a later fragment, the protocol names what only the first one holds.
        "ipv4" => Ipv4Packet::parse(rest, ANY_LEN).map(|ip| match ip.fragment_offset() {
            0 => (ip.header_len(), ip.protocol()),
            _ => (ip.header_len(), NO_NEXT_HEADER),
        }),
        "ipv6" => Ipv6Packet::parse(rest, ANY_LEN).map(|ip| (ip.header_len(), ip.next_header())),
        _ => return all.push(header),
    };
    let Ok((own_len, mut protocol)) = own else {
        return all.push(header);
    };
    let mut offset = header.offset.saturating_add(own_len);
    let mut rest = rest.get(own_len..).unwrap_or_default();
    header.len = header.len.min(own_len);
    all.push(header);
    for _ in 0..Extensions::COUNT_MAX {
        let Some(name) = name_of(protocol) else {
            return;
        };
        let Some(&[next, units]) = rest.first_chunk() else {
            return;
        };
        let len = match protocol {
            FRAGMENT => 8,
            // RFC 4302 §2.2: in units of four bytes, minus 2.
            AH => (usize::from(units).saturating_add(2)) << 2,
            _ => (usize::from(units).saturating_add(1)) << 3,
        };
        let Some((bytes, after)) = rest.split_at_checked(len) else {
            return;
        };
        let mut fields = vec![("next_header", next.to_string())];
        fields.extend(own_fields(protocol, bytes));
        all.push(Header {
            name,
            offset,
            len,
            fields,
        });
        let is_fragment = protocol == FRAGMENT && bytes.get(2..4) != Some(&[0, 0]);
        if is_fragment {
            return;
        }
        (protocol, rest, offset) = (next, after, offset.saturating_add(len));
    }
}

const fn name_of(protocol: u8) -> Option<&'static str> {
    Some(match protocol {
        HOP_BY_HOP => "hop_by_hop",
        ROUTING => "routing",
        FRAGMENT => "fragment",
        AH => "ah",
        DESTINATION_OPTIONS => "destination_options",
        MOBILITY => "mobility",
        HIP => "hip",
        SHIM6 => "shim6",
        _ => return None,
    })
}

/// What a header says besides what follows it.
fn own_fields(protocol: u8, bytes: &[u8]) -> Vec<(&'static str, String)> {
    match (protocol, bytes) {
        // RFC 8200 §4.5: 13 bits of offset, in units of eight bytes, two reserved ones, "more".
        (FRAGMENT, &[_, _, high, low, a, b, c, d, ..]) => {
            let word = u16::from_be_bytes([high, low]);
            vec![
                ("fragment_offset", (word & 0xfff8).to_string()),
                ("more_fragments", (word & 1 != 0).to_string()),
                ("id", u32::from_be_bytes([a, b, c, d]).to_string()),
            ]
        }
        (ROUTING, &[_, _, kind, left, ..]) => vec![
            ("type", kind.to_string()),
            ("segments_left", left.to_string()),
        ],
        (AH, &[_, _, _, _, a, b, c, d, ..]) => {
            vec![("spi", u32::from_be_bytes([a, b, c, d]).to_string())]
        }
        _ => Vec::new(),
    }
}

/// RFC 8200 §4.7.
const NO_NEXT_HEADER: u8 = 59;
/// Lengths beyond the capture were refused before, or are in a fragment.
const ANY_LEN: usize = u32::MAX as usize;
