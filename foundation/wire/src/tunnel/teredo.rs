//! Teredo (RFC 4380 §5.1): IPv6 over UDP, behind up to two indications.
//!
//! ```text
//!  │0 1│ lengths (2) │ client id … │ value … │ nonce (8) │ confirmation │   authentication
//!  │0 0│ port (2) │ address (4) │                                           origin, obfuscated
//!  │ IPv6 packet …
//! ```

use crate::Next;
use crate::bytes::be16;
use crate::ip::Ipv6Packet;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// Teredo's indications and the IPv6 packet behind them.
#[derive(Clone, Copy, Debug)]
pub struct TeredoHeader<'a> {
    origin: Option<TeredoOrigin>,
    header_len: u16,
    payload: &'a [u8],
}

/// Where a server saw a packet come from, as an origin indication tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeredoOrigin {
    /// UDP port.
    pub port: u16,
    /// IPv4 address.
    pub address: [u8; 4],
}

impl<'a> TeredoHeader<'a> {
    /// The UDP port of Teredo servers.
    pub const PORT: u16 = 3544;

    /// Splits a UDP payload of which `wire_len` bytes were on the wire, if it is Teredo without
    /// doubt.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::WrongVersion`] or [`Reason::LengthBeyondPacket`] if no
    /// whole IPv6 packet follows; [`Reason::IllegalValue`] if something follows the packet that
    /// is not between Teredo addresses.
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let mut offset = 0usize;
        let mut origin = None;
        if be16(bytes, 0) == Some(AUTHENTICATION) {
            let lengths = bytes.get(2..4).ok_or(refuse(Reason::Truncated, 2))?;
            let variable_len = lengths.iter().map(|&len| usize::from(len)).sum::<usize>();
            offset = variable_len.saturating_add(13);
        }
        let rest = bytes.get(offset..).ok_or(refuse(Reason::Truncated, 4))?;
        if let Some(&[0, 0, p0, p1, a0, a1, a2, a3]) = rest.first_chunk() {
            // RFC 4380 §5.1.1: both are sent with all bits turned.
            origin = Some(TeredoOrigin {
                port: !u16::from_be_bytes([p0, p1]),
                address: [!a0, !a1, !a2, !a3],
            });
            offset = offset.saturating_add(8);
        }
        let payload = bytes.get(offset..).unwrap_or_default();
        let header_len = u16::try_from(offset).unwrap_or(u16::MAX);
        let wire_rest = wire_len.saturating_sub(offset);
        let packet = Ipv6Packet::parse(payload, wire_rest)
            .map_err(|inner| refuse(inner.reason, header_len))?;
        // Trailers may follow (MS-TERE §2.2.4), but then the addresses must be Teredo's.
        let exact = packet.packet_len() as usize == wire_rest;
        if !exact && !is_teredo(&packet.source()) && !is_teredo(&packet.destination()) {
            return Err(refuse(Reason::IllegalValue, header_len));
        }
        Ok(Self {
            origin,
            header_len,
            payload,
        })
    }

    /// The origin indication, if there is one.
    #[inline]
    pub const fn origin(&self) -> Option<TeredoOrigin> {
        self.origin
    }

    /// Whether this can be nothing but Teredo, on any port: no indications, an IPv6 packet that
    /// fills the datagram of `wire_len` bytes, to or from an address that only Teredo's clients
    /// have (RFC 4380 §2.6). One random datagram in 2⁵² looks like that.
    pub fn is_between_clients(&self, wire_len: usize) -> bool {
        let packet = Ipv6Packet::parse(self.payload, wire_len);
        self.header_len == 0
            && packet.is_ok_and(|packet| {
                packet.packet_len() as usize == wire_len
                    && (is_teredo(&packet.source()) || is_teredo(&packet.destination()))
            })
    }

    /// Always [`Next::Ipv6`].
    #[inline]
    pub const fn next(&self) -> Next {
        Next::Ipv6
    }

    /// The IPv6 packet, and trailers behind it.
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

/// RFC 4380 §2.6: 2001:0000::/32.
const fn is_teredo(address: &[u8; 16]) -> bool {
    matches!(address, [0x20, 0x01, 0, 0, ..])
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Teredo, reason, offset)
}

const AUTHENTICATION: u16 = 1;

#[cfg(test)]
mod tests {
    use super::{TeredoHeader, TeredoOrigin, refuse};
    use flowpin_packet::Reason;

    const ORIGIN: [u8; 8] = [0, 0, 0xff, 0xca, 0x3f, 0xff, 0xfd, 0xfe];

    fn ipv6(payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![
            0x60,
            0,
            0,
            0,
            0,
            u8::try_from(payload.len()).unwrap(),
            58,
            64,
        ];
        bytes.extend([0x20, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        bytes.extend([0x20, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        bytes.extend(payload);
        bytes
    }

    fn parse(bytes: &[u8]) -> TeredoHeader<'_> {
        TeredoHeader::parse(bytes, bytes.len()).unwrap()
    }

    /// Neither, one or both indications stand before the packet.
    #[test]
    fn indications_are_skipped() {
        let authentication = [0, 1, 1, 2, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let packet = ipv6(&[1, 2]);
        assert_eq!(parse(&packet).header_len(), 0);
        let both = [&authentication[..], &ORIGIN, &packet].concat();
        let got = parse(&both);
        let origin = TeredoOrigin {
            port: 53,
            address: [192, 0, 2, 1],
        };
        assert_eq!((got.origin(), got.header_len()), (Some(origin), 24));
        assert_eq!(got.payload(), packet);
    }

    /// What follows the packet is a trailer only between Teredo's own addresses.
    #[test]
    fn trailers_need_teredo_addresses() {
        let mut bytes = ipv6(&[1, 2]);
        bytes.extend([4, 0]);
        let got = TeredoHeader::parse(&bytes, bytes.len()).unwrap_err();
        assert_eq!(got, refuse(Reason::IllegalValue, 0));
        bytes[8..12].copy_from_slice(&[0x20, 0x01, 0, 0]);
        assert_eq!(parse(&bytes).payload().len(), bytes.len());
    }

    /// Anything but a whole IPv6 packet is not Teredo.
    #[test]
    fn other_payloads_are_refused() {
        let parse = |bytes: &[u8]| TeredoHeader::parse(bytes, bytes.len()).unwrap_err();
        assert_eq!(parse(&[0x45; 40]), refuse(Reason::WrongVersion, 0));
        assert_eq!(
            parse(&ipv6(&[1, 2])[..41]),
            refuse(Reason::LengthBeyondPacket, 0)
        );
        assert_eq!(parse(&ORIGIN), refuse(Reason::Truncated, 8));
        assert_eq!(parse(&[0, 1, 9]), refuse(Reason::Truncated, 2));
        assert_eq!(parse(&[0, 1, 9, 9, 9]), refuse(Reason::Truncated, 4));
    }
}
