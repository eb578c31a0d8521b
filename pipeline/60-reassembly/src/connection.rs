//! One connection in memory: a cache line, and what the next segment in order does to it.
//!
//! ```text
//!  sides[0]: the client's stream (32 bytes)        sides[1]: the server's
//!  │ offset │ next │ acked │ edge │ stamp │ held │ phase, shift, policy, marks │ …
//! ```
//!
//! A side is a stream: `next` belongs to its sender; `acked` and `edge` come from the segments of
//! its receiver.

use crate::Handshake;
use flowpin_config::SegmentOverlap;
use flowpin_packet::{FrameBytes, PacketFlags, PacketMeta, Seq, TcpFlags};

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

/// Both directions: [0] to the server, [1] to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub(crate) sides: [Side; 2],
}

// PERF: a segment in order touches one line.
const _: () = assert!(size_of::<Connection>() == 64);

/// The control bits that select the path of a segment.
pub(crate) const CONTROLS: u8 =
    TcpFlags::SYN.0 | TcpFlags::FIN.0 | TcpFlags::RST.0 | TcpFlags::URG.0 | TcpFlags::ACK.0;
pub(crate) const FIN_ACK: TcpFlags = TcpFlags::FIN.with(TcpFlags::ACK);
/// Flags of packets that never take the fast path.
pub(crate) const ODD: PacketFlags = PacketFlags::SNAPPED.with(PacketFlags::BAD_CHECKSUM);

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

    /// The fast path: takes the next segment of a stream where nothing else happens, and returns
    /// the offset of its bytes. For anything else it returns `None` and changes nothing.
    // PERF: streams without time stamps have code of their own, which needs fewer registers: some
    // 50 instructions and 10 cycles instead of 60 and 14 (64 KiB of connections, 2-core EPYC, bench
    // `reassembly_bench order` less `none`).
    #[inline]
    pub(crate) fn take_in_order(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        to_server: bool,
        depth: u64,
    ) -> Option<u64> {
        let me = usize::from(!to_server);
        let marks = self.sides.get(me)?.marks;
        if marks.has(Marks::QUIET) {
            self.take_next(meta, me, depth, TcpFlags::ACK)
        } else if marks.has(Marks::QUIET_STAMPED) {
            self.take_next_stamped(frames, meta, me, depth, TcpFlags::ACK)
        } else {
            None
        }
    }

    /// As [`Self::take_in_order`], for the end of a handshake and for a close: the acknowledgement
    /// of a SYN, a FIN, and the acknowledgement of that. Decides by itself whether it applies. Also
    /// returns whether the segment acknowledged the other side's FIN.
    pub(crate) fn take_turn(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        to_server: bool,
        depth: u64,
    ) -> Option<(u64, bool)> {
        let me = usize::from(!to_server);
        let (side, peer) = self.both(to_server);
        let fin = meta.tcp_flags.has(TcpFlags::FIN);
        let ready = match side.phase {
            Phase::Open => !side.marks.has(Marks::SKIPPED),
            Phase::Closing | Phase::Finished => !fin && meta.payload_len == 0,
            _ => false,
        };
        let heard = match peer.phase {
            Phase::Open | Phase::Closing | Phase::Finished => true,
            Phase::Syn => !fin,
            _ => false,
        };
        let seen = side.marks.has(Marks::SEEN) && peer.marks.has(Marks::SEEN);
        if !(ready && heard && seen && side.is_calm() && peer.is_calm()) {
            return None;
        }
        let flags = if fin { FIN_ACK } else { TcpFlags::ACK };
        let at = if side.marks.has(Marks::STAMPED) {
            self.take_next_stamped(frames, meta, me, depth, flags)?
        } else {
            self.take_next(meta, me, depth, flags)?
        };
        let (side, peer) = self.both(to_server);
        if peer.phase == Phase::Syn {
            peer.phase = Phase::Open;
        }
        let finishes = peer.is_fin_acknowledged();
        if finishes {
            peer.phase = Phase::Finished;
        }
        if fin {
            side.shut();
        }
        self.settle();
        Some((at, finishes))
    }

    #[inline]
    #[expect(clippy::indexing_slicing, reason = "masked")]
    fn take_next(
        &mut self,
        meta: &PacketMeta,
        me: usize,
        depth: u64,
        flags: TcpFlags,
    ) -> Option<u64> {
        let (me, peer) = (me & 1, me & 1 ^ 1);
        let end = meta.seq.plus(meta.payload_len);
        let at = self.sides[me].offset;
        let offset = at.wrapping_add(u64::from(meta.payload_len));
        // RFC 9293 §3.10.7.4: acceptable if inside the window; an acknowledgement, if it is of
        // bytes that were sent and not older than the last one.
        let acked = self.sides[peer].acked.0;
        if meta.tcp_flags.0 & CONTROLS != flags.0
            || meta.flags.has_any(ODD)
            || meta.seq != self.sides[me].next
            || meta.ack.0.wrapping_sub(acked) > self.sides[peer].next.0.wrapping_sub(acked)
            || self.sides[me].edge.distance_from(end) < 0
            || offset > depth
        {
            return None;
        }
        self.sides[me].next = end;
        self.sides[me].offset = offset;
        self.sides[peer].acked = meta.ack;
        let window = u32::from(meta.window).wrapping_shl(self.sides[peer].shift.into());
        self.sides[peer].edge = meta.ack.plus(window);
        Some(at)
    }

    /// As [`Self::take_next`], for streams whose time stamps must not decrease.
    #[inline(never)]
    fn take_next_stamped(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        me: usize,
        depth: u64,
        flags: TcpFlags,
    ) -> Option<u64> {
        let stamp = plain_stamp(frames, meta)?;
        let side = self.sides.get_mut(me)?;
        // RFC 7323 §5.3, R1; the stamp is stored only from the segment that was next to be
        // acknowledged.
        let age = stamp.wrapping_sub(side.stamp).cast_signed();
        let counts = side.acked == meta.seq;
        if age < 0 {
            return None;
        }
        let at = self.take_next(meta, me, depth, flags)?;
        if counts && let Some(side) = self.sides.get_mut(me) {
            side.stamp = stamp;
        }
        Some(at)
    }
}

/// The time stamp of a segment with no other option, padded as in RFC 7323 appendix A: nearly all
/// have that form. `None`: read all options.
#[inline]
pub(crate) fn plain_stamp(frames: &FrameBytes<'_>, meta: &PacketMeta) -> Option<u32> {
    let at = usize::from(meta.l4_offset).wrapping_add(20);
    let options = frames.frame(meta).get(at..)?.first_chunk::<8>()?;
    // PERF: as one word, not byte by byte: half the instructions.
    let word = u64::from_be_bytes(*options);
    let stamp = u32::try_from(word & u64::from(u32::MAX)).ok()?;
    // Only if the header is that long.
    (word >> 32 == PLAIN_STAMP && usize::from(meta.payload_offset) >= at.wrapping_add(12))
        .then_some(stamp)
}

/// Two NOPs, kind 8, length 10.
const PLAIN_STAMP: u64 = 0x0101_080a;
