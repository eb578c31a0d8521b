//! What was told of connections' bytes, until the batch is over.
//!
//! ```text
//!  packet ─► connection table ─► scans ─► reassembly ─► Waiting      each packet of a batch
//!                                                          │
//!              records ◄─ parse ◄─ identify ◄── settle ◄───┘         then all that waits, in order
//! ```
//!
//! Looking at bytes and parsing them is more code than the first-level cache holds, and so is all
//! that comes before: taken in turns for each packet, each would drive the other out. What waits is
//! taken in the order in which it was told, and before any record of a connection is made: the
//! answer is the same as if nothing waited. Decision 0018 has the figures.

use super::Identify;
use crate::worker::context::{Cause, Context};
use flowpin_flow::{Sighting, Table};
use flowpin_identify::On;
use flowpin_packet::{FrameBytes, PacketFlags, PacketKind, Stretch};
use flowpin_reassembly::Span;
use flowpin_record::RecordSink;

/// One thing that was told of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    at: Span,
    what: What,
    cause: Cause,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// The next bytes of a stream.
    Bytes(Stretch),
    /// A datagram, and how long it was on the wire.
    Datagram(On, Stretch, u32),
    Gap(u64),
    /// A byte that is read out of band.
    Passed,
    Closed,
    /// Both streams have ended.
    Over,
    /// A RST that its receiver believes.
    Reset,
    /// The stream goes on; whether it was told to be closed.
    More(bool),
}

impl Identify {
    /// Bytes of a stream that lie in the packet at hand; false, and nothing waits, if they do not.
    #[inline]
    pub(in crate::worker) fn wait_with_bytes(
        &mut self,
        at: Span,
        bytes: &[u8],
        frames: &FrameBytes<'_>,
        cause: Cause,
    ) -> bool {
        let stretch = frames.find(bytes);
        if let Some(stretch) = stretch {
            self.wait(at, What::Bytes(stretch), cause);
        }
        stretch.is_some()
    }

    pub(in crate::worker) fn wait_with_gap(&mut self, at: Span, len: u64, cause: Cause) {
        self.wait(at, What::Gap(len), cause);
    }

    pub(in crate::worker) fn wait_with_passed(&mut self, at: Span, cause: Cause) {
        self.wait(at, What::Passed, cause);
    }

    pub(in crate::worker) fn wait_with_closed(&mut self, at: Span, cause: Cause) {
        self.wait(at, What::Closed, cause);
    }

    pub(in crate::worker) fn wait_with_over(&mut self, handle: u32, cause: Cause) {
        let at = Span {
            handle,
            to_server: true,
            offset: 0,
        };
        self.wait(at, What::Over, cause);
    }

    pub(in crate::worker) fn wait_with_reset(&mut self, handle: u32, cause: Cause) {
        let at = Span {
            handle,
            to_server: true,
            offset: 0,
        };
        self.wait(at, What::Reset, cause);
    }

    pub(in crate::worker) fn wait_with_more(&mut self, at: Span, told: bool, cause: Cause) {
        self.wait(at, What::More(told), cause);
    }

    /// A packet of a connection without streams.
    #[inline]
    pub(in crate::worker) fn wait_with_datagram(&mut self, sighting: &Sighting<'_>) {
        let meta = sighting.meta;
        let on = match meta.kind {
            PacketKind::Udp => On::Udp,
            PacketKind::Sctp => On::Sctp,
            _ => return,
        };
        if self.is_idle(sighting.handle) || meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return;
        }
        if let Some(stretch) = sighting.frames.find(sighting.frames.payload(meta)) {
            let at = Span {
                handle: sighting.handle,
                to_server: sighting.to_server,
                offset: 0,
            };
            let what = What::Datagram(on, stretch, meta.payload_len);
            self.wait(at, what, Cause::of(meta));
        }
    }

    #[inline]
    fn wait(&mut self, at: Span, what: What, cause: Cause) {
        self.waiting.push(Heard { at, what, cause });
    }

    /// Takes all that waits.
    #[inline]
    pub(in crate::worker) fn settle<S: RecordSink>(
        &mut self,
        table: &Table,
        frames: &FrameBytes<'_>,
        sink: &mut S,
    ) {
        if !self.waiting.is_empty() {
            self.take_all(table, frames, sink);
        }
    }

    #[inline(never)]
    fn take_all<S: RecordSink>(&mut self, table: &Table, frames: &FrameBytes<'_>, sink: &mut S) {
        let mut waiting = core::mem::take(&mut self.waiting);
        for (nth, heard) in waiting.iter().enumerate() {
            for (step, ahead) in (0..).zip(AHEAD) {
                if let Some(later) = waiting.get(nth + ahead) {
                    self.prefetch_for(table, later.at.handle, step);
                }
            }
            let mut context = Context::open(table, heard.cause, sink);
            let at = heard.at;
            match heard.what {
                What::Bytes(stretch) => self.bytes(at, frames.stretch(stretch), &mut context),
                What::Datagram(on, stretch, len) => {
                    let payload = (frames.stretch(stretch), len as usize);
                    self.datagram(on, at, payload, &mut context);
                }
                What::Gap(len) => self.gap(at, len, &mut context),
                What::Passed => self.passed(at),
                What::Closed => self.closed(at, &mut context),
                What::Over => self.over(at.handle, &mut context),
                What::Reset => self.hear_reset(at.handle, &mut context),
                What::More(told) => self.goes_on(at, told, &mut context),
            }
        }
        waiting.clear();
        self.waiting = waiting;
    }

    /// Whether nothing waits.
    pub(in crate::worker) const fn is_settled(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// How far ahead what is kept of a connection is asked for, by step.
// PERF: a third step, for what a parser's state leads to (transaction, kept line, page), costs more
// by its unpredictable branches than its lines' coming early saves.
const AHEAD: [usize; flowpin_flow::STEPS as usize] = [8, 4];

/// Places for what waits: most packets of a batch tell of one thing at most.
pub(super) const PLACES: usize = 2 * crate::worker::BATCH;
