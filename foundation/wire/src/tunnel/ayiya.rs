//! AYIYA (draft-massar-v6ops-ayiya): "anything in anything", IPv6 over UDP in practice.
//!
//! ```text
//!  0                        1                      2                   3             4
//!  │identity length, type │ signature length, hash │ method, operation │ next header │ epoch │
//!  8: identity (2^length bytes), signature (4 × length bytes), payload …
//! ```

use super::check_carried;
use crate::ip::Ipv6Packet;
use crate::{Next, ip_protocol};
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// An AYIYA header and the packet behind it.
#[derive(Clone, Copy, Debug)]
pub struct AyiyaHeader<'a> {
    next: Next,
    header_len: u16,
    payload: &'a [u8],
}

impl<'a> AyiyaHeader<'a> {
    /// The UDP port.
    pub const PORT: u16 = 5072;

    /// Splits a UDP payload, if it is AYIYA without doubt.
    ///
    /// # Errors
    /// [`Reason::Truncated`]; [`Reason::Unsupported`] for an operation, a hash or a next header
    /// that does not exist; [`Reason::IllegalValue`] for an identity of impossible length or a
    /// payload that is not what the header says.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((&[identity, signature, method, next_header, ..], _)) =
            bytes.split_first_chunk::<8>()
        else {
            return Err(refuse(Reason::Truncated, 0));
        };
        // Identities: none, integer, or text, of 1 to 2^15 bytes.
        let (identity_exponent, identity_type) = (identity >> 4, identity & 0xf);
        if identity_type > 2 {
            return Err(refuse(Reason::IllegalValue, 0));
        }
        // Hashes: none, MD5, SHA-1. Operations: 0 to 6, of which 1 forwards.
        if signature & 0xf > 2 {
            return Err(refuse(Reason::Unsupported, 1));
        }
        let operation = method & 0xf;
        if operation > 6 {
            return Err(refuse(Reason::Unsupported, 2));
        }
        let next = match (operation, next_header) {
            (1, ip_protocol::IPV6) => Next::Ipv6,
            (1, ip_protocol::IPV4) => Next::Ipv4,
            (_, ip_protocol::IPV6 | ip_protocol::IPV4 | ip_protocol::NO_NEXT_HEADER) => {
                Next::Opaque
            }
            _ => return Err(refuse(Reason::Unsupported, 3)),
        };
        let identity_len = 1u16 << identity_exponent;
        let signature_len = u16::from(signature >> 4) << 2;
        let header_len = identity_len.saturating_add(signature_len).saturating_add(8);
        let payload = bytes
            .get(usize::from(header_len)..)
            .ok_or(refuse(Reason::Truncated, 8))?;
        check_carried(next, payload, Layer::Ayiya, header_len)?;
        // In use are identities of up to 16 bytes. A longer one is believed only before a whole
        // IPv6 packet, since more payloads of other protocols look like a short header's.
        if identity_exponent > 4
            && (next != Next::Ipv6 || Ipv6Packet::parse(payload, payload.len()).is_err())
        {
            return Err(refuse(Reason::IllegalValue, 0));
        }
        Ok(Self {
            next,
            header_len,
            payload,
        })
    }

    /// What the payload is. Everything but forwarding is opaque.
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
    bad(Layer::Ayiya, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::{AyiyaHeader, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    /// The header in use everywhere: identity of 16 bytes, SHA-1 of 20.
    fn header(operation: u8, next_header: u8) -> Vec<u8> {
        let mut bytes = vec![0x41, 0x52, 0x10 | operation, next_header, 0, 0, 0, 1];
        bytes.extend([7; 36]);
        bytes
    }

    /// Identity and signature stand between header and packet.
    #[test]
    fn forwarding_carries_a_packet() {
        let mut bytes = header(1, 41);
        bytes.push(0x60);
        let got = AyiyaHeader::parse(&bytes).unwrap();
        assert_eq!(
            (got.next(), got.header_len(), got.payload()),
            (Next::Ipv6, 44, &[0x60][..])
        );
        assert_eq!(
            AyiyaHeader::parse(&header(0, 59)).unwrap().next(),
            Next::Opaque
        );
    }

    /// draft-massar-v6ops-ayiya-02 §3: an identity has up to 2^15 bytes.
    #[test]
    fn long_identities_need_a_whole_packet_behind() {
        let mut bytes = vec![0x82, 0x52, 0x11, 41, 0, 0, 0, 1];
        bytes.extend([b'x'; 256 + 20]);
        bytes.extend([0x60, 0, 0, 0, 0, 1, 59, 64]);
        bytes.extend([9; 33]);
        let got = AyiyaHeader::parse(&bytes).unwrap();
        assert_eq!((got.next(), got.header_len()), (Next::Ipv6, 284));
        bytes.pop();
        let got = AyiyaHeader::parse(&bytes).unwrap_err();
        assert_eq!(got, refuse(Reason::IllegalValue, 0));
    }

    /// Each rule is refused at its field.
    #[test]
    fn broken_rules_are_refused_at_their_fields() {
        let parse = |bytes: &[u8]| AyiyaHeader::parse(bytes).unwrap_err();
        let changed = |at: usize, value: u8| {
            let mut bytes = header(1, 41);
            bytes[at] = value;
            parse(&bytes)
        };
        assert_eq!(parse(&[0x41; 7]), refuse(Reason::Truncated, 0));
        assert_eq!(changed(0, 0x43), refuse(Reason::IllegalValue, 0));
        assert_eq!(changed(1, 0x53), refuse(Reason::Unsupported, 1));
        assert_eq!(changed(2, 0x17), refuse(Reason::Unsupported, 2));
        assert_eq!(changed(3, 6), refuse(Reason::Unsupported, 3));
        assert_eq!(parse(&header(1, 41)[..43]), refuse(Reason::Truncated, 8));
        let mut random = header(1, 41);
        random.push(0x45);
        assert_eq!(parse(&random), refuse(Reason::IllegalValue, 44));
    }
}
