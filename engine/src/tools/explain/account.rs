//! What is explained: plain data, without words for people.

use crate::report::InputReport;
use crate::worker::stages::{InspectView, ScanView};
use core::net::IpAddr;
use flowpin_counters::Loss;
use flowpin_dispatch::{ChecksumVerdict, Headers};
use flowpin_flow::Event;
use flowpin_packet::{LinkType, Malformed, PacketKind, Timestamp};
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
    /// What was counted as lost or left out because of it.
    pub losses: Vec<(Loss, u64)>,
    /// Connections that ended because of it.
    pub ended: Vec<EndView>,
    /// Records that it caused.
    pub records: Vec<RecordText>,
}

/// Why a packet does not take the fast path: what is first seen that it does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowReason {
    /// A link type other than Ethernet.
    Link,
    /// A header that it does not know, or more tags than it skips: the place in the list.
    Header(usize),
    /// Options of IPv4, extension headers of IPv6: the place in the list.
    Options(usize),
    /// A fragment.
    Fragment,
    /// A header that is broken or cut.
    Refused,
    /// A tunnel, or a port of one.
    Tunnel,
    /// Anything else.
    Other,
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
    /// Until when it lives without another packet, in stream time.
    pub deadline: Timestamp,
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
    /// The connection; none if there is none.
    pub connection: Option<ConnectionAccount>,
    /// The input files.
    pub inputs: Vec<InputReport>,
    /// A signal stopped it.
    pub stopped_early: bool,
}
