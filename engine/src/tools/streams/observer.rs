//! The observer of a worker's connection table: finds the wanted conversations, reassembles their
//! segments, and reports their bytes to a sink.

use super::{Conversation, StreamEnd, StreamPlace, StreamSink, StreamsReport};
use crate::RunError;
use crate::run::stage_options;
use crate::tools::wanted::Wanted;
use crate::worker::stages::{Explain, Stages, StagesReport};
use core::net::SocketAddr;
use flowpin_config::Plan;
use flowpin_flow::{Event, FlowObserver, Sighting};
use flowpin_packet::{
    Endpoints, FrameBytes, PacketFlags, PacketKind, PacketMeta, Timestamp, TunnelKind,
};
use flowpin_reassembly::{Reassembler, Span, StreamConsumer};
use flowpin_record::{ConnRecord, RecordKey, RecordSink, Uid};
use std::collections::HashMap;
use std::io;

/// Reports the wanted conversations to a sink.
pub(super) struct StreamObserver<'k, K> {
    explain: Explain,
    reassembler: Reassembler,
    wanted: Wanted,
    community_seed: u16,
    /// By handle: the open conversations that are reported.
    open: HashMap<u32, OpenConversation>,
    reporter: Reporter<'k, K>,
}

/// An open conversation.
#[derive(Clone, Copy, Debug)]
struct OpenConversation {
    conversation: Conversation,
    /// Of its last packet.
    time: Timestamp,
    packet_number: u64,
    /// UDP: bytes to the server, and to the client.
    bytes: [u64; 2],
    counted: bool,
}

/// The sink, and the counters of what it got.
struct Reporter<'k, K> {
    sink: &'k mut K,
    report: StreamsReport,
    failed: Option<RunError>,
    /// The closed stream that the last packet continued.
    reopened: Option<bool>,
}

impl<'k, K: StreamSink> StreamObserver<'k, K> {
    /// For a table whose handles are below `connections_max`.
    pub(super) fn new(
        plan: &Plan,
        wanted: Wanted,
        sink: &'k mut K,
        connections_max: u32,
    ) -> io::Result<Self> {
        let options = stage_options::reassembly(plan);
        let shards = u32::try_from(flowpin_packet::SHARD_COUNT).unwrap_or(u32::MAX);
        Ok(Self {
            explain: Explain {
                id_seed: plan.id_seed,
            },
            reassembler: Reassembler::new(&options, shards, connections_max)?,
            wanted,
            community_seed: plan.output.community_seed,
            open: HashMap::new(),
            reporter: Reporter {
                sink,
                report: StreamsReport::default(),
                failed: None,
                reopened: None,
            },
        })
    }

    /// Whether the sink has failed.
    pub(super) fn check(&mut self) -> Result<(), RunError> {
        self.reporter.failed.take().map_or(Ok(()), Err)
    }

    /// The report, as far as the stages know it.
    pub(super) fn take_report(&mut self) -> StreamsReport {
        core::mem::take(&mut self.reporter.report)
    }

    /// Notes a packet; returns whether its conversation is reported.
    fn note(&mut self, sighting: &Sighting<'_>) -> bool {
        let meta = sighting.meta;
        if sighting.event == Event::New {
            self.open.remove(&sighting.handle);
        }
        let is_due = match self.wanted {
            Wanted::All => meta.kind == PacketKind::Tcp && meta.payload_len > 0,
            Wanted::Uid(_) | Wanted::FlowId(_) | Wanted::CommunityId(_) => {
                sighting.event == Event::New
            }
        };
        if let Some(open) = self.open.get_mut(&sighting.handle) {
            (open.time, open.packet_number) = (meta.time, meta.number);
            return true;
        }
        if is_due && self.wanted.names(sighting, self.community_seed) {
            let conversation = conversation(sighting);
            let open = OpenConversation {
                conversation,
                time: meta.time,
                packet_number: meta.number,
                bytes: [0; 2],
                counted: false,
            };
            self.open.insert(sighting.handle, open);
            if self.wanted != Wanted::All {
                self.reporter.report.found += 1;
                let has_streams = matches!(conversation.protocol, TCP | UDP);
                self.reporter.report.found_others += u64::from(!has_streams);
            }
            return true;
        }
        // Handshakes number the streams of conversations without bytes so far.
        self.wanted == Wanted::All
    }

