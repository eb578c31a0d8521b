//! A packet as rules see it: the fields of its headers, and its payload.

use core::net::IpAddr;
use flowpin_packet::{PacketKind, PacketMeta};
use flowpin_rule::PacketHeader;

/// A packet of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Its bytes, as they were captured.
    pub frame: &'a [u8],
    /// Where what stands in them.
    pub meta: &'a PacketMeta,
    /// What was captured of its payload.
    pub payload: &'a [u8],
    /// Its VLANs, outermost first, if rules ask for them; `0xffff`: no such tag.
    pub vlans: [u16; 2],
}

impl<'a> Packet<'a> {
    /// The bytes of the frame from one place up to another one, or to its end.
    pub(super) fn between(&self, from: u16, to: u16) -> &'a [u8] {
        let to = usize::from(to).min(self.frame.len());
        self.frame.get(usize::from(from)..to).unwrap_or_default()
    }

    fn from(&self, offset: u16) -> &'a [u8] {
        self.frame.get(usize::from(offset)..).unwrap_or_default()
    }

    fn ip(&self) -> &'a [u8] {
        self.from(self.meta.l3_offset)
    }

    fn byte(&self, at: usize) -> Option<u64> {
        self.ip().get(at).map(|&byte| byte.into())
    }

    pub(super) fn is_ipv6(&self) -> bool {
        self.meta.key.is_ipv6()
    }

    /// RFC 791 §3.1, RFC 8200 §3.
    pub(crate) fn ttl(&self) -> Option<u64> {
        self.byte(if self.is_ipv6() { 7 } else { 8 })
    }

    pub(crate) fn tos(&self) -> Option<u64> {
        match self.is_ipv6() {
            false => self.byte(1),
            true => Some((self.byte(0)? & 0xf) << 4 | self.byte(1)? >> 4),
        }
    }

    pub(crate) fn id(&self) -> Option<u64> {
        if self.is_ipv6() {
            return None;
        }
        Some(self.byte(4)? << 8 | self.byte(5)?)
    }

    /// The three bits of IPv4's flags, and the fragment offset.
    pub(crate) fn fragment(&self) -> Option<(u8, u64)> {
        if self.is_ipv6() {
            return None;
        }
        let word = self.byte(6)? << 8 | self.byte(7)?;
        Some(((word >> 13) as u8, word & 0x1fff))
    }

    /// The addresses of an ICMP error, which are in the header before it: `l3_offset` is where the
    /// packet begins that it quotes. None if extension headers of IPv6 stand between.
    pub(crate) fn error_addresses(&self) -> Option<(IpAddr, IpAddr)> {
        let before = self.frame.get(..usize::from(self.meta.l4_offset))?;
        if self.is_ipv6() {
            let ip = before.last_chunk::<40>()?;
            let (from, to) = ip.get(8..)?.split_first_chunk::<16>()?;
            let is_header = ip[0] >> 4 == 6 && ip[6] == ICMPV6;
            return is_header.then_some(((*from).into(), (*to.first_chunk::<16>()?).into()));
        }
        // RFC 791 §3.1: its length is in its first byte.
        (5..=15).find_map(|words: u8| {
            let begin = before.len().checked_sub(usize::from(words) * 4)?;
            let ip = before.get(begin..)?.first_chunk::<20>()?;
            let (from, to) = ip.get(12..)?.split_first_chunk::<4>()?;
            let is_header = ip[0] == 0x40 | words && ip[9] == ICMP;
            is_header.then_some(((*from).into(), (*to.first_chunk::<4>()?).into()))
        })
    }

    /// The length of an ICMP header, with what belongs to it of some types (RFC 792, RFC 950,
    /// RFC 1256).
    fn icmp_len(&self) -> usize {
        let header = self.from(self.meta.l4_offset);
        let byte = |at: usize| header.get(at).map_or(0, |&byte| usize::from(byte));
        match byte(0) {
            9 => 8 + byte(4) * byte(5) * 4,
            13 | 14 => 20,
            17 | 18 => 12,
            _ => 8,
        }
    }

    /// Type and code of ICMP.
    pub(crate) fn icmp(&self) -> Option<(u64, u64)> {
        match self.meta.kind {
            PacketKind::Icmp | PacketKind::IcmpError => {
                Some((self.meta.tcp_flags.0.into(), self.meta.icmp_code.into()))
            }
            _ => None,
        }
    }

    /// Identifier and sequence number of ICMP, where its type has them: echo, time stamp and
    /// information (RFC 792), and address mask (RFC 950 appendix I); of ICMPv6 echo (RFC 4443 §4).
    pub(crate) fn icmp_echo(&self) -> Option<(u64, u64)> {
        let (kind, _) = self.icmp()?;
        match self.is_ipv6() {
            true => matches!(kind, 128 | 129),
            false => matches!(kind, 0 | 8 | 13..=18),
        }
        .then_some(())?;
        let word = self.from(self.meta.l4_offset).get(4..8)?;
        let pair = |at: usize| Some(u64::from(*word.get(at)?) << 8 | u64::from(*word.get(at + 1)?));
        Some((pair(0)?, pair(2)?))
    }

    /// The bytes of a header, if the packet has it.
    pub(crate) fn header(&self, which: PacketHeader) -> Option<&'a [u8]> {
        let meta = self.meta;
        let is_v6 = self.is_ipv6();
        let is_there = match which {
            PacketHeader::Ipv4 => !is_v6,
            PacketHeader::Ipv6 => is_v6,
            PacketHeader::Tcp => meta.kind == PacketKind::Tcp,
            PacketHeader::Udp => meta.kind == PacketKind::Udp,
            PacketHeader::Icmpv4 => self.icmp().is_some() && !is_v6,
            PacketHeader::Icmpv6 => self.icmp().is_some() && is_v6,
        };
        let (from, to) = match which {
            PacketHeader::Ipv4 | PacketHeader::Ipv6 => (meta.l3_offset, meta.l4_offset),
            _ => (meta.l4_offset, meta.payload_offset),
        };
        let from = usize::from(from);
        let to = match which {
            PacketHeader::Icmpv4 => self.frame.len().min(from + self.icmp_len()),
            _ => usize::from(to),
        };
        self.frame.get(from..to).filter(|_| is_there)
    }
}

// Protocol numbers of IP.
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
