//! How streams end: by FIN, by RST, or with their connection.
//!
//! ```text
//!            FIN in order          acknowledged, and nothing else was
//!  Open ─────────────────► Closing ─────────────────────────────► Finished: reported
//!    │                        │                                      │
//!    └─ RST ─► Reset:         │ bytes after it are acknowledged:     │
//!              reported at    ▼ the receiver ignored it              │
//!              the end ───► Open again ◄─────────────────────────────┘
//! ```
//!
//! A close is a claim about its receiver, which may never have received the segment, or may have
//! refused it for reasons that do not show on the way. So later bytes are held, within the caps for
//! all held bytes, until that receiver decides: it acknowledges them, or the connection ends.

use super::data::is_early;
use super::handshake::{is_stale, may_have_been_overtaken};
use super::premature::is_premature;
use super::segment::Segment;
use super::{Place, Reassembler, count, span};
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase};
use crate::held::{Piece, Standing, later};
use crate::policy::{Reception, takes_reset};
use crate::{Anomaly, Closed, StreamConsumer};
use flowpin_packet::{FrameBytes, PacketMeta, TcpFlags};

impl Reassembler {
    /// All bytes before the FIN were delivered.
    pub(super) fn shut<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        side.shut();
        let next = side.next;
        self.held.forget_fins(side.held, |fin| next.is_after(fin));
        self.settle_queue(connection, place, false);
        self.weigh(connection, place, consumer);
    }

    /// Checks whether a closed stream really is, by its receiver's acknowledgements.
    pub(super) fn weigh<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        let (resume, acked, is_reset) = (side.resume(), side.acked, side.is_reset());
        let first = self.held.first(side.held).map(|(_, first)| first);
        let Some(first) = first else {
            if side.is_fin_acknowledged() {
                self.finish(connection, place, consumer);
            }
            return;
        };
        if side.is_fin_acknowledged() {
            // A byte in the place of the FIN has the same number: the next one will show.
            if first.start != resume {
                self.finish(connection, place, consumer);
            }
            return;
        }
        let last = self.held.last(side.held).unwrap_or(first);
        // Bytes that waited after a hole when the RST arrived were acknowledged before it.
        let shows = |piece: Piece| {
            (piece.standing < Standing::Expected || !is_reset) && acked.is_after(piece.start)
        };
        if acked.is_after(side.next) && (shows(first) || shows(last)) {
            self.reopen(connection, place, consumer);
        }
    }

    /// The receiver has accepted bytes after a close: the stream is open.
    fn reopen<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        let (side, peer) = connection.both(place.to_server);
        let told = side.phase == Phase::Finished;
        side.reopen();
        if peer.is_reset() {
            peer.reopen();
        }
        self.report_anomaly(connection, place, Anomaly::CloseIgnored, consumer);
        consumer.goes_on(span(connection, place), told);
        self.advance(connection, place, None, consumer);
    }

    /// The receiver has acknowledged the FIN.
    fn finish<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        self.release_shut(connection, place);
        connection.side(place.to_server).phase = Phase::Finished;
        consumer.closed(span(connection, place), Closed::Fin);
        if connection.is_finished() {
            consumer.over(place.handle);
        }
    }

    /// Drops the held bytes of a closed stream.
    fn release_shut(&mut self, connection: &mut Connection, place: Place) {
        let side = connection.side(place.to_server);
        let held = core::mem::replace(&mut side.held, NIL);
        let left = self.held.close(held);
        self.count_shut(connection, place, left);
    }

    /// Counts bytes of a closed stream that were held and are dropped now.
    pub(super) fn count_shut(&mut self, connection: &mut Connection, place: Place, bytes: u32) {
        let is_reset = connection.side(place.to_server).is_reset();
        let counter = if is_reset {
            &mut self.stats.discarded
        } else {
            &mut self.stats.after_close
        };
        count(counter, bytes);
        self.stats.held = self.stats.held.saturating_sub(bytes.into());
    }

    /// A RST: ends both streams if its receiver accepts it.
    pub(super) fn take_reset<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        count(&mut self.stats.on_reset, segment.len);
        if connection.is_reset() || connection.sides.iter().all(|side| side.is_over()) {
            return;
        }
        if !self.is_valid_reset(connection, place, segment) {
            let answers = connection.side(!place.to_server).phase == Phase::Premature;
            if answers && !segment.has(TcpFlags::ACK) {
                // RFC 9293 §3.10.7.3: so does a host answer what comes before the SYN-ACK.
                return;
            }
            return self.report_anomaly(connection, place, Anomaly::InvalidReset, consumer);
        }
        self.believe_early(connection, place.handle, consumer);
        let side = connection.side(place.to_server);
        side.marks.set(Marks::SEEN, true);
        for side in &mut connection.sides {
            match side.phase {
                Phase::Syn | Phase::Open => side.phase = Phase::Reset,
                Phase::Unseen | Phase::Guessed => side.phase = Phase::Refused,
                _ => {}
            }
        }
        consumer.reset(place.handle);
    }

    /// RFC 9293 §3.10.7.3 and §3.10.7.4, RFC 5961 §3.2. Time stamps do not matter: RFC 7323 §5.2
    /// accepts a RST with any. Nor does its acknowledgement, except that of a SYN.
    fn is_valid_reset(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) -> bool {
        let (side, peer) = connection.both(place.to_server);
        let (side, peer) = (*side, *peer);
        match side.phase {
            // It answers a SYN: only the acknowledgement proves that its sender saw it. It may omit
            // some of the data on the SYN.
            Phase::Unseen | Phase::Premature | Phase::Guessed if peer.phase == Phase::Syn => {
                let end = self.held.end(peer.held, peer.next);
                segment.has(TcpFlags::ACK)
                    && segment.ack.distance_from(peer.next) >= 0
                    && segment.ack.distance_from(end) <= 0
            }
            Phase::Unseen => true,
            _ => {
                let sent = self.sent(&side);
                // If the capture lacks bytes, the receiver may be ahead of us.
                let next = later(side.next, side.acked);
                let heard = peer.marks.has(Marks::SEEN);
                let edge = if heard {
                    side.edge
                } else {
                    next.plus(FAR_BYTES)
                };
                let seq = segment.start;
                let reception = Reception {
                    next,
                    edge: later(edge, next),
                    highest: self.held.end(side.held, next),
                    closing: side.is_shut(),
                };
                let further = !heard && seq.distance_from(next) >= 0;
                // Its sender decides how much was sent.
                let exact = seq == side.next && side.acked.is_after(sent);
                exact || takes_reset(side.policy, seq, &reception) || further
            }
        }
    }

    /// Whether the receiver of a segment drops it because of what the segment itself says. A FIN
    /// that is not dropped for that, or that lies outside the window, may still be ignored; later
    /// segments will show. Called before [`Reassembler::segment`] gets it.
    #[cold]
    pub fn ignores(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        handle: u32,
        to_server: bool,
    ) -> bool {
        let mut connection = match self.connections.get(handle) {
            Some(connection) if !connection.is_fresh() => *connection,
            _ => return false,
        };
        let place = Place { handle, to_server };
        if connection.side(to_server).phase == Phase::Ignored {
            return false;
        }
        let mut segment = Segment::read(frames, meta);
        segment.read_options(frames, meta);
        if segment.has(TcpFlags::RST) {
            let over = connection.sides.iter().all(|side| side.is_over());
            return !connection.is_reset()
                && !over
                && !self.is_valid_reset(&mut connection, place, &segment);
        }
        let side = connection.side(to_server);
        let is_old = is_stale(side, &segment) && !may_have_been_overtaken(side, &segment);
        if segment.has(TcpFlags::SYN) || is_old || !segment.has(TcpFlags::ACK) {
            return !segment.has(TcpFlags::SYN);
        }
        let is_numbered = side.phase == Phase::Open || side.is_shut();
        let is_early = is_premature(&mut connection, place);
        let is_unheard = is_numbered && !self.is_heard(&mut connection, place, &segment);
        !segment.has(TcpFlags::FIN) && (is_early || is_unheard)
    }

    /// Bytes that wait for an answer that the capture lacks count.
    fn believe_early<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        handle: u32,
        consumer: &mut C,
    ) {
        for to_server in [true, false] {
            let (side, peer) = connection.both(to_server);
            if is_early(side, peer) {
                let place = Place { handle, to_server };
                self.go_alone(connection, place, consumer);
            } else if side.phase == Phase::Premature {
                let place = Place { handle, to_server };
                self.believe_premature(connection, place, consumer);
            }
        }
    }

    /// The connection is over, for any reason.
    pub(super) fn end_streams<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        handle: u32,
        consumer: &mut C,
    ) {
        self.believe_early(connection, handle, consumer);
        let [first, second] = &connection.sides;
        let alone = first.marks.has(Marks::SEEN) != second.marks.has(Marks::SEEN);
        if alone && (first.offset > 0 || second.offset > 0) {
            count(&mut self.stats.one_sided, 1);
        }
        // First for both: what is missing at the end of one decides whether the other's is
        // believed.
        for to_server in [true, false] {
            let place = Place { handle, to_server };
            while connection.side(to_server).held != NIL {
                if connection.side(to_server).is_shut() {
                    self.release_shut(connection, place);
                } else {
                    self.give_up_hole(connection, place, consumer);
                }
            }
        }
        for to_server in [true, false] {
            let place = Place { handle, to_server };
            let side = connection.side(to_server);
            let Some(how) = how_ended(side.phase) else {
                continue;
            };
            // One more may be a FIN that was not captured.
            if how == Closed::Ended && side.acked.is_after(side.next.plus(1)) {
                let to = side.acked;
                self.report_gap(connection, place, to, consumer);
            }
            consumer.closed(span(connection, place), how);
        }
    }
}

/// How a stream ended when its connection does; `None` if that was reported, or it never began.
pub(super) const fn how_ended(phase: Phase) -> Option<Closed> {
    match phase {
        Phase::Premature | Phase::Syn | Phase::Open => Some(Closed::Ended),
        Phase::Closing => Some(Closed::Fin),
        Phase::Reset => Some(Closed::Reset),
        Phase::Unseen | Phase::Guessed | Phase::Finished | Phase::Refused | Phase::Ignored => None,
    }
}
