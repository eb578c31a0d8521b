//! GRE (RFC 2784, RFC 2890), with RFC 1701's source routes, and PPTP's version 1 (RFC 2637).
//!
//! ```text
//!  0        2          4  each only if its bit is set:
//!  │C R K S … version │ protocol │ checksum, offset │ key │ sequence │ routing …
//!  version 1: key is payload length and call; then sequence and acknowledgement, each by its bit
//! ```

mod eoip;

pub use eoip::EoipHeader;

use crate::bytes::{be16, be32};
use crate::{Next, ether_type};
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A GRE header of either version.
#[derive(Clone, Copy, Debug)]
pub struct GreHeader<'a> {
    flags: u16,
    protocol: u16,
    key: Option<u32>,
    sequence_number: Option<u32>,
    next: Next,
    header_len: u16,
    payload: &'a [u8],
}

impl<'a> GreHeader<'a> {
    /// Reads the header with its optional fields; of WCCP the redirect header too.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::WrongVersion`] above 1; [`Reason::IllegalValue`] for
    /// reserved bits that are set, more source routes than [`Self::ROUTES_MAX`], or a version 1
    /// header without a call or for anything but PPP.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (Some(flags), Some(protocol)) = (be16(bytes, 0), be16(bytes, 2)) else {
            return Err(refuse(Reason::Truncated, 0));
        };
        match flags & 7 {
            0 => version_0(bytes, flags, protocol),
            1 => version_1(bytes, flags, protocol),
            _ => Err(refuse(Reason::WrongVersion, 1)),
        }
    }

    /// Source routes that are read before the packet is refused.
    pub const ROUTES_MAX: usize = 16;

    /// 0, or 1 for PPTP.
    #[inline]
    pub const fn version(&self) -> u8 {
        (self.flags & 7) as u8
    }

    /// What is carried, by Ethernet type.
    #[inline]
    pub const fn protocol(&self) -> u16 {
        self.protocol
    }

    /// The key; of version 1 the call. Differs by direction as a rule.
    #[inline]
    pub const fn key(&self) -> Option<u32> {
        self.key
    }

    /// The sequence number.
    #[inline]
    pub const fn sequence_number(&self) -> Option<u32> {
        self.sequence_number
    }

    /// What the payload is.
    #[inline]
    pub const fn next(&self) -> Next {
        self.next
    }

    /// What follows the header.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where the payload starts.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.header_len)
    }
}

fn version_0(bytes: &[u8], flags: u16, protocol: u16) -> Result<GreHeader<'_>, Malformed> {
    // RFC 1701: recursion control and reserved flags are 0 (RFC 2784 §2.3 keeps them so).
    if flags & 0x07f8 != 0 {
        return Err(refuse(Reason::IllegalValue, 0));
    }
    let mut offset = 4usize;
    let mut field = |present: bool| -> Result<Option<u32>, Malformed> {
        if !present {
            return Ok(None);
        }
        let value = be32(bytes, offset).ok_or(refuse(Reason::Truncated, 4))?;
        offset = offset.saturating_add(4);
        Ok(Some(value))
    };
    // RFC 1701: checksum and offset are there if either of them counts.
    field(flags & (CHECKSUM | ROUTING) != 0)?;
    let key = field(flags & KEY != 0)?;
    let sequence_number = field(flags & SEQUENCE != 0)?;
    if flags & ROUTING != 0 {
        offset = behind_routes(bytes, offset)?;
    }
    let short = refuse(Reason::Truncated, 4);
    let payload = bytes.get(offset..).ok_or(short)?;
    let (next, skipped) = carried(protocol, flags, payload);
    Ok(GreHeader {
        flags,
        protocol,
        key,
        sequence_number,
        next,
        header_len: u16::try_from(offset.saturating_add(skipped)).unwrap_or(u16::MAX),
        payload: payload.get(skipped..).ok_or(short)?,
    })
}

