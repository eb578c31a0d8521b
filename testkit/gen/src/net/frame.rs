//! One frame: headers written in place, checksums added over what was written.

use super::checksum::{fold, sum};
use super::ends::{Ends, PREFIX_V6};
use super::tunnel::be16;
use crate::options::{Options, Tunnel};

/// TCP's control bits.
pub(crate) mod flags {
    pub(crate) const FIN: u8 = 1;
    pub(crate) const SYN: u8 = 2;
    pub(crate) const RST: u8 = 4;
    pub(crate) const PSH: u8 = 8;
    pub(crate) const ACK: u8 = 16;
}

/// What a TCP segment says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) from_client: bool,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    pub(crate) ip_id: u16,
}

/// MSS, SACK permitted, window scale 7 (RFC 9293 §3.7.1, RFC 2018, RFC 7323).
const SYN_OPTIONS_LEN: usize = 12;
const WINDOW: u16 = 0xfaf0;
const TCP_LEN: usize = 20;
const UDP_LEN: usize = 8;
const FRAGMENT_LEN_V6: usize = 8;

/// How frames are laid out in this trace.
#[derive(Clone, Debug)]
pub(crate) struct Framing {
    vlans: Vec<u16>,
    tunnel: Tunnel,
    mtu: usize,
    /// A datagram that is cut up.
    datagram: Vec<u8>,
}

/// Which part of a datagram a packet holds.
#[derive(Clone, Copy, Debug, Default)]
struct Fragment {
    /// In units of 8 bytes.
    offset: u16,
    more: bool,
    is_one: bool,
}

