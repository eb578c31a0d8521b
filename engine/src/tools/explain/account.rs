//! What is explained: plain data, without words for people.

use crate::report::InputReport;
use crate::worker::stages::{InspectView, ScanView};
use core::net::IpAddr;
use flowpin_counters::Loss;
use flowpin_dispatch::{ChecksumVerdict, Headers, SlowReason};
use flowpin_flow::{Event, Lifetime};
use flowpin_packet::{LinkType, Malformed, PacketKind, Seq, Timestamp};
use flowpin_reassembly::{Anomaly, StreamView};
use flowpin_record::{ConnRecord, RecordKey, Uid};

/// A packet, as each stage saw it, in the order of the stages.
#[derive(Clone, Debug)]
pub struct PacketAccount {
    /// Its position in the merged input, from 1.
    pub number: u64,
    /// When it was captured.
    pub time: Timestamp,
    /// The stream's time at it.
    pub stream_time: Timestamp,
    /// How its first bytes are to be read.
    pub link: LinkType,
    /// Bytes captured.
    pub captured_len: u32,
    /// Bytes on the wire; of all fragments' frames for a datagram made of them.
    pub wire_len: u32,
    /// Its headers; those of the whole datagram, if it completed one.
    pub headers: Headers,
    /// Of a packet that completed a datagram: the headers of its own frame.
    pub fragment_headers: Option<Headers>,
    /// Why it did not take the fast path; none if it did.
    pub slow_path: Option<SlowReason>,
    /// What the input stage decided, in order.
    pub fates: Vec<Fate>,
    /// Of a packet: what its key, checksum and shard are.
    pub packet: Option<PacketView>,
    /// Its connection.
    pub connection: Option<ConnectionView>,
    /// What the scan detector's observer made of it.
    pub scans: Option<ScanView>,
    /// What reassembly made of it.
    pub streams: Option<StreamsView>,
    /// What identification and parsing made of it.
    pub inspect: Option<InspectChange>,
    /// When the message was complete that it has bytes of and does not complete; only of a packet
    /// that is asked for by its number.
    pub completion: Option<Completion>,
    /// What was counted as lost or left out because of it.
    pub losses: Vec<(Loss, u64)>,
    /// Connections that ended because of it.
    pub ended: Vec<EndView>,
    /// Records that it caused.
    pub records: Vec<RecordText>,
}

/// What the input stage decided about a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is no IP packet.
    NonIp,
    /// Its link type is not read.
    UnsupportedLink,
    /// The capture cut it before the addresses.
    Headless,
    /// It is refused.
    Refused(Malformed),
    /// A fragment, which waits for the others.
    FragmentHeld {
        /// Where its bytes belong in the datagram.
        offset: u16,
        /// How many they are.
        len: u16,
        /// Whether others follow.
        more: bool,
    },
    /// A fragment that completed its datagram.
    FragmentCompletes {
        /// The packets of all fragments, in the order in which they came.
        numbers: Vec<u64>,
    },
    /// A fragment that cannot wait: it counts for its addresses alone.
    FragmentLone,
    /// The datagram that this fragment is a part of became whole later.
    CompletedBy(u64),
    /// The datagram that this fragment is a part of never became whole.
    NeverCompleted,
    /// It goes on as a packet.
    Packet,
    /// It is a packet, but its worker has no room for its connection.
    Unplaced,
}

/// What a packet's key, checksum and shard are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketView {
    /// What it is to the connection table.
    pub kind: PacketKind,
    /// IP protocol number.
    pub protocol: u8,
    /// The lower and the higher end of the key: address and port, or what stands for it.
    pub ends: [(IpAddr, u16); 2],
    /// Whether it goes from the higher end to the lower one.
    pub high_to_low: bool,
    /// Bytes of payload.
    pub payload_len: u32,
    /// Its transport checksum; none if checksums are not verified.
    pub checksum: Option<ChecksumVerdict>,
    /// The shard, one of 256.
    pub shard: u8,
    /// The worker that has this shard, and of how many; none if no number was asked for.
    pub worker: Option<(usize, usize)>,
}

/// A packet's connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionView {
    /// What the packet did to it.
    pub event: Event,
    /// Whether it travels from the client to the server.
    pub to_server: bool,
    /// The record that it would have had before the packet; none if the packet began it.
    pub before: Option<ConnRecord>,
    /// The record that it would have after.
    pub after: ConnRecord,
    /// How long it lives without another packet.
    pub lifetime: Option<Lifetime>,
    /// Whether its receiver drops the packet: it counts and ends nothing.
    pub is_ignored: bool,
    /// Whether the packet shows that a closed stream goes on, and which: that to the server.
    pub reopened: Option<bool>,
}

