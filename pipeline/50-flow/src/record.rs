//! The record of a connection, built when it is due and never stored.

use crate::conn_state::{self, Outcome};
use crate::entry::{Bits, Cold, End, EndState, Extra, Hot};
use crate::identity::Identity;
use core::net::{IpAddr, Ipv4Addr};
use flowpin_packet::{Endpoints, Seq, TcpFlags};
use flowpin_record::{
    ConnRecord, ConnState, Direction, EndReason, FlowState, History, RecordEndpoint, TcpState, Uid,
};
use flowpin_wire::transport::{IcmpFamily, IcmpKind};

/// Protocol number in the key of a connection made of ICMP errors alone: reserved by IANA, so no
/// packet has it together with a subkind.
pub(crate) const ICMP_ERROR_PROTOCOL: u8 = 255;

/// All parts of one connection.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) hot: &'a Hot,
    pub(crate) cold: &'a Cold,
    pub(crate) extra: Option<&'a Extra>,
    /// Where the key does not hold them.
    pub(crate) addresses: Option<&'a Endpoints>,
}

impl Parts<'_> {
    pub(crate) fn uid(&self, identity: Identity) -> Uid {
        identity.uid(
            self.hot.key,
            self.addresses,
            self.cold.start,
            self.cold.first_packet,
        )
    }

    /// The IP protocol number.
    fn protocol(&self) -> u8 {
        match (self.is_icmp_error(), self.hot.key.is_ipv6()) {
            (false, _) => self.hot.key.protocol(),
            (true, false) => ICMP,
            (true, true) => ICMPV6,
        }
    }

    fn is_icmp_error(&self) -> bool {
        self.hot.bits.has(Bits::ICMP_ERROR)
    }

    /// The record as of now.
    pub(crate) fn record(&self, identity: Identity, reason: EndReason, interim: u32) -> ConnRecord {
        let Self { hot, cold, .. } = *self;
        let protocol = self.protocol();
        let icmp = matches!(protocol, ICMP | ICMPV6)
            .then(|| ((cold.start_seq[0].0 >> 8) as u8, cold.start_seq[0].0 as u8));
        let (client, server) = self.sides(icmp);
        let (up, down) = (hot.client(), hot.client() ^ 1);
        let (to_server, to_client) = (self.direction(up, protocol), self.direction(down, protocol));
        let history = hot.history.history();
        let mut record = ConnRecord {
            uid: self.uid(identity),
            start: cold.start,
            end: hot.end,
            first_packet: cold.first_packet,
            protocol,
            client,
            server,
            to_server,
            to_client,
            conn_state: self.conn_state(protocol, &history, &to_server, &to_client),
            history,
            flow_state: FlowState::New,
            tcp_state: TcpState::None,
            reason,
            interim,
            rtt_ns: None,
            vlans: cold.vlans,
            tunnel: self.extra.and_then(|extra| extra.tunnel),
            flipped: hot.bits.has(Bits::FLIPPED),
            midstream: hot.bits.has(Bits::MIDSTREAM),
            icmp,
        };
        if protocol == TCP {
            record.tcp_state = hot.tcp_state;
            record.flow_state = crate::suricata::flow_state(hot.tcp_state);
            record.rtt_ns = hot.bits.has(Bits::RTT_KNOWN).then(|| cold.rtt.into());
        } else if hot.bits.has(Bits::OVER) {
            record.flow_state = FlowState::Closed;
        } else if to_server.packets > 0 && to_client.packets > 0 {
            record.flow_state = FlowState::Established;
        }
        record
    }

    /// Client and server; ICMP has types and codes for ports, as Zeek writes them.
    fn sides(&self, icmp: Option<(u8, u8)>) -> (RecordEndpoint, RecordEndpoint) {
        let hot = self.hot;
        let ipv6 = hot.key.is_ipv6();
        let ports = hot.key.ports();
        // PERF: without a way through sixteen bytes each, most of them 0.
        let (low, high) = match self.addresses {
            Some(&Endpoints { low, high }) => (
                Endpoints::address(low, ipv6),
                Endpoints::address(high, ipv6),
            ),
            None => (ipv4_of(hot.key.low), ipv4_of(hot.key.high)),
        };
        let low = RecordEndpoint {
            address: low,
            port: ports.0,
        };
        let high = RecordEndpoint {
            address: high,
            port: ports.1,
        };
        let (mut client, mut server) = if hot.client() == 0 {
            (low, high)
        } else {
            (high, low)
        };
        if let Some((icmp_type, code)) = icmp {
            let family = if ipv6 { IcmpFamily::V6 } else { IcmpFamily::V4 };
            let counterpart = IcmpKind::of(family, icmp_type).counterpart();
            client.port = icmp_type.into();
            server.port = counterpart.unwrap_or(code).into();
        }
        (client, server)
    }

    fn direction(&self, side: usize, protocol: u8) -> Direction {
        let hot = self.hot;
        let mut out = Direction {
            packets: hot.packets[side].into(),
            frame_bytes: hot.frame_bytes[side].into(),
            ip_bytes: hot.ip_bytes[side].into(),
            payload_bytes: hot.payload_bytes[side].into(),
            tcp_flags: if protocol == TCP {
                hot.tcp_flags[side]
            } else {
                TcpFlags(0)
            },
            ..Direction::default()
        };
        if let Some(extra) = self.extra {
            out.packets += extra.packets[side];
            out.frame_bytes += extra.frame_bytes[side];
            out.ip_bytes += extra.ip_bytes[side];
            out.payload_bytes += extra.payload_bytes[side];
            out.missed_bytes = extra.missed_bytes[side];
            out.duplicates = extra.duplicates[side];
            out.snapped = extra.snapped[side];
            out.bad_checksums = extra.bad_checksums[side];
            out.icmp_errors = extra.icmp_errors[side];
        }
        out.stream_bytes = if protocol == TCP {
            self.stream_bytes(side)
        } else {
            out.payload_bytes
        };
        out
    }

    /// Bytes by sequence numbers: from the SYN to the last one seen or acknowledged, without
    /// SYN and FIN themselves.
    fn stream_bytes(&self, side: usize) -> u64 {
        let hot = self.hot;
        if hot.ends[side] == End::default() {
            return 0;
        }
        let next = hot.next[side];
        let wraps = self.extra.map_or(0, |extra| extra.wraps[side]);
        let islands_end = self.extra.and_then(|extra| extra.islands[side].end());
        let beyond = islands_end.map_or(0, |end: Seq| end.distance_from(next).max(0));
        let end = (u64::from(wraps) << 32)
            .saturating_add(next.0.into())
            .saturating_add(beyond.unsigned_abs().into());
        // Wraps are counted from the first byte on, which the SYN precedes.
        let first = self.cold.start_seq[side].plus(1);
        let fin = u64::from(hot.tcp_flags[side].has(TcpFlags::FIN));
        end.saturating_sub(first.0.into()).saturating_sub(fin)
    }

    fn conn_state(
        &self,
        protocol: u8,
        history: &History,
        to_server: &Direction,
        to_client: &Direction,
    ) -> ConnState {
        match protocol {
            TCP => {
                let (client, server): (EndState, EndState) = conn_state::sides(self.hot);
                let empty = to_server.stream_bytes == 0 && to_client.stream_bytes == 0;
                conn_state::of_tcp(&Outcome {
                    client,
                    server,
                    history,
                    empty,
                })
            }
            UDP | SCTP => {
                let sent = |side: &Direction| side.packets > u64::from(side.bad_checksums);
                conn_state::of_datagrams(sent(to_server), sent(to_client))
            }
            // Zeek gives ICMP and other protocols no state.
            _ => ConnState::OTH,
        }
    }
}

/// The address in one word of an IPv4 key.
const fn ipv4_of(word: u64) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits((word >> 16) as u32))
}

pub(crate) const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
pub(crate) const ICMPV6: u8 = 58;
const SCTP: u8 = 132;