    /// Reports a datagram.
    fn datagram(&mut self, sighting: &Sighting<'_>) {
        let meta = sighting.meta;
        let Some(open) = self.open.get_mut(&sighting.handle) else {
            return;
        };
        if meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return;
        }
        let [to_server, to_client] = &mut open.bytes;
        let bytes_before = if sighting.to_server {
            to_server
        } else {
            to_client
        };
        let at = Span {
            handle: sighting.handle,
            to_server: sighting.to_server,
            offset: *bytes_before,
        };
        *bytes_before += u64::from(meta.payload_len);
        let mut consumer = Consumer {
            open: &mut self.open,
            reporter: &mut self.reporter,
        };
        let bytes = sighting.frames.payload(meta);
        consumer.data(at, bytes);
        let cut = u64::from(meta.payload_len).saturating_sub(bytes.len() as u64);
        if cut > 0 {
            let offset = at.offset + bytes.len() as u64;
            consumer.gap(Span { offset, ..at }, cut);
        }
    }
}

impl<K: StreamSink> FlowObserver for StreamObserver<'_, K> {
    fn prefetch(&self, handle: u32) {
        self.reassembler.prefetch(handle);
    }

    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, _: &mut S) {
        if self.reporter.failed.is_some() || !self.note(sighting) {
            return;
        }
        match sighting.meta.kind {
            PacketKind::Tcp => {
                let mut consumer = Consumer {
                    open: &mut self.open,
                    reporter: &mut self.reporter,
                };
                self.reassembler.segment(
                    &sighting.frames,
                    sighting.meta,
                    sighting.handle,
                    sighting.to_server,
                    sighting.event == Event::New,
                    &mut consumer,
                );
            }
            PacketKind::Udp => self.datagram(sighting),
            _ => {}
        }
    }

    fn ignores(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        (handle, to_server): (u32, bool),
    ) -> bool {
        self.reassembler.ignores(frames, meta, handle, to_server)
    }

    fn reopened(&mut self) -> Option<bool> {
        self.reporter.reopened.take()
    }

    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        _: RecordKey,
        _: &mut S,
    ) {
        if record.protocol == TCP && self.reporter.failed.is_none() {
            let mut consumer = Consumer {
                open: &mut self.open,
                reporter: &mut self.reporter,
            };
            self.reassembler.end(handle, &mut consumer);
        }
        self.open.remove(&handle);
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.explain.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.explain.tunnel(frames, meta)
    }
}

impl<K: StreamSink> Stages for StreamObserver<'_, K> {
    fn report(&self) -> StagesReport {
        let reassembly = self.reassembler.stats();
        StagesReport {
            losses: reassembly.losses(),
            reassembly,
            ..StagesReport::default()
        }
    }
}

/// Adds the conversation to the events of reassembly.
struct Consumer<'a, 'k, K> {
    open: &'a mut HashMap<u32, OpenConversation>,
    reporter: &'a mut Reporter<'k, K>,
}

impl<K: StreamSink> Consumer<'_, '_, K> {
    /// Calls the sink, unless it has failed before.
    fn report(
        &mut self,
        at: Span,
        call: impl FnOnce(&mut K, &StreamPlace<'_>) -> Result<(), RunError>,
    ) {
        let Some(open) = self.open.get(&at.handle) else {
            return;
        };
        let place = StreamPlace {
            conversation: &open.conversation,
            handle: at.handle,
            to_server: at.to_server,
            offset: at.offset,
            time: open.time,
            packet_number: open.packet_number,
        };
        if self.reporter.failed.is_none() {
            self.reporter.failed = call(self.reporter.sink, &place).err();
        }
    }
}

impl<K: StreamSink> StreamConsumer for Consumer<'_, '_, K> {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        let report = &mut self.reporter.report;
        report.bytes += bytes.len() as u64;
        if let Some(open) = self.open.get_mut(&at.handle)
            && !core::mem::replace(&mut open.counted, true)
        {
            report.with_bytes += 1;
        }
        self.report(at, |sink, place| sink.data(place, bytes));
    }

    fn gap(&mut self, at: Span, len: u64) {
        self.reporter.report.gaps += 1;
        self.reporter.report.gap_bytes += len;
        self.report(at, |sink, place| sink.gap(place, len));
    }

    fn goes_on(&mut self, at: Span, _: bool) {
        self.reporter.reopened = Some(at.to_server);
    }

    fn closed(&mut self, at: Span, how: StreamEnd) {
        self.report(at, |sink, place| sink.closed(place, how));
    }
}

/// The conversation of a packet.
fn conversation(sighting: &Sighting<'_>) -> Conversation {
    let ((client, server), ports) = (sighting.endpoints(), sighting.ports());
    let ipv6 = sighting.meta.key.is_ipv6();
    Conversation {
        uid: sighting.uid(),
        protocol: sighting.meta.protocol,
        client: SocketAddr::new(Endpoints::address(client, ipv6), ports.0),
        server: SocketAddr::new(Endpoints::address(server, ipv6), ports.1),
    }
}

const TCP: u8 = 6;
const UDP: u8 = 17;
