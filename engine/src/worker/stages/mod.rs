//! The stages behind the connection table, in the order in which a packet meets them.
//!
//! ```text
//!  connection table ──Sighting──► scans: what begins, is answered, refused, repeated
//!                        ├──────► reassembly: TCP segments to bytes in order ──► anomalies
//!                        │                                       └─ first bytes ─┐
//!                        └──────► datagrams ──────────────────► identify: which protocol it is
//!                                                                │ verdict
//!                                                                ▼
//!                                                              parse: messages ──► records
//! ```

mod listener;
mod oddities;
mod scans;

use crate::input::tunnels;
use crate::run::memory;
use crate::worker::context::{Cause, Context, PeerSource};
use crate::worker::identification::Identification;
pub use crate::worker::inspect::IdentifyStats;
use crate::worker::inspect::{Ending, Identify, Way};
use crate::worker::parse::Parse;
pub use crate::worker::parse::ParseStats;
pub(crate) use crate::worker::parse::{FileError, earlier_files};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_flow::{Event, FlowObserver, Sighting, Table};
use flowpin_packet::{FrameBytes, PacketKind, PacketMeta, Timestamp};
use flowpin_portscan::Summary;
use flowpin_reassembly::{Reassembler, ReassemblyStats};
use flowpin_record::{ConnRecord, RecordKey, RecordSink, TunnelKind, Uid};
use listener::Listener;
use oddities::Oddities;
use scans::Scans;
use std::io;

/// What a worker's connection table is observed by.
pub(crate) trait Stages: FlowObserver {
    /// Stream time has come to `now`: what the scan detector has to hand over.
    fn tick(&mut self, now: Timestamp) -> Option<Summary> {
        let _ = now;
        None
    }

    /// No packet will come any more: the scan detector's last.
    fn last_tick(&mut self) -> Option<Summary> {
        None
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
    /// For a table of `shards` shards whose handles are below `connections_max`.
    fn new(
        plan: &Plan,
        known: Option<&Identification>,
        shards: u32,
        connections_max: u32,
    ) -> io::Result<Self>;
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
    identify: Option<Identify>,
    oddities: Oddities,
    /// What the last packet showed to go on.
    reopened: Option<bool>,
}

/// Whether anything but connections is looked at: without it they need not tell of themselves.
pub(crate) const fn are_wanted(plan: &Plan) -> bool {
    plan.streams.enabled || plan.scans.enabled || plan.identify.enabled
}

impl AllStages {
    /// Packets of a connection whose bytes were looked at to tell its protocol.
    pub(crate) fn inspected(&self, handle: u32) -> u8 {
        let identify = self.identify.as_ref();
        identify.map_or(0, |identify| identify.inspected(handle))
    }

