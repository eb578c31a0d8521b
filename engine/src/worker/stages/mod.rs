//! The stages after the connection table, in the order in which a packet meets them.
//!
//! ```text
//!  connection table ──Sighting──► scans: what begins, is answered, refused, repeated
//!                        ├──────► reassembly: TCP segments to bytes in order ──► anomalies
//!                        │            └─ bytes ─┐
//!                        └─ datagrams ──────────┴──► inspect: identification, parsers ──► records
//! ```
//!
//! Each stage says itself whether a packet may take the **fast path**: it merely continues its
//! connection, and all that is left to do is to queue its bytes ([`AllStages::packet_fast`]).
//! Everything else takes the **slow path** ([`AllStages::packet`]).

mod anomalies;
mod explain;
mod scans;
mod view;

pub use crate::worker::identify::{CandidatesView, IdentifyStats};
pub use crate::worker::inspect::{InspectView, Unread};
pub use crate::worker::parse::ParseStats;
pub(crate) use explain::Explain;
pub use view::ScanView;

use crate::recall::Packets;
use crate::run::stage_options;
use crate::worker::context::{Cause, Context};
use crate::worker::identify::IdentifyRules;
use crate::worker::inspect::{self, FastPath, Feed, Inspect, Occasion};
use anomalies::Anomalies;
pub(in crate::worker) use anomalies::reason;
use flowpin_capture::Shedding;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_flow::{Event, FlowObserver, Sighting, Table};
use flowpin_memory::Pool;
use flowpin_output::FileError;
use flowpin_packet::{FrameBytes, PacketKind, PacketMeta, Timestamp, TunnelKind};
use flowpin_portscan::Summary;
use flowpin_reassembly::{Reassembler, ReassemblyStats, Span};
use flowpin_record::{ConnRecord, RecordKey, RecordSink, Uid};
use scans::Scans;
use std::io;

/// What a worker's connection table is observed by.
pub(crate) trait Stages: FlowObserver {
    /// Stream time has come to `now`: what the scan detector has to hand over.
    fn tick(&mut self, now: Timestamp) -> Option<Summary> {
        let _ = now;
        None
    }

    /// From here on a conditional recording is told whose packets are.
    fn recall(&mut self, packets: Packets) {
        let _ = packets;
    }

    /// From here on work is shed under overload.
    fn shed(&mut self, shedding: &Shedding) {
        let _ = shedding;
    }

    /// The recording is told of all packets up to this one.
    fn tell_recall(&mut self, number: u64) {
        let _ = number;
    }

    /// Takes signature rules that replace those at hand: the number of their first, if there are
    /// any.
    fn exchange_rules(&mut self) -> Option<u32> {
        None
    }

    /// No packet will come any more: the scan detector's last.
    fn last_tick(&mut self) -> Option<Summary> {
        None
    }

    /// No connection has a handle of `below` or more: gives the memory of those that had back.
    fn forget_above(&mut self, below: u32) {
        let _ = below;
    }

    /// The pools of everything that is kept of connections.
    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        let _ = visit;
    }

    /// What was lost so far.
    fn losses(&self) -> Losses {
        Losses::default()
    }

    /// What was counted, once all connections have ended.
    fn report(&self) -> StagesReport {
        StagesReport::default()
    }
}

/// Stages that a plan says all about.
pub(crate) trait Planned: Stages + Send + Sized {
    /// For the connections of a table, with the memory of its shards.
    fn new(plan: &Plan, known: Option<&IdentifyRules>, table: &Table) -> io::Result<Self>;
}

/// What the stages of one worker leave.
#[derive(Debug, Default)]
pub(crate) struct StagesReport {
    pub(crate) losses: Losses,
    pub(crate) reassembly: ReassemblyStats,
    pub(crate) identify: IdentifyStats,
    pub(crate) parse: ParseStats,
    /// The first extracted file that could not be written.
    pub(crate) file_error: Option<FileError>,
}

/// All stages.
#[derive(Debug)]
pub(crate) struct AllStages {
    explain: Explain,
    scans: Option<Scans>,
    reassembler: Option<Reassembler>,
    inspect: Option<Inspect>,
    anomalies: Anomalies,
    /// Whose packets are, for a conditional recording.
    recall: Option<Box<Packets>>,
    /// The closed stream that the last packet showed to go on: whether to the server.
    reopened: Option<bool>,
}

