//! ICMP (RFC 792) and ICMPv6 (RFC 4443): one view, a table for each family.
//!
//! ```text
//!  0      1      2          4                         8
//!  │ type │ code │ checksum │ identifier, sequence or │ data, or the packet that is quoted …
//!  │      │      │          │ what else the type says │
//! ```

use flowpin_packet::{Layer, Malformed, Reason, bad};

/// Whose types and codes a message uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IcmpFamily {
    /// ICMP, over IPv4.
    V4,
    /// ICMPv6, over IPv6.
    V6,
}

/// What a type of message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IcmpKind {
    /// An error: quotes the packet that caused it.
    Error,
    /// A request; the answer has the type given.
    Request {
        /// Type of the answer.
        reply: u8,
    },
    /// An answer; the request had the type given.
    Reply {
        /// Type of the request.
        request: u8,
    },
    /// Neither: nobody answers, and nothing is quoted.
    OneWay,
}

/// A message of either family. Borrows; never copies.
#[derive(Clone, Copy, Debug)]
pub struct IcmpMessage<'a> {
    header: &'a [u8; IcmpMessage::HEADER_LEN],
    payload: &'a [u8],
    payload_len: u32,
    family: IcmpFamily,
}

impl<'a> IcmpMessage<'a> {
    /// Bytes before the data or the quoted packet.
    pub const HEADER_LEN: usize = 8;

    /// Splits `bytes`, of which `wire_len` were on the wire (the IP payload's length).
    ///
    /// # Errors
    /// [`Reason::Truncated`] below eight bytes, [`Reason::LengthTooSmall`] if the packet never
    /// had them.
    #[inline]
    pub fn parse(bytes: &'a [u8], wire_len: usize, family: IcmpFamily) -> Result<Self, Malformed> {
        let layer = match family {
            IcmpFamily::V4 => Layer::Icmp,
            IcmpFamily::V6 => Layer::Icmpv6,
        };
        let Some(payload_len) = wire_len.checked_sub(Self::HEADER_LEN) else {
            return Err(bad(layer, Reason::LengthTooSmall, 0));
        };
        let Some((header, payload)) = bytes.split_first_chunk() else {
            return Err(bad(layer, Reason::Truncated, 0));
        };
        let payload = crate::bytes::captured(payload, payload_len);
        let payload_len = u32::try_from(payload_len).unwrap_or(u32::MAX);
        Ok(Self {
            header,
            payload,
            payload_len,
            family,
        })
    }

    /// The message's type (`type` is a word of the language).
    #[inline]
    pub const fn icmp_type(&self) -> u8 {
        self.header[0]
    }

    /// The code: a finer meaning of the type.
    #[inline]
    pub const fn code(&self) -> u8 {
        self.header[1]
    }

    /// The checksum as it stands.
    #[inline]
    pub const fn checksum(&self) -> u16 {
        u16::from_be_bytes([self.header[2], self.header[3]])
    }

    /// What the message is for.
    #[inline]
    pub const fn kind(&self) -> IcmpKind {
        IcmpKind::of(self.family, self.icmp_type())
    }

    /// Whether it quotes a packet: see [`Self::quoted`].
    #[inline]
    pub const fn is_error(&self) -> bool {
        matches!(self.kind(), IcmpKind::Error)
    }

    /// Identifier that joins requests and replies; 0 for types that have none.
    #[inline]
    pub const fn identifier(&self) -> u16 {
        if has_identifier(self.family, self.icmp_type()) {
            u16::from_be_bytes([self.header[4], self.header[5]])
        } else {
            0
        }
    }

    /// Sequence number of an echo or time stamp message.
    #[inline]
    pub const fn sequence_number(&self) -> u16 {
        u16::from_be_bytes([self.header[6], self.header[7]])
    }

    /// The packet that an error quotes, from its IP header on, as far as quoted and captured.
    ///
    /// RFC 4884 §3: a length in the header, if there is one, ends the packet; extensions follow.
    pub fn quoted(&self) -> &'a [u8] {
        let len = match (self.family, self.icmp_type()) {
            (IcmpFamily::V4, 3 | 11 | 12) => usize::from(self.header[5]) << 2,
            (IcmpFamily::V6, 1 | 3) => usize::from(self.header[4]) << 3,
            _ => 0,
        };
        if len == 0 {
            self.payload
        } else {
            crate::bytes::captured(self.payload, len)
        }
    }

    /// Where data or quoted packet start.
    #[inline]
    pub const fn header_len(&self) -> usize {
        Self::HEADER_LEN
    }

    /// What was captured behind the header.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Length behind the header on the wire.
    #[inline]
    pub const fn payload_len(&self) -> u32 {
        self.payload_len
    }
}

