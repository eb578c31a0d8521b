//! Reports to the scan detector what is new about connections.

use flowpin_config::Plan;
use flowpin_flow::{Event, Sighting};
use flowpin_packet::{PacketFlags, PacketKind};
use flowpin_portscan::{Begin, Observer, Probe, Run, ScanCaps, Steps};
use flowpin_record::FloodKind;

/// The observer, which gets what is new about a connection.
#[derive(Debug)]
pub(super) struct Scans {
    pub(super) observer: Observer,
}

impl Scans {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            observer: Observer::new(ScanCaps::of(plan.memory_bytes)),
        }
    }

    /// Whether a packet that merely continues its connection shows nothing new.
    #[inline]
    pub(super) fn takes_fast_path(&self, event: Event, handle: u32) -> bool {
        event == Event::Plain || self.observer.is_settled(handle)
    }

    /// A packet that is more than the next one of its kind.
    #[inline]
    pub(super) fn see(&mut self, sighting: &Sighting<'_>) {
        let is_new = sighting.event == Event::New;
        if is_new || sighting.milestone.is_some() || !self.observer.is_settled(sighting.handle) {
            self.look(sighting);
        }
    }

    #[inline(never)]
    fn look(&mut self, sighting: &Sighting<'_>) {
        let meta = sighting.meta;
        if sighting.event == Event::New {
            return self.begin(sighting);
        }
        if meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return;
        }
        let mut steps = Steps::of(meta, sighting.to_server, sctp_chunk(sighting));
        if sighting.event == Event::Ongoing
            && let Some(milestone) = sighting.milestone
        {
            let (mine, theirs) = sighting.packets();
            if mine == REPEATED_AT && sighting.to_server && theirs == 0 {
                steps = steps.with(Steps::REPEATED);
            }
            if milestone.is_multiple_of(Run::PACKETS) {
                self.run(sighting, mine, theirs);
            }
        }
        if steps != Steps::NONE {
            self.observer.saw(sighting.handle, meta.stream_time, steps);
        }
    }

    fn begin(&mut self, sighting: &Sighting<'_>) {
        let meta = sighting.meta;
        let ((mut source, mut target), mut ports) = (sighting.endpoints(), sighting.ports());
        let mut probe = Probe::Other;
        if !meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            probe = Probe::of(meta, sctp_chunk(sighting));
        }
        if !sighting.to_server {
            if probe.is_stray() {
                (source, target, ports) = (target, source, (ports.1, ports.0));
            } else {
                probe = Probe::Other;
            }
        }
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
        let Some(kind) = Run::kind_of(meta, mine, theirs) else {
            return;
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
pub(super) fn sctp_chunk(sighting: &Sighting<'_>) -> Option<u8> {
    let meta = sighting.meta;
    if meta.kind != PacketKind::Sctp {
        return None;
    }
    let chunk = usize::from(meta.l4_offset) + 12;
    sighting.frames.frame(meta).get(chunk).copied()
}

/// A client that has sent this many packets without an answer is not scanning.
const REPEATED_AT: u64 = 8;