/// Memory for each connection, by its handle: in reassembly, in inspection, and in the scan
/// detector, which has the place of its attempt.
pub(crate) const CONNECTION_BYTES: u32 =
    flowpin_reassembly::CONNECTION_BYTES + inspect::CONNECTION_BYTES + 4;

/// Whether anything but connections is analysed: without it they need not report their packets.
pub(crate) const fn are_wanted(plan: &Plan) -> bool {
    plan.live.record_if.is_some()
        || plan.streams.enabled
        || plan.scans.enabled
        || plan.identify.enabled
}

impl AllStages {
    /// Packets of a connection that were searched for its protocol.
    pub(crate) fn inspected(&self, handle: u32) -> u8 {
        let inspect = self.inspect.as_ref();
        inspect.map_or(0, |inspect| inspect.inspected(handle))
    }
}

impl Planned for AllStages {
    fn new(plan: &Plan, known: Option<&IdentifyRules>, table: &Table) -> io::Result<Self> {
        let reassembler = if plan.streams.enabled {
            let options = stage_options::reassembly(plan);
            let budget = table.budget().clone();
            let shards = u32::try_from(table.shards().len()).unwrap_or(u32::MAX);
            Some(Reassembler::within(
                budget,
                &options,
                shards,
                table.capacity(),
            )?)
        } else {
            None
        };
        Ok(Self {
            explain: Explain {
                id_seed: plan.id_seed,
            },
            scans: plan.scans.enabled.then(|| Scans::new(plan)),
            reassembler,
            inspect: known
                .map(|known| Inspect::new(plan, known, table))
                .transpose()?,
            anomalies: Anomalies::default(),
            recall: None,
            reopened: None,
        })
    }
}

impl Stages for AllStages {
    fn tick(&mut self, now: Timestamp) -> Option<Summary> {
        self.scans
            .as_mut()
            .and_then(|scans| scans.observer.tick(now))
    }

    fn recall(&mut self, packets: Packets) {
        self.recall = Some(Box::new(packets));
    }

    fn shed(&mut self, shedding: &Shedding) {
        if let Some(inspect) = &mut self.inspect {
            inspect.shed(shedding);
        }
    }

    fn tell_recall(&mut self, number: u64) {
        if let Some(packets) = &mut self.recall {
            packets.tick(number);
        }
    }

    fn exchange_rules(&mut self) -> Option<u32> {
        self.inspect.as_mut()?.exchange_rules()
    }

    fn last_tick(&mut self) -> Option<Summary> {
        self.scans.as_mut().map(|scans| scans.observer.finish())
    }

    fn forget_above(&mut self, below: u32) {
        if let Some(reassembler) = &mut self.reassembler {
            reassembler.forget_above(below);
        }
        if let Some(inspect) = &mut self.inspect {
            inspect.forget_above(below);
        }
    }

    fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        if let Some(reassembler) = &mut self.reassembler {
            reassembler.pools(visit);
        }
        if let Some(inspect) = &mut self.inspect {
            inspect.pools(visit);
        }
    }

    fn losses(&self) -> Losses {
        let mut losses = self.anomalies.losses();
        if let Some(reassembler) = &self.reassembler {
            losses.add(&reassembler.stats().losses());
        }
        if let Some(scans) = &self.scans {
            losses.add(scans.observer.losses());
        }
        if let Some(inspect) = &self.inspect {
            losses.add(&inspect.losses());
        }
        losses
    }

    fn report(&self) -> StagesReport {
        let mut report = StagesReport {
            losses: self.losses(),
            ..StagesReport::default()
        };
        if let Some(reassembler) = &self.reassembler {
            report.reassembly = reassembler.stats();
        }
        if let Some(inspect) = &self.inspect {
            report.identify = inspect.identify_stats();
            report.parse = inspect.parse_stats();
            report.file_error = inspect.file_error().cloned();
        }
        report
    }
}

impl FlowObserver for AllStages {
    #[inline]
    fn prefetch(&self, handle: u32) {
        if let Some(scans) = &self.scans {
            scans.observer.prefetch(handle);
        }
        if let Some(reassembler) = &self.reassembler {
            reassembler.prefetch(handle);
        }
        if let Some(inspect) = &self.inspect {
            inspect.prefetch(handle);
        }
    }

    #[inline]
    fn prefetch_more(&self, handle: u32, step: u8) {
        if let Some(inspect) = &self.inspect {
            inspect.prefetch_more(handle, step, None);
        }
    }

