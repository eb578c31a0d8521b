//! Records made at random, the same for the same seed.

use super::{Any, SECOND, START, flood, host_pair, scan, web};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use flowpin_packet::{InterfaceId, Layer, Reason, TcpFlags, Timestamp, TunnelKind, bad};
use flowpin_record::{
    AnomalyRecord, AppEvent, ConnRecord, ConnState, Direction, FloodKind, FloodRecord,
    HostPairRecord, RecordEndpoint, RecordKey, Samples, ScanKind, ScanMethod, ScanRecord,
    ToolNames, TunnelRecord, Uid,
};

/// A small generator of numbers, so that the same seed gives the same records.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Numbers of all sizes.
    pub(crate) fn number(&mut self) -> u64 {
        let shift = self.below(60);
        self.next() >> shift >> 4
    }

    fn address(&mut self, ipv6: bool) -> IpAddr {
        if ipv6 {
            let (high, low) = (self.number(), self.number());
            IpAddr::V6(Ipv6Addr::from(u128::from(high) << 64 | u128::from(low)))
        } else {
            IpAddr::V4(Ipv4Addr::from(self.next() as u32))
        }
    }

    fn direction(&mut self) -> Direction {
        let rare = self.below(8) == 0;
        Direction {
            packets: self.number() >> 8,
            frame_bytes: self.number(),
            ip_bytes: self.number(),
            payload_bytes: self.number(),
            stream_bytes: self.number(),
            missed_bytes: if rare { self.number() } else { 0 },
            tcp_flags: TcpFlags(self.next() as u8),
            duplicates: if rare { self.next() as u32 >> 8 } else { 0 },
            ..Direction::default()
        }
    }

    pub(crate) fn conn(&mut self, time: Timestamp) -> ConnRecord {
        let ipv6 = self.below(4) == 0;
        let protocol = [6, 6, 6, 17, 17, 1, 58, 132, 47][self.below(9) as usize];
        let icmp = matches!(protocol, 1 | 58).then(|| (self.next() as u8, self.next() as u8));
        let lasting = self.below(4) > 0;
        let end = Timestamp(time.0 - self.below(SECOND));
        let length = self.below(100 * SECOND);
        let [client, server] = [(); 2].map(|()| RecordEndpoint {
            address: self.address(ipv6),
            port: self.next() as u16,
        });
        ConnRecord {
            uid: Uid(self.next()),
            start: Timestamp(if lasting { end.0 - length } else { end.0 }),
            end,
            open_until: end,
            first_packet: self.number(),
            protocol,
            client,
            server,
            to_server: self.direction(),
            to_client: self.direction(),
            conn_state: ConnState::ALL[self.below(13) as usize],
            interim: if self.below(10) == 0 { 3 } else { 0 },
            rtt_ns: (self.below(2) == 0).then(|| self.below(SECOND)),
            vlans: [[u16::MAX; 2], [7, u16::MAX], [7, 4000]][self.below(3) as usize],
            interface: InterfaceId(self.below(3) as u8),
            tunnel: (self.below(5) == 0).then(|| (TunnelKind::Vxlan, Uid(self.next()))),
            flipped: self.below(9) == 0,
            midstream: self.below(9) == 0,
            icmp,
            ..web()
        }
    }

    fn anomaly(&mut self, time: Timestamp) -> AnomalyRecord {
        let layer = Layer::ALL[self.below(Layer::ALL.len() as u64) as usize];
        let reason = Reason::ALL[self.below(Reason::ALL.len() as u64) as usize];
        AnomalyRecord {
            time,
            packet_number: Some(self.number()).filter(|number| number % 8 > 0),
            interface: InterfaceId(self.below(3) as u8),
            what: bad(layer, reason, self.next() as u16),
            app: time.0.is_multiple_of(3).then(|| AppEvent {
                protocol: "http",
                in_tools: ToolNames::of("http"),
                name: "http_body_cut",
                to_server: Some(false),
            }),
            addresses: (self.below(2) == 0).then(|| (self.address(false), self.address(true))),
            connection: (self.below(2) == 0).then(|| (Uid(self.next()), 7, 65_535)),
            suppressed: self.below(100),
        }
    }

    fn tunnel(&mut self, time: Timestamp) -> TunnelRecord {
        TunnelRecord {
            uid: Uid(self.next()),
            parent: Uid(self.below(2) * self.next()),
            kind: TunnelKind::Gtpu,
            id: self.next() as u32,
            addresses: (self.address(true), self.address(true)),
            first: Timestamp(time.0 - self.below(SECOND)),
            last: time,
            packets: [self.number(), self.number()],
            bytes: [self.number(), self.number()],
        }
    }

    fn scan(&mut self, time: Timestamp) -> ScanRecord {
        let sources = self.below(3) as usize;
        let source = self.address(true);
        let ports = [self.next() as u16; 3];
        ScanRecord {
            uid: Uid(self.next()),
            kind: ScanKind::Vertical,
            method: [ScanMethod::Udp, ScanMethod::IpProtocol][self.below(2) as usize],
            source,
            sources: Samples::first(source, vec![source; sources]),
            first: time,
            last: time,
            attempts: self.number(),
            host_samples: Samples::first(source, vec![source; sources]),
            port_samples: Samples::first(0, ports),
            ..scan()
        }
    }

    fn flood(&mut self, time: Timestamp) -> FloodRecord {
        let target = self.address(false);
        FloodRecord {
            uid: Uid(self.next()),
            kind: FloodKind::ALL[self.below(3) as usize],
            target,
            port: (self.below(2) == 0).then_some(53),
            first: time,
            last: time,
            packets: self.number(),
            ..flood()
        }
    }

    fn host_pair(&mut self, time: Timestamp) -> HostPairRecord {
        let names = ["http", "ssh", "tls"];
        let services = self.below(4) as usize;
        HostPairRecord {
            client: self.address(true),
            server: self.address(false),
            first: time,
            last: time,
            connections: self.number(),
            services: Samples::first("", names.into_iter().take(services)),
            ..host_pair()
        }
    }

    /// `count` records with keys that rise, in steps from none to seconds.
    pub(crate) fn records(&mut self, count: usize) -> Vec<(RecordKey, Any)> {
        let mut time = START;
        (0..count as u64)
            .map(|number| {
                let step = [0, 1, 1000, SECOND / 50, SECOND][self.below(5) as usize];
                time = time.plus_nanos(step * self.below(3));
                let record = match self.below(15) {
                    0 => Any::Anomaly(self.anomaly(time)),
                    1 => Any::Tunnel(self.tunnel(time)),
                    2 => Any::Scan(self.scan(time)),
                    3 => Any::Flood(self.flood(time)),
                    4 => Any::HostPair(self.host_pair(time)),
                    _ => Any::Conn(self.conn(time)),
                };
                let key = RecordKey {
                    time,
                    number: number / 2,
                    ordinal: (number % 2) as u32,
                };
                (key, record)
            })
            .collect()
    }
}
