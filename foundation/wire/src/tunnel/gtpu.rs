//! GTP-U version 1 (3GPP TS 29.281 §5): user packets of mobile networks.
//!
//! ```text
//!  0                     1      2        4          8 (if any of E, S, PN)
//!  │version 1│1│-│E S PN│ type │ length │ endpoint │ sequence (2) │ N-PDU │ next extension │
//!  extension: │ length in words │ content … │ next extension │
//! ```

use super::check_carried;
use crate::Next;
use crate::bytes::captured;
use crate::link::looks_like_ethernet;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A GTP-U header and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct GtpuHeader<'a> {
    header: &'a [u8; GtpuHeader::HEADER_LEN],
    next: Next,
    header_len: u16,
    payload: &'a [u8],
}

impl<'a> GtpuHeader<'a> {
    /// Bytes of a header without options.
    pub const HEADER_LEN: usize = 8;
    /// The UDP port.
    pub const PORT: u16 = 2152;
    /// Extension headers that are read before the packet is refused.
    pub const EXTENSIONS_MAX: usize = 16;

    /// Splits a UDP payload of which `wire_len` bytes were on the wire, if it is GTP-U without
    /// doubt.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::WrongVersion`] also for GTP'; [`Reason::IllegalValue`]
    /// for the spare bit or a payload that is neither IP nor Ethernet;
    /// [`Reason::LengthBeyondPacket`]; [`Reason::LengthTooSmall`] for an extension header of
    /// length 0 or beyond the message; [`Reason::TooDeep`]; [`Reason::Unsupported`] for a message
    /// type that does not exist.
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<{ GtpuHeader::HEADER_LEN }>() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        // Version 1, protocol type 1 (GTP, not GTP').
        if header[0] >> 4 != 3 {
            return Err(refuse(Reason::WrongVersion, 0));
        }
        if header[0] & 8 != 0 {
            return Err(refuse(Reason::IllegalValue, 0));
        }
        let len = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if len > wire_len.saturating_sub(Self::HEADER_LEN) {
            return Err(refuse(Reason::LengthBeyondPacket, 2));
        }
        let rest = captured(rest, len);
        let header_len = behind_extensions(header[0] & 7 != 0, rest, len)?;
        let payload = rest.get(header_len..).unwrap_or_default();
        let header_len = u16::try_from(header_len.saturating_add(8)).unwrap_or(u16::MAX);
        let next = match header[1] {
            // A G-PDU. What it is was agreed upon elsewhere, but only IP looks like IP.
            0xff if !matches!(payload, [0x40..=0x6f, ..]) && looks_like_ethernet(payload) => {
                Next::Ethernet
            }
            0xff => Next::Ip,
            // Echo, error indication, supported extensions, tunnel status, end marker.
            1 | 2 | 26 | 31 | 253 | 254 => Next::Opaque,
            _ => return Err(refuse(Reason::Unsupported, 1)),
        };
        check_carried(next, payload, Layer::Gtpu, header_len)?;
        Ok(Self {
            header,
            next,
            header_len,
            payload,
        })
    }

    /// Message type: 255 carries a packet.
    #[inline]
    pub const fn message_type(&self) -> u8 {
        self.header[1]
    }

    /// Tunnel endpoint identifier at the receiver. Differs by direction.
    #[inline]
    pub const fn endpoint_id(&self) -> u32 {
        let h = self.header;
        u32::from_be_bytes([h[4], h[5], h[6], h[7]])
    }

    /// What the payload is. Signalling is opaque.
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

