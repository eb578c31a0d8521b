//! ERSPAN types II and III: mirrored frames behind GRE (draft-foschiano-erspan).
//!
//! ```text
//!  II   │1│vlan│ class … session │ reserved │ index │                      frame …
//!  III  │2│vlan│ class … session │ timestamp (4)    │ tag (2) │ P kind … O │ frame or packet …
//!                                  if O: platform header (8) before the frame
//! ```

use crate::Next;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// An ERSPAN type II header and the frame behind it.
#[derive(Clone, Copy, Debug)]
pub struct Erspan2Header<'a> {
    header: &'a [u8; Erspan2Header::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> Erspan2Header<'a> {
    /// Bytes before the frame.
    pub const HEADER_LEN: usize = 8;

    /// Splits what GRE carries as 0x88be with a sequence number.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below eight bytes, [`Reason::WrongVersion`] unless it is 1.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, payload)) = bytes.split_first_chunk::<{ Erspan2Header::HEADER_LEN }>()
        else {
            return Err(bad(Layer::Gre, Reason::Truncated, 0));
        };
        if header[0] >> 4 != 1 {
            return Err(bad(Layer::Gre, Reason::WrongVersion, 0));
        }
        Ok(Self { header, payload })
    }

    /// The mirror session's number, 10 bits.
    #[inline]
    pub const fn session_id(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]]) & 0x3ff
    }

    /// Always [`Next::Ethernet`].
    #[inline]
    pub const fn next(&self) -> Next {
        Next::Ethernet
    }

    /// The frame.
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

/// An ERSPAN type III header and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct Erspan3Header<'a> {
    header: &'a [u8; Erspan3Header::HEADER_LEN],
    header_len: u8,
    payload: &'a [u8],
}

impl<'a> Erspan3Header<'a> {
    /// Bytes before the frame, without the platform header.
    pub const HEADER_LEN: usize = 12;

    /// Splits what GRE carries as 0x22eb.
    ///
    /// # Errors
    /// [`Reason::Truncated`], [`Reason::WrongVersion`] unless it is 2.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let short = bad(Layer::Gre, Reason::Truncated, 0);
        let Some((header, _)) = bytes.split_first_chunk::<{ Erspan3Header::HEADER_LEN }>() else {
            return Err(short);
        };
        if header[0] >> 4 != 2 {
            return Err(bad(Layer::Gre, Reason::WrongVersion, 0));
        }
        // The O flag announces a platform header of eight bytes.
        let header_len = if header[11] & 1 == 0 { 12u8 } else { 20 };
        let payload = bytes.get(usize::from(header_len)..).ok_or(short)?;
        Ok(Self {
            header,
            header_len,
            payload,
        })
    }

    /// The mirror session's number, 10 bits.
    #[inline]
    pub const fn session_id(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]]) & 0x3ff
    }

    /// What the payload is, by the frame type field: a frame or an IP packet.
    #[inline]
    pub const fn next(&self) -> Next {
        match (self.header[10] >> 2) & 0x1f {
            0 => Next::Ethernet,
            2 => Next::Ip,
            _ => Next::Opaque,
        }
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

#[cfg(test)]
mod tests {
    use super::{Erspan2Header, Erspan3Header};
    use crate::Next;
    use flowpin_packet::{Layer, Reason, bad};

    /// The session's number shares its word with class and flags.
    #[test]
    fn type_2_carries_a_frame() {
        let got = Erspan2Header::parse(&[0x10, 1, 0xfc, 0x05, 0, 0, 0, 0, 9]).unwrap();
        assert_eq!((got.session_id(), got.payload()), (5, &[9][..]));
    }

    /// A platform header stands in front of the frame if the last bit says so.
    #[test]
    fn type_3_may_have_a_platform_header() {
        let mut bytes = [0; 22];
        (bytes[0], bytes[3]) = (0x20, 7);
        let got = Erspan3Header::parse(&bytes).unwrap();
        assert_eq!(
            (got.session_id(), got.header_len(), got.next()),
            (7, 12, Next::Ethernet)
        );
        bytes[11] = 1;
        assert_eq!(Erspan3Header::parse(&bytes).unwrap().payload().len(), 2);
        bytes[10] = 2 << 2;
        assert_eq!(Erspan3Header::parse(&bytes).unwrap().next(), Next::Ip);
        bytes[10] = 1 << 2;
        assert_eq!(Erspan3Header::parse(&bytes).unwrap().next(), Next::Opaque);
    }

    /// Versions tell the types; headers must be whole.
    #[test]
    fn broken_headers_are_refused() {
        let short = bad(Layer::Gre, Reason::Truncated, 0);
        let version = bad(Layer::Gre, Reason::WrongVersion, 0);
        assert_eq!(Erspan2Header::parse(&[0x10; 7]).unwrap_err(), short);
        assert_eq!(Erspan2Header::parse(&[0x20; 8]).unwrap_err(), version);
        assert_eq!(Erspan3Header::parse(&[0x20; 11]).unwrap_err(), short);
        assert_eq!(Erspan3Header::parse(&[0x10; 12]).unwrap_err(), version);
        assert_eq!(Erspan3Header::parse(&[0x21; 19]).unwrap_err(), short);
    }
}
