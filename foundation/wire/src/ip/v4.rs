//! IPv4 (RFC 791).
//!
//! ```text
//!  0      1     2            4       6              8     9          10         12       16
//!  │4│IHL │ TOS │total length│  id   │flags│offset  │ TTL │ protocol │ checksum │ source │ dest. │
//!  20: options, up to 40 bytes; then the payload
//! ```

use crate::bytes::captured;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// An IPv4 packet. Borrows; never copies.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4Packet<'a> {
    header: &'a [u8; Ipv4Packet::HEADER_LEN],
    options: &'a [u8],
    payload: &'a [u8],
    payload_len: u32,
}

impl<'a> Ipv4Packet<'a> {
    /// Bytes of a header without options.
    pub const HEADER_LEN: usize = 20;

    /// Splits `bytes`, of which `wire_len` were on the wire; bytes past the total length are
    /// padding and dropped.
    ///
    /// A total length of 0 in a packet that is no fragment is what segmentation offload leaves
    /// in a capture: the packet then reaches to the end of the frame ([`Self::is_offloaded`]).
    ///
    /// # Errors
    /// See [`Reason::Truncated`], [`Reason::WrongVersion`], [`Reason::LengthTooSmall`] (header
    /// or total length) and [`Reason::LengthBeyondPacket`].
    ///
    /// ```
    /// use flowpin_wire::{ip::Ipv4Packet, ip_protocol};
    /// let mut bytes = [0; 30];
    /// bytes[..4].copy_from_slice(&[0x45, 0, 0, 28]);
    /// bytes[9] = ip_protocol::UDP;
    /// let packet = Ipv4Packet::parse(&bytes, bytes.len())?;
    /// assert_eq!((packet.protocol(), packet.payload().len()), (17, 8));
    /// # Ok::<(), flowpin_wire::Malformed>(())
    /// ```
    #[inline]
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<{ Ipv4Packet::HEADER_LEN }>() else {
            return Err(refuse(Reason::Truncated, 0));
        };
        if header[0] >> 4 != 4 {
            return Err(refuse(Reason::WrongVersion, 0));
        }
        // RFC 791 §3.1: IHL is at least 5.
        let header_len = usize::from(header[0] & 0xf) << 2;
        let Some(options_len) = header_len.checked_sub(Self::HEADER_LEN) else {
            return Err(refuse(Reason::LengthTooSmall, 0));
        };
        let mut total_len = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if total_len == 0 && !is_fragment(header) {
            total_len = wire_len.min(OFFLOADED_LEN_MAX);
        }
        let Some(payload_len) = total_len.checked_sub(header_len) else {
            return Err(refuse(Reason::LengthTooSmall, 2));
        };
        if total_len > wire_len {
            return Err(refuse(Reason::LengthBeyondPacket, 2));
        }
        let Some((options, rest)) = rest.split_at_checked(options_len) else {
            return Err(refuse(Reason::Truncated, 20));
        };
        Ok(Self {
            header,
            options,
            payload: captured(rest, payload_len),
            // At most `OFFLOADED_LEN_MAX`.
            payload_len: u32::try_from(payload_len).unwrap_or(u32::MAX),
        })
    }

    /// Type of service: DSCP and ECN.
    #[inline]
    pub const fn type_of_service(&self) -> u8 {
        self.header[1]
    }

    /// The total length field as it stands; 0 if [`Self::is_offloaded`].
    #[inline]
    pub const fn total_length(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// Header and payload together, as the header claims (of an offloaded packet: as the frame).
    #[inline]
    pub const fn packet_len(&self) -> u32 {
        self.payload_len.wrapping_add(self.header_len_u32())
    }

    /// Whether the length field is 0: a packet captured before the adapter cut it into segments.
    #[inline]
    pub const fn is_offloaded(&self) -> bool {
        self.total_length() == 0
    }

    /// Identification: tells the fragments of one datagram from others.
    #[inline]
    pub const fn identification(&self) -> u16 {
        u16::from_be_bytes([self.header[4], self.header[5]])
    }

    /// Whether the packet must not be cut into fragments.
    #[inline]
    pub const fn dont_fragment(&self) -> bool {
        self.header[6] & 0x40 != 0
    }

    /// Whether more fragments follow this one.
    #[inline]
    pub const fn more_fragments(&self) -> bool {
        self.header[6] & 0x20 != 0
    }

    /// Where the payload belongs in its datagram, in bytes.
    #[inline]
    pub const fn fragment_offset(&self) -> u16 {
        u16::from_be_bytes([self.header[6], self.header[7]]) << 3
    }

    /// Whether this is a part of a datagram only.
    #[inline]
    pub const fn is_fragment(&self) -> bool {
        is_fragment(self.header)
    }

    /// Time to live.
    #[inline]
    pub const fn time_to_live(&self) -> u8 {
        self.header[8]
    }

    /// What the payload is: an [`crate::ip_protocol`].
    #[inline]
    pub const fn protocol(&self) -> u8 {
        self.header[9]
    }

    /// The header's checksum as it stands.
    #[inline]
    pub const fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.header[10], self.header[11]])
    }

    /// Source address.
    #[inline]
    pub const fn source(&self) -> [u8; 4] {
        [
            self.header[12],
            self.header[13],
            self.header[14],
            self.header[15],
        ]
    }

    /// Destination address.
    #[inline]
    pub const fn destination(&self) -> [u8; 4] {
        [
            self.header[16],
            self.header[17],
            self.header[18],
            self.header[19],
        ]
    }

    /// The fixed part of the header.
    #[inline]
    pub const fn header(&self) -> &'a [u8; Ipv4Packet::HEADER_LEN] {
        self.header
    }

    /// The options, padding included; up to 40 bytes.
    #[inline]
    pub const fn options(&self) -> &'a [u8] {
        self.options
    }

    /// Where the packet finally goes: the last address of a source route that is not used up,
    /// else [`Self::destination`]. Transport checksums cover this one.
    pub fn final_destination(&self) -> [u8; 4] {
        final_hop(self.options).unwrap_or(self.destination())
    }

    /// Where the payload starts.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.header[0] & 0xf) << 2
    }

    /// What was captured of the payload.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Length of the payload on the wire.
    #[inline]
    pub const fn payload_len(&self) -> u32 {
        self.payload_len
    }

    /// Whether the capture has less of the payload than was on the wire.
    #[inline]
    pub const fn is_snapped(&self) -> bool {
        self.payload.len() < self.payload_len as usize
    }

    const fn header_len_u32(&self) -> u32 {
        (self.header[0] as u32 & 0xf) << 2
    }
}

