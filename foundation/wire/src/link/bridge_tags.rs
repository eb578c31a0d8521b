//! Tags of fabrics that leave the frame's type behind them: 802.1BR E-tags, Cisco metadata.

use super::ethernet::{cut_to_length, next_of_type_or_length};
use crate::Next;
use crate::bytes::be16;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// IEEE 802.1BR E-tag: virtual ports of a bridge port extender; a type follows.
///
/// ```text
///  │E-PCP, DEI, ingress E-CID │reserved, GRP, E-CID │ingress ext.│E-CID ext.│ type │ …
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ExtenderTag<'a> {
    header: &'a [u8; ExtenderTag::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> ExtenderTag<'a> {
    /// The tag (6) and the type behind it (2).
    pub const HEADER_LEN: usize = 8;

    /// Splits the bytes behind type 0x893f.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below eight bytes.
    #[inline]
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.split_first_chunk() {
            Some((header, payload)) => Ok(Self { header, payload }),
            None => Err(bad(Layer::Ethernet, Reason::Truncated, 0)),
        }
    }

    /// The channel that the frame is for (E-CID base, 12 bits).
    #[inline]
    pub const fn channel(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]]) & 0x0fff
    }

    /// The type behind the tag, or a length up to 1,500.
    #[inline]
    pub const fn type_or_length(&self) -> u16 {
        u16::from_be_bytes([self.header[6], self.header[7]])
    }

    /// What the payload is.
    #[inline]
    pub const fn next(&self) -> Next {
        next_of_type_or_length(self.type_or_length())
    }

    /// What follows.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        cut_to_length(self.payload, self.type_or_length())
    }

    /// Where the payload starts.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }
}

/// Cisco metadata (TrustSec): options of four bytes, as a rule one with the sender's security
/// group; a type follows.
///
/// ```text
///  │ version 1 │ options │ option length and type │ group │ … │ type │ …
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CiscoMetadata<'a> {
    header_len: u16,
    group: Option<u16>,
    type_or_length: u16,
    payload: &'a [u8],
}

impl<'a> CiscoMetadata<'a> {
    /// Splits the bytes behind type 0x8909.
    ///
    /// # Errors
    /// [`Reason::WrongVersion`] for another version than 1, [`Reason::LengthTooSmall`] without
    /// an option, [`Reason::Truncated`] if options or type are not whole.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((&[version, options], _)) = bytes.split_first_chunk() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        if version != 1 {
            return Err(refuse(Reason::WrongVersion, 0));
        }
        if options == 0 {
            return Err(refuse(Reason::LengthTooSmall, 1));
        }
        let type_at = usize::from(options).saturating_mul(4).saturating_add(2);
        let type_or_length = be16(bytes, type_at).ok_or(refuse(Reason::Truncated, 2))?;
        let header_len = u16::from(options).saturating_mul(4).saturating_add(4);
        // The option's length counts in words from 0; type 1 is the security group.
        let group = match be16(bytes, 2) {
            Some(option) if option & 0x0fff == 1 => be16(bytes, 4),
            _ => None,
        };
        Ok(Self {
            header_len,
            group,
            type_or_length,
            payload: bytes.get(usize::from(header_len)..).unwrap_or_default(),
        })
    }

    /// The sender's security group tag.
    #[inline]
    pub const fn group(&self) -> Option<u16> {
        self.group
    }

    /// The type behind the metadata, or a length up to 1,500.
    #[inline]
    pub const fn type_or_length(&self) -> u16 {
        self.type_or_length
    }

    /// What the payload is.
    #[inline]
    pub const fn next(&self) -> Next {
        next_of_type_or_length(self.type_or_length)
    }

    /// What follows.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        cut_to_length(self.payload, self.type_or_length)
    }

    /// Where the payload starts.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.header_len)
    }
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Ethernet, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{CiscoMetadata, ExtenderTag, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    /// IEEE 802.1BR §7.5: six bytes, then the frame's type.
    #[test]
    fn an_extender_tag_precedes_a_type() {
        let tag = ExtenderTag::parse(&[0x10, 0, 0x20, 0xd8, 0, 0, 8, 0, 0x45]).unwrap();
        assert_eq!((tag.channel(), tag.next()), (0xd8, Next::Ipv4));
        assert_eq!(tag.payload(), [0x45]);
        let short = ExtenderTag::parse(&[0; 7]).unwrap_err();
        assert_eq!(short, refuse(Reason::Truncated, 0));
    }

    /// As many options as are announced stand before the type.
    #[test]
    fn metadata_precedes_a_type() {
        let one = [1, 1, 0, 1, 0, 2, 8, 0, 0x45];
        let tag = CiscoMetadata::parse(&one).unwrap();
        assert_eq!((tag.group(), tag.next()), (Some(2), Next::Ipv4));
        assert_eq!((tag.payload(), tag.header_len()), (&[0x45][..], 8));
        let two = [1, 2, 0, 9, 0, 2, 9, 9, 9, 9, 0x86, 0xdd];
        let tag = CiscoMetadata::parse(&two).unwrap();
        assert_eq!(
            (tag.group(), tag.next(), tag.header_len()),
            (None, Next::Ipv6, 12)
        );
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_metadata_is_refused() {
        let parse = |bytes: &[u8]| CiscoMetadata::parse(bytes).unwrap_err();
        assert_eq!(parse(&[1]), refuse(Reason::Truncated, 0));
        assert_eq!(
            parse(&[2, 1, 0, 1, 0, 2, 8, 0]),
            refuse(Reason::WrongVersion, 0)
        );
        assert_eq!(parse(&[1, 0, 8, 0]), refuse(Reason::LengthTooSmall, 1));
        assert_eq!(parse(&[1, 1, 0, 1, 0, 2, 8]), refuse(Reason::Truncated, 2));
    }
}
