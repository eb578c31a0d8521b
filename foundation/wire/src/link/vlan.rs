//! VLAN tags (IEEE 802.1Q, 802.1ad), from behind the type that announces them.

use super::ethernet::{cut_to_length, next_of_type_or_length};
use crate::Next;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A VLAN tag and what follows.
#[derive(Clone, Copy, Debug)]
pub struct VlanTag<'a> {
    header: &'a [u8; VlanTag::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> VlanTag<'a> {
    /// Tag control information and the type behind it.
    pub const HEADER_LEN: usize = 4;

    /// Splits the bytes behind a type that says VLAN.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below four bytes.
    #[inline]
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.split_first_chunk() {
            Some((header, payload)) => Ok(Self { header, payload }),
            None => Err(bad(Layer::Vlan, Reason::Truncated, 0)),
        }
    }

    /// The VLAN's number, 0 to 4,095; 0 is a tag for the priority alone.
    #[inline]
    pub const fn vlan_id(&self) -> u16 {
        u16::from_be_bytes([self.header[0], self.header[1]]) & 0xfff
    }

    /// Priority code point, 0 to 7.
    #[inline]
    pub const fn priority(&self) -> u8 {
        self.header[0] >> 5
    }

    /// The type behind the tag, or a length up to 1,500.
    #[inline]
    pub const fn type_or_length(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// What the payload is.
    #[inline]
    pub const fn next(&self) -> Next {
        next_of_type_or_length(self.type_or_length())
    }

    /// What follows; cut to the length of an 802.3 frame.
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

#[cfg(test)]
mod tests {
    use super::VlanTag;
    use crate::Next;
    use flowpin_packet::{Layer, Reason, bad};

    /// The number takes twelve bits, the priority three.
    #[test]
    fn number_and_priority_share_the_first_word() {
        let tag = VlanTag::parse(&[0xe0 | 0x01, 0x02, 0x08, 0x00, 9]).unwrap();
        assert_eq!((tag.vlan_id(), tag.priority()), (0x102, 7));
        assert_eq!((tag.next(), tag.payload()), (Next::Ipv4, &[9][..]));
    }

    /// A tag may stand before a tag, and before an 802.3 length.
    #[test]
    fn tags_nest_and_precede_lengths() {
        assert_eq!(VlanTag::parse(&[0, 1, 0x81, 0]).unwrap().next(), Next::Vlan);
        let with_length = VlanTag::parse(&[0, 1, 0, 1, 5, 6]).unwrap();
        assert_eq!(
            (with_length.next(), with_length.payload()),
            (Next::Llc, &[5][..])
        );
    }

    /// Half a tag is refused.
    #[test]
    fn a_short_tag_is_refused() {
        let got = VlanTag::parse(&[0, 1, 8]).unwrap_err();
        assert_eq!(got, bad(Layer::Vlan, Reason::Truncated, 0));
    }
}
