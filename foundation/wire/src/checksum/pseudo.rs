//! Pseudo headers: what transport checksums cover of IP (RFC 9293 §3.1, RFC 8200 §8.1).

use super::Sum;

/// The addresses' part of a pseudo header, and the family, which some rules depend on.
#[derive(Clone, Copy, Debug)]
pub struct PseudoHeader {
    addresses: Sum,
    ipv6: bool,
}

impl PseudoHeader {
    /// Over IPv4. Take [`crate::ip::Ipv4Packet::final_destination`] for a source-routed packet.
    #[inline]
    pub fn v4(source: [u8; 4], destination: [u8; 4]) -> Self {
        let addresses = Sum::of_words(&source).plus(Sum::of_words(&destination));
        Self {
            addresses,
            ipv6: false,
        }
    }

    /// Over IPv6. Take [`crate::ip::Extensions::final_destination`] if there is one.
    #[inline]
    pub fn v6(source: [u8; 16], destination: [u8; 16]) -> Self {
        let addresses = Sum::of_words(&source).plus(Sum::of_words(&destination));
        Self {
            addresses,
            ipv6: true,
        }
    }

    /// Whether the addresses are IPv6.
    #[inline]
    pub const fn is_ipv6(&self) -> bool {
        self.ipv6
    }

    /// The whole pseudo header's sum. `len` is that of transport header and payload.
    #[inline]
    pub fn sum(&self, protocol: u8, len: u32) -> Sum {
        self.without_len(protocol)
            .plus(Sum::of_words(&len.to_be_bytes()))
    }

    /// The sum without the length: what segmentation offload leaves, since each segment's
    /// length differs.
    #[inline]
    pub fn without_len(&self, protocol: u8) -> Sum {
        self.addresses.plus(Sum::of_number(u16::from(protocol)))
    }
}

#[cfg(test)]
mod tests {
    use super::PseudoHeader;
    use crate::checksum::Sum;

    /// RFC 8200 §8.1: addresses, length in 32 bits, protocol in the last of four bytes.
    #[test]
    fn the_pseudo_header_is_what_the_rfcs_draw() {
        let drawn = [&[1; 16][..], &[2; 16], &[0, 1, 0x11, 0x70], &[0, 0, 0, 6]].concat();
        let sum = PseudoHeader::v6([1; 16], [2; 16]).sum(6, 70_000);
        assert_eq!(sum.fold(), Sum::of(&drawn).fold());
        let drawn = [10, 0, 0, 1, 10, 0, 0, 2, 0, 17, 5, 0xdc];
        let sum = PseudoHeader::v4([10, 0, 0, 1], [10, 0, 0, 2]).sum(17, 1500);
        assert_eq!(sum.fold(), Sum::of(&drawn).fold());
    }
}
