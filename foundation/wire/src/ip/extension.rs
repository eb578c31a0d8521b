//! IPv6 extension headers (RFC 8200 §4): read to the transport header, a fragment, or the end.
//!
//! ```text
//!  0             1           hop-by-hop, routing, destination options, mobility, HIP, shim6:
//!  │ next header │ length    8 × (length + 1) bytes
//!                            authentication: 4 × (length + 2) bytes; fragment: 8 bytes
//! ```

use crate::bytes::be32;
use crate::ip_protocol::{
    AH, DESTINATION_OPTIONS, FRAGMENT, HIP, HOP_BY_HOP, MOBILITY, ROUTING, SHIM6,
};
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// What the chain of extension headers leads to.
#[derive(Clone, Copy, Debug)]
pub struct Extensions<'a> {
    protocol: u8,
    header_len: u16,
    fragment: Option<FragmentHeader>,
    final_destination: Option<[u8; 16]>,
    payload: &'a [u8],
}

/// The fields of a fragment header (RFC 8200 §4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentHeader {
    /// Where the fragment's payload belongs in the fragmentable part, in bytes.
    pub offset: u16,
    /// Whether more fragments follow.
    pub more_fragments: bool,
    /// Tells the fragments of one datagram from others.
    pub identification: u32,
}

impl<'a> Extensions<'a> {
    /// Extension headers that are read before the packet is refused.
    pub const COUNT_MAX: u8 = 16;

    /// Follows the chain that begins with `next_header` at the start of `bytes`.
    ///
    /// Ends behind a fragment header, unless that header is "atomic" (RFC 6946: the datagram is
    /// one fragment); at ESP, which nobody can read; and at anything that is no extension
    /// header. `wire_len` is how many bytes there were on the wire.
    ///
    /// # Errors
    /// [`Reason::Truncated`] if a header was not captured whole, [`Reason::LengthBeyondPacket`]
    /// if it does not fit into the packet, [`Reason::TooDeep`] above [`Self::COUNT_MAX`],
    /// [`Reason::IllegalValue`] for hop-by-hop options in another than the first place. The
    /// offset counts from the first extension header.
    #[inline]
    pub fn parse(next_header: u8, bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        if is_extension(next_header) {
            return walk(next_header, bytes, wire_len);
        }
        Ok(Self {
            protocol: next_header,
            header_len: 0,
            fragment: None,
            final_destination: None,
            payload: bytes,
        })
    }

    /// The protocol behind the chain: an [`crate::ip_protocol`]. Of a fragment that is not the
    /// first, that of the whole datagram's fragmentable part.
    #[inline]
    pub const fn protocol(&self) -> u8 {
        self.protocol
    }

    /// The fragment header, if the packet is a part of a datagram only.
    #[inline]
    pub const fn fragment(&self) -> Option<FragmentHeader> {
        self.fragment
    }

    /// The last address of a routing header that is not used up: transport checksums cover it
    /// instead of the header's destination.
    #[inline]
    pub const fn final_destination(&self) -> Option<[u8; 16]> {
        self.final_destination
    }

    /// Bytes of extension headers, a fragment header included.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.header_len)
    }

    /// What was captured behind the chain.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// Whether `protocol` is an extension header that can be skipped.
#[inline]
const fn is_extension(protocol: u8) -> bool {
    matches!(
        protocol,
        HOP_BY_HOP | ROUTING | FRAGMENT | AH | DESTINATION_OPTIONS | MOBILITY | HIP | SHIM6
    )
}

