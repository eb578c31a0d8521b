//! IPv6's fixed header (RFC 8200 §3) and the jumbo payload option (RFC 2675).
//!
//! ```text
//!  0                4                6             7           8        24       40
//!  │6│class│flow    │ payload length │ next header │ hop limit │ source │ dest.  │
//! ```

use super::extension;
use crate::bytes::captured;
use crate::ip_protocol::{HOP_BY_HOP, TCP, UDP};
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// An IPv6 packet. Borrows; never copies.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6Packet<'a> {
    header: &'a [u8; Ipv6Packet::HEADER_LEN],
    payload: &'a [u8],
    payload_len: u32,
}

impl<'a> Ipv6Packet<'a> {
    /// Bytes of the fixed header.
    pub const HEADER_LEN: usize = 40;

    /// Splits `bytes`, of which `wire_len` were on the wire; bytes past the payload length are
    /// padding and dropped.
    ///
    /// A payload length of 0 means a jumbogram if a hop-by-hop option tells its length, and
    /// otherwise, in front of TCP or UDP, a packet that segmentation offload left unfinished: it
    /// reaches to the end of the frame then ([`Self::is_offloaded`]).
    ///
    /// # Errors
    /// See [`Reason::Truncated`], [`Reason::WrongVersion`], [`Reason::LengthBeyondPacket`];
    /// [`Reason::LengthTooSmall`] for a jumbo payload length below 65,536.
    #[inline]
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<{ Ipv6Packet::HEADER_LEN }>() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        if header[0] >> 4 != 6 {
            return Err(refuse(Reason::WrongVersion, 0));
        }
        let mut payload_len = usize::from(u16::from_be_bytes([header[4], header[5]]));
        let wire_rest = wire_len.saturating_sub(Self::HEADER_LEN);
        if payload_len == 0 {
            payload_len = unbounded_len(header[6], rest, wire_rest)?;
        }
        if payload_len > wire_rest {
            return Err(refuse(Reason::LengthBeyondPacket, 4));
        }
        Ok(Self {
            header,
            payload: captured(rest, payload_len),
            payload_len: u32::try_from(payload_len).unwrap_or(u32::MAX),
        })
    }

    /// Traffic class: DSCP and ECN.
    #[inline]
    pub const fn traffic_class(&self) -> u8 {
        (self.header[0] << 4) | (self.header[1] >> 4)
    }

    /// Flow label, 20 bits.
    #[inline]
    pub const fn flow_label(&self) -> u32 {
        u32::from_be_bytes([0, self.header[1] & 0xf, self.header[2], self.header[3]])
    }

    /// The first header behind this one: an [`crate::ip_protocol`].
    #[inline]
    pub const fn next_header(&self) -> u8 {
        self.header[6]
    }

    /// Hop limit.
    #[inline]
    pub const fn hop_limit(&self) -> u8 {
        self.header[7]
    }

    /// Source address.
    #[inline]
    pub fn source(&self) -> [u8; 16] {
        self.header[8..24]
            .first_chunk()
            .copied()
            .unwrap_or_default()
    }

    /// Destination address.
    #[inline]
    pub fn destination(&self) -> [u8; 16] {
        self.header.last_chunk().copied().unwrap_or_default()
    }

    /// The fixed header.
    #[inline]
    pub const fn header(&self) -> &'a [u8; Ipv6Packet::HEADER_LEN] {
        self.header
    }

    /// Header and payload together, as claimed.
    #[inline]
    pub const fn packet_len(&self) -> u32 {
        self.payload_len.saturating_add(40)
    }

    /// Whether the payload length is 0 though there is a payload: a jumbogram, or a packet
    /// captured before the adapter cut it into segments.
    #[inline]
    pub const fn is_offloaded(&self) -> bool {
        self.payload_len > 0 && self.header[4] == 0 && self.header[5] == 0
    }

    /// Where the extension headers start.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }

    /// What was captured behind the fixed header: extension headers first.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Length of extension headers and payload on the wire.
    #[inline]
    pub const fn payload_len(&self) -> u32 {
        self.payload_len
    }

    /// Whether the capture has less of the payload than was on the wire.
    #[inline]
    pub const fn is_snapped(&self) -> bool {
        self.payload.len() < self.payload_len as usize
    }
}

