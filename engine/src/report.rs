//! The report of a run, for the summary: sums, losses, and the quality of the capture.

use crate::aggregates::Findings;
use crate::output::RecordLatency;
use crate::run::Ended;
use crate::worker::stages::{IdentifyStats, ParseStats};
use flowpin_capture::{Compression, FileReport};
use flowpin_counters::{Losses, Refusals};
use flowpin_output::{Earlier, FileInfo, MessageCount};
use flowpin_packet::Timestamp;
use flowpin_reassembly::ReassemblyStats;
use std::path::PathBuf;
use std::time::Duration;

/// The progress of a run, reported about once a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read, as on disk (compressed).
    pub bytes_read: u64,
    /// Bytes of all input files, if they can be known.
    pub bytes_total: Option<u64>,
    /// Packets read.
    pub packets: u64,
    /// Packets that the capturing system had no room for, as far as it says so.
    pub dropped: u64,
    /// Files finished.
    pub files_done: usize,
    /// Files in all.
    pub files_total: usize,
}

/// Where progress is shown.
pub trait ProgressSink: Sync {
    /// Called about once a piece (256 KiB) by the thread that read it; must return quickly.
    fn update(&self, progress: &Progress);

    /// Everything is open: packets follow.
    fn started(&self) {}

    /// A message that the user should see at once.
    fn note(&self, text: &str) {
        let _ = text;
    }
}

impl ProgressSink for () {
    fn update(&self, _: &Progress) {}
}

/// Everything about a finished run.
#[derive(Debug, Default)]
pub struct RunReport {
    /// Packets read from the input that passed the BPF filter.
    pub packets: u64,
    /// Bytes of their frames on the wire.
    pub frame_bytes: u64,
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor time of the whole process during the run.
    pub cpu: Duration,
    /// Largest resident size of the process, in bytes.
    pub peak_memory_bytes: u64,
    /// Stream time of the first packet.
    pub first: Option<Timestamp>,
    /// Stream time of the last packet.
    pub last: Option<Timestamp>,
    /// The shape of the pipeline, as `--pipeline` takes it.
    pub pipeline: String,
    /// The findings of aggregates.
    pub found: Findings,
    /// Where every byte of TCP payload went.
    pub reassembly: ReassemblyStats,
    /// Connections and packets searched for protocols; zeros without identification.
    pub identify: IdentifyStats,
    /// Messages of application protocols.
    pub parse: ParseStats,
    /// Their records, by kind.
    pub messages: Vec<MessageCount>,
    /// Where every packet went.
    pub conservation: Conservation,
    /// Flaws of the capture itself.
    pub quality: CaptureQuality,
    /// Caps reached and things lost, by name.
    pub losses: Losses,
    /// Packets refused, by layer and reason.
    pub refusals: Refusals,
    /// The work of each worker.
    pub workers: Vec<WorkerReport>,
    /// What else was done, by steps; empty with one thread, which does all.
    pub steps: Vec<StepReport>,
    /// The input files, in the order they were given.
    pub inputs: Vec<InputReport>,
    /// Packets that the filter dropped; not among `packets`.
    pub filtered: u64,
    /// The files written.
    pub outputs: Vec<OutputReport>,
    /// A signal stopped the run before the input ended, or the reader of standard output closed it
    /// before the last record.
    pub stopped_early: bool,
    /// Logs of an earlier run that were replaced, or left.
    pub earlier: Earlier,
    /// Of a live run: how long records took from their packet to the log.
    pub latency: Option<RecordLatency>,
    /// How often a live run has taken other settings while it went on.
    pub reloads: u64,
    /// The run stopped after the number of packets of `-n`: it is complete, the input may not be.
    pub stopped_after: Option<u64>,
}

impl RunReport {
    /// Combines the reports of the stages. The caller adds times and memory.
    pub(crate) fn of(ended: Ended) -> Self {
        let Ended {
            shape,
            input,
            workers,
            steps,
            output,
        } = ended;
        let mut report = Self {
            packets: input.packets,
            frame_bytes: input.frame_bytes,
            first: input.first,
            last: input.last,
            pipeline: shape.to_string(),
            conservation: input.conservation,
            quality: input.quality,
            losses: input.losses,
            refusals: input.refusals,
            inputs: input.inputs,
            filtered: input.filtered,
            outputs: output.files,
            messages: output.messages,
            found: output.found,
            earlier: output.earlier,
            latency: output.latency,
            steps,
            ..Self::default()
        };
        report.losses.add(&output.losses);
        for worker in workers {
            let flow = &worker.counters;
            report.losses.add(&flow.losses);
            report.losses.add(&worker.stages.losses);
            report.reassembly.add(&worker.stages.reassembly);
            report.identify.add(&worker.stages.identify);
            report.parse.add(&worker.stages.parse);
            let stray = flow.misdirected + flow.unplaced;
            report.conservation.on_connections += flow.packets - flow.icmp_errors - stray;
            report.conservation.icmp_errors += flow.icmp_errors;
            report.conservation.lost += stray;
            report.quality.offloaded += worker.checksums.offloaded;
            report.workers.push(worker.report);
        }
        report.found.rename();
        let sums = &report.found.connections;
        report.quality.duplicates = sums.duplicates;
        report.quality.one_sided = sums.one_sided;
        report.quality.tcp_connections = sums.by_protocol.get(&6).map_or(0, |t| t.connections);
        report.quality.missed_bytes = sums.missed_bytes;
        report.quality.stream_bytes = sums.stream_bytes;
        report.quality.bad_checksums = sums.bad_checksums;
        report
    }

