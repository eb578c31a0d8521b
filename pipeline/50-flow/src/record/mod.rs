//! The record of a connection, built when it is due and never stored.

pub(crate) mod conn_state;
pub(crate) mod identity;
pub(crate) mod suricata;

use crate::entry::birth::Birth;
use crate::entry::{Addresses, Bits, Cold, End, EndState, Extra, Hot};
use crate::observe::NO_VLAN;
use conn_state::Outcome;
use core::net::{IpAddr, Ipv4Addr};
use flowpin_packet::{Endpoints, FlowKey, InterfaceId, Seq, TcpFlags, Timestamp};
use flowpin_record::{
    ConnRecord, ConnState, Direction, EndReason, FlowState, History, RecordEndpoint, TcpState, Uid,
};
use flowpin_wire::transport::{IcmpFamily, IcmpKind};
use identity::Identity;

/// Protocol number in the key of a connection that consists of ICMP errors alone: reserved by IANA,
/// so no packet has it together with a subkind.
pub(crate) const ICMP_ERROR_PROTOCOL: u8 = 255;

/// All parts of one connection.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) hot: &'a Hot,
    pub(crate) cold: &'a Cold,
    pub(crate) extra: Option<&'a Extra>,
    /// Present if the key does not hold them.
    pub(crate) addresses: Option<&'a Addresses>,
}

