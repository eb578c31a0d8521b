//! PPP over Ethernet, session stage (RFC 2516).
//!
//! ```text
//!  0     1      2         4        6
//!  │1 │1 │ code │ session │ length │ PPP, from the protocol field on …
//! ```

use crate::Next;
use crate::bytes::captured;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A PPPoE session header and its PPP frame.
#[derive(Clone, Copy, Debug)]
pub struct PppoeSession<'a> {
    header: &'a [u8; PppoeSession::HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> PppoeSession<'a> {
    /// Bytes before the PPP frame.
    pub const HEADER_LEN: usize = 6;

    /// Splits `bytes`, of which `wire_len` were on the wire.
    ///
    /// # Errors
    /// [`Reason::Truncated`] below six bytes, [`Reason::WrongVersion`] unless version and type
    /// are 1, [`Reason::Unsupported`] for a code of the discovery stage,
    /// [`Reason::LengthBeyondPacket`] if the length does not fit.
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        // RFC 2516 §4: VER and TYPE must be 1.
        if header[0] != 0x11 {
            return Err(refuse(Reason::WrongVersion, 0));
        }
        // RFC 2516 §6: CODE must be 0 in a session.
        if header[1] != 0 {
            return Err(refuse(Reason::Unsupported, 1));
        }
        let len = usize::from(u16::from_be_bytes([header[4], header[5]]));
        if len > wire_len.saturating_sub(Self::HEADER_LEN) {
            return Err(refuse(Reason::LengthBeyondPacket, 4));
        }
        let payload = captured(rest, len);
        Ok(Self { header, payload })
    }

    /// The session's number.
    #[inline]
    pub const fn session_id(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// Length of the PPP frame, protocol field included.
    #[inline]
    pub const fn payload_len(&self) -> u16 {
        u16::from_be_bytes([self.header[4], self.header[5]])
    }

    /// Always [`Next::Ppp`].
    #[inline]
    pub const fn next(&self) -> Next {
        Next::Ppp
    }

    /// What was captured of the PPP frame.
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

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Pppoe, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{PppoeSession, refuse};
    use flowpin_packet::Reason;

    const SESSION: [u8; 10] = [0x11, 0, 0x12, 0x34, 0, 3, 0, 0x21, 0x45, 0xff];

    /// Bytes past the length are Ethernet's padding.
    #[test]
    fn the_length_cuts_the_padding() {
        let session = PppoeSession::parse(&SESSION, SESSION.len()).unwrap();
        assert_eq!((session.session_id(), session.payload_len()), (0x1234, 3));
        assert_eq!(session.payload(), [0, 0x21, 0x45]);
    }

    /// A capture cut short leaves what there is; the claim stays.
    #[test]
    fn a_snapped_frame_keeps_its_claim() {
        let session = PppoeSession::parse(&SESSION[..8], SESSION.len()).unwrap();
        assert_eq!(
            (session.payload(), session.payload_len()),
            (&[0, 0x21][..], 3)
        );
    }

    /// Each rule of the header is refused at its own field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| PppoeSession::parse(bytes, bytes.len()).unwrap_err();
        assert_eq!(parse(&SESSION[..5]), refuse(Reason::Truncated, 0));
        assert_eq!(
            parse(&[0x12, 0, 0, 0, 0, 0]),
            refuse(Reason::WrongVersion, 0)
        );
        assert_eq!(
            parse(&[0x11, 9, 0, 0, 0, 0]),
            refuse(Reason::Unsupported, 1)
        );
        assert_eq!(parse(&SESSION[..8]), refuse(Reason::LengthBeyondPacket, 4));
    }
}
