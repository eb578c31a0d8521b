//! What a trace shall be like.

use serde::Serialize;
use std::fmt;

/// What kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// HTTP/1.1 over TCP.
    Http,
    /// FIX 4.2 over TCP.
    Fix,
    /// Several services, see [`Options::mix`].
    Mix,
    /// Questions and answers over UDP.
    Dns,
    /// TCP ports probed by SYN.
    Scan,
    /// SYNs from forged sources.
    Flood,
    /// UDP datagrams in fragments.
    Fragments,
    /// TCP connections that stay open and send in turn.
    Connections,
}

/// What a conversation speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// RFC 9112.
    Http,
    /// Financial Information eXchange 4.2.
    Fix,
    /// RFC 1035.
    Dns,
    /// BEP 3.
    BitTorrent,
    /// RFC 5321.
    Smtp,
    /// RFC 1939.
    Pop3,
    /// RFC 3501.
    Imap,
    /// RFC 854.
    Telnet,
    /// RFC 2812.
    Irc,
    /// Bytes of no protocol.
    Plain,
    /// A SYN that looks for an open port, and what comes back.
    Probe,
}

impl Service {
    /// All, with their names.
    pub const ALL: [(Self, &str); 11] = [
        (Self::Http, "http"),
        (Self::Fix, "fix"),
        (Self::Dns, "dns"),
        (Self::BitTorrent, "bittorrent"),
        (Self::Smtp, "smtp"),
        (Self::Pop3, "pop3"),
        (Self::Imap, "imap"),
        (Self::Telnet, "telnet"),
        (Self::Irc, "irc"),
        (Self::Plain, "plain"),
        (Self::Probe, "probe"),
    ];

    /// Its name, as in the truth.
    pub fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(service, _)| *service == self);
        found.map_or("", |&(_, name)| name)
    }

    /// Whether it goes over UDP in a trace of this kind.
    pub(crate) const fn is_udp(self, kind: Kind) -> bool {
        matches!(self, Self::Dns) || matches!(kind, Kind::Fragments)
    }
}

/// What every packet is wrapped in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tunnel {
    /// Nothing.
    #[default]
    None,
    /// RFC 7348.
    Vxlan,
    /// RFC 8926.
    Geneve,
    /// RFC 2784, IP inside.
    Gre,
    /// 3GPP TS 29.281.
    Gtpu,
    /// RFC 2003 and RFC 2473.
    IpInIp,
}

/// How the capture is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Classic pcap, nanoseconds.
    #[default]
    Pcap,
    /// pcapng, nanoseconds.
    PcapNg,
}

/// What goes wrong on the way, as shares of the packets that it can happen to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Troubles {
    /// Data segments lost before the capture and sent again: seen once, behind their successors.
    pub lost: f64,
    /// Data segments overtaken by the next.
    pub reordered: f64,
    /// Data segments sent again although they arrived: seen twice.
    pub retransmitted: f64,
    /// Frames captured twice.
    pub duplicated: f64,
    /// Data segments that arrived and that the capture lacks.
    pub missing: f64,
}

/// What a trace shall be like. [`Options::new`] has values for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What traffic.
    pub kind: Kind,
    /// The same seed gives the same bytes.
    pub seed: u64,
    /// Connections, or what corresponds to them: questions, probes, datagrams each way.
    pub connections: u64,
    /// Packets of a connection, on average. 1,000 divided by it is the papers' connection rate.
    pub packets_per_connection: f64,
    /// Bytes of a frame, on average, Ethernet header included, check sequence not.
    pub packet_len: f64,
    /// Connections that are open at a time, on average over the trace.
    pub concurrency: f64,
    /// Packets that end inside a header line, as a share of all packets.
    pub straddling: f64,
    /// Packets that carry a part of a message in chunks, as a share of all packets.
    pub chunked: f64,
    /// Bytes of an HTTP message's header; none: what the texts happen to have.
    pub header_len: Option<u32>,
    /// Connections over IPv6, as a share of all.
    pub v6: f64,
    /// VLAN tags of every frame, outermost first.
    pub vlans: Vec<u16>,
    /// What packets are wrapped in.
    pub tunnel: Tunnel,
    /// Packets a second, on average.
    pub packets_per_s: f64,
    /// The largest IP packet, tunnel headers not counted.
    pub mtu: u16,
    /// What goes wrong.
    pub troubles: Troubles,
    /// Connections that a reset ends, as a share of those that end.
    pub reset: f64,
    /// Whether connections end.
    pub closes: bool,
    /// Captured bytes of a frame, at most.
    pub snap_len: u32,
    /// Hosts that connect; of a scan those that scan, of a flood those it claims to come from.
    pub clients: u32,
    /// Hosts that are connected to.
    pub servers: u32,
    /// Ports that a scan tries on each server.
    pub ports: u16,
    /// Services of [`Kind::Mix`], with their shares of the connections.
    pub mix: Vec<(Service, f64)>,
    /// Bytes of a datagram of [`Kind::Fragments`], on average.
    pub datagram_len: u32,
    /// Time of the first packet, in nanoseconds since the epoch.
    pub start_ns: u64,
    /// How the capture is laid out.
    pub format: Format,
}