impl Parts<'_> {
    pub(crate) fn uid(&self, identity: Identity) -> Uid {
        let addresses = self.addresses.map(|addresses| &addresses.endpoints);
        identity.uid(self.hot.key, addresses, self.cold.start, self.birth())
    }

    pub(crate) fn birth(&self) -> Birth {
        match self.addresses {
            Some(addresses) => addresses.birth,
            None => Birth(self.cold.birth_or_addresses),
        }
    }

    /// The IP protocol number.
    pub(crate) fn protocol(&self) -> u8 {
        match (self.is_icmp_error(), self.hot.key.is_ipv6()) {
            (false, _) => self.hot.key.protocol(),
            (true, false) => ICMP,
            (true, true) => ICMPV6,
        }
    }

    fn is_icmp_error(&self) -> bool {
        self.hot.bits.has(Bits::ICMP_ERROR)
    }

    /// Writes the record as of now: all fields of `record`, whatever it held.
    // PERF: in place. If parts are built elsewhere and copied, the wide loads of the copy wait for
    // the narrow stores before them (150 cycles per record).
    pub(crate) fn write(
        &self,
        identity: Identity,
        reason: EndReason,
        interim: u32,
        record: &mut ConnRecord,
    ) {
        let Self { hot, cold, .. } = *self;
        let protocol = self.protocol();
        record.uid = self.uid(identity);
        record.start = cold.start;
        record.end = hot.end;
        record.open_until = self.open_until(protocol);
        record.first_packet = cold.first_packet;
        record.protocol = protocol;
        self.write_sides(record);
        self.write_direction(hot.client(), protocol, &mut record.to_server);
        self.write_direction(hot.client() ^ 1, protocol, &mut record.to_client);
        record.conn_state = self.conn_state(protocol, &record.to_server, &record.to_client);
        hot.history.write(&mut record.history);
        record.reason = reason;
        record.interim = interim;
        record.vlans = cold.vlans;
        record.interface = cold.interims.interface();
        record.tunnel = self.extra.and_then(|extra| extra.tunnel);
        record.flipped = hot.bits.has(Bits::FLIPPED);
        record.midstream = hot.bits.has(Bits::MIDSTREAM);
        record.app = None;
        record.tcp_state = TcpState::None;
        record.rtt_ns = None;
        record.flow_state = FlowState::New;
        if protocol == TCP {
            record.tcp_state = hot.tcp_state;
            record.flow_state = suricata::flow_state(hot.tcp_state);
            record.rtt_ns = hot.bits.has(Bits::RTT_KNOWN).then(|| cold.rtt.into());
        } else if hot.bits.has(Bits::OVER) {
            record.flow_state = FlowState::Closed;
        } else if record.to_server.packets > 0 && record.to_client.packets > 0 {
            record.flow_state = FlowState::Established;
        }
    }

    /// Zeek ignores times after both sides have closed: `since` stands still from then on, if the
    /// deadline of a closed connection is fixed (`--timeouts zeek`). A reset closes only its
    /// sender's side, so packets of the other side still count.
    fn open_until(&self, protocol: u8) -> Timestamp {
        let (hot, start) = (self.hot, self.cold.start);
        // Nearly always false; true if packets came after the close, or if the clock leapt: stream
        // time then says nothing about capture times.
        let stands_still = hot.since < hot.end && hot.since >= start && protocol == TCP;
        if stands_still && hot.ends.iter().all(|end| end.state() == EndState::Closed) {
            hot.since
        } else {
            hot.end
        }
    }

    fn write_sides(&self, record: &mut ConnRecord) {
        (record.client, record.server, record.icmp) = self.sides_of(record.protocol);
    }

    /// Client and server; ICMP has types and codes for ports, as in Zeek, and those of the first
    /// packet.
    pub(crate) fn sides_of(
        &self,
        protocol: u8,
    ) -> (RecordEndpoint, RecordEndpoint, Option<(u8, u8)>) {
        let (mut client, mut server) = self.sides();
        if !matches!(protocol, ICMP | ICMPV6) {
            return (client, server, None);
        }
        let [.., icmp_type, code] = self.cold.start_seq[0].0.to_be_bytes();
        let ipv6 = self.hot.key.is_ipv6();
        let family = if ipv6 { IcmpFamily::V6 } else { IcmpFamily::V4 };
        let counterpart = IcmpKind::of(family, icmp_type).counterpart();
        client.port = icmp_type.into();
        server.port = counterpart.unwrap_or(code).into();
        (client, server, Some((icmp_type, code)))
    }

    /// Client and server.
    #[inline]
    pub(crate) fn sides(&self) -> (RecordEndpoint, RecordEndpoint) {
        let hot = self.hot;
        let ipv6 = hot.key.is_ipv6();
        let turned = hot.client() == 1;
        let turn = |low, high| if turned { (high, low) } else { (low, high) };
        let (client, server) = if let Some(addresses) = self.addresses {
            let Endpoints { low, high } = addresses.endpoints;
            turn(
                Endpoints::address(low, ipv6),
                Endpoints::address(high, ipv6),
            )
        } else {
            let FlowKey { low, high } = hot.key;
            turn(ipv4_of(low), ipv4_of(high))
        };
        let (low, high) = hot.key.ports();
        let ports = if turned { (high, low) } else { (low, high) };
        let end = |address, port| RecordEndpoint { address, port };
        (end(client, ports.0), end(server, ports.1))
    }

    fn write_direction(&self, side: usize, protocol: u8, out: &mut Direction) {
        let hot = self.hot;
        out.packets = hot.packets[side].into();
        out.frame_bytes = hot.frame_bytes[side].into();
        out.ip_bytes = hot.ip_bytes[side].into();
        out.payload_bytes = hot.payload_bytes[side].into();
        out.missed_bytes = 0;
        (out.duplicates, out.snapped) = (0, 0);
        (out.bad_checksums, out.icmp_errors) = (0, 0);
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
        if protocol == TCP {
            out.tcp_flags = hot.tcp_flags[side];
            out.stream_bytes = self.stream_bytes(side);
        } else {
            out.tcp_flags = TcpFlags(0);
            out.stream_bytes = out.payload_bytes;
        }
    }

    /// Bytes by sequence numbers: from the SYN to the last byte seen or acknowledged, without SYN
    /// and FIN themselves.
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

    fn conn_state(&self, protocol: u8, to_server: &Direction, to_client: &Direction) -> ConnState {
        match protocol {
            TCP => {
                let (client, server): (EndState, EndState) = conn_state::sides(self.hot);
                let empty = to_server.stream_bytes == 0 && to_client.stream_bytes == 0;
                conn_state::of_tcp(&Outcome {
                    client,
                    server,
                    history: self.hot.history,
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

/// The initial value that [`Parts::write`] overwrites.
pub(crate) const BLANK: ConnRecord = ConnRecord {
    uid: Uid(0),
    start: Timestamp(0),
    end: Timestamp(0),
    open_until: Timestamp(0),
    first_packet: 0,
    protocol: 0,
    client: NOBODY,
    server: NOBODY,
    to_server: SILENCE,
    to_client: SILENCE,
    conn_state: ConnState::OTH,
    history: History {
        letters: [0; History::LEN_MAX],
        len: 0,
    },
    flow_state: FlowState::New,
    tcp_state: TcpState::None,
    reason: EndReason::Timeout,
    interim: 0,
    rtt_ns: None,
    vlans: [NO_VLAN; 2],
    interface: InterfaceId::NONE,
    tunnel: None,
    flipped: false,
    midstream: false,
    icmp: None,
    app: None,
    alerted: false,
};
const NOBODY: RecordEndpoint = RecordEndpoint {
    address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    port: 0,
};
const SILENCE: Direction = Direction {
    packets: 0,
    frame_bytes: 0,
    ip_bytes: 0,
    payload_bytes: 0,
    stream_bytes: 0,
    missed_bytes: 0,
    tcp_flags: TcpFlags(0),
    duplicates: 0,
    snapped: 0,
    bad_checksums: 0,
    icmp_errors: 0,
};

/// The address in one word of an IPv4 key.
const fn ipv4_of(word: u64) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits((word >> 16) as u32))
}

pub(crate) const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
pub(crate) const ICMPV6: u8 = 58;
const SCTP: u8 = 132;
