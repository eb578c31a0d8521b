//! What the scan detector wants to know of connections.

use flowpin_flow::{Event, Sighting};
use flowpin_packet::{PacketFlags, PacketKind, Seq, TcpFlags};
use flowpin_portscan::{Begin, Observer, Probe, Run, Steps};
use flowpin_record::FloodKind;

/// The observer, told of what is new about a connection.
#[derive(Debug)]
pub(super) struct Scans {
    pub(super) observer: Observer,
}

impl Default for Scans {
    fn default() -> Self {
        Self {
            observer: Observer::new(),
        }
    }
}

impl Scans {
    /// A packet that is more than the next one of its kind.
    pub(super) fn see(&mut self, sighting: &Sighting<'_>) {
        let meta = sighting.meta;
        if sighting.event == Event::New {
            return self.begin(sighting);
        }
        if meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return;
        }
        let mut steps = Steps::of(meta, sighting.to_server, sctp_chunk(sighting));
        if sighting.event == Event::Ongoing && sighting.is_eighth {
            let (mine, theirs) = sighting.packets();
            if mine == REPEATED_AT && sighting.to_server && theirs == 0 {
                steps = steps.with(Steps::REPEATED);
            }
            if mine % u64::from(Run::PACKETS) == 0 {
                self.run(sighting, mine, theirs);
            }
        }
        if steps != Steps::NONE {
            self.observer.saw(sighting.handle, meta.stream_time, steps);
        }
    }

    fn begin(&mut self, sighting: &Sighting<'_>) {
        let meta = sighting.meta;
        let ((source, target), ports) = (sighting.endpoints(), sighting.ports());
        let valid = !meta.flags.has(PacketFlags::BAD_CHECKSUM);
        let probe = if sighting.to_server && valid {
            Probe::of(meta, sctp_chunk(sighting))
        } else {
            Probe::Other
        };
        let port = match probe {
            Probe::Echo => 0,
            Probe::IpProtocol => u16::from(meta.protocol),
            _ => ports.1,
        };
        self.observer.began(&Begin {
            source,
            target,
            time: meta.time,
            stream_time: meta.stream_time,
            number: meta.number,
            handle: sighting.handle,
            source_port: ports.0,
            port,
            shard: meta.shard().0,
            probe,
            ipv6: meta.key.is_ipv6(),
        });
    }

    /// Another 256 packets of one direction.
    #[cold]
    fn run(&mut self, sighting: &Sighting<'_>, mine: u64, theirs: u64) {
        let meta = sighting.meta;
        let is_syn = meta.tcp_flags == TcpFlags::SYN && theirs == 0 && meta.ack == Seq(0);
        let kind = match meta.kind {
            PacketKind::Icmp if Probe::of(meta, None) == Probe::Echo => FloodKind::Icmp,
            PacketKind::Udp if theirs < mine / 8 => FloodKind::Udp,
            PacketKind::Tcp if is_syn => FloodKind::Syn,
            _ => return,
        };
        let ((client, server), ports) = (sighting.endpoints(), sighting.ports());
        let (source, target, port) = if sighting.to_server {
            (client, server, ports.1)
        } else {
            (server, client, ports.0)
        };
        self.observer.packets(&Run {
            source,
            target,
            time: meta.time,
            stream_time: meta.stream_time,
            number: meta.number,
            port: if kind == FloodKind::Icmp { 0 } else { port },
            shard: meta.shard().0,
            kind,
            ipv6: meta.key.is_ipv6(),
        });
    }
}

/// Type of an SCTP packet's first chunk (RFC 9260 §3.2), 12 bytes into the packet.
fn sctp_chunk(sighting: &Sighting<'_>) -> Option<u8> {
    let meta = sighting.meta;
    if meta.kind != PacketKind::Sctp {
        return None;
    }
    let chunk = usize::from(meta.l4_offset) + 12;
    sighting.frames.frame(meta).get(chunk).copied()
}

/// A client that has sent so many packets without an answer is not scanning.
const REPEATED_AT: u64 = 8;
