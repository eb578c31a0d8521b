//! CAPWAP's data channel (RFC 5415 §4.3) between access point and controller.
//!
//! ```text
//!  0                1                              4            6               8
//!  │version │ type │length│radio│binding│T F L W M K│ fragment │ offset │ reserved │ options …
//! ```

use super::check_carried;
use crate::Next;
use flowpin_packet::{Layer, LinkType, Malformed, Reason, bad};

/// A CAPWAP data header and the frame behind it.
#[derive(Clone, Copy, Debug)]
pub struct CapwapHeader<'a> {
    next: Next,
    header_len: u8,
    payload: &'a [u8],
}

impl<'a> CapwapHeader<'a> {
    /// The UDP port of the data channel.
    pub const PORT: u16 = 5247;

    /// Splits a UDP payload, if it is CAPWAP data in the clear.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::WrongVersion`]; [`Reason::LengthTooSmall`] for a header
    /// of less than two words; [`Reason::IllegalValue`] for reserved bits that are set or a
    /// payload that is no frame; [`Reason::Unsupported`] for DTLS, for fragments and for radios
    /// other than IEEE 802.11.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((&[preamble, b1, b2, b3, _, _, _, reserved], _)) = bytes.split_first_chunk::<8>()
        else {
            return Err(refuse(Reason::Truncated, 0));
        };
        match preamble {
            0 => {}
            1 => return Err(refuse(Reason::Unsupported, 0)),
            _ => return Err(refuse(Reason::WrongVersion, 0)),
        }
        // Reserved: the last three bits of the flags and of the fragment offset.
        if b3 & 7 != 0 || reserved & 7 != 0 {
            return Err(refuse(Reason::IllegalValue, 3));
        }
        let header_len = (b1 >> 3) << 2;
        if header_len < 8 {
            return Err(refuse(Reason::LengthTooSmall, 1));
        }
        if b3 & FRAGMENT != 0 {
            return Err(refuse(Reason::Unsupported, 3));
        }
        let payload = bytes
            .get(usize::from(header_len)..)
            .ok_or(refuse(Reason::Truncated, 8))?;
        let wireless_binding = (b2 >> 1) & 0x1f;
        let next = match (b3 & KEEP_ALIVE != 0, b2 & NATIVE != 0, wireless_binding) {
            (true, _, _) => Next::Opaque,
            (false, false, _) => Next::Ethernet,
            (false, true, 1) => Next::Link(LinkType::Ieee80211),
            (false, true, _) => return Err(refuse(Reason::Unsupported, 2)),
        };
        check_carried(next, payload, Layer::Capwap, u16::from(header_len))?;
        Ok(Self {
            next,
            header_len,
            payload,
        })
    }

    /// What the payload is: an Ethernet frame or the radio's own. Keep-alives are opaque.
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

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Capwap, reason, offset)
}

/// T: the payload is in the radio's own format.
const NATIVE: u8 = 0x01;
/// F: a fragment of a frame.
const FRAGMENT: u8 = 0x80;
/// K: a keep-alive of the channel.
const KEEP_ALIVE: u8 = 0x08;

#[cfg(test)]
mod tests {
    use super::{CapwapHeader, refuse};
    use crate::Next;
    use flowpin_packet::{LinkType, Reason};

    fn with_frame(header: &[u8]) -> Vec<u8> {
        [header, &[2; 12], &[8, 0, 0x45, 0]].concat()
    }

    /// T tells the radio's frames from Ethernet's.
    #[test]
    fn frames_are_told_apart() {
        let ethernet = with_frame(&[0, 0x10, 0x42, 0, 0, 0, 0, 0]);
        let got = CapwapHeader::parse(&ethernet).unwrap();
        assert_eq!((got.next(), got.header_len()), (Next::Ethernet, 8));
        // Three words: eight bytes and a radio's address.
        let native = [0, 0x18, 0x43, 0x10, 0, 0, 0, 0, 6, 1, 2, 3, 8, 1];
        let got = CapwapHeader::parse(&native).unwrap();
        assert_eq!(got.next(), Next::Link(LinkType::Ieee80211));
        assert_eq!(got.payload(), [8, 1]);
    }

    /// A keep-alive is CAPWAP, but carries no frame.
    #[test]
    fn a_keep_alive_is_opaque() {
        let got = CapwapHeader::parse(&[0, 0x10, 0x42, 8, 0, 0, 0, 0, 0, 22]).unwrap();
        assert_eq!(got.next(), Next::Opaque);
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| CapwapHeader::parse(bytes).unwrap_err();
        assert_eq!(parse(&[0; 7]), refuse(Reason::Truncated, 0));
        assert_eq!(
            parse(&[1, 0, 0, 0, 0, 0, 0, 0]),
            refuse(Reason::Unsupported, 0)
        );
        assert_eq!(
            parse(&[0x10, 0, 0, 0, 0, 0, 0, 0]),
            refuse(Reason::WrongVersion, 0)
        );
        assert_eq!(
            parse(&[0, 0x10, 0, 7, 0, 0, 0, 0]),
            refuse(Reason::IllegalValue, 3)
        );
        assert_eq!(
            parse(&[0, 0x08, 0, 0, 0, 0, 0, 0]),
            refuse(Reason::LengthTooSmall, 1)
        );
        assert_eq!(
            parse(&[0, 0x10, 0, 0x80, 0, 0, 0, 0]),
            refuse(Reason::Unsupported, 3)
        );
        assert_eq!(
            parse(&[0, 0x10, 5, 0, 0, 0, 0, 0]),
            refuse(Reason::Unsupported, 2)
        );
        assert_eq!(
            parse(&[0, 0x20, 0, 0, 0, 0, 0, 0]),
            refuse(Reason::Truncated, 8)
        );
        let random = [[0, 0x10, 0, 0, 0, 0, 0, 0], [0xff; 8], [0xff; 8]].concat();
        assert_eq!(parse(&random), refuse(Reason::IllegalValue, 8));
    }
}
