//! Link types: what a captured frame begins with, before Ethernet, IP or LLC.
//!
//! Media other than Ethernet (PPP, Frame Relay, wireless, rings), and headers that only the
//! capture adds (Linux "cooked", NFLOG, radiotap …). All come down to one [`LinkFrame`].

mod arcnet;
mod fibre;
mod frame_relay;
mod hdlc;
mod juniper;
mod nflog;
mod null;
mod pflog;
mod ppi;
mod sll;
mod token_ring;
mod wireless;

use crate::Next;
use flowpin_packet::{Layer, LinkType, Malformed, Reason, bad};

/// A frame without its link type's own header.
#[derive(Clone, Copy, Debug)]
pub struct LinkFrame<'a> {
    next: Next,
    header_len: u16,
    payload: &'a [u8],
}

impl<'a> LinkFrame<'a> {
    /// Takes the header of any link type off a captured frame. An Ethernet frame has none: it
    /// comes back whole.
    ///
    /// # Errors
    /// [`Reason::Unsupported`] for [`LinkType::Unsupported`] and for frames that hold only a part
    /// of a packet, or several; else what the header's own rules say, in the name of
    /// [`Layer::Link`] or [`Layer::Ieee80211`].
    ///
    /// ```
    /// use flowpin_packet::LinkType;
    /// use flowpin_wire::{Next, medium::LinkFrame};
    /// let bytes = [/* AF_INET */ 2, 0, 0, 0, 0x45];
    /// let frame = LinkFrame::parse(LinkType::Null, &bytes)?;
    /// assert_eq!((frame.next(), frame.payload()), (Next::Ipv4, &[0x45][..]));
    /// # Ok::<(), flowpin_wire::Malformed>(())
    /// ```
    pub fn parse(link: LinkType, bytes: &'a [u8]) -> Result<Self, Malformed> {
        match link {
            LinkType::Ethernet => Ok(Self::bare(Next::Ethernet, bytes)),
            LinkType::Raw => Ok(Self::bare(Next::Ip, bytes)),
            LinkType::Ipv4 => Ok(Self::bare(Next::Ipv4, bytes)),
            LinkType::Ipv6 => Ok(Self::bare(Next::Ipv6, bytes)),
            LinkType::PppEther => Ok(Self::bare(Next::PppoeSession, bytes)),
            LinkType::AtmRfc1483 => Ok(Self::bare(Next::Llc, bytes)),
            LinkType::Null | LinkType::Loop => null::parse(bytes),
            LinkType::LinuxSll => sll::parse(bytes),
            LinkType::LinuxSll2 => sll::parse_2(bytes),
            LinkType::Ppp | LinkType::PppSerial => hdlc::parse(bytes),
            LinkType::CiscoHdlc => hdlc::parse_cisco(bytes),
            LinkType::FrameRelay => frame_relay::parse(bytes),
            LinkType::TokenRing => token_ring::parse(bytes),
            LinkType::Fddi => fibre::parse_fddi(bytes),
            LinkType::IpOverFc => fibre::parse_channel(bytes),
            LinkType::ArcnetBsd => arcnet::parse_bsd(bytes),
            LinkType::ArcnetLinux => arcnet::parse_linux(bytes),
            LinkType::Ieee80211 => wireless::parse(bytes),
            LinkType::Ieee80211Radiotap => wireless::parse_radiotap(bytes),
            LinkType::Ieee80211Prism => wireless::parse_prism(bytes),
            LinkType::Ieee80211Avs => wireless::parse_avs(bytes),
            LinkType::Ppi => ppi::parse(bytes),
            LinkType::Nflog => nflog::parse(bytes),
            LinkType::Pflog => pflog::parse(bytes),
            LinkType::JuniperEther => juniper::parse(bytes),
            LinkType::Unsupported => Err(refuse(Reason::Unsupported, 0)),
        }
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
    pub fn header_len(&self) -> usize {
        usize::from(self.header_len)
    }

    const fn bare(next: Next, payload: &'a [u8]) -> Self {
        Self {
            next,
            header_len: 0,
            payload,
        }
    }

    /// What is behind the first `header_len` bytes.
    fn behind(bytes: &'a [u8], header_len: usize, next: Next) -> Result<Self, Malformed> {
        let payload = bytes
            .get(header_len..)
            .ok_or(refuse(Reason::Truncated, 0))?;
        let header_len =
            u16::try_from(header_len).map_err(|_| refuse(Reason::LengthBeyondPacket, 0))?;
        Ok(Self {
            next,
            header_len,
            payload,
        })
    }

    /// The same with `len` bytes of another header in front.
    fn behind_another(self, len: u16) -> Self {
        Self {
            header_len: self.header_len.saturating_add(len),
            ..self
        }
    }
}

/// What an address family of any system stands for. IPv6 has a number of its own in each:
/// Linux 10, Windows 23, NetBSD and OpenBSD 24, FreeBSD 28, macOS 30.
const fn next_of_address_family(family: u32) -> Next {
    match family {
        2 => Next::Ipv4,
        10 | 23 | 24 | 28 | 30 => Next::Ipv6,
        _ => Next::Opaque,
    }
}

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Link, reason, offset)
}

#[cfg(test)]
mod tests {
    use super::LinkFrame;
    use crate::Next;
    use flowpin_packet::{LinkType, Reason};

    /// Link types without a header of their own hand the whole frame on.
    #[test]
    fn some_link_types_have_no_header() {
        for (link, next) in [
            (LinkType::Ethernet, Next::Ethernet),
            (LinkType::Raw, Next::Ip),
            (LinkType::Ipv4, Next::Ipv4),
            (LinkType::Ipv6, Next::Ipv6),
            (LinkType::Ppp, Next::Ppp),
            (LinkType::PppEther, Next::PppoeSession),
            (LinkType::AtmRfc1483, Next::Llc),
        ] {
            let frame = LinkFrame::parse(link, &[1, 2, 3]).unwrap();
            assert_eq!((frame.next(), frame.header_len()), (next, 0));
            assert_eq!(frame.payload(), [1, 2, 3]);
        }
    }

    /// A frame of an unknown kind is counted, not guessed at.
    #[test]
    fn an_unknown_link_type_is_refused() {
        let got = LinkFrame::parse(LinkType::Unsupported, &[0; 60]).unwrap_err();
        assert_eq!(got.reason, Reason::Unsupported);
    }
}