impl Framing {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            vlans: options.vlans.clone(),
            tunnel: options.tunnel,
            mtu: options.mtu.into(),
            datagram: Vec::with_capacity(1 << 16),
        }
    }

    /// Bytes of all headers of a TCP segment without options.
    pub(crate) fn tcp_overhead(&self, v6: bool) -> u32 {
        self.overhead(v6) + 20
    }

    /// Bytes of all headers of a UDP datagram.
    pub(crate) fn udp_overhead(&self, v6: bool) -> u32 {
        self.overhead(v6) + 8
    }

    fn overhead(&self, v6: bool) -> u32 {
        let len = 14 + 4 * self.vlans.len() + self.tunnel.len() + if v6 { 40 } else { 20 };
        u32::try_from(len).unwrap_or(u32::MAX)
    }

    /// The most data in a segment.
    pub(crate) fn mss(&self, v6: bool) -> u32 {
        let headers = TCP_LEN + if v6 { 40 } else { 20 };
        u32::try_from(self.mtu.saturating_sub(headers)).unwrap_or(u32::MAX)
    }

    /// Appends a frame with a TCP segment, whose data `data` appends.
    #[inline]
    pub(crate) fn tcp(
        &self,
        ends: &Ends,
        segment: Segment,
        data_len: usize,
        out: &mut Vec<u8>,
        data: impl FnOnce(&mut Vec<u8>),
    ) {
        let is_syn = segment.flags & flags::SYN != 0;
        let header_len = TCP_LEN + if is_syn { SYN_OPTIONS_LEN } else { 0 };
        let len = header_len + data_len;
        let from_client = segment.from_client;
        self.headers(
            ends,
            from_client,
            6,
            segment.ip_id,
            len,
            Fragment::default(),
            out,
        );
        let start = out.len();
        let mut header = [0; TCP_LEN];
        let (source, destination) = ends.ports(from_client);
        header[..2].copy_from_slice(&source.to_be_bytes());
        header[2..4].copy_from_slice(&destination.to_be_bytes());
        header[4..8].copy_from_slice(&segment.seq.to_be_bytes());
        header[8..12].copy_from_slice(&segment.ack.to_be_bytes());
        header[12] = if is_syn { 0x80 } else { 0x50 };
        header[13] = segment.flags;
        header[14..16].copy_from_slice(&WINDOW.to_be_bytes());
        out.extend_from_slice(&header);
        if is_syn {
            let [high, low] = be16(self.mss(ends.v6) as usize);
            out.extend_from_slice(&[2, 4, high, low, 4, 2, 1, 3, 3, 7, 1, 0]);
        }
        data(out);
        let written = out.get(start..).unwrap_or_default();
        let checksum = !fold(sum(written) + ends.pseudo_sum(6, len));
        put(out, start + 16, checksum);
    }

    /// Writes a UDP datagram and says how many fragments it takes.
    pub(crate) fn datagram(
        &mut self,
        ends: &Ends,
        from_client: bool,
        data_len: usize,
        data: impl FnOnce(&mut Vec<u8>),
    ) -> u32 {
        self.datagram.clear();
        udp(
            ends,
            from_client,
            UDP_LEN + data_len,
            &mut self.datagram,
            data,
        );
        self.pieces(ends.v6, self.datagram.len())
    }

    /// How many frames a datagram with so much data takes.
    pub(crate) fn fragments(&self, v6: bool, data_len: u32) -> u32 {
        self.pieces(v6, UDP_LEN + data_len as usize)
    }

    fn pieces(&self, v6: bool, len: usize) -> u32 {
        if len + if v6 { 40 } else { 20 } <= self.mtu {
            return 1;
        }
        u32::try_from(len.div_ceil(self.fragment_step(v6))).unwrap_or(u32::MAX)
    }

    fn fragment_step(&self, v6: bool) -> usize {
        let headers = if v6 { 40 + FRAGMENT_LEN_V6 } else { 20 };
        // RFC 791 §3.2: offsets count eight bytes.
        self.mtu.saturating_sub(headers).max(8) / 8 * 8
    }

    /// Appends fragment `nth` of the datagram that was written last.
    pub(crate) fn fragment(
        &self,
        ends: &Ends,
        from_client: bool,
        ip_id: u16,
        nth: u32,
        out: &mut Vec<u8>,
    ) {
        let is_one = self.pieces(ends.v6, self.datagram.len()) > 1;
        let step = if is_one {
            self.fragment_step(ends.v6)
        } else {
            self.datagram.len()
        };
        let start = step * nth as usize;
        let end = self.datagram.len().min(start + step);
        let part = self.datagram.get(start..end).unwrap_or_default();
        let fragment = Fragment {
            offset: u16::try_from(start / 8).unwrap_or(u16::MAX),
            more: end < self.datagram.len(),
            is_one,
        };
        self.headers(ends, from_client, 17, ip_id, part.len(), fragment, out);
        out.extend_from_slice(part);
    }

    /// All headers up to the transport's.
    #[expect(clippy::too_many_arguments, reason = "what an IP header says")]
    #[inline]
    fn headers(
        &self,
        ends: &Ends,
        from_client: bool,
        protocol: u8,
        ip_id: u16,
        payload_len: usize,
        fragment: Fragment,
        out: &mut Vec<u8>,
    ) {
        let (source, destination) = ends.hosts(from_client);
        let mut ethernet = [2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0];
        ethernet[2..6].copy_from_slice(&destination.to_be_bytes());
        ethernet[8..12].copy_from_slice(&source.to_be_bytes());
        out.extend_from_slice(&ethernet);
        for (nth, vlan) in self.vlans.iter().enumerate() {
            let is_last = nth + 1 == self.vlans.len();
            out.extend_from_slice(if is_last { &[0x81, 0] } else { &[0x88, 0xa8] });
            out.extend_from_slice(&vlan.to_be_bytes());
        }
        let is_v6 = ends.v6 && self.tunnel == Tunnel::None;
        out.extend_from_slice(if is_v6 { &[0x86, 0xdd] } else { &[8, 0] });
        let extension_len = if ends.v6 && fragment.is_one {
            FRAGMENT_LEN_V6
        } else {
            0
        };
        let ip_len = extension_len + payload_len + if ends.v6 { 40 } else { 20 };
        self.tunnel.write(from_client, ends.v6, ip_len, out);
        if ends.v6 {
            let next = if fragment.is_one { 44 } else { protocol };
            ends.header_v6(from_client, next, ip_len - 40, out);
            if fragment.is_one {
                // RFC 8200 §4.5.
                let word = fragment.offset << 3 | u16::from(fragment.more);
                out.extend_from_slice(&[protocol, 0]);
                out.extend_from_slice(&word.to_be_bytes());
                out.extend_from_slice(&u32::from(ip_id).to_be_bytes());
            }
        } else {
            let word = if fragment.is_one {
                fragment.offset | u16::from(fragment.more) << 13
            } else {
                0x4000
            };
            ends.header_v4(from_client, protocol, ip_len, ip_id, word, out);
        }
    }
}