    /// Whether some input was truncated or damaged (exit code 4).
    pub fn is_damaged(&self) -> bool {
        self.inputs.iter().any(|input| input.damage.is_some())
    }
}

/// Where every packet went: `received` equals the sum of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conservation {
    /// Packets that the input delivered.
    pub received: u64,
    /// Packets counted on a connection.
    pub on_connections: u64,
    /// ICMP errors counted on the connection that they quote.
    pub icmp_errors: u64,
    /// Frames without an Internet packet (ARP, LLDP, spanning tree, …).
    pub non_ip: u64,
    /// Frames of a link type that is not read.
    pub unsupported_link: u64,
    /// Fragments absorbed into datagrams, less one for each datagram that went on.
    pub absorbed: u64,
    /// Fragments still held when the input ended.
    pub held: u64,
    /// Packets refused as malformed.
    pub malformed: u64,
    /// Packets lost by a named reason (full ring, fragment caps).
    pub lost: u64,
}

impl Conservation {
    /// Packets not accounted for; must be 0.
    pub fn missing(&self) -> i128 {
        let accounted = [
            self.on_connections,
            self.icmp_errors,
            self.non_ip,
            self.unsupported_link,
            self.absorbed,
            self.held,
            self.malformed,
            self.lost,
        ];
        i128::from(self.received) - accounted.into_iter().map(i128::from).sum::<i128>()
    }
}

/// Flaws of the capture, so that losses of the tap are not taken for losses of the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureQuality {
    /// Packets for which the capturing system had no room, as it says itself.
    pub dropped: u64,
    /// Packets seen twice in a row on their connection.
    pub duplicates: u64,
    /// TCP connections with packets in one direction only, though these acknowledge what the
    /// other side must have sent.
    pub one_sided: u64,
    /// TCP connections in all (for the share).
    pub tcp_connections: u64,
    /// Stream bytes that were acknowledged but are not in the capture.
    pub missed_bytes: u64,
    /// Stream bytes by sequence numbers (for the share).
    pub stream_bytes: u64,
    /// Packets cut short by the snap length.
    pub snapped: u64,
    /// Packets captured before the sender's adapter completed their checksum.
    pub offloaded: u64,
    /// Packets with a wrong transport checksum.
    pub bad_checksums: u64,
    /// Packets earlier than one before them.
    pub backwards: u64,
    /// The greatest step backwards, in nanoseconds.
    pub backwards_max_ns: u64,
    /// Forward leaps of the clock beyond the limit.
    pub leaps: u64,
}

/// What is done beside the workers' own work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepReport {
    /// Which step: `read`, `describe`, `order` (of the input), `input` (all of these), `write`.
    pub name: &'static str,
    /// Its processor time on all threads, in nanoseconds.
    pub cpu_ns: u64,
}

/// The work of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerReport {
    /// Packets handled.
    pub packets: u64,
    /// Connections opened.
    pub connections: u64,
    /// Packets of its heaviest connection: one that alone fills a core cannot be split.
    pub heaviest_packets: u64,
    /// Processor time of its thread, in nanoseconds; 0 if unknown.
    pub cpu_ns: u64,
    /// The most records that waited in it for others, in bytes.
    pub held_bytes_max: u64,
}

/// One input file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputReport {
    /// Its path, `-` for standard input.
    pub path: PathBuf,
    /// It is no file but network interfaces, by their names.
    pub is_live: bool,
    /// Its format, compression included ("pcapng, gzip").
    pub format: String,
    /// Packets read from it.
    pub packets: u64,
    /// Notes for the user, one line each.
    pub notes: Vec<String>,
    /// The place and kind of its truncation or damage, in one line.
    pub damage: Option<String>,
    /// Whether it could not be opened: nothing of it was read.
    pub unopened: bool,
}

impl InputReport {
    pub(crate) fn of(file: &FileReport) -> Self {
        let compression = match file.compression {
            _ if file.is_live => String::from(", live"),
            Compression::None => String::new(),
            other => format!(", {}", other.name()),
        };
        Self {
            path: file.path.clone(),
            is_live: file.is_live,
            format: format!("{}{compression}", file.format),
            packets: file.packets,
            notes: file.notes(),
            damage: file.damage.as_ref().map(|damage| match file.is_live {
                true => damage.what.clone(),
                false => damage.to_string(),
            }),
            unopened: file.damage.as_ref().is_some_and(|damage| damage.unopened),
        }
    }
}

/// One output file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputReport {
    /// Its path.
    pub path: PathBuf,
    /// Records in it.
    pub records: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

impl OutputReport {
    pub(crate) fn of(file: &FileInfo) -> Self {
        Self {
            path: file.path.clone(),
            records: file.records,
            bytes: file.bytes,
        }
    }
}
