//! Network Service Header (RFC 8300).
//!
//! ```text
//!  0                                2         3      4                           8
//!  │version O U│time to live│length │ MD type │ next │ service path, index (4) │ context …
//! ```

use super::check_carried;
use crate::Next;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A service header and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct NshHeader<'a> {
    header: &'a [u8; 8],
    next: Next,
    payload: &'a [u8],
}

impl<'a> NshHeader<'a> {
    /// Splits the bytes behind Ethernet type 0x894f, IP protocol 145 or another tunnel.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::WrongVersion`]; [`Reason::LengthTooSmall`] for a length
    /// that the metadata type forbids; [`Reason::Unsupported`] for another metadata type or next
    /// protocol; [`Reason::IllegalValue`] for a payload that is not what the header says.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, _)) = bytes.split_first_chunk::<8>() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        if header[0] >> 6 != 0 {
            return Err(refuse(Reason::WrongVersion, 0));
        }
        let words = header[1] & 0x3f;
        match header[2] & 0xf {
            // RFC 8300 §2.4 and §2.5: type 1 has six words, type 2 at least two.
            1 if words != 6 => return Err(refuse(Reason::LengthTooSmall, 1)),
            2 if words < 2 => return Err(refuse(Reason::LengthTooSmall, 1)),
            1 | 2 => {}
            _ => return Err(refuse(Reason::Unsupported, 2)),
        }
        let next = match header[3] {
            1 => Next::Ipv4,
            2 => Next::Ipv6,
            3 => Next::Ethernet,
            4 => Next::Nsh,
            5 => Next::Mpls,
            _ => return Err(refuse(Reason::Unsupported, 3)),
        };
        let header_len = u16::from(words) << 2;
        let payload = bytes
            .get(usize::from(header_len)..)
            .ok_or(refuse(Reason::Truncated, 8))?;
        check_carried(next, payload, Layer::Nsh, header_len)?;
        Ok(Self {
            header,
            next,
            payload,
        })
    }

    /// Service path identifier, 24 bits.
    #[inline]
    pub const fn service_path(&self) -> u32 {
        u32::from_be_bytes([0, self.header[4], self.header[5], self.header[6]])
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
        usize::from(self.header[1] & 0x3f) << 2
    }
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Nsh, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{NshHeader, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    /// The length counts words and covers the context.
    #[test]
    fn context_is_skipped() {
        let bytes = [0, 0xc3, 2, 1, 0, 0, 9, 255, 1, 2, 3, 4, 0x45];
        let got = NshHeader::parse(&bytes).unwrap();
        assert_eq!((got.next(), got.service_path()), (Next::Ipv4, 9));
        assert_eq!((got.header_len(), got.payload()), (12, &[0x45][..]));
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| NshHeader::parse(bytes).unwrap_err();
        assert_eq!(parse(&[0; 7]), refuse(Reason::Truncated, 0));
        assert_eq!(
            parse(&[0x40, 2, 2, 1, 0, 0, 0, 0]),
            refuse(Reason::WrongVersion, 0)
        );
        assert_eq!(
            parse(&[0, 5, 1, 1, 0, 0, 0, 0]),
            refuse(Reason::LengthTooSmall, 1)
        );
        assert_eq!(
            parse(&[0, 1, 2, 1, 0, 0, 0, 0]),
            refuse(Reason::LengthTooSmall, 1)
        );
        assert_eq!(
            parse(&[0, 2, 3, 1, 0, 0, 0, 0]),
            refuse(Reason::Unsupported, 2)
        );
        assert_eq!(
            parse(&[0, 2, 2, 9, 0, 0, 0, 0]),
            refuse(Reason::Unsupported, 3)
        );
        assert_eq!(
            parse(&[0, 3, 2, 1, 0, 0, 0, 0]),
            refuse(Reason::Truncated, 8)
        );
        assert_eq!(
            parse(&[0, 2, 2, 1, 0, 0, 0, 0, 0x65]),
            refuse(Reason::IllegalValue, 8)
        );
    }
}
