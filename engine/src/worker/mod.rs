//! One worker: all that happens to a packet on one core, run to completion.
//!
//! ```text
//!  batch ──► [decode, verify] ──► connection table ──► records ──► formatter, output
//!  ≤ 128     where the cut          │  one record a    text, by
//!  at once   left it to us          ▼  connection      key
//!                                 stages: scans, reassembly (see there)
//! ```
//!
//! Owns every table it touches; shares nothing. So no stage takes a lock, and a test drives a
//! whole worker on one thread.

mod context;
pub(crate) mod identify;
mod inspect;
pub(crate) mod limit;
pub(crate) mod netflow;
pub(crate) mod parse;
mod records;
mod resident;
mod rules;
pub(crate) mod stages;

use crate::aggregates::{News, Observers};
use crate::output::{Delivery, Exit};
use crate::parts::Seam;
use crate::recall::Recall;
use crate::report::WorkerReport;
use crate::worker::resident::Resident;
use crate::worker::stages::{Stages, StagesReport};
use flowpin_capture::Shedding;
use flowpin_counters::Losses;
use flowpin_flow::{FlowOptions, ShardSet, Table};
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::{FrameBytes, InterfaceNames, PacketMeta, Tick, Timestamp};
use flowpin_portscan::{INTERVAL_NS, ScanNews};
use flowpin_record::RecordKey;
use records::Records;
use std::sync::Arc;

/// Packets that are handled together: so that their cache misses overlap, and so that the stages'
/// code is fetched once for many of them (decision 0018).
// PERF: against 128, user cycles of a run (1x1, 2-core EPYC): 1 % fewer with connections alone,
// 2.5 % mixed with EVE, 4 to 6 % HTTP (parser-file-1, -2). The descriptors, 48 KiB, lie in the
// second-level cache.
pub(crate) const BATCH: usize = 512;

/// Connections that end together with the input: their records go out before the next are made.
const ENDS: usize = 1 << 12;

/// What the cut leaves to the worker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Late {
    /// Read transport headers.
    pub(crate) decode: bool,
    /// Verify transport checksums.
    pub(crate) verify: bool,
    /// Another core has written descriptors and bytes: they are asked for ahead.
    pub(crate) is_far: bool,
    /// The stages look at payloads.
    pub(crate) fetch: bool,
}

/// All state of one worker.
pub(crate) struct Worker<O> {
    table: Table,
    records: Records,
    stages: O,
    /// The interval of scans that the last batch began in.
    interval: u64,
    /// Whether the scan detector has had its last tick.
    ending: bool,
    /// Of a slice: who is told what goes on behind it.
    seam: Option<Arc<Seam>>,
    late: Late,
    checksums: ChecksumCounts,
    resident: Resident,
}

/// What the worker found verifying checksums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChecksumCounts {
    pub(crate) offloaded: u64,
}

/// What a finished worker leaves.
pub(crate) struct Finished {
    pub(crate) report: WorkerReport,
    pub(crate) counters: flowpin_flow::FlowCounters,
    pub(crate) checksums: ChecksumCounts,
    pub(crate) stages: StagesReport,
}

impl<O: Stages> Worker<O> {
    /// A worker for some shards. `stages` makes what observes its table.
    pub(crate) fn new(
        flow: &FlowOptions,
        shards: ShardSet,
        formatter: Formatter,
        late: Late,
        observers: Observers,
        stages: impl FnOnce(&Table) -> std::io::Result<O>,
    ) -> std::io::Result<Self> {
        let table = Table::new(flow, shards)?;
        Ok(Self {
            stages: stages(&table)?,
            interval: 0,
            ending: false,
            seam: None,
            resident: Resident::new(table.memory_bytes()),
            table,
            records: Records::new(formatter, observers),
            late,
            checksums: ChecksumCounts::default(),
        })
    }

    /// Asks for the memory that [`Worker::process`] will read first. Called as soon as a packet's
    /// hash is known, some hundred instructions ahead.
    #[inline]
    pub(crate) fn prefetch(&self, meta: &PacketMeta) {
        self.table.prefetch(core::slice::from_ref(meta));
    }

    /// The names of the interfaces that packets carry numbers of.
    pub(crate) fn name_interfaces(&mut self, names: &InterfaceNames) {
        self.records.formatter.name_interfaces(names);
    }

    /// Tells a conditional recording whose packets are, and what is found; as worker `number`.
    pub(crate) fn recall(&mut self, recall: &Recall, number: usize) {
        self.stages.recall(recall.observer(number));
        self.records.findings = Some(Box::new(recall.findings()));
    }

    /// Its input goes on elsewhere, with what is open in the end.
    pub(crate) fn end_at(&mut self, seam: Arc<Seam>) {
        self.seam = Some(seam);
    }

    /// Sheds work under overload.
    pub(crate) fn shed(&mut self, shedding: &Shedding) {
        self.stages.shed(shedding);
    }