/// What reassembly made of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamsView {
    /// Both streams before, that to the server first.
    pub before: [StreamView; 2],
    /// And after.
    pub after: [StreamView; 2],
    /// By how much its counters grew (or shrank), by name.
    pub counters: Vec<(&'static str, i64)>,
    /// What was odd.
    pub anomalies: Vec<Anomaly>,
    /// Bytes of this segment that wait.
    pub held: Option<HeldView>,
}

/// Bytes of a segment that cannot be delivered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldView {
    /// Why they wait.
    pub reason: HeldReason,
    /// How many they are.
    pub bytes: u64,
    /// Of those, how many lie beyond the window that the receiver has announced.
    pub beyond_window: u64,
    /// One past the last of them.
    pub end: Seq,
}

/// Why bytes wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldReason {
    /// Earlier bytes are missing.
    Hole,
    /// They lie beyond the receiver's window.
    Window,
    /// They are data on a SYN, which is not acknowledged.
    Syn,
    /// Their stream was closed before.
    Closed,
    /// Their segment acknowledges bytes that were not seen.
    Doubt,
}

/// What became of bytes that a packet left waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFate {
    /// The packet that they came in.
    pub packet: u64,
    /// Whether they belong to the stream to the server.
    pub to_server: bool,
    /// How many they were.
    pub bytes: u64,
    /// What became of them.
    pub outcome: HeldOutcome,
}

/// What became of held bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldOutcome {
    /// This packet filled the hole, or acknowledged it.
    Delivered(u64),
    /// They were given up because of this packet, and counted by these names.
    Dropped(u64, Vec<&'static str>),
    /// They were held until the connection ended.
    AtEnd,
}

/// When a message was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// This packet was the next one that completed a message.
    Packet(u64),
    /// Never; it was reported as far as it had come when the connection ended.
    AtEnd,
    /// Never, and it was not reported.
    Never,
}

/// What reassembly did with what was held when a connection ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamsEnd {
    /// Bytes held until then, of the stream to the server first.
    pub held: [u32; 2],
    /// By how much its counters changed, by name.
    pub counters: Vec<(&'static str, i64)>,
}

/// What identification and parsing made of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectChange {
    /// What they knew before.
    pub before: Option<InspectView>,
    /// And after.
    pub after: InspectView,
    /// How often bytes were searched.
    pub searched: u64,
    /// Verdicts that were taken back.
    pub taken_back: u64,
    /// Messages that its parser reported.
    pub messages: u64,
    /// Whether it has had a parser by now.
    pub had_parser: bool,
}

/// A connection's end.
#[derive(Clone, Copy, Debug)]
pub struct EndView {
    /// Its record's place in the output.
    pub key: RecordKey,
    /// Its record.
    pub record: ConnRecord,
}

/// A record as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordText {
    /// Its place in the output.
    pub key: RecordKey,
    /// What it is: the name of its file in column formats.
    pub kind: String,
    /// Its texts: format, file and line.
    pub lines: Vec<RecordFileLine>,
}

/// A record's line in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFileLine {
    /// The format, as `--format` calls it.
    pub format: &'static str,
    /// The file's name.
    pub file: String,
    /// The line.
    pub text: String,
}

/// A connection, after its last packet.
#[derive(Clone, Debug, Default)]
pub struct ConnectionAccount {
    /// Its identifier.
    pub uid: Uid,
    /// Its packets.
    pub packets: u64,
    /// Its end.
    pub end: Option<EndView>,
    /// What became of bytes that its packets left waiting; of the packet that is asked for, if one
    /// is.
    pub held: Vec<HeldFate>,
    /// Packets whose held bytes were not followed, as they were too many.
    pub held_left_out: u64,
    /// What reassembly did at the end.
    pub streams_end: StreamsEnd,
    /// Records that no packet caused: of its end, of intervals, of tunnels that began with it.
    pub records: Vec<RecordText>,
    /// Scans and floods that it may be a part of.
    pub findings: Vec<RecordText>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct ExplainReport {
    /// The last number of the input, or where it was stopped.
    pub packets: u64,
    /// How many of them the capture filter left out.
    pub filtered: u64,
    /// Whether the packet asked for is among those.
    pub is_filtered: bool,
    /// Packets explained.
    pub explained: u64,
    /// The connections, in the order in which they began: several only of a Community ID.
    pub connections: Vec<ConnectionAccount>,
    /// Connections that are not in that list, as they are too many.
    pub connections_left_out: u64,
    /// The input files.
    pub inputs: Vec<InputReport>,
    /// A signal stopped it.
    pub stopped_early: bool,
}