/// The last address of a loose or strict source route (RFC 791 §3.1) that is not used up.
#[cold]
fn final_hop(mut options: &[u8]) -> Option<[u8; 4]> {
    // At most 40 bytes, and each round takes at least one.
    loop {
        match options {
            [1, rest @ ..] => options = rest,
            [0, ..] | [] | [_] => return None,
            [LOOSE_ROUTE | STRICT_ROUTE, len, pointer, ..] => {
                let route = options.get(..usize::from(*len))?;
                let last = route.last_chunk::<4>()?;
                return (usize::from(*pointer) < route.len() && route.len() >= 7).then_some(*last);
            }
            [_, len, ..] => options = options.get(usize::from((*len).max(2))..)?,
        }
    }
}

/// Whether offset or "more fragments" are set.
#[inline]
const fn is_fragment(header: &[u8; Ipv4Packet::HEADER_LEN]) -> bool {
    u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0
}

#[inline]
const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Ipv4, reason, offset)
}

const LOOSE_ROUTE: u8 = 131;
const STRICT_ROUTE: u8 = 137;

/// Longest packet that is believed without a length of its own.
const OFFLOADED_LEN_MAX: usize = 1 << 24;

#[cfg(test)]
mod tests {
    use super::{Ipv4Packet, refuse};
    use flowpin_packet::Reason;

    fn packet(total_len: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let ihl = 5 + u8::try_from(options.len() / 4).unwrap();
        let mut bytes = vec![0x40 | ihl, 0];
        bytes.extend(total_len.to_be_bytes());
        bytes.extend([
            0x12, 0x34, 0x40, 0, 64, 17, 0xab, 0xcd, 10, 0, 0, 1, 10, 0, 0, 2,
        ]);
        bytes.extend(options);
        bytes.extend(payload);
        bytes
    }