fn version_1(bytes: &[u8], flags: u16, protocol: u16) -> Result<GreHeader<'_>, Malformed> {
    // RFC 2637 §4.1: C, R, s and recursion are 0, K is 1; only the acknowledgement bit is new.
    if flags & !(KEY | SEQUENCE | ACKNOWLEDGEMENT) != 1 || flags & KEY == 0 {
        return Err(refuse(Reason::IllegalValue, 0));
    }
    if protocol != ether_type::PPP {
        return Err(refuse(Reason::IllegalValue, 2));
    }
    let short = refuse(Reason::Truncated, 4);
    let payload_len = be16(bytes, 4).ok_or(short)?;
    let call = be16(bytes, 6).ok_or(short)?;
    let mut header_len = 8u16;
    let mut sequence_number = None;
    if flags & SEQUENCE != 0 {
        sequence_number = Some(be32(bytes, 8).ok_or(short)?);
        header_len = 12;
    }
    if flags & ACKNOWLEDGEMENT != 0 {
        header_len = header_len.saturating_add(4);
    }
    let rest = bytes.get(usize::from(header_len)..).ok_or(short)?;
    Ok(GreHeader {
        flags,
        protocol,
        key: Some(u32::from(call)),
        sequence_number,
        // An acknowledgement alone carries nothing.
        next: if payload_len == 0 {
            Next::Opaque
        } else {
            Next::Ppp
        },
        header_len,
        payload: crate::bytes::captured(rest, usize::from(payload_len)),
    })
}

/// Where the source routes end (RFC 1701: an entry of family 0 and length 0 is the last).
fn behind_routes(bytes: &[u8], mut offset: usize) -> Result<usize, Malformed> {
    for _ in 0..GreHeader::ROUTES_MAX {
        let entry = bytes.get(offset..).and_then(|rest| rest.first_chunk());
        let Some(&[family_high, family_low, _, len]) = entry else {
            return Err(refuse(Reason::Truncated, 4));
        };
        offset = offset.saturating_add(4).saturating_add(usize::from(len));
        if (family_high, family_low, len) == (0, 0, 0) {
            return Ok(offset);
        }
    }
    Err(refuse(Reason::IllegalValue, 4))
}

/// What the payload is, and how many bytes stand in front of it.
fn carried(protocol: u16, flags: u16, payload: &[u8]) -> (Next, usize) {
    match protocol {
        ether_type::IPV4
        | ether_type::IPV6
        | ether_type::BRIDGED
        | ether_type::MPLS
        | ether_type::MPLS_MULTICAST
        | ether_type::VLAN
        | ether_type::PPP
        | ether_type::NSH => (Next::from_ether_type(protocol), 0),
        // ERSPAN type I has no header of its own; a sequence number tells type II.
        ether_type::ERSPAN_2 if flags & SEQUENCE == 0 => (Next::Ethernet, 0),
        ether_type::ERSPAN_2 => (Next::Erspan2, 0),
        ether_type::ERSPAN_3 => (Next::Erspan3, 0),
        // WCCP version 2 puts a redirect header of four bytes in front, version 1 nothing.
        ether_type::WCCP if matches!(payload, [0x40..=0x4f, ..]) => (Next::Ipv4, 0),
        ether_type::WCCP => (
            Next::from_ip_version(payload.get(4..).unwrap_or_default()),
            4,
        ),
        _ => (Next::Opaque, 0),
    }
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Gre, reason, offset)
}

const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const ACKNOWLEDGEMENT: u16 = 0x0080;

