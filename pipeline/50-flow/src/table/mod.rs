//! The table itself: batches in, records out.
//!
//! ```text
//!  process:  find candidates, prefetch them ─► packet by packet: find again, count
//!  tick:     collect what is due               packet.rs  begin.rs  expiry.rs  room.rs
//! ```

mod begin;
mod birth;
mod count;
mod deferred;
mod due;
mod expiry;
mod icmp_error;
mod packet;
pub(crate) mod ports;
mod rare;
mod room;
mod slabs;
mod view;

pub use view::Lifetime;

use crate::counters::FlowCounters;
use crate::entry::{Addresses, Cold, Extra, Handle, Hot, NIL};
use crate::index::Index;
use crate::options::{ADDRESSES_BYTES, BATCH_MAX, EXTRA_BYTES, FlowOptions};
use crate::record::BLANK;
use crate::record::identity::Identity;
use crate::shards::ShardSet;
use crate::time::timeouts::Rules;
use crate::time::wheel::Wheel;
use crate::{FlowObserver, GRANULE_NS};
use birth::Forgotten;
use deferred::Deferred;
use due::{Due, Ending};
use flowpin_memory::{Budget, Slab};
use flowpin_packet::{FrameBytes, PacketMeta, Timestamp};
use flowpin_record::{ConnRecord, RecordSink};
use packet::{Arrival, Cause};
use std::io;

/// The connections of some shards. See the crate documentation.
#[derive(Debug)]
pub struct Table {
    rules: Rules,
    /// 0: no interim records.
    interim_ns: u64,
    /// How long a connection lives without a packet, by class. 0 with interim records: then every
    /// packet must check whether one is due.
    quiet_ns: [u64; 16],
    identity: Identity,
    shards: ShardSet,
    index: Index,
    hot: Slab<Hot>,
    /// Parallel to `hot`: the same handles.
    cold: Slab<Cold>,
    extra: Slab<Extra>,
    addresses: Slab<Addresses>,
    wheel: Wheel,
    budget: Budget,
    /// What a connection takes, with what the observer has of it.
    connection_bytes: u64,
    /// What the packets of each shard may take at most that the observer has deferred.
    deferred: Deferred,
    /// Up to this stream time, nothing is left to collect.
    border: Timestamp,
    /// Up to this stream time, all records of time-outs are written.
    written: Timestamp,
    /// Buffer for what is due.
    due: Vec<Due>,
    forgotten: Forgotten,
    /// Buffer for choosing the connections to evict.
    scratch: Vec<(Timestamp, Handle)>,
    now: Timestamp,
    counters: FlowCounters,
    /// After the end of the input: the connections that are left, in the order of their records.
    ending: Option<Ending>,
    /// The last record written; the next one overwrites it.
    record: ConnRecord,
}

impl Table {
    /// Reserves a table for some shards. Only address space: memory is used as connections come.
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn new(options: &FlowOptions, shards: ShardSet) -> io::Result<Self> {
        let budget = options.budget();
        let per_shard = options.per_shard_max();
        let shard_count = u32::try_from(shards.len()).unwrap_or(u32::MAX);
        // Address space beyond the reach of a 32-bit handle is useless.
        let fitting = |each: u64| budget.capacity_of(each, shard_count);
        let capacity = shard_count.saturating_mul(per_shard).min(u32::MAX - 1);
        let rules = Rules::new(options.timeouts);
        let interim_ns = options.interim_ns.unwrap_or(0);
        let quiet_ns = match interim_ns {
            0 => rules.all_after_ns(),
            _ => [0; 16],
        };
        let mut hot = Slab::with_capacity(capacity)?;
        let mut cold = Slab::with_capacity(capacity)?;
        // Without huge pages the program is slower; nothing else changes.
        let _unavailable = hot
            .prefer_huge_pages()
            .and_then(|()| cold.prefer_huge_pages());
        Ok(Self {
            forgotten: Forgotten::new(&rules),
            rules,
            interim_ns,
            quiet_ns,
            identity: Identity::new(options.id_seed),
            shards,
            index: Index::new(&shards, per_shard)?,
            hot,
            cold,
            extra: Slab::with_capacity(fitting(EXTRA_BYTES).min(capacity))?,
            addresses: Slab::with_capacity(fitting(ADDRESSES_BYTES).min(capacity))?,
            wheel: Wheel::new(capacity)?,
            budget,
            connection_bytes: options.connection_bytes(),
            deferred: Deferred::default(),
            border: Timestamp(0),
            written: Timestamp(0),
            due: Vec::new(),
            scratch: Vec::with_capacity(per_shard as usize),
            now: Timestamp(0),
            counters: FlowCounters::default(),
            ending: None,
            record: BLANK,
        })
    }

    /// Prefetches the lines that [`Table::process`] reads first. Best called some hundred
    /// instructions before it: as soon as the hashes of a batch are known.
    #[inline]
    pub fn prefetch(&self, batch: &[PacketMeta]) {
        for meta in batch {
            self.index.prefetch(meta.hash);
        }
    }

