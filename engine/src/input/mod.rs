//! The input stage: walks pieces, dispatches frames, reassembles datagrams, keeps time.
//!
//! ```text
//!  piece ► frame ► number, time ► dispatch ─packet──────────► lane (a worker's batch)
//!                                   ▲    └─fragment► defrag ─┐
//!                                   └──── whole datagram ────┘
//! ```
//!
//! Everything here happens in the order of the input, on one thread: it is the in-order step.

pub(crate) mod anomalies;
mod carriers;
mod slow_path;
pub(crate) mod tunnels;

pub(crate) use crate::input::slow_path::Arrival;
use crate::input::slow_path::{KeptApart, SlowPath};
use crate::input::tunnels::Tunnels;
use crate::report::{CaptureQuality, Conservation, InputReport, Progress};
use crate::run::stage_options;
use flowpin_capture::{CaptureError, Source};
use flowpin_config::Plan;
use flowpin_counters::{Loss, Losses, Refusals};
use flowpin_defrag::{Defragmenter, Inserted};
use flowpin_dispatch::{Clock, DispatchOptions, Dispatched, Dispatcher};
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::{FragmentRef, Frame, PacketMeta, Piece, Tick, Timestamp};
use flowpin_record::RecordKey;

/// The destination of described packets: one worker on this thread, or the batches of several.
pub(crate) trait Lane {
    /// The place for the next descriptor. Its previous content does not matter.
    fn slot(&mut self) -> &mut PacketMeta;

    /// The descriptor in the slot is complete; its frame lies in `piece`.
    fn commit(&mut self, piece: &Piece);

    /// Offers the input stage's own records, before the packet that caused the last of them is
    /// committed. What is not taken is delivered at the end of the piece.
    fn input_records(&mut self, records: &mut Formatter) {
        let _ = records;
    }

    /// As [`Lane::commit`], but its bytes lie in `datagram`, which must be kept with it.
    fn commit_datagram(&mut self, piece: &Piece, datagram: &[u8]);

    /// A fragment, found in `bytes`, is about to be reassembled. If it completes its datagram,
    /// [`Lane::commit_datagram`] follows.
    fn fragment(&mut self, fragment: &FragmentRef, bytes: &[u8]) {
        let _ = (fragment, bytes);
    }

    /// What became of that fragment.
    fn fragment_inserted(&mut self, inserted: &Inserted) {
        let _ = inserted;
    }

    /// A frame takes the slow path.
    fn slow_path(&mut self, frame: &Frame, arrival: &Arrival, piece: &Piece) {
        let _ = (frame, arrival, piece);
    }

    /// What dispatch found in that frame, if it is no packet at once, or in the datagram that it
    /// completed.
    fn dispatched(&mut self, dispatched: &Dispatched) {
        let _ = dispatched;
    }
}

/// The input stage.
pub(crate) struct InputStage {
    source: Source,
    clock: Clock,
    /// Number of the last packet.
    last_number: u64,
    dispatcher: Dispatcher,
    slow_path: SlowPath,
    packets: u64,
    frame_bytes: u64,
}

impl InputStage {
    /// A stage that has read nothing yet.
    pub(crate) fn new(plan: &Plan, options: DispatchOptions, source: Source) -> Self {
        let defragmenter = Defragmenter::new(stage_options::defrag(plan, options.secret));
        let formatter = Formatter::new(&plan.output);
        let tunnels = Tunnels::new(plan);
        let kept_apart = KeptApart::new(&plan.defragmentation, plan.id_seed);
        Self {
            source,
            clock: Clock::new(plan.clock_leap_max_ns),
            last_number: 0,
            dispatcher: Dispatcher::new(options),
            slow_path: SlowPath::new(defragmenter, kept_apart, tunnels, formatter),
            packets: 0,
            frame_bytes: 0,
        }
    }

    /// Reads the next piece; false at the end of the input.
    pub(crate) fn fill(&mut self, piece: &mut Piece) -> Result<bool, CaptureError> {
        self.source.fill(piece)
    }

    /// Hands every packet of `piece` to `lane`, and returns the tick for the workers at its end.
    pub(crate) fn walk<L: Lane>(&mut self, piece: &Piece, lane: &mut L) -> Tick {
        if self.dispatcher.decodes() {
            self.walk_frames::<L, true>(piece, lane)
        } else {
            self.walk_frames::<L, false>(piece, lane)
        }
    }

