//! Tags between two Ethernet headers, or between header and type: 802.1ah, VN-Tag, FabricPath.

use super::ethernet::{cut_to_length, next_of_type_or_length};
use crate::Next;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// Service instance tag (IEEE 802.1ah, "MAC in MAC"): a customer's whole frame follows.
#[derive(Clone, Copy, Debug)]
pub struct ServiceTag<'a> {
    header: &'a [u8; ServiceTag::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> ServiceTag<'a> {
    /// Priority and flags (1), service instance (3).
    pub const HEADER_LEN: usize = 4;

    /// Splits the bytes behind type 0x88e7.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below four bytes.
    #[inline]
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.split_first_chunk() {
            Some((header, payload)) => Ok(Self { header, payload }),
            None => Err(bad(Layer::Ethernet, Reason::Truncated, 0)),
        }
    }

    /// Service instance identifier (24 bits).
    #[inline]
    pub const fn service_id(&self) -> u32 {
        u32::from_be_bytes([0, self.header[1], self.header[2], self.header[3]])
    }

    /// Always [`Next::Ethernet`].
    #[inline]
    pub const fn next(&self) -> Next {
        Next::Ethernet
    }

    /// The customer's frame.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where the payload starts.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }
}

/// Cisco VN-Tag: virtual interfaces of a fabric extender; a type follows, as behind a VLAN tag.
#[derive(Clone, Copy, Debug)]
pub struct VnTag<'a> {
    header: &'a [u8; VnTag::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> VnTag<'a> {
    /// The tag (4) and the type behind it (2).
    pub const HEADER_LEN: usize = 6;

    /// Splits the bytes behind type 0x8926.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below six bytes.
    #[inline]
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.split_first_chunk() {
            Some((header, payload)) => Ok(Self { header, payload }),
            None => Err(bad(Layer::Ethernet, Reason::Truncated, 0)),
        }
    }

    /// The type behind the tag, or a length up to 1,500.
    #[inline]
    pub const fn type_or_length(&self) -> u16 {
        u16::from_be_bytes([self.header[4], self.header[5]])
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

/// Cisco FabricPath: forwarding tag and time to live, then the original frame.
#[derive(Clone, Copy, Debug)]
pub struct FabricPathTag<'a> {
    header: &'a [u8; FabricPathTag::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> FabricPathTag<'a> {
    /// Forwarding tag (10 bits) and time to live (6 bits).
    pub const HEADER_LEN: usize = 2;

    /// Splits the bytes behind type 0x8903.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below two bytes.
    #[inline]
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.split_first_chunk() {
            Some((header, payload)) => Ok(Self { header, payload }),
            None => Err(bad(Layer::Ethernet, Reason::Truncated, 0)),
        }
    }

    /// The forwarding tag: which tree of the fabric.
    #[inline]
    pub const fn forwarding_tag(&self) -> u16 {
        u16::from_be_bytes(*self.header) >> 6
    }

    /// Always [`Next::Ethernet`].
    #[inline]
    pub const fn next(&self) -> Next {
        Next::Ethernet
    }

    /// The original frame.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Where the payload starts.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::{FabricPathTag, ServiceTag, VnTag};
    use crate::Next;
    use flowpin_packet::{Layer, Reason, bad};

    /// 802.1ah: the identifier takes the last three bytes; a frame follows.
    #[test]
    fn a_service_tag_precedes_a_frame() {
        let tag = ServiceTag::parse(&[0xe0, 1, 2, 3, 9]).unwrap();
        assert_eq!((tag.service_id(), tag.payload()), (0x01_0203, &[9][..]));
    }

    /// A VN-Tag keeps the frame's type behind it.
    #[test]
    fn a_vn_tag_precedes_a_type() {
        let tag = VnTag::parse(&[0, 0, 0, 0, 8, 0, 0x45]).unwrap();
        assert_eq!((tag.next(), tag.payload()), (Next::Ipv4, &[0x45][..]));
    }

    /// FabricPath puts two bytes between the outer header and the original frame.
    #[test]
    fn a_fabric_path_tag_precedes_a_frame() {
        let tag = FabricPathTag::parse(&[0x00, 0x7f, 9]).unwrap();
        assert_eq!((tag.forwarding_tag(), tag.payload()), (1, &[9][..]));
    }

    /// Half a tag is refused, whichever it is.
    #[test]
    fn short_tags_are_refused() {
        let short = bad(Layer::Ethernet, Reason::Truncated, 0);
        assert_eq!(ServiceTag::parse(&[0; 3]).unwrap_err(), short);
        assert_eq!(VnTag::parse(&[0; 5]).unwrap_err(), short);
        assert_eq!(FabricPathTag::parse(&[0]).unwrap_err(), short);
    }
}
