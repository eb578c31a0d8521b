//! What each stage knows of a connection: used by explanations only, never by a run.

use super::AllStages;
use super::scans::sctp_chunk;
use crate::worker::identify::IdentifyStats;
use crate::worker::inspect::InspectView;
use crate::worker::parse::ParseStats;
use flowpin_flow::{Event, Sighting};
use flowpin_identify::On;
use flowpin_packet::{PacketFlags, PacketKind};
use flowpin_portscan::{Probe, Steps};
use flowpin_reassembly::{ReassemblyStats, StreamView};

/// What the scan detector's observer makes of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanView {
    /// Of a connection's first packet: what it asks of its target.
    pub probe: Option<&'static str>,
    /// Of a later one: what it says of the attempt.
    pub steps: Vec<&'static str>,
    /// Whether nothing that comes on the connection can matter to the detector any more.
    pub is_settled: bool,
}

impl AllStages {
    /// Both streams of a connection, that to the server first.
    pub(crate) fn streams(&self, handle: u32) -> Option<[StreamView; 2]> {
        self.reassembler.as_ref()?.view(handle)
    }

    /// What reassembly has counted so far.
    pub(crate) fn stream_stats(&self) -> Option<ReassemblyStats> {
        Some(self.reassembler.as_ref()?.stats())
    }

    /// What identification and parsing know of a connection.
    pub(crate) fn inspect(&self, handle: u32, kind: PacketKind) -> Option<InspectView> {
        let on = match kind {
            PacketKind::Tcp => On::Tcp,
            PacketKind::Sctp => On::Sctp,
            _ => On::Udp,
        };
        self.inspect.as_ref()?.view(handle, on)
    }

    /// What identification and parsing have counted so far.
    pub(crate) fn inspect_stats(&self) -> Option<(IdentifyStats, ParseStats)> {
        let inspect = self.inspect.as_ref()?;
        Some((inspect.identify_stats(), inspect.parse_stats()))
    }

    /// From now on, bodies that a run would write to files are examined and not written.
    pub(crate) fn write_no_files(&mut self) {
        if let Some(inspect) = &mut self.inspect {
            inspect.write_no_files();
        }
    }

    /// What the scan detector's observer makes of a packet.
    pub(crate) fn scan_view(&self, sighting: &Sighting<'_>) -> Option<ScanView> {
        let scans = self.scans.as_ref()?;
        let (meta, chunk) = (sighting.meta, sctp_chunk(sighting));
        let is_good = !meta.flags.has(PacketFlags::BAD_CHECKSUM);
        let is_new = sighting.event == Event::New;
        let steps = match is_good && !is_new {
            true => Steps::of(meta, sighting.to_server, chunk),
            false => Steps::NONE,
        };
        let probe = match is_good {
            true => Probe::of(meta, chunk),
            false => Probe::Other,
        };
        Some(ScanView {
            probe: is_new.then(|| probe_name(probe)),
            steps: STEPS
                .iter()
                .filter(|(step, _)| steps.has_any(*step))
                .map(|(_, name)| *name)
                .collect(),
            is_settled: scans.observer.is_settled(sighting.handle),
        })
    }
}

const STEPS: [(Steps, &str); 8] = [
    (Steps::ANSWERED, "answered"),
    (Steps::ACCEPTED, "accepted"),
    (Steps::REFUSED, "refused"),
    (Steps::BLOCKED, "blocked"),
    (Steps::EXPIRED, "expired"),
    (Steps::WENT_ON, "went_on"),
    (Steps::CLIENT_DATA, "client_data"),
    (Steps::ABORTED, "aborted"),
];

const fn probe_name(probe: Probe) -> &'static str {
    match probe {
        Probe::Syn => "syn",
        Probe::Fin => "fin",
        Probe::Null => "null",
        Probe::Xmas => "xmas",
        Probe::Maimon => "maimon",
        Probe::Ack => "ack",
        Probe::Udp => "udp",
        Probe::SctpInit => "sctp_init",
        Probe::SctpCookieEcho => "sctp_cookie_echo",
        Probe::IpProtocol => "ip_protocol",
        Probe::Echo => "echo",
        Probe::Stray => "stray",
        Probe::Reset => "reset",
        Probe::Other => "other",
    }
}