/// The payload's length where the field says 0.
#[cold]
fn unbounded_len(next_header: u8, rest: &[u8], wire_rest: usize) -> Result<usize, Malformed> {
    match next_header {
        HOP_BY_HOP => match extension::jumbo_payload_len(rest) {
            // RFC 2675 §3: the jumbo payload length is greater than 65,535.
            Some(len) if len <= 0xffff => Err(refuse(Reason::LengthTooSmall, 4)),
            Some(len) => usize::try_from(len).map_err(|_| refuse(Reason::LengthBeyondPacket, 4)),
            None => Err(refuse(Reason::LengthTooSmall, 4)),
        },
        // Padding to Ethernet's least length is shorter than these headers.
        TCP if wire_rest >= 20 => Ok(wire_rest),
        UDP if wire_rest >= 20 => Ok(wire_rest),
        _ => Ok(0),
    }
}

#[inline]
const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Ipv6, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{Ipv6Packet, refuse};
    use flowpin_packet::Reason;

    fn packet(payload_len: u16, next_header: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x61, 0x23, 0x45, 0x67];
        bytes.extend(payload_len.to_be_bytes());
        bytes.extend([next_header, 64]);
        bytes.extend([1; 16]);
        bytes.extend([2; 16]);
        bytes.extend(payload);
        bytes
    }

    /// Every field comes from its place in RFC 8200's figure.
    #[test]
    fn fields_are_read_from_their_places() {
        let bytes = packet(3, 17, &[7, 8, 9, 10]);
        let got = Ipv6Packet::parse(&bytes, bytes.len()).unwrap();
        assert_eq!((got.traffic_class(), got.flow_label()), (0x12, 0x34567));
        assert_eq!((got.next_header(), got.hop_limit()), (17, 64));
        assert_eq!((got.source(), got.destination()), ([1; 16], [2; 16]));
        assert_eq!(
            (got.payload(), got.payload_len(), got.packet_len()),
            (&[7, 8, 9][..], 3, 43)
        );
    }

    /// RFC 2675: the hop-by-hop option tells the length of a jumbogram, above 65,535 only.
    #[test]
    fn a_jumbogram_tells_its_length_in_an_option() {
        let option = |len: u32| {
            let mut bytes = vec![6, 0, 0xc2, 4];
            bytes.extend(len.to_be_bytes());
            packet(0, 0, &bytes)
        };
        let got = option(70_000);
        let got = Ipv6Packet::parse(&got, 100_000).unwrap();
        assert_eq!(got.payload_len(), 70_000);
        assert!(got.is_offloaded() && got.is_snapped());
        let refused = Ipv6Packet::parse(&option(65_535), 100_000).unwrap_err();
        assert_eq!(refused, refuse(Reason::LengthTooSmall, 4));
        let refused = Ipv6Packet::parse(&option(100_000), 100_000).unwrap_err();
        assert_eq!(refused, refuse(Reason::LengthBeyondPacket, 4));
    }

    /// Length 0 in front of a whole TCP header is offload; in front of padding it is 0.
    #[test]
    fn length_zero_is_offload_only_before_a_transport_header() {
        let offloaded = packet(0, 6, &[7; 60]);
        assert_eq!(
            Ipv6Packet::parse(&offloaded, 100).unwrap().payload_len(),
            60
        );
        let padded = packet(0, 6, &[0; 6]);
        assert_eq!(Ipv6Packet::parse(&padded, 46).unwrap().payload_len(), 0);
        let nothing = packet(0, 59, &[0; 60]);
        assert_eq!(Ipv6Packet::parse(&nothing, 100).unwrap().payload_len(), 0);
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let good = packet(4, 17, &[7; 4]);
        let parse = |bytes: &[u8]| Ipv6Packet::parse(bytes, bytes.len()).unwrap_err();
        assert_eq!(parse(&good[..39]), refuse(Reason::Truncated, 0));
        assert_eq!(parse(&good[..43]), refuse(Reason::LengthBeyondPacket, 4));
        let mut version = good;
        version[0] = 0x45;
        assert_eq!(parse(&version), refuse(Reason::WrongVersion, 0));
    }
}
