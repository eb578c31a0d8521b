//! The first step of the input: the frames of each piece, their numbers and stream time.

use crate::recall::Recall;
use crate::report::Progress;
use flowpin_capture::{Ahead, CaptureError, Fetched, Report, Source};
use flowpin_counters::{Loss, Losses};
use flowpin_dispatch::{Clock, ClockStats};
use flowpin_packet::{Frame, Piece, Tick, Timestamp};

/// What reads the input, piece by piece.
pub(crate) struct Reading {
    source: Source,
    clock: Clock,
    /// Number of the last packet.
    last_number: u64,
    packets: u64,
    frame_bytes: u64,
    /// Gets all frames, for a conditional recording.
    recall: Option<Recall>,
    /// Those of the present piece.
    frames: Vec<(Frame, u64, Timestamp)>,
}

/// A frame, and what the order of the input says about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    pub(crate) frame: Frame,
    pub(crate) number: u64,
    pub(crate) stream_time: Timestamp,
}

impl Reading {
    pub(super) fn new(source: Source, clock_leap_max_ns: u64) -> Self {
        Self {
            source,
            clock: Clock::new(clock_leap_max_ns),
            last_number: 0,
            packets: 0,
            frame_bytes: 0,
            recall: None,
            frames: Vec::new(),
        }
    }

    /// From here on a conditional recording gets all frames.
    pub(super) fn hand_frames_to(&mut self, recall: Recall) {
        self.recall = Some(recall);
    }

    /// From here on the source tells the time of each packet.
    pub(super) const fn be_told(&mut self) {
        self.clock = Clock::told();
    }

    /// Reads the next piece; false at the end of the input.
    pub(crate) fn fill(&mut self, piece: &mut Piece) -> Result<bool, CaptureError> {
        self.source.fill(piece)
    }

    /// As [`Reading::fill`], with a piece into which bytes were fetched before.
    pub(crate) fn fill_fetched(
        &mut self,
        piece: &mut Piece,
        fetched: &Fetched,
    ) -> Result<bool, CaptureError> {
        self.source.fill_fetched(piece, fetched)
    }

    /// The bytes that come next, if they may be fetched before it is their turn.
    pub(crate) fn ahead(&mut self) -> Option<Ahead> {
        self.source.ahead()
    }

    /// Calls `visit` with each frame of the piece that was filled last, its number and its stream
    /// time, and returns the tick at its end.
    // PERF: within the caller's loop, whose state is in registers then.
    #[inline(always)]
    pub(super) fn walk(
        &mut self,
        piece: &Piece,
        mut visit: impl FnMut(Frame, u64, Timestamp),
    ) -> Tick {
        let clock = &mut self.clock;
        let mut walk = self.source.walk(piece);
        let mut frame_bytes = self.frame_bytes;
        let mut last_number = self.last_number;
        // PERF: one loop with one call of `visit`: two are not inlined, which cost 35 instructions
        // a packet.
        let mut frames = core::mem::take(&mut self.frames);
        let is_recalled = self.recall.is_some();
        while let Some(frame) = walk.next_frame() {
            let number = walk.number();
            last_number = number;
            if let Some(until) = walk.take_silence() {
                clock.pass(until);
            }
            let wire_len = frame.wire_len;
            let now = clock.observe_before(frame.time, || walk.peek_time());
            if is_recalled {
                keep(&mut frames, (frame, number, now));
            }
            visit(frame, number, now);
            // PERF: far from the number, or the compiler adds both as one vector.
            frame_bytes += u64::from(wire_len);
        }
        if let Some(until) = walk.take_silence() {
            clock.pass(until);
        }
        drop(walk);
        (self.packets, self.frame_bytes) = (self.source.delivered(), frame_bytes);
        self.last_number = last_number;
        if let Some(recall) = &self.recall {
            recall.take_frames(piece, &frames);
            frames.clear();
        }
        self.frames = frames;
        Tick {
            time: self.clock.now(),
            number: last_number,
        }
    }

    /// Lists the frames of the piece that was filled last, and returns the tick at its end.
    pub(crate) fn list(&mut self, piece: &Piece, listed: &mut Vec<Listed>) -> Tick {
        self.walk(piece, |frame, number, stream_time| {
            listed.push(Listed {
                frame,
                number,
                stream_time,
            });
        })
    }

    /// Finds the packets of `piece` and discards them.
    pub(super) fn skip(&mut self, piece: &Piece) {
        let mut walk = self.source.walk(piece);
        while let Some(frame) = walk.next_frame() {
            self.frame_bytes += u64::from(frame.wire_len);
        }
        drop(walk);
        self.packets = self.source.delivered();
    }

    /// How much has been read.
    pub(crate) fn progress(&self) -> Progress {
        let progress = self.source.progress();
        Progress {
            bytes_read: progress.bytes_read,
            bytes_total: progress.bytes_total,
            packets: self.packets,
            dropped: progress.dropped,
            files_done: progress.files_done,
            files_total: progress.files_total,
        }
    }

    /// Losses so far.
    pub(crate) fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        losses.count(Loss::ClockLeaps, self.clock.stats().leaps_clamped);
        losses.count(Loss::QueuesAdded, self.source.uncaptured());
        losses
    }

    /// Packets so far, and bytes of their frames.
    pub(super) const fn counts(&self) -> (u64, u64) {
        (self.packets, self.frame_bytes)
    }

    /// Stream time now.
    pub(super) const fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Stream time at the first packet; none before it.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.clock.first()
    }

    /// Irregularities of time.
    pub(super) const fn clock(&self) -> ClockStats {
        self.clock.stats()
    }

    /// What the captures turned out to be.
    pub(super) fn report(&self) -> Report {
        self.source.report()
    }
}

/// Out of the loop: runs without a conditional recording come by here never.
#[cold]
#[inline(never)]
fn keep(frames: &mut Vec<(Frame, u64, Timestamp)>, one: (Frame, u64, Timestamp)) {
    frames.push(one);
}