/// A UDP header and data, checksum right.
fn udp(
    ends: &Ends,
    from_client: bool,
    len: usize,
    out: &mut Vec<u8>,
    data: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    let (source, destination) = ends.ports(from_client);
    out.extend_from_slice(&source.to_be_bytes());
    out.extend_from_slice(&destination.to_be_bytes());
    out.extend_from_slice(&be16(len));
    out.extend_from_slice(&[0, 0]);
    data(out);
    let written = out.get(start..).unwrap_or_default();
    let checksum = !fold(sum(written) + ends.pseudo_sum(17, len));
    // RFC 768: 0 would mean that there is none.
    put(
        out,
        start + 6,
        if checksum == 0 { 0xffff } else { checksum },
    );
}

impl Ends {
    fn hosts(&self, from_client: bool) -> (u32, u32) {
        if from_client {
            (self.client, self.server)
        } else {
            (self.server, self.client)
        }
    }

    fn ports(&self, from_client: bool) -> (u16, u16) {
        if from_client {
            (self.client_port, self.server_port)
        } else {
            (self.server_port, self.client_port)
        }
    }

    /// RFC 9293 §3.1, RFC 8200 §8.1; the prefix of both IPv6 addresses included.
    fn pseudo_sum(&self, protocol: u8, len: usize) -> u32 {
        let words = |host: u32| (host >> 16) + (host & 0xffff);
        let len = u32::try_from(len).unwrap_or(0);
        let sum = words(self.client) + words(self.server) + u32::from(protocol) + len;
        if self.v6 {
            return sum + 2 * (0x2001 + 0x0db8);
        }
        sum
    }

    fn header_v4(
        &self,
        from_client: bool,
        protocol: u8,
        len: usize,
        ip_id: u16,
        fragment: u16,
        out: &mut Vec<u8>,
    ) {
        let (source, destination) = self.hosts(from_client);
        let ttl: u8 = if from_client { 64 } else { 57 };
        let mut header = [
            0x45, 0, 0, 0, 0, 0, 0, 0, ttl, protocol, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        header[2..4].copy_from_slice(&be16(len));
        header[4..6].copy_from_slice(&ip_id.to_be_bytes());
        header[6..8].copy_from_slice(&fragment.to_be_bytes());
        header[12..16].copy_from_slice(&source.to_be_bytes());
        header[16..].copy_from_slice(&destination.to_be_bytes());
        let checksum = !fold(sum(&header));
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        out.extend_from_slice(&header);
    }

    fn header_v6(&self, from_client: bool, next: u8, len: usize, out: &mut Vec<u8>) {
        let (source, destination) = self.hosts(from_client);
        let hops = if from_client { 64 } else { 57 };
        let [high, low] = be16(len);
        out.extend_from_slice(&[0x60, 0, 0, 0, high, low, next, hops]);
        for host in [source, destination] {
            out.extend_from_slice(&PREFIX_V6);
            out.extend_from_slice(&host.to_be_bytes());
        }
    }
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    if let Some(field) = bytes.get_mut(at..at + 2) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}
