//! LISP's data plane (RFC 9300 §5), with its generic protocol extension (LISP-GPE, RFC 9305).
//!
//! ```text
//!  0               1                        3               4                                  8
//!  │N L E V I P K K│ nonce, or map versions │ next protocol │ instance (3), locators (1 or 4) │ …
//!  │               │                        │ (if P)        │ (if I)                          │
//! ```
//!
//! The header has no fixed bits: 8 bytes of anything are a legal one. What tells LISP from other
//! datagrams on its port is the packet inside, whose length must fit.

use super::check_carried;
use crate::Next;
use crate::bytes::be16;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// A LISP data header, and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct LispHeader<'a> {
    header: &'a [u8; LispHeader::HEADER_LEN],
    next: Next,
    payload: &'a [u8],
}

impl<'a> LispHeader<'a> {
    /// Bytes before the packet.
    pub const HEADER_LEN: usize = 8;
    /// The UDP port of the data plane; control messages have another one.
    pub const PORT: u16 = 4341;

    /// Splits a UDP payload of which `wire_len` bytes were on the wire, if it is LISP data without
    /// doubt.
    ///
    /// Flags that contradict each other are no reason to refuse: a receiver takes N and V for N,
    /// and ignores E without N (RFC 9300 §5.3).
    ///
    /// # Errors
    /// [`Reason::Truncated`] if the header or the inner lengths are not whole;
    /// [`Reason::Unsupported`] for encrypted payload or another next protocol;
    /// [`Reason::IllegalValue`] for a payload that is not what the header says;
    /// [`Reason::LengthTooSmall`], [`Reason::LengthBeyondPacket`] for an inner packet that is
    /// shorter than its header or does not fit.
    pub fn parse(bytes: &'a [u8], wire_len: usize) -> Result<Self, Malformed> {
        let Some((header, payload)) = bytes.split_first_chunk::<{ LispHeader::HEADER_LEN }>()
        else {
            return Err(refuse(Reason::Truncated, 0));
        };
        // RFC 8061 §4: K is the number of the key that encrypts the payload; 0 is none.
        if header[0] & KEY != 0 {
            return Err(refuse(Reason::Unsupported, 0));
        }
        // RFC 9305 §3: without P, the payload is an IP packet.
        let next = match header[3] {
            _ if header[0] & NEXT_PROTOCOL_VALID == 0 => Next::Ip,
            1 => Next::Ipv4,
            2 => Next::Ipv6,
            3 => Next::Ethernet,
            4 => Next::Nsh,
            _ => return Err(refuse(Reason::Unsupported, 3)),
        };
        check_carried(next, payload, Layer::Lisp, PAYLOAD)?;
        check_len(next, payload, wire_len.saturating_sub(Self::HEADER_LEN))?;
        Ok(Self {
            header,
            next,
            payload,
        })
    }

    /// The network's identifier (24 bits), if the header has one.
    #[inline]
    pub const fn instance_id(&self) -> Option<u32> {
        let &[flags, _, _, _, a, b, c, _] = self.header;
        if flags & INSTANCE == 0 {
            return None;
        }
        Some(u32::from_be_bytes([0, a, b, c]))
    }

    /// What the payload is.
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
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }
}

/// Refuses an IP packet whose own lengths do not fit into the `wire_len` bytes that it has.
fn check_len(next: Next, packet: &[u8], wire_len: usize) -> Result<(), Malformed> {
    let version = match next {
        Next::Ip => Next::from_ip_version(packet),
        next => next,
    };
    let (least_len, field, uncounted) = match (version, packet.first()) {
        // RFC 791 §3.1: IHL, in words of 4 bytes, is at least 5.
        (Next::Ipv4, Some(0x40..0x45)) => return Err(refuse(Reason::LengthTooSmall, PAYLOAD)),
        (Next::Ipv4, Some(first)) => (usize::from(first & 15).saturating_mul(4), 2, 0),
        // RFC 8200 §3: the length does not count the header.
        (Next::Ipv6, _) => (0, 4, 40),
        _ => return Ok(()),
    };
    let len = be16(packet, field).ok_or(refuse(Reason::Truncated, PAYLOAD))?;
    let len = usize::from(len);
    if len < least_len {
        return Err(refuse(Reason::LengthTooSmall, PAYLOAD));
    }
    if len.saturating_add(uncounted) > wire_len {
        return Err(refuse(Reason::LengthBeyondPacket, PAYLOAD));
    }
    Ok(())
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Lisp, reason, offset)
}

/// Where the payload starts, as an offset of refusals.
const PAYLOAD: u16 = 8;
/// I: the second word begins with an instance.
const INSTANCE: u8 = 0x08;
/// P: the first word ends with the next protocol.
const NEXT_PROTOCOL_VALID: u8 = 0x04;
/// K: the key that encrypts the payload.
const KEY: u8 = 0x03;

#[cfg(test)]
mod tests {
    use super::{LispHeader, refuse};
    use crate::Next;
    use flowpin_packet::Reason;

    /// An IPv4 packet of 24 bytes.
    const IPV4: &[u8] = &[
        0x45, 0, 0, 24, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4,
    ];

