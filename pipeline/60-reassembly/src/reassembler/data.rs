//! A segment's data and FIN: whether they are wanted, and when they have to wait.

use super::handshake::peer_seen;
use super::segment::Segment;
use super::store::fresh_len;
use super::{Place, Reassembler, count};
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase, Side};
use crate::held::{Arrived, Standing};
use crate::{Anomaly, StreamConsumer, Urgent};
use flowpin_packet::{Seq, TcpFlags};

impl Reassembler {
    /// Whether a segment lies where its receiver could accept it, or accepted it before.
    pub(super) fn is_near<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) -> bool {
        let side = connection.side(place.to_server);
        let near = segment.start.distance_from(side.next).unsigned_abs() <= FAR_BYTES
            && segment.len <= FAR_BYTES;
        if !near {
            self.report_anomaly(connection, place, Anomaly::OutOfWindow, consumer);
        }
        near
    }

    pub(super) fn is_shut(&self, connection: &mut Connection, place: Place) -> bool {
        connection.side(place.to_server).is_shut()
    }

    /// One past what the receiver accepts now; `None` if unknown.
    pub(super) fn limit(&self, connection: &mut Connection, place: Place) -> Option<Seq> {
        let seen = peer_seen(connection, place);
        let side = connection.side(place.to_server);
        if side.phase == Phase::Syn {
            // Data on a SYN waits for its acknowledgement.
            return Some(side.acked);
        }
        seen.then_some(side.edge)
    }

    /// Takes a segment's data and FIN.
    pub(super) fn take_data<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let fin = segment.has(TcpFlags::FIN);
        let side = connection.side(place.to_server);
        let behind = side.next.distance_from(segment.start);
        if segment.len <= 1 && behind == 1 && !fin {
            // RFC 9293 §3.8.4.
            count(&mut self.stats.keep_alives, 1);
        }
        if behind > 0 && self.delivered.is_on() {
            self.compare_again(connection, place, segment, consumer);
        }
        if segment.len > 0 || fin {
            if self.is_unwanted(connection, place, segment, consumer) {
                return;
            }
            self.note_urgent(connection, place, segment, consumer);
            if self.must_wait(connection, place, segment) {
                self.make_room(connection, place, segment, consumer);
                // Giving up a hole may have brought the stream to its end.
                if self.is_unwanted(connection, place, segment, consumer) {
                    return;
                }
            }
            let has_room = self.held.has_room(segment.shard, segment.bytes.len());
            let (side, peer) = connection.both(place.to_server);
            if !has_room && is_early(side, peer) {
                self.go_alone(connection, place, consumer);
            }
            self.place_bytes(connection, place, segment, consumer);
            if fin {
                self.note_fin(connection, place, segment, consumer);
            }
        }
        self.advance(connection, place, Some(segment.start), consumer);
    }

    /// Counts data that is not reassembled: after the end, of one direction only, or skipped.
    pub(super) fn is_unwanted<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) -> bool {
        let alone = !peer_seen(connection, place) && !self.options.one_sided;
        let depth = self.depth;
        let side = connection.side(place.to_server);
        let fresh = fresh_len(side.next, segment);
        let old = segment.len.saturating_sub(fresh);
        if side.is_shut() {
            self.take_late(connection, place, segment, consumer);
            return true;
        }
        if alone && side.phase != Phase::Syn {
            side.renumber(segment.end);
            let held = core::mem::replace(&mut side.held, NIL);
            let left = self.held.close(held);
            count(&mut self.stats.ignored, segment.len);
            count(&mut self.stats.ignored, left);
            self.stats.held = self.stats.held.saturating_sub(left.into());
            return true;
        }
        let skipped = side.marks.has(Marks::SKIPPED) || side.offset >= depth;
        if skipped && side.held == NIL && side.phase == Phase::Open {
            count(&mut self.stats.duplicate, old);
            count(&mut self.stats.beyond_depth, fresh);
            if segment.end.is_after(side.next) && !segment.is_doubted() {
                let moved = segment.end.0.wrapping_sub(side.next.0);
                side.offset = side.offset.wrapping_add(u64::from(moved));
                side.next = segment.end;
            }
            if segment.has(TcpFlags::FIN) && segment.end == side.next {
                self.shut(connection, place, consumer);
            }
            return true;
        }
        false
    }

    /// Data after the end of its stream: it waits until the receiver shows whether that is the end.
    fn take_late<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        let (resume, policy) = (side.resume(), side.policy);
        if fresh_len(side.next, segment) > 0 {
            self.report_anomaly(connection, place, Anomaly::DataAfterClose, consumer);
        }
        let Some((extent, bytes)) = self.captured(resume, segment) else {
            return;
        };
        self.make_room(connection, place, segment, consumer);
        let Some(queue) = self.queue_of(connection, place, segment.shard) else {
            let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            return count(&mut self.stats.no_room, len);
        };
        if !bytes.is_empty() {
            let arrived = Arrived {
                start: extent.start,
                extent,
                bytes,
                standing: segment.standing.min(Standing::Outside),
            };
            if self.hold(queue, arrived, resume, policy) {
                self.report_anomaly(connection, place, Anomaly::OverlapDiffers, consumer);
            }
        }
        if segment.has(TcpFlags::FIN) && segment.standing > Standing::Refused {
            self.held.add_fin(queue, segment.end);
        }
        self.weigh(connection, place, consumer);
    }

    /// Whether some of a segment's bytes may have to be stored.
    fn must_wait(&self, connection: &mut Connection, place: Place, segment: &Segment<'_>) -> bool {
        let limit = self.limit(connection, place);
        let side = connection.side(place.to_server);
        segment.start.is_after(side.next)
            || segment.is_doubted()
            || side.held != NIL
            || limit.is_some_and(|limit| segment.end.is_after(limit))
    }

    /// Records the byte before the urgent pointer, if it is read out of band.
    fn note_urgent<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let Some(urgent) = segment.urgent else {
            return;
        };
        let next = connection.side(place.to_server).next;
        if urgent.distance_from(next) < 0 {
            return;
        }
        self.report_anomaly(connection, place, Anomaly::UrgentData, consumer);
        let now = segment.start.distance_from(next) <= 0 && segment.end.is_after(urgent);
        if self.options.urgent == Urgent::OutOfBand
            && !now
            && let Some(queue) = self.queue_of(connection, place, segment.shard)
        {
            self.held.mark_urgent(queue, urgent);
        }
    }

    /// Which byte of a segment in order is read out of band.
    pub(super) fn urgent_mark(
        &self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) -> Option<Seq> {
        if self.options.urgent == Urgent::InLine {
            return None;
        }
        let held = connection.side(place.to_server).held;
        segment.urgent.or(self.held.queue(held).urgent)
    }

    /// A FIN: the stream ends after its bytes.
    fn note_fin<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let limit = self.limit(connection, place);
        let side = *connection.side(place.to_server);
        let sent = self.sent(&side);
        let ahead = segment.end.distance_from(side.next);
        // A receiver that has acknowledged bytes after it, which were sent, has ignored it.
        let refuted = side.acked.is_after(segment.end.plus(1)) && !side.acked.is_after(sent);
        let outside = limit.is_some_and(|limit| segment.end.is_after(limit));
        if ahead < 0 || refuted || outside && side.phase != Phase::Syn {
            return self.report_anomaly(connection, place, Anomaly::InvalidFin, consumer);
        }
        if ahead == 0 && side.phase != Phase::Syn {
            return self.shut(connection, place, consumer);
        }
        let Some(queue) = self.queue_of(connection, place, segment.shard) else {
            return;
        };
        if self.held.queue(queue).has_other_fin(segment.end) {
            self.report_anomaly(connection, place, Anomaly::FinChanged, consumer);
        }
        let fin = (segment.start, segment.end);
        if !self.held.replaces_fin(queue, fin, side.policy) {
            self.held.add_fin(queue, segment.end);
        }
    }
}

/// Whether a stream has begun while the other side was not heard: everything its sender
/// acknowledges is its own claim.
pub(super) fn is_early(side: &Side, peer: &Side) -> bool {
    side.phase == Phase::Syn && peer.phase == Phase::Guessed && !peer.marks.has(Marks::SEEN)
}