    /// Every field comes from its place in RFC 791's figure.
    #[test]
    fn fields_are_read_from_their_places() {
        let bytes = packet(27, &[1, 1, 1, 0], &[7, 8, 9, 10]);
        let got = Ipv4Packet::parse(&bytes, bytes.len()).unwrap();
        assert_eq!(
            (got.source(), got.destination()),
            ([10, 0, 0, 1], [10, 0, 0, 2])
        );
        assert_eq!((got.protocol(), got.time_to_live()), (17, 64));
        assert_eq!((got.identification(), got.checksum()), (0x1234, 0xabcd));
        assert_eq!((got.header_len(), got.options()), (24, &[1, 1, 1, 0][..]));
        assert_eq!(
            (got.payload(), got.payload_len(), got.packet_len()),
            (&[7, 8, 9][..], 3, 27)
        );
        assert!(got.dont_fragment() && !got.is_fragment() && !got.is_snapped());
    }

    /// A packet that the capture cut is not malformed: the claim stays, a flag tells.
    #[test]
    fn a_snapped_packet_keeps_its_claim() {
        let bytes = packet(1500, &[], &[7; 8]);
        let got = Ipv4Packet::parse(&bytes, 1500).unwrap();
        assert_eq!((got.payload().len(), got.payload_len()), (8, 1480));
        assert!(got.is_snapped());
    }

    /// Segmentation offload leaves 0 in the length: the frame tells the length then.
    #[test]
    fn length_zero_reaches_to_the_end_of_the_frame() {
        let bytes = packet(0, &[], &[7; 8]);
        let got = Ipv4Packet::parse(&bytes, 70_000).unwrap();
        assert!(got.is_offloaded() && got.is_snapped());
        assert_eq!(got.packet_len(), 70_000);
        // No fragment is ever left to the adapter without a length.
        let mut fragment = bytes.clone();
        fragment[6] = 0x20;
        let refused = Ipv4Packet::parse(&fragment, 28).unwrap_err();
        assert_eq!(refused, refuse(Reason::LengthTooSmall, 2));
    }

    /// Offsets count in units of eight bytes.
    #[test]
    fn a_fragment_is_known_by_offset_or_flag() {
        let mut bytes = packet(28, &[], &[7; 8]);
        bytes[6..8].copy_from_slice(&[0x20, 0]);
        let first = Ipv4Packet::parse(&bytes, 28).unwrap();
        assert!(first.is_fragment() && first.more_fragments());
        bytes[6..8].copy_from_slice(&[0x00, 0xb9]);
        let last = Ipv4Packet::parse(&bytes, 28).unwrap();
        assert!(last.is_fragment() && !last.more_fragments());
        assert_eq!(last.fragment_offset(), 1480);
    }

    /// Checksums cover the address at the end of a source route, until it is used up.
    #[test]
    fn a_source_route_names_the_final_destination() {
        let route = [1, 131, 7, 4, 192, 0, 2, 9];
        let bytes = packet(28, &route, &[]);
        let got = Ipv4Packet::parse(&bytes, 28).unwrap();
        assert_eq!(got.final_destination(), [192, 0, 2, 9]);
        let used_up = [1, 131, 7, 8, 192, 0, 2, 9];
        let bytes = packet(28, &used_up, &[]);
        let got = Ipv4Packet::parse(&bytes, 28).unwrap();
        assert_eq!(got.final_destination(), [10, 0, 0, 2]);
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let good = packet(28, &[], &[7; 8]);
        let parse = |bytes: &[u8]| Ipv4Packet::parse(bytes, bytes.len()).unwrap_err();
        assert_eq!(parse(&good[..19]), refuse(Reason::Truncated, 0));
        assert_eq!(parse(&good[..27]), refuse(Reason::LengthBeyondPacket, 2));
        assert_eq!(
            parse(&packet(19, &[], &[])),
            refuse(Reason::LengthTooSmall, 2)
        );
        let mut version = good.clone();
        version[0] = 0x65;
        assert_eq!(parse(&version), refuse(Reason::WrongVersion, 0));
        let mut ihl = good;
        ihl[0] = 0x44;
        assert_eq!(parse(&ihl), refuse(Reason::LengthTooSmall, 0));
        let options_cut = packet(28, &[1; 8], &[]);
        let got = Ipv4Packet::parse(&options_cut[..24], 28).unwrap_err();
        assert_eq!(got, refuse(Reason::Truncated, 20));
    }
}