impl IcmpKind {
    /// By family and type; pairs as Community ID and Zeek define them.
    pub const fn of(family: IcmpFamily, icmp_type: u8) -> Self {
        match (family, icmp_type) {
            // Unreachable, source quench, redirect, time exceeded, parameter problem.
            (IcmpFamily::V4, 3..=5 | 11 | 12) => Self::Error,
            // RFC 4443 §2.1: ICMPv6 errors have the high bit clear; these are defined. 100, 101
            // and 127 are for experiments and reserved: nobody knows whether they quote.
            (IcmpFamily::V6, 1..=4) => Self::Error,
            // Echo, time stamp, information, address mask, router solicitation.
            (IcmpFamily::V4, 8) => Self::Request { reply: 0 },
            (IcmpFamily::V4, 0) => Self::Reply { request: 8 },
            (IcmpFamily::V4, 13 | 15 | 17) => Self::Request {
                reply: icmp_type.wrapping_add(1),
            },
            (IcmpFamily::V4, 14 | 16 | 18) => Self::Reply {
                request: icmp_type.wrapping_sub(1),
            },
            (IcmpFamily::V4, 10) => Self::Request { reply: 9 },
            (IcmpFamily::V4, 9) => Self::Reply { request: 10 },
            // Echo; router, neighbour; listener query and report; node information (RFC 4620);
            // home agent discovery (RFC 6275).
            (IcmpFamily::V6, 128 | 133 | 135 | 130 | 139 | 144) => Self::Request {
                reply: icmp_type.wrapping_add(1),
            },
            (IcmpFamily::V6, 129 | 134 | 136 | 131 | 140 | 145) => Self::Reply {
                request: icmp_type.wrapping_sub(1),
            },
            _ => Self::OneWay,
        }
    }

    /// The type at the other end of a request or reply.
    pub const fn counterpart(self) -> Option<u8> {
        match self {
            Self::Request { reply } => Some(reply),
            Self::Reply { request } => Some(request),
            Self::Error | Self::OneWay => None,
        }
    }
}

/// Whether bytes 4 and 5 join requests and replies of this type.
const fn has_identifier(family: IcmpFamily, icmp_type: u8) -> bool {
    match family {
        IcmpFamily::V4 => matches!(icmp_type, 0 | 8 | 13..=18),
        IcmpFamily::V6 => matches!(icmp_type, 128 | 129 | 144 | 145),
    }
}

#[cfg(test)]
mod tests {
    use super::{IcmpFamily, IcmpKind, IcmpMessage};
    use flowpin_packet::{Layer, Reason, bad};

    fn parse(bytes: &[u8], family: IcmpFamily) -> IcmpMessage<'_> {
        IcmpMessage::parse(bytes, bytes.len(), family).unwrap()
    }

    /// Request and reply must lead to each other, or a conversation would be two.
    #[test]
    fn pairs_lead_to_each_other() {
        for family in [IcmpFamily::V4, IcmpFamily::V6] {
            for icmp_type in 0..=255 {
                match IcmpKind::of(family, icmp_type) {
                    IcmpKind::Request { reply } => assert_eq!(
                        IcmpKind::of(family, reply),
                        IcmpKind::Reply { request: icmp_type }
                    ),
                    IcmpKind::Reply { request } => assert_eq!(
                        IcmpKind::of(family, request),
                        IcmpKind::Request { reply: icmp_type }
                    ),
                    IcmpKind::Error | IcmpKind::OneWay => {}
                }
            }
        }
    }

    /// The pairs are those of the Community ID specification.
    #[test]
    fn pairs_are_the_published_ones() {
        let requests = |family| {
            (0..=255u8)
                .filter_map(|t| match IcmpKind::of(family, t) {
                    IcmpKind::Request { reply } => Some((t, reply)),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(
            requests(IcmpFamily::V4),
            [(8, 0), (10, 9), (13, 14), (15, 16), (17, 18)]
        );
        assert_eq!(
            requests(IcmpFamily::V6),
            [
                (128, 129),
                (130, 131),
                (133, 134),
                (135, 136),
                (139, 140),
                (144, 145)
            ]
        );
    }

    /// An identifier is only read where the type has one.
    #[test]
    fn identifiers_belong_to_some_types() {
        assert_eq!(
            parse(&[8, 0, 0, 0, 1, 2, 0, 3], IcmpFamily::V4).identifier(),
            0x102
        );
        assert_eq!(
            parse(&[128, 0, 0, 0, 1, 2, 0, 3], IcmpFamily::V6).identifier(),
            0x102
        );
        assert_eq!(
            parse(&[135, 0, 0, 0, 1, 2, 0, 3], IcmpFamily::V6).identifier(),
            0
        );
        assert_eq!(
            parse(&[3, 0, 0, 0, 1, 2, 0, 3], IcmpFamily::V4).identifier(),
            0
        );
    }

    /// RFC 4884: the length ends the quoted packet, in words of the family's size.
    #[test]
    fn extensions_are_cut_off_the_quoted_packet() {
        let v4 = [11, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4, 5];
        assert_eq!(parse(&v4, IcmpFamily::V4).quoted(), [1, 2, 3, 4]);
        let v6 = [1, 4, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(
            parse(&v6, IcmpFamily::V6).quoted(),
            [1, 2, 3, 4, 5, 6, 7, 8]
        );
        let without = [3, 4, 0, 0, 0, 0, 5, 0xdc, 1, 2];
        assert_eq!(parse(&without, IcmpFamily::V4).quoted(), [1, 2]);
    }

    /// Too short a message is refused in its own family's name.
    #[test]
    fn short_messages_are_refused() {
        let got = IcmpMessage::parse(&[8; 7], 7, IcmpFamily::V4).unwrap_err();
        assert_eq!(got, bad(Layer::Icmp, Reason::LengthTooSmall, 0));
        let got = IcmpMessage::parse(&[8; 7], 64, IcmpFamily::V6).unwrap_err();
        assert_eq!(got, bad(Layer::Icmpv6, Reason::Truncated, 0));
    }
}