    /// Handles packets, in the order of the input.
    #[inline]
    pub(crate) fn process(&mut self, frames: FrameBytes<'_>, metas: &mut [PacketMeta]) {
        if self.late.is_far {
            ask_for_descriptors(metas);
            ask_for_descriptors(metas.get(BATCH..).unwrap_or_default());
            self.ask_for(frames, metas.get(..BATCH).unwrap_or(metas));
        }
        let mut rest = metas;
        while !rest.is_empty() {
            let len = self.batch_len(rest);
            let (batch, behind) = rest.split_at_mut(len);
            if self.late.is_far {
                // PERF: what lies in another core's cache travels while the batch before is
                // handled: 4 to 9 % of a worker's cycles (2x1, processors of two last-level caches,
                // 2-core EPYC: parser-file-1 1777 -> 1699 million, parser-file-3 700 -> 640, mixed
                // 4200 -> 4021; nothing where connections are few).
                ask_for_descriptors(behind.get(BATCH..).unwrap_or_default());
                self.ask_for(frames, behind.get(..BATCH).unwrap_or(behind));
            }
            if self.late.decode || self.late.verify {
                self.catch_up(frames, batch);
            }
            self.table
                .process(frames, batch, &mut self.records, &mut self.stages);
            rest = behind;
        }
    }

    /// Asks for what will be read first of packets that another core has read: their place in the
    /// table's index, and the first lines of their payloads.
    fn ask_for(&self, frames: FrameBytes<'_>, batch: &[PacketMeta]) {
        self.table.prefetch(batch);
        if self.late.fetch {
            fetch(frames, batch);
        }
    }

    /// Does what the cut left to this side.
    fn catch_up(&mut self, frames: FrameBytes<'_>, batch: &mut [PacketMeta]) {
        for meta in batch {
            let frame = frames.frame(meta);
            if self.late.decode {
                flowpin_dispatch::decode(meta, frame);
            }
            if self.late.verify
                && flowpin_dispatch::verify(meta, frame)
                    == flowpin_dispatch::ChecksumVerdict::Offloaded
            {
                self.checksums.offloaded += 1;
            }
        }
    }

    /// How many packets to handle together. They lie in one interval of scans: what is observed in
    /// the intervals before is delivered first, as no record can be written before that.
    #[inline]
    fn batch_len(&mut self, rest: &[PacketMeta]) -> usize {
        let batch = rest.get(..BATCH).unwrap_or(rest);
        let interval_of = |meta: &PacketMeta| meta.stream_time.0 / INTERVAL_NS;
        match (batch.first(), batch.last()) {
            (Some(first), Some(last)) if interval_of(last) != self.interval => {
                let interval = interval_of(first);
                if interval != self.interval {
                    self.enter_interval(first.stream_time);
                }
                batch.partition_point(|meta| interval_of(meta) == interval)
            }
            _ => batch.len(),
        }
    }

    /// Delivers what the scan detector has observed in intervals that are over.
    #[cold]
    fn enter_interval(&mut self, now: Timestamp) {
        self.interval = now.0 / INTERVAL_NS;
        if matches!(self.records.exit(), Exit::Nowhere) {
            return;
        }
        if let Some(summary) = self.stages.tick(now) {
            self.send_news(News {
                scans: Some(ScanNews::Closed(summary)),
                ..News::default()
            });
        }
    }

    /// Delivers news ahead of the records that come.
    fn send_news(&mut self, news: News) {
        self.records.send(Delivery {
            records: RecordBatch::none_up_to(self.records.delivered()),
            news,
        });
    }

    /// Takes note of the stream's time, and returns all records up to the watermark.
    pub(crate) fn tick(&mut self, tick: Tick) -> Delivery {
        if self.records.is_exact(tick) {
            return self.tick_exactly(tick);
        }
        self.reach(tick);
        let (records, stages) = (&mut self.records, &mut self.stages);
        let watermark = self.table.tick(tick.time, records, stages);
        self.deliver(tick, RecordKey::last_at(watermark))
    }

    /// As [`Worker::tick`], but up to the last packet, not up to the beginning of the granule.
    pub(crate) fn tick_exactly(&mut self, tick: Tick) -> Delivery {
        self.reach(tick);
        let (records, stages) = (&mut self.records, &mut self.stages);
        self.table.tick_exactly(tick.time, records, stages);
        let last = RecordKey {
            time: tick.time,
            number: tick.number,
            ordinal: u32::MAX,
        };
        self.deliver(tick, last)
    }

    /// Enters the interval of a tick, as a packet would: time may have leapt while other workers
    /// had all the packets, and so many records of time-outs may be due that they do not fit on the
    /// way.
    fn reach(&mut self, tick: Tick) {
        if tick.time.0 / INTERVAL_NS != self.interval {
            self.enter_interval(tick.time);
        }
    }

