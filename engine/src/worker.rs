//! One worker: all that happens to a packet on one core, run to completion.
//!
//! ```text
//!  batch ──► [decode, verify] ──► connection table ──► formatter ──► records up to the watermark
//!  ≤ 32      where the cut       one record a         text, by
//!  at once   left it to us       connection           key
//! ```
//!
//! Owns every table it touches; shares nothing. So no stage takes a lock, and a test drives a
//! whole worker on one thread.

use crate::report::WorkerReport;
use crate::sums::ConnectionSums;
use crate::tunnels;
use flowpin_flow::{FlowObserver, FlowOptions, ShardSet, Table};
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::{FrameBytes, PacketMeta, Timestamp};
use flowpin_record::{
    AnomalyRecord, ConnRecord, RecordKey, RecordSink, TunnelKind, TunnelRecord, Uid,
};

/// Packets that are handled together, so that their cache misses overlap: four of the table's
/// parts, whose descriptors (12 KiB) stay in the first-level cache.
pub(crate) const BATCH: usize = 128;

/// Records that may wait for the end of their granule: some 50 MB as text.
const HELD_RECORDS_MAX: usize = 1 << 16;

/// Connections that end together with the input: their records go out before the next are made.
const ENDS: usize = 1 << 12;

/// What the cut leaves to the worker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Late {
    /// Read transport headers.
    pub(crate) decode: bool,
    /// Verify transport checksums.
    pub(crate) verify: bool,
}

/// All state of one worker.
pub(crate) struct Worker<O = Explain> {
    table: Table,
    records: Records,
    observer: O,
    late: Late,
    checksums: ChecksumCounts,
}

/// What the worker found verifying checksums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChecksumCounts {
    pub(crate) offloaded: u64,
}

/// What a finished worker leaves.
pub(crate) struct Finished {
    pub(crate) report: WorkerReport,
    pub(crate) sums: ConnectionSums,
    pub(crate) counters: flowpin_flow::FlowCounters,
    pub(crate) checksums: ChecksumCounts,
}

impl<O: FlowObserver> Worker<O> {
    /// A worker for some shards.
    pub(crate) fn new(
        flow: &FlowOptions,
        shards: ShardSet,
        formatter: Formatter,
        late: Late,
        secret: u64,
        observer: O,
    ) -> std::io::Result<Self> {
        Ok(Self {
            table: Table::new(flow, shards)?,
            records: Records {
                formatter,
                sums: ConnectionSums::new(secret),
            },
            observer,
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

    /// Handles packets, in the order of the input.
    #[inline]
    pub(crate) fn process(&mut self, frames: FrameBytes<'_>, metas: &mut [PacketMeta]) {
        for batch in metas.chunks_mut(BATCH) {
            if self.late.decode || self.late.verify {
                self.catch_up(frames, batch);
            }
            self.table
                .process(frames, batch, &mut self.records, &mut self.observer);
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

    /// Takes note of the stream's time, and returns all records up to the watermark.
    pub(crate) fn tick(&mut self, now: Timestamp) -> RecordBatch {
        let watermark = self.table.tick(now, &mut self.records);
        if self.records.formatter.held_records() > HELD_RECORDS_MAX {
            // Stream time stands still, or crawls. What is recorded does not depend on ticks.
            let delivered = self.table.tick_exactly(now, &mut self.records);
            return self.records.formatter.take_batch_up_to(delivered);
        }
        self.records.formatter.take_batch(watermark)
    }

    /// Who watches the packets.
    pub(crate) const fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Takes a written batch home.
    pub(crate) fn recycle(&mut self, batch: RecordBatch) {
        self.records.formatter.recycle(batch);
    }

    /// Ends some of the connections that are still open, as the input has ended; none once all
    /// records were delivered.
    pub(crate) fn end_some(&mut self) -> Option<RecordBatch> {
        let delivered = self.table.finish_some(ENDS, &mut self.records)?;
        Some(self.records.formatter.take_batch_up_to(delivered))
    }

    /// What the worker leaves, after [`Worker::end_some`] has no more; the last records.
    pub(crate) fn finish(mut self) -> (RecordBatch, Finished) {
        let batch = self.records.formatter.take_batch(Timestamp::MAX);
        let counters = self.table.counters().clone();
        let report = WorkerReport {
            packets: counters.packets,
            connections: counters.created_total(),
            heaviest_packets: self.records.sums.heaviest_packets,
            cpu_ns: 0,
        };
        let mut sums = self.records.sums;
        sums.settle();
        (
            batch,
            Finished {
                report,
                sums,
                counters,
                checksums: self.checksums,
            },
        )
    }
}

/// The worker's records, on their way to formatter and summary.
struct Records {
    formatter: Formatter,
    sums: ConnectionSums,
}

impl RecordSink for Records {
    #[inline]
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        if record.interim == 0 {
            self.sums.count(record);
        }
        self.formatter.conn(key, record);
    }

    fn anomaly(&mut self, key: RecordKey, record: &AnomalyRecord) {
        self.formatter.anomaly(key, record);
    }

    fn tunnel(&mut self, key: RecordKey, record: &TunnelRecord) {
        self.formatter.tunnel(key, record);
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