    #[inline]
    fn packet_fast(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        event: Event,
        (handle, to_server): (u32, bool),
    ) -> bool {
        // It is told of each packet.
        if self.recall.is_some() {
            return false;
        }
        if let Some(scans) = &self.scans
            && !scans.takes_fast_path(event, handle)
        {
            return false;
        }
        let path = match &self.inspect {
            Some(inspect) => inspect.fast_path(meta, handle),
            None => FastPath::Skip,
        };
        if path == FastPath::Refuse {
            return false;
        }
        if meta.kind == PacketKind::Tcp
            && let Some(reassembler) = &mut self.reassembler
        {
            let Some(at) = reassembler.segment_fast(frames, meta, handle, to_server) else {
                return false;
            };
            let Some(inspect) = &mut self.inspect else {
                return true;
            };
            if path == FastPath::Push || path == FastPath::PushPacket && meta.payload_len > 0 {
                inspect.push_bytes(at, frames.payload(meta), frames, Cause::of(meta));
            }
            if path == FastPath::PushPacket {
                inspect.push_packet(meta, handle, to_server);
            }
        }
        true
    }

    #[inline]
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        if let Some(packets) = &mut self.recall {
            packets.see(sighting);
        }
        if sighting.event != Event::Plain {
            if let Some(scans) = &mut self.scans {
                scans.see(sighting);
            }
            if let Some(inspect) = &mut self.inspect
                && sighting.event == Event::New
            {
                inspect.begin(sighting);
            }
        }
        if sighting.meta.kind != PacketKind::Tcp {
            if let Some(inspect) = &mut self.inspect {
                inspect.push_datagram(sighting);
            }
        } else if let Some(reassembler) = &mut self.reassembler {
            let mut feed = Feed {
                inspect: self.inspect.as_mut(),
                occasion: Occasion::Packet(sighting),
                sink,
                on_anomaly: |at: Span, what, sink: &mut S| {
                    // Another connection may have to make room: not this packet's doing.
                    if at.handle == sighting.handle {
                        self.anomalies.report(sighting, what, sink);
                    }
                },
                reopened: None,
            };
            reassembler.segment(
                &sighting.frames,
                sighting.meta,
                sighting.handle,
                sighting.to_server,
                sighting.event == Event::New,
                &mut feed,
            );
            self.reopened = feed.reopened;
        }
        if let Some(inspect) = &mut self.inspect {
            inspect.push_packet(sighting.meta, sighting.handle, sighting.to_server);
        }
    }

    fn ignores(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        (handle, to_server): (u32, bool),
    ) -> bool {
        let reassembler = self.reassembler.as_mut();
        reassembler.is_some_and(|streams| streams.ignores(frames, meta, handle, to_server))
    }

    fn reopened(&mut self) -> Option<bool> {
        self.reopened.take()
    }

    #[inline]
    fn settle<S: RecordSink>(&mut self, table: &Table, frames: &FrameBytes<'_>, sink: &mut S) {
        if let Some(inspect) = &mut self.inspect {
            inspect.flush_some(table, frames, sink);
        }
    }

    #[inline]
    fn deferred_from(&self) -> Option<RecordKey> {
        self.inspect.as_ref()?.deferred_from()
    }

    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        let streams = self.reassembler.as_mut();
        let streams = streams.filter(|_| record.protocol == TCP);
        let Some(inspect) = &mut self.inspect else {
            if let Some(streams) = streams {
                streams.end(handle, &mut ());
            }
            return;
        };
        if inspect.is_wanted(handle) {
            // What is still to be read of it may take memory.
            let loan = inspect.borrow_memory(handle, streams.is_some());
            if let Some(streams) = streams {
                let mut feed = Feed {
                    inspect: Some(inspect),
                    occasion: Occasion::End(record, key),
                    sink,
                    on_anomaly: |_, _, _: &mut S| {},
                    reopened: None,
                };
                streams.end(handle, &mut feed);
            }
            inspect.end(handle, Context::of_end(record, key, sink));
            inspect.return_memory(loan);
        } else if let Some(streams) = streams {
            streams.end(handle, &mut ());
        }
        inspect.write_app(handle, record);
    }

    fn goes_on(&mut self, handle: u32, record: &mut ConnRecord) {
        if let Some(inspect) = &self.inspect {
            inspect.write_app(handle, record);
        }
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.explain.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.explain.tunnel(frames, meta)
    }
}

const TCP: u8 = 6;