#[cfg(test)]
mod tests {
    use super::{GreHeader, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    /// Optional fields come in RFC 2890's order, each four bytes.
    #[test]
    fn optional_fields_come_in_order() {
        let bytes = [
            0xb0, 0, 8, 0, 0xab, 0xcd, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0x45,
        ];
        let got = GreHeader::parse(&bytes).unwrap();
        assert_eq!((got.key(), got.sequence_number()), (Some(7), Some(9)));
        assert_eq!(
            (got.next(), got.header_len(), got.payload()),
            (Next::Ipv4, 16, &[0x45][..])
        );
        let got = GreHeader::parse(&[0, 0, 0x65, 0x58, 1]).unwrap();
        assert_eq!(
            (got.next(), got.header_len(), got.key()),
            (Next::Ethernet, 4, None)
        );
    }

    /// RFC 1701: routes end with an empty entry.
    #[test]
    fn source_routes_are_skipped() {
        let bytes = [
            0x40, 0, 8, 0, 0, 0, 0, 0, 8, 0, 0, 4, 10, 0, 0, 1, 0, 0, 0, 0, 0x45,
        ];
        let got = GreHeader::parse(&bytes).unwrap();
        assert_eq!((got.next(), got.payload()), (Next::Ipv4, &[0x45][..]));
        let endless = [&[0x40, 0, 8, 0, 0, 0, 0, 0][..], &[8, 0, 0, 0].repeat(20)].concat();
        assert_eq!(
            GreHeader::parse(&endless).unwrap_err(),
            refuse(Reason::IllegalValue, 4)
        );
    }

    /// RFC 2637: the payload length bounds the PPP frame; an acknowledgement carries none.
    #[test]
    fn pptp_carries_ppp() {
        let bytes = [
            0x30, 0x81, 0x88, 0x0b, 0, 2, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 3, 9,
        ];
        let got = GreHeader::parse(&bytes).unwrap();
        assert_eq!(
            (got.version(), got.key(), got.next()),
            (1, Some(5), Next::Ppp)
        );
        assert_eq!((got.payload(), got.header_len()), (&[0xff, 3][..], 16));
        let ack = [0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 5, 0, 0, 0, 2];
        assert_eq!(GreHeader::parse(&ack).unwrap().next(), Next::Opaque);
    }

    /// Without a sequence number ERSPAN has no header of its own.
    #[test]
    fn erspan_types_are_told_apart() {
        let next = |bytes: &[u8]| GreHeader::parse(bytes).unwrap().next();
        assert_eq!(next(&[0, 0, 0x88, 0xbe]), Next::Ethernet);
        assert_eq!(next(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1]), Next::Erspan2);
        assert_eq!(next(&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1]), Next::Erspan3);
    }

    /// Only version 2 of WCCP has a redirect header.
    #[test]
    fn wccp_versions_are_told_apart() {
        let got = GreHeader::parse(&[0, 0, 0x88, 0x3e, 0x45, 0]).unwrap();
        assert_eq!((got.next(), got.header_len()), (Next::Ipv4, 4));
        let got = GreHeader::parse(&[0, 0, 0x88, 0x3e, 0, 0, 0, 0, 0x45]).unwrap();
        assert_eq!((got.next(), got.header_len()), (Next::Ipv4, 8));
    }

    /// A wireless controller's numbers are not the VLAN types that look like them.
    #[test]
    fn vendor_protocols_are_opaque() {
        assert_eq!(
            GreHeader::parse(&[0, 0, 0x91, 0]).unwrap().next(),
            Next::Opaque
        );
        assert_eq!(
            GreHeader::parse(&[0, 0, 0, 0]).unwrap().next(),
            Next::Opaque
        );
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| GreHeader::parse(bytes).unwrap_err();
        assert_eq!(parse(&[0, 0, 8]), refuse(Reason::Truncated, 0));
        assert_eq!(parse(&[0x20, 0, 8, 0, 0, 0]), refuse(Reason::Truncated, 4));
        assert_eq!(
            parse(&[0, 0, 0x88, 0x3e, 0, 0, 0]),
            refuse(Reason::Truncated, 4)
        );
        assert_eq!(parse(&[0, 2, 8, 0]), refuse(Reason::WrongVersion, 1));
        assert_eq!(parse(&[0x01, 0, 8, 0]), refuse(Reason::IllegalValue, 0));
        assert_eq!(
            parse(&[0x00, 0x01, 0x88, 0x0b]),
            refuse(Reason::IllegalValue, 0)
        );
        assert_eq!(parse(&[0x20, 0x01, 8, 0]), refuse(Reason::IllegalValue, 2));
        assert_eq!(
            parse(&[0x20, 0x01, 0x88, 0x0b, 0, 0, 0]),
            refuse(Reason::Truncated, 4)
        );
    }
}