    fn is_settled(&self) -> bool {
        self.identify.as_ref().is_none_or(Identify::is_settled)
    }
}

impl Planned for AllStages {
    fn new(
        plan: &Plan,
        known: Option<&Identification>,
        shards: u32,
        connections_max: u32,
    ) -> io::Result<Self> {
        let reassembler = if plan.streams.enabled {
            let options = memory::reassembly(plan);
            Some(Reassembler::new(&options, shards, connections_max)?)
        } else {
            None
        };
        Ok(Self {
            explain: Explain {
                id_seed: plan.id_seed,
            },
            scans: plan.scans.enabled.then(Scans::default),
            reassembler,
            identify: known
                .map(|known| {
                    let options = memory::identification(plan);
                    let parse = Parse::new(plan, known.fix.as_ref(), connections_max)?;
                    Identify::new(known, options, parse, connections_max)
                })
                .transpose()?,
            oddities: Oddities::default(),
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

    fn last_tick(&mut self) -> Option<Summary> {
        self.scans.as_mut().map(|scans| scans.observer.finish())
    }

    fn losses(&self) -> Losses {
        let mut losses = self.oddities.losses();
        if let Some(reassembler) = &self.reassembler {
            losses.add(&reassembler.stats().losses());
        }
        if let Some(scans) = &self.scans {
            losses.add(scans.observer.losses());
        }
        if let Some(identify) = &self.identify {
            losses.add(&identify.losses());
        }
        losses
    }

    fn report(&self) -> StagesReport {
        let mut reassembly = ReassemblyStats::default();
        if let Some(reassembler) = &self.reassembler {
            reassembly = reassembler.stats();
        }
        let mut stats = IdentifyStats::default();
        let mut parse = ParseStats::default();
        let mut file_error = None;
        if let Some(identify) = &self.identify {
            stats = identify.stats();
            parse = identify.parse_stats();
            file_error = identify.file_error().cloned();
        }
        StagesReport {
            losses: self.losses(),
            reassembly,
            identify: stats,
            parse,
            file_error,
        }
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
        if let Some(identify) = &self.identify {
            identify.prefetch(handle);
        }
    }

    #[inline]
    fn prefetch_more(&self, handle: u32, step: u8) {
        if let Some(identify) = &self.identify {
            identify.prefetch_more(handle, step);
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
        if event != Event::Plain
            && let Some(scans) = &self.scans
            && !scans.observer.is_settled(handle)
        {
            return false;
        }
        if meta.kind != PacketKind::Tcp {
            let identify = self.identify.as_ref();
            return identify.is_none_or(|identify| identify.way(handle) == Way::Nothing);
        }
        let way = match &self.identify {
            Some(identify) if meta.payload_len > 0 => identify.way(handle),
            _ => Way::Nothing,
        };
        if way == Way::Search {
            return false;
        }
        let Some(reassembler) = &mut self.reassembler else {
            return true;
        };
        let Some(at) = reassembler.segment_fast(frames, meta, handle, to_server) else {
            return false;
        };
        if way == Way::Parser
            && let Some(identify) = &mut self.identify
        {
            identify.wait_with_bytes(at, frames.payload(meta), frames, Cause::of(meta));
        }
        true
    }

    #[inline]
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        if sighting.event != Event::Plain {
            if let Some(scans) = &mut self.scans {
                scans.see(sighting);
            }
            if let Some(identify) = &mut self.identify
                && sighting.event == Event::New
            {
                identify.begin(sighting);
            }
        }
        if sighting.meta.kind != PacketKind::Tcp {
            if let Some(identify) = &mut self.identify {
                identify.wait_with_datagram(sighting);
            }
        } else if let Some(reassembler) = &mut self.reassembler {
            let mut listener = Listener {
                identify: self.identify.as_mut(),
                oddities: &mut self.oddities,
                sighting,
                sink,
                reopened: None,
            };
            reassembler.segment(
                &sighting.frames,
                sighting.meta,
                sighting.handle,
                sighting.to_server,
                sighting.event == Event::New,
                &mut listener,
            );
            self.reopened = listener.reopened;
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
        if let Some(identify) = &mut self.identify {
            identify.settle(table, frames, sink);
        }
    }

    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        debug_assert!(self.is_settled(), "settled before a connection ends");
        let identify = match &mut self.identify {
            Some(identify) if identify.way(handle) != Way::Nothing => identify,
            // Nobody wants to hear of the end.
            known => {
                if record.protocol == TCP
                    && let Some(reassembler) = &mut self.reassembler
                {
                    reassembler.end(handle, &mut ());
                }
                if let Some(identify) = known {
                    identify.tell(handle, record);
                }
                return;
            }
        };
        let mut context = Context {
            cause: Cause::end(record, key),
            peers: PeerSource::Record(record),
            sink,
        };
        if record.protocol == TCP
            && let Some(reassembler) = &mut self.reassembler
        {
            let mut ending = Ending {
                identify,
                context: &mut context,
            };
            reassembler.end(handle, &mut ending);
        }
        identify.end(handle, &mut context);
        identify.tell(handle, record);
    }

    fn goes_on(&mut self, handle: u32, record: &mut ConnRecord) {
        debug_assert!(self.is_settled(), "settled before a connection is told of");
        if let Some(identify) = &self.identify {
            identify.tell(handle, record);
        }
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.explain.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.explain.tunnel(frames, meta)
    }
}

/// Tells the connection table what only dispatch knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explain {
    pub(crate) id_seed: u64,
}

impl FlowObserver for Explain {
    const OBSERVES: bool = false;

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        flowpin_dispatch::vlans(meta, frames.frame(meta))
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        tunnels::innermost(frames.frame(meta), meta, self.id_seed)
    }
}

impl Stages for Explain {}

impl Planned for Explain {
    fn new(plan: &Plan, _: Option<&Identification>, _: u32, _: u32) -> io::Result<Self> {
        Ok(Self {
            id_seed: plan.id_seed,
        })
    }
}

const TCP: u8 = 6;
