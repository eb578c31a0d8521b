//! The input stage: walks pieces, dispatches frames, reassembles datagrams, keeps time.
//!
//! ```text
//!  piece ► frame ► number, time ► dispatch ─packet──────────► lane (a worker's batch)
//!                                   ▲    └─fragment► defrag ─┐
//!                                   └──── whole datagram ────┘
//! ```
//!
//! On one thread everything here happens in the order of the input. Divided, two steps do: reading,
//! which finds the frames of a piece and gives them numbers and stream time, and, once its packets
//! are described, all that involves other packets: fragments, tunnels, and the way to the workers.
//! In between, pieces are described on many threads at once.

pub(crate) mod anomalies;
mod carriers;
mod describe;
pub(crate) mod gate;
mod in_order;
mod reading;
mod slow_path;
pub(crate) mod tunnels;

use crate::exchange::Exchange;
pub(crate) use crate::input::describe::{Describer, Odd};
use crate::input::gate::{Gate, Gated};
pub(crate) use crate::input::in_order::InOrder;
pub(crate) use crate::input::reading::{Listed, Reading};
pub(crate) use crate::input::slow_path::{Arrival, is_noteworthy};
use crate::input::slow_path::{KeptApart, SlowPath};
use crate::input::tunnels::Tunnels;
use crate::recall::Recall;
use crate::report::{CaptureQuality, Conservation, InputReport, Progress};
use crate::run::stage_options;
use flowpin_capture::{CaptureError, Source};
use flowpin_config::Plan;
use flowpin_counters::{Losses, Refusals};
use flowpin_defrag::{Defragmenter, Inserted};
use flowpin_detect::Inbox;
use flowpin_dispatch::{DispatchOptions, Dispatched, Dispatcher};
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::{FragmentRef, Frame, PacketMeta, Piece, Tick, Timestamp};

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
    reading: Reading,
    dispatcher: Dispatcher,
    slow_path: SlowPath,
    /// Of a part: which packets are its own.
    gate: Option<Box<Gate>>,
}

impl InputStage {
    /// A stage that has read nothing yet.
    pub(crate) fn new(plan: &Plan, options: DispatchOptions, source: Source) -> Self {
        let defragmenter = Defragmenter::new(stage_options::defrag(plan, options.secret));
        let mut formatter = Formatter::new(&plan.output);
        formatter.name_interfaces(source.interfaces());
        let tunnels = Tunnels::new(plan);
        let kept_apart = KeptApart::new(&plan.defragmentation, plan.id_seed);
        Self {
            reading: Reading::new(source, plan.clock_leap_max_ns),
            dispatcher: Dispatcher::new(options),
            slow_path: SlowPath::new(defragmenter, kept_apart, tunnels, formatter),
            gate: None,
        }
    }

    /// Makes it the stage of a part, whose source tells numbers and times.
    pub(crate) fn be_part(&mut self, gate: Gate) {
        self.reading.be_told();
        self.gate = Some(Box::new(gate));
    }

    /// Compares rules with refused and odd packets, and puts what they alert of into the inbox.
    pub(crate) fn examine(&mut self, rules: &Exchange, inbox: Inbox) {
        self.slow_path.examine(rules, inbox);
    }

    /// Tells a conditional recording of all frames, and which make a datagram.
    pub(crate) fn recall(&mut self, recall: &Recall) {
        self.reading.hand_frames_to(recall.clone());
        self.slow_path.parts = Some(Box::new(recall.parts()));
    }

    /// Reads the next piece; false at the end of the input.
    pub(crate) fn fill(&mut self, piece: &mut Piece) -> Result<bool, CaptureError> {
        self.reading.fill(piece)
    }

    /// Hands every packet of `piece` to `lane`, and returns the tick for the workers at its end.
    pub(crate) fn walk<L: Lane>(&mut self, piece: &Piece, lane: &mut L) -> Tick {
        if self.gate.is_some() {
            return self.walk_gated(piece, lane);
        }
        if self.dispatcher.decodes() {
            self.walk_frames::<L, true>(piece, lane)
        } else {
            self.walk_frames::<L, false>(piece, lane)
        }
    }