    /// Counts packets on their connections, in order. Records of connections that end meanwhile go
    /// to `sink`. [`BATCH_MAX`] packets at a time are looked up together, which changes nothing
    /// else. Some hundred packets per call are best.
    ///
    /// Packets must come in the order of their stream time.
    pub fn process<S: RecordSink, O: FlowObserver>(
        &mut self,
        frames: FrameBytes<'_>,
        batch: &[PacketMeta],
        sink: &mut S,
        observer: &mut O,
    ) {
        self.counters.packets += batch.len() as u64;
        sink.complete_time_outs(self.written);
        let mut parts = batch.chunks(BATCH_MAX).peekable();
        let mut guesses = parts
            .peek()
            .map_or([NIL; BATCH_MAX], |part| self.guess(part, observer));
        while let Some(part) = parts.next() {
            // PERF: prefetches the entries of the next part while this part is counted.
            let ahead = parts
                .peek()
                .map_or([NIL; BATCH_MAX], |part| self.guess(part, observer));
            // Stream time never goes back.
            let crosses = part
                .last()
                .is_some_and(|last| last.stream_time > self.border);
            for (meta, guess) in part.iter().zip(guesses) {
                if crosses && meta.stream_time > self.border {
                    self.settle(&frames, sink, observer);
                    self.collect_until(granule_before(meta.stream_time), sink, observer);
                }
                let may_wait = !O::OBSERVES
                    || self.deferred.admits(meta, &self.budget)
                    || self.make_way(&frames, meta, sink, observer);
                // PERF: called here only, so that it is inlined, with most of the fast path.
                self.packet(&frames, meta, guess, sink, observer);
                if !may_wait {
                    self.settle(&frames, sink, observer);
                    self.deferred.clear();
                }
            }
            guesses = ahead;
        }
        self.settle(&frames, sink, observer);
        self.deferred.clear();
        if let Some(last) = batch.last() {
            self.relieve(last.stream_time, last.number + 1, sink, observer);
        }
    }

    /// Guesses the connections of some packets, and prefetches them.
    #[inline]
    fn guess<O: FlowObserver>(&self, part: &[PacketMeta], observer: &O) -> [Handle; BATCH_MAX] {
        let mut guesses = [NIL; BATCH_MAX];
        for (meta, guess) in part.iter().zip(&mut guesses) {
            *guess = self.index.guess(meta.hash);
            self.hot.prefetch(*guess);
            observer.prefetch(*guess);
        }
        guesses
    }

    /// Advances stream time to `now`: ends the connections that are due.
    ///
    /// Returns the watermark: the last multiple of [`GRANULE_NS`] *before* `now`. Every record with
    /// a key time up to the watermark has been given to `sink`, and none will come later, provided
    /// that no packet with a stream time before `now` does.
    pub fn tick<S: RecordSink, O: FlowObserver>(
        &mut self,
        now: Timestamp,
        sink: &mut S,
        observer: &mut O,
    ) -> Timestamp {
        self.now = self.now.max(now);
        let granule = granule_before(self.now);
        self.collect_until(granule, sink, observer);
        Timestamp(granule * GRANULE_NS)
    }

    /// As [`Table::tick`], but also writes the records of the connections that are due by `now`
    /// within the granule that has begun, so that records need not wait for its end. The
    /// connections themselves stay until then, with their memory: nothing but the moment of
    /// writing depends on where this is called.
    pub fn tick_exactly<S: RecordSink, O: FlowObserver>(
        &mut self,
        now: Timestamp,
        sink: &mut S,
        observer: &mut O,
    ) {
        self.tick(now, sink, observer);
        self.write_due(self.now, sink, observer);
    }

    /// The counters so far.
    pub fn counters(&self) -> &FlowCounters {
        &self.counters
    }

    /// The memory of the shards, for the stages after the table to take from as well.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The memory of all its shards.
    pub fn memory_bytes(&self) -> u64 {
        let shards = u64::try_from(self.shards.len()).unwrap_or(u64::MAX);
        self.budget.shard_bytes().saturating_mul(shards)
    }

    /// The handles of all connections are below this; it falls when the pools are trimmed.
    pub fn handles_below(&self) -> u32 {
        self.hot.high_water()
    }

    /// The shards that this table owns.
    pub fn shards(&self) -> &ShardSet {
        &self.shards
    }

    /// Stream time at the last tick.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Handles are below this.
    pub fn capacity(&self) -> u32 {
        self.hot.capacity()
    }

    /// Open connections, including those that are due and not yet checked.
    pub fn live(&self) -> u64 {
        self.counters.live
    }
}

/// The last granule that ends before a point in time: a packet of that time can no longer cause
/// what is due by then.
fn granule_before(now: Timestamp) -> u64 {
    now.0.saturating_sub(1) / GRANULE_NS
}
