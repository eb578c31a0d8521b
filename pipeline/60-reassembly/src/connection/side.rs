//! One direction of a connection: how far its stream has come, and what its receiver accepts.

use flowpin_config::SegmentOverlap;
use flowpin_packet::Seq;

/// No handle.
pub(crate) const NIL: u32 = u32::MAX;

/// The largest window of a receiver (RFC 7323 §2.3); nothing further away is believed.
pub(crate) const FAR_BYTES: u32 = 1 << 30;

/// The state of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Nothing is known about it.
    #[default]
    Unseen,
    /// Numbered only by the other side's acknowledgements.
    Guessed,
    /// Its sender speaks, but its SYN was not seen, nor an answer of the receiver, which has only
    /// sent a SYN. What it says waits.
    Premature,
    /// Its SYN was seen, and nothing that confirms it.
    Syn,
    /// Data is expected.
    Open,
    /// All bytes up to the FIN were delivered; the FIN is not acknowledged yet.
    Closing,
    /// All bytes up to the FIN were delivered, and the FIN is acknowledged.
    Finished,
    /// A RST ended it, if its receiver accepted the RST.
    Reset,
    /// As [`Phase::Reset`], before the stream had begun: it has no numbers yet.
    Refused,
    /// Not reassembled, by configuration.
    Ignored,
}

/// Facts about a stream, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    /// Its sender's next segment can take the fast path.
    pub(crate) const QUIET: u8 = 1;
    /// The same, provided that its time stamp is not old.
    pub(crate) const QUIET_STAMPED: u8 = 1 << 7;
    /// Its sender was seen.
    pub(crate) const SEEN: u8 = 1 << 1;
    /// Its sender's SYN had time stamps.
    pub(crate) const STAMP: u8 = 1 << 2;
    /// Its segments have time stamps, which must not decrease.
    pub(crate) const STAMPED: u8 = 1 << 3;
    /// The consumer does not want its bytes (any more).
    pub(crate) const SKIPPED: u8 = 1 << 4;
    /// Its SYN had a window scale.
    pub(crate) const SCALED: u8 = 1 << 5;
    /// Its SYN was seen.
    pub(crate) const SYN: u8 = 1 << 6;

    #[inline]
    pub(crate) const fn has(self, mark: u8) -> bool {
        self.0 & mark != 0
    }

    #[inline]
    pub(crate) const fn set(&mut self, mark: u8, on: bool) {
        self.0 = if on { self.0 | mark } else { self.0 & !mark };
    }
}

/// One direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Side {
    /// Bytes before `next`.
    pub(crate) offset: u64,
    /// The next byte to deliver.
    pub(crate) next: Seq,
    /// The receiver has everything before it.
    pub(crate) acked: Seq,
    /// One past the last byte that the receiver accepts: `acked` and its window.
    pub(crate) edge: Seq,
    /// The last time stamp of its sender (RFC 7323 §4.3: TS.Recent).
    pub(crate) stamp: u32,
    /// Handle of the bytes held after a hole, or [`NIL`].
    pub(crate) held: u32,
    pub(crate) phase: Phase,
    /// Window shift of the receiver.
    pub(crate) shift: u8,
    /// The receiver's overlap policy.
    pub(crate) policy: SegmentOverlap,
    pub(crate) marks: Marks,
}

impl Side {
    pub(crate) const fn new(policy: SegmentOverlap) -> Self {
        Self {
            offset: 0,
            next: Seq(0),
            acked: Seq(0),
            edge: Seq(0),
            stamp: 0,
            held: NIL,
            phase: Phase::Unseen,
            shift: SHIFT_MAX,
            policy,
            marks: Marks(0),
        }
    }

    /// Renumbers the stream from its next byte on; the size of the window stays.
    pub(crate) const fn renumber(&mut self, next: Seq) {
        let window = self.edge.0.wrapping_sub(self.acked.0);
        (self.next, self.acked, self.edge) = (next, next, next.plus(window));
    }

    /// Whether no byte of it is missing.
    pub(crate) const fn is_calm(&self) -> bool {
        self.held == NIL && !self.acked.is_after(self.next)
    }

    /// All its bytes were delivered. Its FIN has a number, too (RFC 9293 §3.4).
    pub(crate) const fn shut(&mut self) {
        self.phase = Phase::Closing;
        self.next = self.next.plus(1);
    }

    /// Whether SYN-ACKs were seen that contradict the SYN or each other: the other side's first
    /// acknowledgement decides (RFC 9293 §3.5).
    pub(crate) fn is_disputed(&self) -> bool {
        self.phase == Phase::Guessed && self.marks.has(Marks::SEEN)
    }

    /// Whether its end was reported, or is about to be, or never will be.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_reset() || matches!(self.phase, Phase::Finished | Phase::Ignored)
    }

    /// Whether a RST has ended it.
    pub(crate) const fn is_reset(&self) -> bool {
        matches!(self.phase, Phase::Reset | Phase::Refused)
    }

    /// Whether a FIN or RST has closed it: later bytes wait for proof.
    pub(crate) const fn is_shut(&self) -> bool {
        self.is_reset() || matches!(self.phase, Phase::Closing | Phase::Finished)
    }

    /// Its FIN was just acknowledged, and no byte after it.
    pub(crate) fn is_fin_acknowledged(&self) -> bool {
        self.phase == Phase::Closing && self.acked == self.next
    }

    /// The number of the first byte that was not delivered: where the stream continues if the
    /// receiver ignored its close. An ignored FIN has no number.
    pub(crate) const fn resume(&self) -> Seq {
        match self.phase {
            Phase::Closing | Phase::Finished => Seq(self.next.0.wrapping_sub(1)),
            _ => self.next,
        }
    }

    /// Undoes a close that the receiver ignored.
    pub(crate) fn reopen(&mut self) {
        self.next = self.resume();
        self.phase = match self.phase {
            Phase::Refused => Phase::Unseen,
            _ => Phase::Open,
        };
    }
}

/// RFC 7323 §2.3: greater shifts count as 14. Practically no limit if the shift is unknown.
pub(crate) const SHIFT_MAX: u8 = 14;
