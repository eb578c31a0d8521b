//! How streams end: FIN, RST, or with their connection.

use super::segment::Segment;
use super::{Place, Reassembler, count, span};
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase};
use crate::held::later;
use crate::policy::takes_reset;
use crate::{Anomaly, Closed, StreamConsumer};
use flowpin_packet::TcpFlags;

impl Reassembler {
    /// All bytes before the FIN were told.
    pub(super) fn finish<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        side.finish();
        let held = core::mem::replace(&mut side.held, NIL);
        let left = self.held.close(held);
        count(&mut self.stats.after_close, left);
        self.stats.held = self.stats.held.saturating_sub(left.into());
        consumer.closed(span(connection, place), Closed::Fin);
        if connection.is_over() {
            consumer.over(place.handle);
        }
    }

    /// A RST: both streams end if its receiver believes it.
    pub(super) fn take_reset<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        count(&mut self.stats.on_reset, segment.len);
        if connection.is_over() {
            return;
        }
        if !Self::is_valid_reset(connection, place, segment) {
            return self.tell_anomaly(connection, place, Anomaly::InvalidReset, consumer);
        }
        connection
            .side(place.to_server)
            .marks
            .set(Marks::SEEN, true);
        for place in [place, place.back()] {
            let side = connection.side(place.to_server);
            let held = core::mem::replace(&mut side.held, NIL);
            let told = matches!(side.phase, Phase::Syn | Phase::Open);
            if !side.is_over() {
                side.phase = Phase::Reset;
            }
            let left = self.held.close(held);
            count(&mut self.stats.discarded, left);
            self.stats.held = self.stats.held.saturating_sub(left.into());
            if told {
                consumer.closed(span(connection, place), Closed::Reset);
            }
        }
        consumer.over(place.handle);
    }

    /// RFC 9293 §3.10.7.3 and §3.10.7.4, RFC 5961 §3.2.
    fn is_valid_reset(connection: &mut Connection, place: Place, segment: &Segment<'_>) -> bool {
        let (side, peer) = connection.both(place.to_server);
        match side.phase {
            // It answers a SYN: only the acknowledgement proves that its sender saw it.
            Phase::Unseen | Phase::Guessed if peer.phase == Phase::Syn => {
                segment.has(TcpFlags::ACK)
                    && segment.ack.distance_from(peer.next) >= 0
                    && segment.ack.distance_from(peer.next).unsigned_abs() <= u32::from(u16::MAX)
            }
            Phase::Unseen => true,
            _ => {
                // Where the capture lacks bytes, the receiver may be ahead of us.
                let next = later(side.next, side.acked);
                let heard = peer.marks.has(Marks::SEEN);
                let edge = if heard {
                    side.edge
                } else {
                    next.plus(FAR_BYTES)
                };
                let seq = segment.start;
                takes_reset(side.policy, seq, next, later(edge, next))
                    || !heard && seq.distance_from(next) >= 0
            }
        }
    }

    /// The connection is over, however that came about.
    pub(super) fn end_streams<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        handle: u32,
        consumer: &mut C,
    ) {
        let [first, second] = &connection.sides;
        let alone = first.marks.has(Marks::SEEN) != second.marks.has(Marks::SEEN);
        if alone && (first.offset > 0 || second.offset > 0) {
            count(&mut self.stats.one_sided, 1);
        }
        for to_server in [true, false] {
            let place = Place { handle, to_server };
            while connection.side(to_server).held != NIL {
                self.give_up_hole(connection, place, consumer);
            }
            let side = connection.side(to_server);
            if !matches!(side.phase, Phase::Syn | Phase::Open) {
                continue;
            }
            // One more may be a FIN that was not captured.
            if side.acked.is_after(side.next.plus(1)) {
                let to = side.acked;
                self.tell_gap(connection, place, to, consumer);
            }
            consumer.closed(span(connection, place), Closed::Ended);
        }
    }
}
