//! Segments of a side whose SYN was not seen, to one that has only sent a SYN.
//!
//! RFC 9293 §3.10.7.3: such a receiver drops every segment without a SYN. But the capture may lack
//! the SYN-ACK, or contain it late. So what they say waits, and loses against everything that is
//! said later:
//!
//! ```text
//!  then the client speaks     there was an answer that was not captured: all of it counts
//!  then a SYN-ACK comes       what fits it counts once it is acknowledged, if nothing else came
//!  then nothing               all of it counts, at the end
//! ```

use super::segment::Segment;
use super::{Place, Reassembler, count};
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase};
use crate::held::{Arrived, Standing, earlier, later};
use crate::{Anomaly, StreamConsumer};
use flowpin_packet::{Seq, TcpFlags};

impl Reassembler {
    /// Takes a segment for which [`is_premature`] holds. Its acknowledgement counts for nothing: a
    /// later one says the same if it is true.
    #[cold]
    pub(super) fn take_premature<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let (side, peer) = connection.both(place.to_server);
        side.phase = Phase::Premature;
        side.marks.set(Marks::SEEN, true);
        let fin = segment.has(TcpFlags::FIN);
        if side.held == NIL {
            side.renumber(segment.start);
        }
        if segment.len == 0 && !fin {
            return;
        }
        if side.marks.has(Marks::SKIPPED) {
            return count(&mut self.stats.beyond_depth, segment.len);
        }
        let acked = segment.ack.distance_from(peer.next);
        let answers = acked >= 0 && acked.unsigned_abs() <= FAR_BYTES;
        if !answers || !is_close(segment.start, side.next) || segment.len > FAR_BYTES {
            let what = if answers {
                Anomaly::OutOfWindow
            } else {
                Anomaly::InvalidAck
            };
            self.report_anomaly(connection, place, what, consumer);
            return count(&mut self.stats.out_of_window, segment.len);
        }
        side.renumber(earlier(side.next, segment.start));
        self.make_room(connection, place, segment, consumer);
        let side = *connection.side(place.to_server);
        if side.phase != Phase::Premature {
            return self.take_data(connection, place, segment, consumer);
        }
        let Some((extent, bytes)) = self.captured(side.next, segment) else {
            return;
        };
        let Some(queue) = self.queue_of(connection, place, segment.shard) else {
            let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            return count(&mut self.stats.no_room, len);
        };
        if !bytes.is_empty() {
            let arrived = Arrived {
                start: extent.start,
                extent,
                bytes,
                standing: Standing::Doubted,
            };
            if self.hold(queue, arrived, side.next, side.policy) {
                self.report_anomaly(connection, place, Anomaly::OverlapDiffers, consumer);
            }
        }
        if fin {
            self.held.add_fin(queue, segment.end);
        }
    }

    /// The receiver of the premature stream at `place` has spoken, and acknowledges `ack`: there
    /// was an answer that it accepted.
    pub(super) fn answer_premature<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        ack: Seq,
        consumer: &mut C,
    ) {
        let held = connection.side(place.to_server).held;
        let first = self.held.first(held).map(|(_, first)| first.start);
        let first = first.or(self.held.queue(held).fin());
        match first.filter(|&first| is_close(first, ack)) {
            Some(first) => {
                let side = connection.side(place.to_server);
                side.renumber(earlier(first, ack));
            }
            None => {
                self.refuse_premature(connection, place, consumer);
                connection.side(place.to_server).renumber(ack);
            }
        }
        // Nor was the window captured that the answer offered.
        let peer = connection.side(!place.to_server);
        peer.edge = later(peer.edge, peer.next.plus(FAR_BYTES));
        self.believe_premature(connection, place, consumer);
    }

    /// Counts everything that waits of a premature stream.
    pub(super) fn believe_premature<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        side.phase = Phase::Open;
        self.held.trust_all(side.held);
        self.advance(connection, place, None, consumer);
    }

    /// The SYN of a premature stream: its first byte is numbered `start`. What waits of it was
    /// dropped, unless the capture is out of order.
    pub(super) fn number_premature<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        start: Seq,
        consumer: &mut C,
    ) {
        let held = connection.side(place.to_server).held;
        self.held.forget_fins(held, |_| true);
        let Some((_, first)) = self.held.first(held) else {
            return self.refuse_premature(connection, place, consumer);
        };
        let end = self.held.end(held, start);
        if first.start.distance_from(start) < 0 || !is_close(end, start) {
            self.refuse_premature(connection, place, consumer);
        }
    }

    /// Drops what waits of a premature stream.
    pub(super) fn refuse_premature<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        let held = core::mem::replace(&mut side.held, NIL);
        let refused = self.held.close(held);
        count(&mut self.stats.out_of_window, refused);
        self.stats.held = self.stats.held.saturating_sub(refused.into());
        if refused > 0 {
            self.report_anomaly(connection, place, Anomaly::OutOfWindow, consumer);
        }
    }
}

/// Whether a stream has no number yet, or only that of a SYN-ACK for another SYN, and the other
/// side has only sent a SYN, as far as seen.
pub(super) fn is_premature(connection: &mut Connection, place: Place) -> bool {
    let (side, peer) = connection.both(place.to_server);
    let is_answered = side.marks.has(Marks::SYN);
    let is_unnumbered = side.phase == Phase::Unseen || side.is_disputed() && !is_answered;
    side.phase == Phase::Premature || is_unnumbered && peer.phase == Phase::Syn
}

/// Whether two numbers are within the first window, which no shift applies to (RFC 7323 §2.2).
pub(super) fn is_close(one: Seq, other: Seq) -> bool {
    one.distance_from(other).unsigned_abs() <= u32::from(u16::MAX)
}
