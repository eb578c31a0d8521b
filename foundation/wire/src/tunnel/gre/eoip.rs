//! EoIP, MikroTik's Ethernet over IP: GRE of version 1 with fields of its own.
//!
//! ```text
//!  0               2               4                6                     8
//!  │ 0x20 0x01     │ 0x64 0x00     │ payload length │ tunnel id (little) │ frame …
//! ```

use crate::Next;
use crate::tunnel::check_carried;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// An EoIP header: an Ethernet frame follows, or nothing in a keep-alive.
#[derive(Clone, Copy, Debug)]
pub struct EoipHeader<'a> {
    tunnel_id: u16,
    payload: &'a [u8],
}

impl<'a> EoipHeader<'a> {
    /// Bytes before the frame.
    pub const HEADER_LEN: usize = 8;

    /// Splits the payload of protocol 47, if it is EoIP without doubt.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::Unsupported`] for anything else in GRE;
    /// [`Reason::LengthTooSmall`] for a keep-alive or less than a frame's header;
    /// [`Reason::IllegalValue`] for a payload that does not look like a frame.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((&[f0, f1, t0, t1, l0, l1, id0, id1], payload)) =
            bytes.split_first_chunk::<{ EoipHeader::HEADER_LEN }>()
        else {
            return Err(refuse(Reason::Truncated, 0));
        };
        // Wireshark's and Linux drivers' reading: key flag and version 1, then this type.
        if [f0, f1, t0, t1] != [0x20, 0x01, 0x64, 0x00] {
            return Err(refuse(Reason::Unsupported, 0));
        }
        if u16::from_be_bytes([l0, l1]) < ETHERNET_LEN {
            return Err(refuse(Reason::LengthTooSmall, 4));
        }
        check_carried(Next::Ethernet, payload, Layer::Gre, 8)?;
        Ok(Self {
            tunnel_id: u16::from_le_bytes([id0, id1]),
            payload,
        })
    }

    /// Which tunnel between the two routers.
    #[inline]
    pub const fn tunnel_id(&self) -> u16 {
        self.tunnel_id
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

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Gre, reason, offset)
}

const ETHERNET_LEN: u16 = 14;

#[cfg(test)]
mod tests {
    use super::{EoipHeader, refuse};
    use flowpin_packet::Reason;

    fn with_frame(header: [u8; 8]) -> Vec<u8> {
        [&header[..], &[2; 12], &[8, 0, 0x45, 0]].concat()
    }

    /// The tunnel's number is the only field in the PC's order of bytes.
    #[test]
    fn the_tunnel_is_read() {
        let bytes = with_frame([0x20, 1, 0x64, 0, 0, 16, 0x19, 1]);
        let got = EoipHeader::parse(&bytes).unwrap();
        assert_eq!((got.tunnel_id(), got.payload()), (0x0119, &bytes[8..]));
    }

    /// PPTP has the same version, a keep-alive no frame, random bytes neither.
    #[test]
    fn other_payloads_are_refused() {
        let parse = |bytes: &[u8]| EoipHeader::parse(bytes).unwrap_err();
        assert_eq!(parse(&[0x20; 7]), refuse(Reason::Truncated, 0));
        let pptp = with_frame([0x20, 1, 0x88, 0x0b, 0, 16, 0, 1]);
        assert_eq!(parse(&pptp), refuse(Reason::Unsupported, 0));
        let keep_alive = [0x20, 1, 0x64, 0, 0, 0, 0, 1];
        assert_eq!(parse(&keep_alive), refuse(Reason::LengthTooSmall, 4));
        let random = [&[0x20, 1, 0x64, 0, 0, 16, 0, 1][..], &[0xff; 16]].concat();
        assert_eq!(parse(&random), refuse(Reason::IllegalValue, 8));
    }
}
