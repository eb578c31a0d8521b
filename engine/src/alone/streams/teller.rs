//! What a worker's table is observed by when streams are told: finds the wanted conversations,
//! puts their segments in order, and says whose bytes they are.

use super::{Conversation, StreamEnd, StreamPlace, StreamSink, StreamsReport};
use crate::RunError;
use crate::alone::wanted::Wanted;
use crate::run::stage_options;
use crate::worker::stages::{Explain, Stages, StagesReport};
use core::net::SocketAddr;
use flowpin_config::Plan;
use flowpin_flow::{Event, FlowObserver, Sighting};
use flowpin_packet::{Endpoints, FrameBytes, PacketFlags, PacketKind, PacketMeta, Timestamp};
use flowpin_reassembly::{Reassembler, Span, StreamConsumer};
use flowpin_record::{ConnRecord, RecordKey, RecordSink, TunnelKind, Uid};
use std::collections::HashMap;
use std::io;

/// Tells a sink of the wanted conversations.
pub(super) struct Teller<'k, K> {
    explain: Explain,
    reassembler: Reassembler,
    wanted: Wanted,
    community_seed: u16,
    /// By handle: those that are told.
    talks: HashMap<u32, Talk>,
    told: Told<'k, K>,
}

/// A conversation that goes on.
#[derive(Clone, Copy, Debug)]
struct Talk {
    conversation: Conversation,
    /// Of its last packet.
    time: Timestamp,
    packet_number: u64,
    /// Of UDP: bytes to the server, and to the client.
    bytes: [u64; 2],
    counted: bool,
}

/// Where bytes go, and what was counted on the way.
struct Told<'k, K> {
    sink: &'k mut K,
    report: StreamsReport,
    failed: Option<RunError>,
    /// The stream that the last packet showed to go on.
    reopened: Option<bool>,
}

impl<'k, K: StreamSink> Teller<'k, K> {
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
            talks: HashMap::new(),
            told: Told {
                sink,
                report: StreamsReport::default(),
                failed: None,
                reopened: None,
            },
        })
    }

    /// Whether the sink has failed.
    pub(super) fn check(&mut self) -> Result<(), RunError> {
        self.told.failed.take().map_or(Ok(()), Err)
    }

    /// What was told; the caller knows the rest.
    pub(super) fn told(&mut self) -> StreamsReport {
        core::mem::take(&mut self.told.report)
    }

    /// Takes note of a packet: whether its conversation is told.
    fn meet(&mut self, sighting: &Sighting<'_>) -> bool {
        let meta = sighting.meta;
        if sighting.event == Event::New {
            self.talks.remove(&sighting.handle);
        }
        let is_due = match self.wanted {
            Wanted::All => meta.kind == PacketKind::Tcp && meta.payload_len > 0,
            Wanted::Uid(_) | Wanted::FlowId(_) | Wanted::CommunityId(_) => {
                sighting.event == Event::New
            }
        };
        if let Some(talk) = self.talks.get_mut(&sighting.handle) {
            (talk.time, talk.packet_number) = (meta.time, meta.number);
            return true;
        }
        if is_due && self.wanted.names(sighting, self.community_seed) {
            let conversation = conversation(sighting);
            let talk = Talk {
                conversation,
                time: meta.time,
                packet_number: meta.number,
                bytes: [0; 2],
                counted: false,
            };
            self.talks.insert(sighting.handle, talk);
            if self.wanted != Wanted::All {
                self.told.report.found += 1;
                let is_told = matches!(conversation.protocol, TCP | UDP);
                self.told.report.found_others += u64::from(!is_told);
            }
            return true;
        }
        // Handshakes number streams of which nothing is told yet.
        self.wanted == Wanted::All
    }

    /// A datagram, as it came.
    fn datagram(&mut self, sighting: &Sighting<'_>) {
        let meta = sighting.meta;
        let Some(talk) = self.talks.get_mut(&sighting.handle) else {
            return;
        };
        if meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return;
        }
        let [to_server, to_client] = &mut talk.bytes;
        let come = if sighting.to_server {
            to_server
        } else {
            to_client
        };
        let at = Span {
            handle: sighting.handle,
            to_server: sighting.to_server,
            offset: *come,
        };
        *come += u64::from(meta.payload_len);
        let mut consumer = Consumer {
            talks: &mut self.talks,
            told: &mut self.told,
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

impl<K: StreamSink> FlowObserver for Teller<'_, K> {
    fn prefetch(&self, handle: u32) {
        self.reassembler.prefetch(handle);
    }

    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, _: &mut S) {
        if self.told.failed.is_some() || !self.meet(sighting) {
            return;
        }
        match sighting.meta.kind {
            PacketKind::Tcp => {
                let mut consumer = Consumer {
                    talks: &mut self.talks,
                    told: &mut self.told,
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
        self.told.reopened.take()
    }

    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        _: RecordKey,
        _: &mut S,
    ) {
        if record.protocol == TCP && self.told.failed.is_none() {
            let mut consumer = Consumer {
                talks: &mut self.talks,
                told: &mut self.told,
            };
            self.reassembler.end(handle, &mut consumer);
        }
        self.talks.remove(&handle);
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.explain.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.explain.tunnel(frames, meta)
    }
}

impl<K: StreamSink> Stages for Teller<'_, K> {
    fn report(&self) -> StagesReport {
        let reassembly = self.reassembler.stats();
        StagesReport {
            losses: reassembly.losses(),
            reassembly,
            ..StagesReport::default()
        }
    }
}

/// Names the conversations of which reassembly tells.
struct Consumer<'a, 'k, K> {
    talks: &'a mut HashMap<u32, Talk>,
    told: &'a mut Told<'k, K>,
}

impl<K: StreamSink> Consumer<'_, '_, K> {
    /// Tells the sink, unless it has failed before.
    fn tell(
        &mut self,
        at: Span,
        how: impl FnOnce(&mut K, &StreamPlace<'_>) -> Result<(), RunError>,
    ) {
        let Some(talk) = self.talks.get(&at.handle) else {
            return;
        };
        let place = StreamPlace {
            conversation: &talk.conversation,
            handle: at.handle,
            to_server: at.to_server,
            offset: at.offset,
            time: talk.time,
            packet_number: talk.packet_number,
        };
        if self.told.failed.is_none() {
            self.told.failed = how(self.told.sink, &place).err();
        }
    }
}

impl<K: StreamSink> StreamConsumer for Consumer<'_, '_, K> {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        let report = &mut self.told.report;
        report.bytes += bytes.len() as u64;
        if let Some(talk) = self.talks.get_mut(&at.handle)
            && !core::mem::replace(&mut talk.counted, true)
        {
            report.with_bytes += 1;
        }
        self.tell(at, |sink, place| sink.data(place, bytes));
    }

    fn gap(&mut self, at: Span, len: u64) {
        self.told.report.gaps += 1;
        self.told.report.gap_bytes += len;
        self.tell(at, |sink, place| sink.gap(place, len));
    }

    fn goes_on(&mut self, at: Span, _: bool) {
        self.told.reopened = Some(at.to_server);
    }

    fn closed(&mut self, at: Span, how: StreamEnd) {
        self.tell(at, |sink, place| sink.closed(place, how));
    }
}

/// Who talks to whom, by the first packet that matters.
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