    /// As [`InputStage::walk`], for a part.
    #[inline(never)]
    fn walk_gated<L: Lane>(&mut self, piece: &Piece, lane: &mut L) -> Tick {
        let Some(gate) = self.gate.take() else {
            return Tick::default();
        };
        let gated = &mut Gated { gate: &gate, lane };
        let tick = if self.dispatcher.decodes() {
            self.walk_frames::<_, true>(piece, gated)
        } else {
            self.walk_frames::<_, false>(piece, gated)
        };
        self.gate = Some(gate);
        tick
    }

    // PERF: a copy for each cut, as it does not change within a run.
    fn walk_frames<L: Lane, const DECODE: bool>(&mut self, piece: &Piece, lane: &mut L) -> Tick {
        let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
        let (dispatcher, slow_path) = (&mut self.dispatcher, &mut self.slow_path);
        self.reading.walk(piece, |frame, number, now| {
            // Not at ticks: when a tunnel has ended must not depend on where pieces end.
            if now >= slow_path.tunnels.next_sweep() {
                slow_path.sweep_tunnels(now, number, lane);
            }
            let slot = lane.slot();
            if dispatcher.dispatch_fast::<DECODE>(bytes, &frame, number, now, slot) {
                lane.commit(piece);
            } else {
                let arrival = Arrival::new(&frame, number, now);
                slow_path.frame(frame, arrival, dispatcher, piece, lane);
            }
        })
    }

    /// Finds the packets of `piece` and discards them: to measure what that costs.
    pub(crate) fn skip(&mut self, piece: &Piece) {
        self.reading.skip(piece);
    }

    /// The stage's own records up to the last packet.
    pub(crate) fn tick(&mut self, tick: Tick) -> RecordBatch {
        let batch = self.slow_path.tick(tick);
        self.own(batch)
    }

    /// The records, unless they are those of another part.
    fn own(&self, batch: RecordBatch) -> RecordBatch {
        match &self.gate {
            Some(gate) if !gate.has_records => RecordBatch::none_up_to(batch.watermark()),
            _ => batch,
        }
    }

    /// Takes back a batch that was written.
    pub(crate) fn recycle(&mut self, batch: RecordBatch) {
        self.slow_path.formatter.recycle(batch);
    }

    /// How much of the input has been read.
    pub(crate) fn progress(&self) -> Progress {
        self.reading.progress()
    }

    /// Losses so far, by name.
    pub(crate) fn losses(&self) -> Losses {
        let mut losses = self.slow_path.losses();
        losses.add(&self.reading.losses());
        losses
    }

    /// Divides the stage: what reads, what describes the packets of a piece on each of so many
    /// threads, and what takes the described pieces in order.
    pub(crate) fn divide(self, threads: usize) -> (Reading, Vec<Describer>, InOrder) {
        let describers = (0..threads).map(|_| Describer::new(self.dispatcher.another()));
        let describers = describers.collect();
        let in_order = InOrder::new(self.dispatcher, self.slow_path);
        (self.reading, describers, in_order)
    }

    /// What [`InputStage::divide`] has divided.
    pub(crate) fn join(reading: Reading, describers: Vec<Describer>, in_order: InOrder) -> Self {
        let (mut dispatcher, slow_path) = in_order.into_parts();
        for describer in describers {
            dispatcher.absorb(describer.dispatcher());
        }
        Self {
            reading,
            dispatcher,
            slow_path,
            gate: None,
        }
    }

    /// Ends the stage: returns its last records and its counts.
    pub(crate) fn finish(mut self) -> (RecordBatch, InputSummary) {
        let batch = self.slow_path.last_records(self.reading.now());
        (self.own(batch), self.summary())
    }

    /// The stage's counts.
    pub(crate) fn summary(self) -> InputSummary {
        let (quality, clock) = (self.dispatcher.quality(), self.reading.clock());
        let fragments = *self.slow_path.defragmenter.stats();
        let losses = self.losses();
        let report = self.reading.report();
        let (packets, frame_bytes) = self.reading.counts();
        let refused = quality.refused
            + quality.headless
            + fragments.refused
            + self.slow_path.datagrams_refused;
        InputSummary {
            packets,
            frame_bytes,
            first: self.reading.first(),
            last: (packets > 0).then_some(self.reading.now()),
            refusals: quality.refusals.clone(),
            conservation: Conservation {
                received: packets,
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
                dropped: report.files.iter().map(|file| file.dropped).sum(),
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
        }
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
