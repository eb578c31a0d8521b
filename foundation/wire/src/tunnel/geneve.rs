//! GENEVE (RFC 8926).
//!
//! ```text
//!  0                 1          2          4                   7          8
//!  │version │ length │O C rsvd │ protocol │ network (24 bits) │ reserved │ options …
//!  option:  │ class (2) │ type │ reserved, length │ value …
//! ```

use super::check_carried;
use crate::{Next, ether_type};
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A GENEVE header and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct GeneveHeader<'a> {
    header: &'a [u8; GeneveHeader::HEADER_LEN],
    options: &'a [u8],
    next: Next,
    payload: &'a [u8],
}

impl<'a> GeneveHeader<'a> {
    /// Bytes of a header without options.
    pub const HEADER_LEN: usize = 8;
    /// The UDP port that IANA assigned.
    pub const PORT: u16 = 6081;

    /// Splits a UDP payload, if it is GENEVE without doubt.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::WrongVersion`]; [`Reason::IllegalValue`] for reserved
    /// bits that are set, options that do not fill their space, or a payload that is not what
    /// the header says; [`Reason::Unsupported`] for another protocol.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<{ GeneveHeader::HEADER_LEN }>() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        if header[0] >> 6 != 0 {
            return Err(refuse(Reason::WrongVersion, 0));
        }
        // RFC 8926 §3.4: reserved bits are 0 on transmission.
        if header[1] & 0x3f != 0 || header[7] != 0 {
            return Err(refuse(Reason::IllegalValue, 1));
        }
        let options_len = u16::from(header[0] & 0x3f) << 2;
        let (options, payload) = rest
            .split_at_checked(usize::from(options_len))
            .ok_or(refuse(Reason::Truncated, 8))?;
        let mut walk = GeneveOptions { rest: options };
        walk.by_ref().for_each(drop);
        // RFC 8926 §3.5: the options' lengths add up to the header's.
        if !walk.rest.is_empty() {
            return Err(refuse(Reason::IllegalValue, 8));
        }
        let next = match u16::from_be_bytes([header[2], header[3]]) {
            _ if header[1] & CONTROL != 0 => Next::Opaque,
            protocol @ (ether_type::BRIDGED
            | ether_type::IPV4
            | ether_type::IPV6
            | ether_type::MPLS
            | ether_type::NSH) => Next::from_ether_type(protocol),
            _ => return Err(refuse(Reason::Unsupported, 2)),
        };
        check_carried(next, payload, Layer::Geneve, options_len.saturating_add(8))?;
        Ok(Self {
            header,
            options,
            next,
            payload,
        })
    }

    /// The network's identifier (VNI, 24 bits).
    #[inline]
    pub const fn network_id(&self) -> u32 {
        u32::from_be_bytes([0, self.header[4], self.header[5], self.header[6]])
    }

    /// The options.
    #[inline]
    pub const fn options(&self) -> GeneveOptions<'a> {
        GeneveOptions { rest: self.options }
    }

    /// What the payload is. Control messages are opaque.
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
    pub const fn header_len(&self) -> usize {
        self.options.len().wrapping_add(Self::HEADER_LEN)
    }
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneveOption<'a> {
    /// Whose types these are.
    pub class: u16,
    /// The type; its top bit says that it must not be ignored.
    pub kind: u8,
    /// The value.
    pub value: &'a [u8],
}

/// Goes through the options of a header.
#[derive(Clone, Copy, Debug)]
pub struct GeneveOptions<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for GeneveOptions<'a> {
    type Item = GeneveOption<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&[high, low, kind, len], rest) = self.rest.split_first_chunk()?;
        let (value, rest) = rest.split_at_checked(usize::from(len & 0x1f) << 2)?;
        self.rest = rest;
        Some(GeneveOption {
            class: u16::from_be_bytes([high, low]),
            kind,
            value,
        })
    }
}

impl core::iter::FusedIterator for GeneveOptions<'_> {}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Geneve, reason, offset)
}

/// O: a message for the tunnel's ends.
const CONTROL: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::{GeneveHeader, GeneveOption, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    /// Options stand between header and payload.
    #[test]
    fn options_are_read() {
        let bytes = [2, 0x40, 8, 0, 0, 1, 2, 0, 1, 2, 0x80, 1, 9, 9, 9, 9, 0x45];
        let got = GeneveHeader::parse(&bytes).unwrap();
        assert_eq!((got.network_id(), got.next()), (0x102, Next::Ipv4));
        assert_eq!((got.header_len(), got.payload()), (16, &[0x45][..]));
        let option = GeneveOption {
            class: 0x102,
            kind: 0x80,
            value: &[9, 9, 9, 9],
        };
        assert_eq!(got.options().collect::<Vec<_>>(), [option]);
    }

    /// A control message is GENEVE, but carries nothing of the network's.
    #[test]
    fn control_messages_are_opaque() {
        let got = GeneveHeader::parse(&[0, 0x80, 0x65, 0x58, 0, 0, 1, 0]).unwrap();
        assert_eq!(got.next(), Next::Opaque);
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| GeneveHeader::parse(bytes).unwrap_err();
        assert_eq!(parse(&[0; 7]), refuse(Reason::Truncated, 0));
        assert_eq!(
            parse(&[0x40, 0, 8, 0, 0, 0, 0, 0]),
            refuse(Reason::WrongVersion, 0)
        );
        assert_eq!(
            parse(&[0, 1, 8, 0, 0, 0, 0, 0]),
            refuse(Reason::IllegalValue, 1)
        );
        assert_eq!(
            parse(&[0, 0, 8, 0, 0, 0, 0, 1]),
            refuse(Reason::IllegalValue, 1)
        );
        assert_eq!(
            parse(&[1, 0, 8, 0, 0, 0, 0, 0]),
            refuse(Reason::Truncated, 8)
        );
        let option_too_long = [1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(parse(&option_too_long), refuse(Reason::IllegalValue, 8));
        assert_eq!(
            parse(&[0, 0, 8, 1, 0, 0, 0, 0]),
            refuse(Reason::Unsupported, 2)
        );
        assert_eq!(
            parse(&[0, 0, 8, 0, 0, 0, 0, 0, 0x65]),
            refuse(Reason::IllegalValue, 8)
        );
    }
}