    fn deliver(&mut self, tick: Tick, until: RecordKey) -> Delivery {
        let (table, stages) = (&mut self.table, &mut self.stages);
        let is_trimmed = self.resident.tick(|visit| {
            table.pools(visit);
            stages.pools(visit);
        });
        if is_trimmed {
            stages.forget_above(table.handles_below());
        }
        self.stages.tell_recall(tick.number);
        if let Some(first) = self.stages.exchange_rules() {
            self.records.observers.exchange_rules(first);
        }
        let news = News {
            scans: self.stages.tick(tick.time).map(ScanNews::Closed),
            ..News::default()
        };
        self.records.take(until, news)
    }

    /// Whether everything up to the last packet before a tick is delivered.
    pub(crate) fn has_delivered(&self, tick: Tick) -> bool {
        let delivered = self.records.delivered();
        (delivered.time, delivered.number) >= (tick.time, tick.number)
    }

    /// Opens a way to the output for records that cannot wait until the end of a piece.
    pub(crate) fn set_exit(&mut self, exit: Exit) {
        self.records.set_exit(exit);
    }

    /// The way to the output.
    pub(crate) const fn exit(&mut self) -> &mut Exit {
        self.records.exit()
    }

    /// Sends what [`Worker::tick`] or [`Worker::end_some`] returned.
    pub(crate) fn send(&mut self, delivery: Delivery) {
        self.records.send(delivery);
    }

    /// Who watches the packets.
    pub(crate) const fn stages(&mut self) -> &mut O {
        &mut self.stages
    }

    /// All records so far that no tick has delivered.
    pub(crate) fn take_records(&mut self) -> RecordBatch {
        self.records.take_rest()
    }

    /// What was lost so far.
    pub(crate) fn losses(&self) -> Losses {
        let mut losses = self.table.counters().losses;
        losses.add(&self.stages.losses());
        losses
    }

    /// Connections open now.
    pub(crate) fn live(&self) -> u64 {
        self.table.live()
    }

    /// Takes a written batch home.
    pub(crate) fn recycle(&mut self, batch: RecordBatch) {
        self.records.formatter.recycle(batch);
    }

    /// Ends some of the connections that are still open, as the input has ended; none once all
    /// records were delivered.
    pub(crate) fn end_some(&mut self) -> Option<Delivery> {
        if let Some(scans) = self.last_scans() {
            // Before all records: they can be written only after it.
            return Some(Delivery {
                records: RecordBatch::none_up_to(self.records.delivered()),
                news: News {
                    scans: Some(scans),
                    ..News::default()
                },
            });
        }
        let (records, stages) = (&mut self.records, &mut self.stages);
        let until = self.table.finish_some(ENDS, records, stages)?;
        Some(self.records.take(until, News::default()))
    }

    /// The scan detector's last, once: ahead of all records that the input's end causes.
    fn last_scans(&mut self) -> Option<ScanNews> {
        if core::mem::replace(&mut self.ending, true) {
            return None;
        }
        if let Some(seam) = &self.seam {
            seam.leave(self.table.open());
        }
        self.stages.tell_recall(u64::MAX);
        let end = self.end();
        let summary = self.stages.last_tick()?;
        Some(ScanNews::Last { summary, end })
    }

    /// The moment of what the end of the input causes: right after the last packet.
    fn end(&self) -> Timestamp {
        self.table.now().plus_nanos(1)
    }

    /// What the worker leaves, after [`Worker::end_some`] has no more; the last records.
    pub(crate) fn finish(mut self) -> (Delivery, Finished) {
        let scans = self.last_scans();
        let end = self.end();
        let records = self.records.take_rest();
        let held_bytes_max = self.records.held_bytes_max();
        let heaviest_packets = self.records.heaviest_packets;
        let delivery = Delivery {
            records,
            news: News {
                scans,
                ..self.records.into_news(end)
            },
        };
        let counters = self.table.counters().clone();
        let report = WorkerReport {
            packets: counters.packets,
            connections: counters.created_total(),
            heaviest_packets,
            held_bytes_max: held_bytes_max as u64,
            cpu_ns: 0,
        };
        (
            delivery,
            Finished {
                report,
                counters,
                checksums: self.checksums,
                stages: self.stages.report(),
            },
        )
    }
}

/// Asks for the descriptors of one batch.
fn ask_for_descriptors(metas: &[PacketMeta]) {
    for meta in metas.iter().take(BATCH) {
        flowpin_cpu::prefetch::read(meta);
    }
}

/// Asks for the payloads' first lines, which lie in the cache of the core that read them: all of a
/// batch travel at once, not each when it is looked at.
fn fetch(frames: FrameBytes<'_>, batch: &[PacketMeta]) {
    for meta in batch {
        if meta.payload_len > 0 {
            let frame = frames.frame(meta);
            let offset = usize::from(meta.payload_offset);
            // With the end of the header before it, where TCP's options stand.
            flowpin_cpu::prefetch::read_at(frame, offset.saturating_sub(OPTIONS_LEN));
            flowpin_cpu::prefetch::read_at(frame, offset + LINE_LEN - OPTIONS_LEN);
        }
    }
}

/// A time stamp with its padding (RFC 7323 appendix A).
const OPTIONS_LEN: usize = 12;
/// Bytes of a cache line.
const LINE_LEN: usize = 64;
