//! One connection in memory: a cache line, and what the next segment in order does to it.
//!
//! ```text
//!  sides[0]: the client's stream (32 bytes)        sides[1]: the server's
//!  │ offset │ next │ acked │ edge │ stamp │ held │ phase, shift, policy, marks │ …
//! ```
//!
//! A side is a stream: `next` belongs to its sender; `acked` and `edge` come from the segments of
//! its receiver.

mod fast_path;
mod side;

pub(crate) use fast_path::{CONTROLS, FIN_ACK, NEVER_FAST, plain_stamp};
pub(crate) use side::{FAR_BYTES, Marks, NIL, Phase, SHIFT_MAX, Side};

use crate::Handshake;
use flowpin_config::SegmentOverlap;
use flowpin_packet::Seq;

/// Both directions: [0] to the server, [1] to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub(crate) sides: [Side; 2],
}

// PERF: a segment in order touches one line.
const _: () = assert!(size_of::<Connection>() == 64);

impl Connection {
    pub(crate) const fn new(policies: [SegmentOverlap; 2]) -> Self {
        let [to_server, to_client] = policies;
        Self {
            sides: [Side::new(to_server), Side::new(to_client)],
        }
    }

    /// Decides whether the next segments can take the fast path.
    pub(crate) fn settle(&mut self) {
        let [first, second] = &mut self.sides;
        let both = first.is_calm() && second.is_calm();
        let ready = |side: &Side, peer: &Side| {
            let open = side.phase == Phase::Open && side.marks.has(Marks::SEEN);
            let heard = matches!(peer.phase, Phase::Open | Phase::Finished | Phase::Guessed);
            open && heard && !side.marks.has(Marks::SKIPPED)
        };
        let (there, back) = (ready(first, second), ready(second, first));
        for (side, quiet) in [(first, both && there), (second, both && back)] {
            let stamped = side.marks.has(Marks::STAMPED);
            side.marks.set(Marks::QUIET, quiet && !stamped);
            side.marks.set(Marks::QUIET_STAMPED, quiet && stamped);
        }
    }

    /// A stream and its opposite.
    pub(crate) const fn both(&mut self, to_server: bool) -> (&mut Side, &mut Side) {
        let [first, second] = &mut self.sides;
        if to_server {
            (first, second)
        } else {
            (second, first)
        }
    }

    /// A stream.
    pub(crate) const fn side(&mut self, to_server: bool) -> &mut Side {
        self.both(to_server).0
    }

    /// Starts a stream after its SYN.
    pub(crate) fn number(
        &mut self,
        to_server: bool,
        (start, window): (Seq, u16),
        offered: &Handshake,
        stamp: Option<u32>,
        paws: bool,
    ) {
        let (side, peer) = self.both(to_server);
        side.renumber(start);
        side.offset = 0;
        side.phase = Phase::Syn;
        side.stamp = stamp.unwrap_or(0);
        side.marks.set(Marks::SYN | Marks::SEEN, true);
        side.marks.set(Marks::STAMP, offered.timestamps);
        side.marks
            .set(Marks::SCALED, offered.window_scale.is_some());
        // RFC 7323 §2.2: the window of a SYN is never scaled, and others only if both sides ask for
        // it.
        peer.edge = peer.acked.plus(window.into());
        peer.shift = offered.window_scale.unwrap_or(0).min(SHIFT_MAX);
        if peer.marks.has(Marks::SYN) {
            if !(side.marks.has(Marks::SCALED) && peer.marks.has(Marks::SCALED)) {
                (side.shift, peer.shift) = (0, 0);
            }
            let stamped = side.marks.has(Marks::STAMP) && peer.marks.has(Marks::STAMP);
            side.marks.set(Marks::STAMPED, stamped && paws);
            peer.marks.set(Marks::STAMPED, stamped && paws);
        } else if offered.window_scale.is_none() {
            side.shift = 0;
        }
    }

    /// Handles a SYN-ACK whose number contradicts earlier segments; its options may not apply
    /// either.
    pub(crate) fn dispute(&mut self, to_server: bool, start: Seq, window: u16) {
        let (side, peer) = self.both(to_server);
        side.renumber(start);
        side.phase = Phase::Guessed;
        side.stamp = 0;
        side.marks.set(Marks::SEEN, true);
        peer.edge = peer.acked.plus(window.into());
        (side.shift, peer.shift) = (SHIFT_MAX, SHIFT_MAX);
        if peer.phase == Phase::Open && peer.offset == 0 && peer.held == NIL {
            peer.phase = Phase::Syn;
        }
    }

    /// Whether a RST has ended it.
    pub(crate) fn is_reset(&self) -> bool {
        self.sides.iter().any(Side::is_reset)
    }

    /// Whether no segment was seen.
    pub(crate) fn is_fresh(&self) -> bool {
        self.sides.iter().all(|side| side.phase == Phase::Unseen)
    }

    /// Whether both ends were reported, after FINs that their receivers acknowledged.
    pub(crate) fn is_finished(&self) -> bool {
        let mut phases = self.sides.iter().map(|side| side.phase);
        phases.all(|phase| phase == Phase::Finished)
    }
}
