//! What a fragment claims by itself, before any other one is looked at.

use crate::store::Part;
use flowpin_config::FragmentOverlap;
use flowpin_packet::{FragmentRef, Layer, Malformed, Reason, bad};

/// Greatest length of an IPv4 packet, and of an IPv6 packet's payload.
pub(crate) const DATAGRAM_LEN_MAX: u32 = 65_535;

/// RFC 791 §3.1, RFC 8200 §4.5: all fragments but the last are multiples of 8 long. IPv6 refuses
/// others (RFC 8200 §4.5), and so does 4.4BSD; Linux leaves out what is too much, and as RFC 791
/// does not say, so do we. Whether something was left out.
pub(crate) fn align(
    part: &mut Part<'_>,
    ipv6: bool,
    policy: FragmentOverlap,
) -> Result<bool, Malformed> {
    if !part.more || part.payload_len.is_multiple_of(8) {
        return Ok(false);
    }
    part.payload_len &= !7;
    let len = usize::from(part.payload_len);
    part.payload = part.payload.get(..len).unwrap_or(part.payload);
    if ipv6 || policy == FragmentOverlap::Bsd || part.payload_len == 0 {
        return Err(bad(Layer::Fragment, Reason::IllegalValue, 0));
    }
    Ok(true)
}

/// Checks lengths.
pub(crate) fn lengths(fragment: &FragmentRef, part: &Part<'_>) -> Result<(), Malformed> {
    if fragment.payload_len == 0 {
        return Err(bad(Layer::Fragment, Reason::LengthTooSmall, 0));
    }
    // "Ping of death". RFC 8200 §4.5: the payload length must not exceed 65,535.
    let header_len = u32::from(fragment.unfragmentable_len);
    let counted = if fragment.ipv6 {
        header_len.saturating_sub(IPV6_HEADER_LEN)
    } else {
        header_len
    };
    if counted.saturating_add(part.end()) > DATAGRAM_LEN_MAX {
        return Err(bad(Layer::Fragment, Reason::TooLong, 0));
    }
    Ok(())
}

/// Whether a fragment ends where it begins. Linux forgets the whole datagram then, but not for an
/// IPv6 fragment whose length is no multiple of 8.
pub(crate) const fn is_empty(fragment: &FragmentRef, part: &Part<'_>) -> bool {
    part.payload_len == 0 && (fragment.payload_len == 0 || !fragment.ipv6)
}

/// Whether a TCP header is cut so that a filter does not see its flags: RFC 1858 §3 names both
/// the small first fragment and the second one at offset 8; RFC 3128 asks for both checks.
pub(crate) const fn is_tiny(part: &Part<'_>) -> bool {
    part.protocol == TCP && ((part.offset == 0 && part.payload_len < 16) || part.offset == 8)
}

/// Whether an IPv6 first fragment holds all headers up to and with the transport's (RFC 7112
/// §5, RFC 8200 §4.5). What the capture cut is given the benefit of the doubt.
pub(crate) fn has_whole_header_chain(part: &Part<'_>) -> bool {
    let mut protocol = part.protocol;
    let mut at = 0usize;
    let len = usize::from(part.payload_len);
    for _ in 0..HEADERS_MAX {
        let header_len = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION | MOBILITY | HIP | SHIM6 | AH | FRAGMENT => {
                if at.saturating_add(2) > len {
                    return false;
                }
                let rest = part.payload.get(at..).unwrap_or_default();
                let Some(&[next, units]) = rest.first_chunk() else {
                    return true;
                };
                let units = usize::from(units);
                let header_len = match protocol {
                    AH => units.saturating_add(2).saturating_mul(4),
                    FRAGMENT => 8,
                    _ => units.saturating_add(1).saturating_mul(8),
                };
                protocol = next;
                header_len
            }
            TCP => return at.saturating_add(20) <= len,
            UDP | UDP_LITE | ESP => return at.saturating_add(8) <= len,
            SCTP => return at.saturating_add(12) <= len,
            ICMPV6 => return at.saturating_add(4) <= len,
            NO_NEXT_HEADER => return at <= len,
            _ => return at < len,
        };
        at = at.saturating_add(header_len);
    }
    false
}

/// RFC 8200 sets no limit; dispatch refuses longer chains as well.
const HEADERS_MAX: usize = 16;
const IPV6_HEADER_LEN: u32 = 40;

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const ESP: u8 = 50;
const AH: u8 = 51;
const ICMPV6: u8 = 58;
const NO_NEXT_HEADER: u8 = 59;
const DESTINATION: u8 = 60;
const SCTP: u8 = 132;
const MOBILITY: u8 = 135;
const UDP_LITE: u8 = 136;
const HIP: u8 = 139;
const SHIM6: u8 = 140;