impl Options {
    /// A small trace of a kind.
    pub fn new(kind: Kind) -> Self {
        let (packets_per_connection, packet_len) = match kind {
            Kind::Http => (20.0, 700.0),
            Kind::Fix => (10.5, 140.0),
            Kind::Mix => (40.0, 400.0),
            Kind::Dns => (2.0, 120.0),
            Kind::Scan => (2.0, 58.0),
            Kind::Flood => (1.0, 66.0),
            Kind::Fragments => (6.0, 1375.0),
            Kind::Connections => (7.0, 90.0),
        };
        Self {
            kind,
            seed: 1,
            connections: 1_000,
            packets_per_connection,
            packet_len,
            concurrency: 100.0,
            straddling: 0.0,
            chunked: 0.0,
            header_len: None,
            v6: 0.0,
            vlans: Vec::new(),
            tunnel: Tunnel::None,
            packets_per_s: 100_000.0,
            mtu: 1500,
            troubles: Troubles::default(),
            reset: 0.0,
            closes: kind != Kind::Connections,
            snap_len: 262_144,
            clients: match kind {
                Kind::Scan => 4,
                Kind::Flood => 1 << 22,
                _ => 4096,
            },
            servers: 256,
            ports: 1000,
            mix: usual_mix(),
            datagram_len: 4000,
            start_ns: 1_700_000_000_000_000_000,
            format: Format::Pcap,
        }
    }

    /// Packets of the whole trace, about.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn packets(&self) -> f64 {
        self.connections as f64 * self.packets_per_connection
    }

    /// Whether something can be made of it.
    ///
    /// # Errors
    /// What is out of its bounds.
    pub fn check(&self) -> Result<(), OptionsError> {
        let shares = [
            ("the share of straddling packets", self.straddling),
            ("the share of chunked packets", self.chunked),
            ("the share of IPv6", self.v6),
            ("the share of resets", self.reset),
            ("the share of lost packets", self.troubles.lost),
            ("the share of reordered packets", self.troubles.reordered),
            (
                "the share of retransmitted packets",
                self.troubles.retransmitted,
            ),
            ("the share of duplicated packets", self.troubles.duplicated),
            ("the share of missing packets", self.troubles.missing),
        ];
        for (what, value) in shares {
            within(what, value, 0.0, 1.0)?;
        }
        within("the average packet", self.packet_len, 54.0, 9_200.0)?;
        within(
            "packets per connection",
            self.packets_per_connection,
            1.0,
            1e6,
        )?;
        within("connections at a time", self.concurrency, 1.0, 2e7)?;
        within("packets a second", self.packets_per_s, 0.001, 1e9)?;
        within("the MTU", f64::from(self.mtu), 296.0, 9_000.0)?;
        within(
            "the header",
            f64::from(self.header_len.unwrap_or(0)),
            0.0,
            16_000.0,
        )?;
        within("clients", f64::from(self.clients), 1.0, 8e6)?;
        within("servers", f64::from(self.servers), 1.0, 60_000.0)?;
        within("ports", f64::from(self.ports), 1.0, 65_535.0)?;
        within("captured bytes", f64::from(self.snap_len), 14.0, 262_144.0)?;
        within("the datagram", f64::from(self.datagram_len), 8.0, 60_000.0)?;
        #[expect(clippy::cast_precision_loss, reason = "a bound")]
        within("connections", self.connections as f64, 1.0, 4e9)?;
        #[expect(clippy::cast_precision_loss, reason = "two at most")]
        within("VLAN tags", self.vlans.len() as f64, 0.0, 2.0)?;
        for &vlan in &self.vlans {
            // IEEE 802.1Q, 9.6: 4095 is reserved.
            within("a VLAN's number", f64::from(vlan), 0.0, 4094.0)?;
        }
        if self.kind == Kind::Mix && self.mix.iter().map(|(_, share)| share).sum::<f64>() <= 0.0 {
            return Err(OptionsError::NoServices);
        }
        Ok(())
    }
}

/// What a campus sends in an hour, roughly.
fn usual_mix() -> Vec<(Service, f64)> {
    vec![
        (Service::Http, 0.4),
        (Service::Dns, 0.35),
        (Service::BitTorrent, 0.08),
        (Service::Smtp, 0.04),
        (Service::Pop3, 0.02),
        (Service::Imap, 0.02),
        (Service::Telnet, 0.02),
        (Service::Irc, 0.02),
        (Service::Probe, 0.05),
    ]
}

fn within(what: &'static str, value: f64, min: f64, max: f64) -> Result<(), OptionsError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let bounds = Bounds { min, max };
    Err(OptionsError::OutOfBounds {
        what,
        value,
        bounds,
    })
}

/// From the least to the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.min, self.max)
    }
}

/// Why no trace can be like that.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A number is too small or too large.
    #[error("{what}: {value} is not within {bounds}")]
    OutOfBounds {
        /// Which.
        what: &'static str,
        /// What was asked for.
        value: f64,
        /// What it may be.
        bounds: Bounds,
    },
    /// The shares of the mix are all 0.
    #[error("no service has a share of the mix")]
    NoServices,
}