    fn parsed(header: [u8; 8], payload: &[u8]) -> Result<(Next, Option<u32>), (Reason, u16)> {
        let bytes = [&header[..], payload].concat();
        let view = LispHeader::parse(&bytes, bytes.len());
        view.map(|view| {
            assert_eq!((view.header_len(), view.payload()), (8, payload));
            (view.next(), view.instance_id())
        })
        .map_err(|refused| {
            assert_eq!(refused, refuse(refused.reason, refused.offset));
            (refused.reason, refused.offset)
        })
    }

    /// Without I, the second word is about locators; only its first three bytes are the instance.
    #[test]
    fn the_instance_is_there_only_if_its_flag_says_so() {
        let locators = [0xc0, 1, 2, 3, 0, 0, 7, 1];
        assert_eq!(parsed(locators, IPV4), Ok((Next::Ip, None)));
        let instance = [0x48, 0, 0, 0, 0, 1, 2, 3];
        assert_eq!(parsed(instance, IPV4), Ok((Next::Ip, Some(0x102))));
    }

    /// RFC 9300 §5.3: N with V counts as N, E without N is ignored. A receiver takes such packets,
    /// so they must not hide what they carry.
    #[test]
    fn contradictory_flags_are_taken_as_a_receiver_would() {
        for flags in [0x90, 0x30, 0xf8] {
            assert!(parsed([flags, 0, 0, 0, 0, 0, 0, 0], IPV4).is_ok());
        }
    }

    /// RFC 9305 §3: with P the header names what follows, and it must be that.
    #[test]
    fn the_extension_names_its_payload() {
        let header = |next| [0x04, 0, 0, next, 0, 0, 0, 0];
        let ipv6 = [&[0x60, 0, 0, 0, 0, 0, 59, 64][..], &[1; 32]].concat();
        let frame = [&[2; 12][..], &[8, 0], IPV4].concat();
        let next = |header, payload: &[u8]| parsed(header, payload).map(|(next, _)| next);
        assert_eq!(next(header(1), IPV4), Ok(Next::Ipv4));
        assert_eq!(next(header(2), &ipv6), Ok(Next::Ipv6));
        assert_eq!(next(header(3), &frame), Ok(Next::Ethernet));
        assert_eq!(next(header(4), &[0x0f, 0xc6]), Ok(Next::Nsh));
        assert_eq!(next(header(2), IPV4), Err((Reason::IllegalValue, 8)));
        assert_eq!(next(header(0), IPV4), Err((Reason::Unsupported, 3)));
        assert_eq!(next([0, 0, 0, 9, 0, 0, 0, 0], &ipv6), Ok(Next::Ip));
    }

    /// The packet inside must fit: nothing else tells LISP from other datagrams.
    #[test]
    fn a_packet_that_does_not_fit_is_not_lisp() {
        let inside = |payload: &[u8]| parsed([0; 8], payload).unwrap_err();
        let with_len = |len| [&[0x45, 0, 0, len], &IPV4[4..]].concat();
        assert_eq!(inside(&with_len(25)), (Reason::LengthBeyondPacket, 8));
        assert_eq!(inside(&with_len(19)), (Reason::LengthTooSmall, 8));
        for first in [0x47, 0x44] {
            let header = [&[first, 0, 0, 24], &IPV4[4..]].concat();
            assert_eq!(inside(&header), (Reason::LengthTooSmall, 8));
        }
        let ipv6 = [&[0x60, 0, 0, 0, 0, 1, 59, 64][..], &[1; 32]].concat();
        assert_eq!(inside(&ipv6), (Reason::LengthBeyondPacket, 8));
        assert_eq!(inside(&IPV4[..3]), (Reason::Truncated, 8));
        assert_eq!(inside(&[]), (Reason::Truncated, 8));
        assert_eq!(inside(&[0x12; 40]), (Reason::IllegalValue, 8));
        // Bytes after the packet are ignored, as its receiver would.
        assert!(parsed([0; 8], &with_len(20)).is_ok());
    }

    /// What uses the port for something else is left alone: of random datagrams of 1,400 bytes,
    /// less than one in a thousand is taken.
    #[test]
    fn random_datagrams_are_not_lisp() {
        let mut state = 1u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_be_bytes()[..5].to_vec()
        };
        // The low bits of such a generator have short periods: five bytes of each number.
        let taken = (0..100_000).filter(|_| {
            let bytes = [(); 4].map(|()| random()).concat();
            LispHeader::parse(&bytes, 1_400).is_ok()
        });
        let taken = taken.count();
        assert!((1..100).contains(&taken), "{taken}");
    }

    /// A packet cut by the capture is still LISP: its length counts on the wire.
    #[test]
    fn a_cut_packet_is_measured_on_the_wire() {
        let bytes = [&[0; 8], &IPV4[..4]].concat();
        assert!(LispHeader::parse(&bytes, 8 + 24).is_ok());
        let refused = LispHeader::parse(&bytes, 8 + 23).unwrap_err();
        assert_eq!(refused, refuse(Reason::LengthBeyondPacket, 8));
    }

    /// Neither what is encrypted nor what is too short is read.
    #[test]
    fn what_cannot_be_read_is_refused() {
        for key in 1..4 {
            let got = parsed([key, 0, 0, 0, 0, 0, 0, 0], IPV4);
            assert_eq!(got, Err((Reason::Unsupported, 0)));
        }
        let short = LispHeader::parse(&[0; 7], 40).unwrap_err();
        assert_eq!(short, refuse(Reason::Truncated, 0));
    }
}