/// Bytes of optional fields and extension headers at the start of a message of `len` bytes.
fn behind_extensions(has_options: bool, bytes: &[u8], len: usize) -> Result<usize, Malformed> {
    if !has_options {
        return Ok(0);
    }
    let mut offset = 4usize;
    // Each header ends in the type of the next one; 0 means that there is none.
    let mut next_type_at = 3usize;
    for _ in 0..GtpuHeader::EXTENSIONS_MAX {
        if offset > len {
            return Err(refuse(Reason::LengthTooSmall, 8));
        }
        let next_type = bytes
            .get(next_type_at)
            .ok_or(refuse(Reason::Truncated, 8))?;
        if *next_type == 0 {
            return Ok(offset);
        }
        match bytes.get(offset) {
            None => return Err(refuse(Reason::Truncated, 8)),
            // TS 29.281 §5.2.1: the length counts words and is at least 1.
            Some(0) => return Err(refuse(Reason::LengthTooSmall, 8)),
            Some(&words) => offset = offset.saturating_add(usize::from(words) << 2),
        }
        next_type_at = offset.saturating_sub(1);
    }
    Err(refuse(Reason::TooDeep, 8))
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Gtpu, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{GtpuHeader, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    fn parse(bytes: &[u8]) -> GtpuHeader<'_> {
        GtpuHeader::parse(bytes, bytes.len()).unwrap()
    }

    /// Without options the packet follows at once; bytes past the length are not its.
    #[test]
    fn a_plain_packet_follows_the_header() {
        let got = parse(&[0x30, 0xff, 0, 2, 0, 0, 1, 2, 0x45, 0, 9]);
        assert_eq!((got.endpoint_id(), got.next()), (0x102, Next::Ip));
        assert_eq!((got.header_len(), got.payload()), (8, &[0x45, 0][..]));
    }

    /// Any of the three flags brings all optional fields; extensions form a chain.
    #[test]
    fn extension_headers_are_skipped() {
        let sequence = [0x32, 0xff, 0, 5, 0, 0, 0, 1, 0, 9, 0, 0, 0x60];
        assert_eq!(parse(&sequence).header_len(), 12);
        let extensions = [
            0x34, 0xff, 0, 17, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 9, 0xc0, 2, 0, 0, 0, 0, 0, 0, 0,
            0x45,
        ];
        let got = parse(&extensions);
        assert_eq!((got.header_len(), got.payload()), (24, &[0x45][..]));
    }

    /// Signalling is GTP-U, but carries no packet; 5G may carry Ethernet.
    #[test]
    fn other_payloads_are_told_apart() {
        assert_eq!(
            parse(&[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0]).next(),
            Next::Opaque
        );
        let ethernet = [
            &[0x30, 0xff, 0, 16, 0, 0, 0, 1][..],
            &[2; 12],
            &[8, 0, 0x45, 0],
        ]
        .concat();
        assert_eq!(parse(&ethernet).next(), Next::Ethernet);
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| GtpuHeader::parse(bytes, bytes.len()).unwrap_err();
        assert_eq!(parse(&[0x30; 7]), refuse(Reason::Truncated, 0));
        assert_eq!(parse(&[0x20; 8]), refuse(Reason::WrongVersion, 0));
        assert_eq!(parse(&[0x38; 8]), refuse(Reason::IllegalValue, 0));
        assert_eq!(
            parse(&[0x30, 0xff, 0, 1, 0, 0, 0, 0]),
            refuse(Reason::LengthBeyondPacket, 2)
        );
        assert_eq!(
            parse(&[0x30, 99, 0, 0, 0, 0, 0, 0]),
            refuse(Reason::Unsupported, 1)
        );
        let no_length = [0x34, 0xff, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0x85, 0];
        assert_eq!(parse(&no_length), refuse(Reason::LengthTooSmall, 8));
        let too_long = [0x34, 0xff, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0x85, 9];
        assert_eq!(parse(&too_long), refuse(Reason::LengthTooSmall, 8));
        let random = [0x30, 0xff, 0, 1, 0, 0, 0, 0, 0x12];
        assert_eq!(parse(&random), refuse(Reason::IllegalValue, 8));
        let endless = [&[0x34, 0xff, 0, 84, 0, 0, 0, 0, 0, 0, 0, 1][..], &[1; 80]].concat();
        assert_eq!(parse(&endless), refuse(Reason::TooDeep, 8));
    }
}