#[cold]
fn walk(next_header: u8, bytes: &[u8], wire_len: usize) -> Result<Extensions<'_>, Malformed> {
    let mut found = Extensions {
        protocol: next_header,
        header_len: 0,
        fragment: None,
        final_destination: None,
        payload: bytes,
    };
    let mut count = 0u8;
    while is_extension(found.protocol) {
        if count == Extensions::COUNT_MAX {
            return Err(refuse(Reason::TooDeep, found.header_len));
        }
        // RFC 8200 §4.1: hop-by-hop options only directly behind the IPv6 header.
        if found.protocol == HOP_BY_HOP && count > 0 {
            return Err(refuse(Reason::IllegalValue, found.header_len));
        }
        count = count.wrapping_add(1);
        let wire_rest = wire_len.saturating_sub(usize::from(found.header_len));
        let header = one_header(found.protocol, found.payload, wire_rest)
            .map_err(|reason| refuse(reason, found.header_len))?;
        if found.protocol == ROUTING {
            found.final_destination = final_hop(header);
        }
        let ends = found.protocol == FRAGMENT && {
            found.fragment = fragment(header);
            found.fragment.is_some()
        };
        // MOBILITY and SHIM6 name a next header too; as a rule it is 59, nothing.
        found.protocol = header.first().copied().unwrap_or_default();
        let len = u16::try_from(header.len()).unwrap_or(u16::MAX);
        found.header_len = found.header_len.saturating_add(len);
        found.payload = found.payload.get(header.len()..).unwrap_or_default();
        if ends {
            break;
        }
    }
    Ok(found)
}

/// The bytes of the header at the start of `bytes`.
fn one_header(protocol: u8, bytes: &[u8], wire_len: usize) -> Result<&[u8], Reason> {
    let Some(&[_, units]) = bytes.first_chunk() else {
        return Err(if wire_len < 2 {
            Reason::LengthBeyondPacket
        } else {
            Reason::Truncated
        });
    };
    let len = match protocol {
        FRAGMENT => 8,
        // RFC 4302 §2.2: in units of four bytes, minus 2.
        AH => usize::from(units).saturating_add(2) << 2,
        _ => usize::from(units).saturating_add(1) << 3,
    };
    if len > wire_len {
        return Err(Reason::LengthBeyondPacket);
    }
    bytes.get(..len).ok_or(Reason::Truncated)
}

/// The fragment header's fields; none of an atomic fragment (RFC 6946).
fn fragment(header: &[u8]) -> Option<FragmentHeader> {
    let [_, _, high, low, a, b, c, d] = *header.first_chunk()?;
    let word = u16::from_be_bytes([high, low]);
    let more_fragments = word & 1 != 0;
    let offset = word & 0xfff8;
    (offset != 0 || more_fragments).then_some(FragmentHeader {
        offset,
        more_fragments,
        identification: u32::from_be_bytes([a, b, c, d]),
    })
}

/// The final destination in a routing header with segments left (RFC 8200 §8.1).
fn final_hop(header: &[u8]) -> Option<[u8; 16]> {
    let [_, _, kind, segments_left] = *header.first_chunk()?;
    if segments_left == 0 {
        return None;
    }
    match kind {
        // RFC 2460 §4.4 (source route) and RFC 6275 §6.4 (mobility): addresses from byte 8 on,
        // the final one last.
        0 | 2 => header.get(8..)?.last_chunk().copied(),
        // RFC 8754 §2: the segment list is in reverse, the final one first.
        4 => header.get(8..)?.first_chunk().copied(),
        _ => None,
    }
}