    // PERF: a copy for each cut, as it does not change within a run.
    fn walk_frames<L: Lane, const DECODE: bool>(&mut self, piece: &Piece, lane: &mut L) -> Tick {
        let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
        let mut walk = self.source.walk(piece);
        let mut frame_bytes = self.frame_bytes;
        let mut last_number = self.last_number;
        while let Some(frame) = walk.next_frame() {
            let number = walk.number();
            last_number = number;
            let now = self.clock.observe(frame.time);
            // Not at ticks: when a tunnel has ended must not depend on where pieces end.
            if now >= self.slow_path.tunnels.next_sweep() {
                self.slow_path.sweep_tunnels(now, number, lane);
            }
            let slot = lane.slot();
            let dispatcher = &mut self.dispatcher;
            if dispatcher.dispatch_fast::<DECODE>(bytes, &frame, number, now, slot) {
                lane.commit(piece);
            } else {
                let arrival = Arrival {
                    number,
                    time: frame.time,
                    stream_time: now,
                };
                self.slow_path
                    .frame(frame, arrival, dispatcher, piece, lane);
            }
            // PERF: far from the number, or the compiler adds both as one vector.
            frame_bytes += u64::from(frame.wire_len);
        }
        drop(walk);
        (self.packets, self.frame_bytes) = (self.source.delivered(), frame_bytes);
        self.last_number = last_number;
        Tick {
            time: self.clock.now(),
            number: last_number,
        }
    }

    /// Finds the packets of `piece` and discards them: to measure what that costs.
    pub(crate) fn skip(&mut self, piece: &Piece) {
        let mut walk = self.source.walk(piece);
        while let Some(frame) = walk.next_frame() {
            self.frame_bytes += u64::from(frame.wire_len);
        }
        drop(walk);
        self.packets = self.source.delivered();
    }

    /// The stage's own records up to the last packet.
    pub(crate) fn tick(&mut self, tick: Tick) -> RecordBatch {
        self.slow_path.defragmenter.expire(tick.time);
        self.slow_path.formatter.take_batch_up_to(RecordKey {
            time: tick.time,
            number: tick.number,
            ordinal: u32::MAX,
        })
    }

    /// Takes back a batch that was written.
    pub(crate) fn recycle(&mut self, batch: RecordBatch) {
        self.slow_path.formatter.recycle(batch);
    }

    /// How much of the input has been read.
    pub(crate) fn progress(&self) -> Progress {
        let progress = self.source.progress();
        Progress {
            bytes_read: progress.bytes_read,
            bytes_total: progress.bytes_total,
            packets: self.packets,
            files_done: progress.files_done,
            files_total: progress.files_total,
        }
    }

    /// Losses so far, by name.
    pub(crate) fn losses(&self) -> Losses {
        let mut losses = self.slow_path.losses;
        losses.add(&self.slow_path.defragmenter.stats().losses);
        losses.count(Loss::ClockLeaps, self.clock.stats().leaps_clamped);
        losses
    }

    /// Ends the stage: returns its last records and its counts.
    pub(crate) fn finish(mut self) -> (RecordBatch, InputSummary) {
        let now = self.clock.now();
        self.slow_path
            .tunnels
            .finish(now, &mut self.slow_path.formatter);
        let batch = self.slow_path.formatter.take_batch(Timestamp::MAX);
        let (quality, clock) = (self.dispatcher.quality(), self.clock.stats());
        let fragments = *self.slow_path.defragmenter.stats();
        let losses = self.losses();
        let report = self.source.report();
        let refused = quality.refused
            + quality.headless
            + fragments.refused
            + self.slow_path.datagrams_refused;
        let summary = InputSummary {
            packets: self.packets,
            frame_bytes: self.frame_bytes,
            first: self.clock.first(),
            last: (self.packets > 0).then_some(now),
            refusals: quality.refusals.clone(),
            conservation: Conservation {
                received: self.packets,
                non_ip: quality.non_ip.total(),
                unsupported_link: quality.unsupported_total(),
                // Each datagram went on: as a packet, or as a fragment of another one.
                absorbed: fragments.absorbed - fragments.datagrams,
                held: fragments.held,
                malformed: refused,
                lost: fragments.lost(),
                ..Conservation::default()
            },
            quality: CaptureQuality {
                snapped: quality.snapped,
                offloaded: quality.offloaded_checksums + quality.offloaded_ip_checksums,
                backwards: clock.backwards,
                backwards_max_ns: clock.backwards_max_ns,
                leaps: clock.leaps_clamped + clock.leaps_followed,
                ..CaptureQuality::default()
            },
            inputs: report.files.iter().map(InputReport::of).collect(),
            filtered: report.rejected_by_filter,
            losses,
        };
        (batch, summary)
    }
}

/// The results of the input stage.
pub(crate) struct InputSummary {
    pub(crate) packets: u64,
    pub(crate) frame_bytes: u64,
    pub(crate) first: Option<Timestamp>,
    pub(crate) last: Option<Timestamp>,
    pub(crate) refusals: Refusals,
    pub(crate) conservation: Conservation,
    pub(crate) quality: CaptureQuality,
    pub(crate) inputs: Vec<InputReport>,
    pub(crate) filtered: u64,
    pub(crate) losses: Losses,
}