/// The length in a jumbo payload option (RFC 2675 §2) of the hop-by-hop header at the start of
/// `bytes`.
pub(super) fn jumbo_payload_len(bytes: &[u8]) -> Option<u32> {
    let &[_, units] = bytes.first_chunk()?;
    let len = usize::from(units).saturating_add(1) << 3;
    let mut options = bytes.get(2..len.min(bytes.len()))?;
    loop {
        match options {
            [0, rest @ ..] => options = rest,
            [0xc2, 4, value @ ..] => return be32(value, 0),
            [_, len, rest @ ..] => options = rest.get(usize::from(*len)..)?,
            _ => return None,
        }
    }
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Ipv6Extension, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{Extensions, FragmentHeader, refuse};
    use crate::ip_protocol::{AH, ESP, FRAGMENT, HOP_BY_HOP, MOBILITY, ROUTING, TCP};
    use flowpin_packet::Reason;

    fn parse(next_header: u8, bytes: &[u8]) -> Extensions<'_> {
        Extensions::parse(next_header, bytes, bytes.len()).unwrap()
    }

    /// Without extension headers the chain is empty.
    #[test]
    fn a_transport_header_ends_the_chain_at_once() {
        let got = parse(TCP, &[1, 2, 3]);
        assert_eq!(
            (got.protocol(), got.header_len(), got.payload()),
            (TCP, 0, &[1, 2, 3][..])
        );
    }

    /// Units differ: eight bytes plus eight, for authentication four plus eight.
    #[test]
    fn lengths_count_in_each_headers_own_units() {
        let bytes = [
            &[AH, 0, 1, 4, 0, 0, 0, 0][..],
            &[MOBILITY, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[ESP, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[9, 9],
        ]
        .concat();
        let got = parse(HOP_BY_HOP, &bytes);
        assert_eq!(
            (got.protocol(), got.header_len(), got.payload()),
            (ESP, 36, &[9, 9][..])
        );
    }

    /// A fragment ends the chain: what follows is a part of something else.
    #[test]
    fn a_fragment_ends_the_chain() {
        let bytes = [HOP_BY_HOP, 0, 0x05, 0xa9, 0, 0, 0, 7, 1, 2];
        let got = parse(FRAGMENT, &bytes);
        let fragment = FragmentHeader {
            offset: 0x5a8,
            more_fragments: true,
            identification: 7,
        };
        assert_eq!(got.fragment(), Some(fragment));
        assert_eq!((got.protocol(), got.header_len()), (HOP_BY_HOP, 8));
    }

    /// RFC 6946: a datagram that is one fragment is whole.
    #[test]
    fn an_atomic_fragment_is_skipped() {
        let got = parse(FRAGMENT, &[TCP, 0, 0, 0, 0, 0, 0, 7, 1]);
        assert_eq!(
            (got.fragment(), got.protocol(), got.payload()),
            (None, TCP, &[1][..])
        );
    }

    /// RFC 8200 §8.1: checksums cover the end of the route, while segments are left.
    #[test]
    fn a_routing_header_names_the_final_destination() {
        let mut bytes = vec![TCP, 4, 0, 2, 0, 0, 0, 0];
        bytes.extend([1; 16]);
        bytes.extend([2; 16]);
        assert_eq!(parse(ROUTING, &bytes).final_destination(), Some([2; 16]));
        bytes[2] = 4;
        assert_eq!(parse(ROUTING, &bytes).final_destination(), Some([1; 16]));
        bytes[3] = 0;
        assert_eq!(parse(ROUTING, &bytes).final_destination(), None);
    }

    /// Headers that do not fit, repeat where they must not, or never end are refused in place.
    #[test]
    fn broken_chains_are_refused_in_place() {
        let short = [ROUTING, 0, 0, 0, 0, 0, 0, 0, TCP];
        let got = Extensions::parse(HOP_BY_HOP, &short, 100).unwrap_err();
        assert_eq!(got, refuse(Reason::Truncated, 8));
        let got = Extensions::parse(HOP_BY_HOP, &short, 9).unwrap_err();
        assert_eq!(got, refuse(Reason::LengthBeyondPacket, 8));
        let twice = [HOP_BY_HOP, 0, 0, 0, 0, 0, 0, 0, TCP, 0, 0, 0, 0, 0, 0, 0];
        let got = Extensions::parse(HOP_BY_HOP, &twice, 16).unwrap_err();
        assert_eq!(got, refuse(Reason::IllegalValue, 8));
        let endless = [ROUTING, 0, 0, 0, 0, 0, 0, 0].repeat(20);
        let got = Extensions::parse(ROUTING, &endless, 160).unwrap_err();
        assert_eq!(got, refuse(Reason::TooDeep, 128));
    }
}
