//! A segment's bytes and its FIN: delivered, held, or counted.

use super::again::stream_id;
use super::deliver::deliver;
use super::handshake::peer_seen;
use super::segment::Segment;
use super::{Place, Reassembler, count};
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase, Side};
use crate::held::{Arrived, Standing, later};
use crate::{Anomaly, Extent, StreamConsumer, Urgent};
use flowpin_config::SegmentOverlap;
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
            self.tell_anomaly(connection, place, Anomaly::OutOfWindow, consumer);
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
    fn is_unwanted<C: StreamConsumer>(
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
            if segment.end.is_after(side.next) && !segment.doubted {
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
            self.tell_anomaly(connection, place, Anomaly::DataAfterClose, consumer);
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
                standing: if segment.doubted {
                    Standing::Doubted
                } else {
                    Standing::Outside
                },
            };
            if self.hold(queue, arrived, resume, policy) {
                self.tell_anomaly(connection, place, Anomaly::OverlapDiffers, consumer);
            }
        }
        if segment.has(TcpFlags::FIN) && self.held.queue(queue).fin.is_none() {
            self.held.mark(queue, Some(segment.end), None);
        }
        self.weigh(connection, place, consumer);
    }

    /// The captured bytes of a segment from `next` on; `None` if there is nothing to store or
    /// deliver, not even a FIN.
    fn captured<'a>(&mut self, next: Seq, segment: &Segment<'a>) -> Option<(Extent, &'a [u8])> {
        let fresh = fresh_len(next, segment);
        let old = segment.len.saturating_sub(fresh);
        count(&mut self.stats.duplicate, old);
        let bytes = segment.bytes.get(old as usize..).unwrap_or_default();
        let captured = u32::try_from(bytes.len()).unwrap_or(u32::MAX).min(fresh);
        count(&mut self.stats.not_captured, fresh.saturating_sub(captured));
        let start = segment.start.plus(old);
        let extent = Extent {
            start,
            end: start.plus(captured),
        };
        let late_fin = segment.has(TcpFlags::FIN) && segment.end.is_after(next);
        (captured > 0 || late_fin).then_some((extent, bytes))
    }

    /// Stores bytes; returns whether they differ from others stored for the same place.
    fn hold(
        &mut self,
        queue: u32,
        arrived: Arrived<'_>,
        next: Seq,
        policy: SegmentOverlap,
    ) -> bool {
        let before = self.held.queue(queue).bytes;
        let done = self.held.insert(queue, arrived, next, policy);
        count(&mut self.stats.overlapped, done.overlapped);
        count(&mut self.stats.no_room, done.no_room);
        let after = u64::from(self.held.queue(queue).bytes);
        let held = self.stats.held.saturating_add(after);
        self.stats.held = held.saturating_sub(u64::from(before));
        done.differs
    }

    /// Whether some of a segment's bytes may have to be stored.
    fn must_wait(&self, connection: &mut Connection, place: Place, segment: &Segment<'_>) -> bool {
        let limit = self.limit(connection, place);
        let side = connection.side(place.to_server);
        segment.start.is_after(side.next)
            || segment.doubted
            || side.held != NIL
            || limit.is_some_and(|limit| segment.end.is_after(limit))
    }

    /// Delivers or stores the new bytes of a segment.
    fn place_bytes<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let next = connection.side(place.to_server).next;
        let Some((extent, bytes)) = self.captured(next, segment) else {
            return;
        };
        let start = extent.start;
        // Without room to wait, it is believed.
        let now = if segment.doubted && self.held.has_room(segment.shard, bytes.len()) {
            0
        } else {
            self.direct_len(connection, place, extent)
        };
        let (now, rest) = bytes.split_at_checked(now as usize).unwrap_or((bytes, &[]));
        if !now.is_empty() {
            if self.delivered.is_on() {
                let stream = stream_id(connection, place);
                self.delivered.keep(segment.shard, stream, start, now);
            }
            let urgent = self.urgent_mark(connection, place, segment);
            let stats = &mut self.stats;
            deliver(stats, self.depth, connection, place, now, urgent, consumer);
        }
        if !rest.is_empty() {
            self.store(connection, place, segment, (rest, extent), consumer);
        }
    }

    /// How many bytes of a segment can be delivered without looking at held bytes.
    fn direct_len(&mut self, connection: &mut Connection, place: Place, new: Extent) -> u32 {
        let limit = self.limit(connection, place);
        let side = connection.side(place.to_server);
        if new.start != side.next {
            return 0;
        }
        let mut end = new.end;
        if let Some((_, first)) = self.held.first(side.held)
            && end.is_after(first.start)
        {
            end = first.start;
        }
        let fin = self.held.queue(side.held).fin;
        for limit in [limit, fin].into_iter().flatten() {
            if end.is_after(limit) {
                end = later(limit, new.start);
            }
        }
        end.0.wrapping_sub(new.start.0)
    }

    /// Holds bytes that cannot be delivered yet.
    fn store<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        (bytes, extent): (&[u8], Extent),
        consumer: &mut C,
    ) {
        let limit = self.limit(connection, place);
        let side = connection.side(place.to_server);
        let begun = side.phase != Phase::Syn;
        let (next, policy) = (side.next, side.policy);
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let start = Seq(extent.end.0.wrapping_sub(len));
        let Some(queue) = self.queue_of(connection, place, segment.shard) else {
            return count(&mut self.stats.no_room, len);
        };
        if start.is_after(next) {
            count(&mut self.stats.out_of_order, 1);
        }
        // The receiver drops bytes outside the window, unless we do not know its window yet.
        let inside = limit.map_or(len, |limit| {
            let room = limit.distance_from(start);
            u32::try_from(room).unwrap_or(0).min(len)
        });
        let (taken, refused) = bytes
            .split_at_checked(inside as usize)
            .unwrap_or((bytes, &[]));
        if inside == 0 && limit == Some(next) {
            count(&mut self.stats.window_probes, 1);
        }
        let beyond = begun && limit.is_some_and(|limit| !limit.is_after(extent.start));
        let refusal = if beyond {
            Standing::Beyond
        } else {
            Standing::Outside
        };
        let mut differs = false;
        // Bytes outside first: they cut nothing that is inside, so that the rest is decided as if
        // all came at once.
        let parts = [
            (start.plus(inside), refused, refusal),
            (start, taken, Standing::Expected),
        ];
        for (start, bytes, standing) in parts {
            if bytes.is_empty() {
                continue;
            }
            let arrived = Arrived {
                start,
                extent,
                bytes,
                standing: if segment.doubted {
                    Standing::Doubted
                } else {
                    standing
                },
            };
            differs |= self.hold(queue, arrived, next, policy);
        }
        if differs {
            self.tell_anomaly(connection, place, Anomaly::OverlapDiffers, consumer);
        }
    }

    /// The stream's queue, opened if there is none; `None` if there is no room.
    pub(super) fn queue_of(
        &mut self,
        connection: &mut Connection,
        place: Place,
        shard: u8,
    ) -> Option<u32> {
        let side = connection.side(place.to_server);
        if side.held == NIL {
            side.held = self.held.open(place.handle, place.to_server, shard)?;
        }
        Some(side.held)
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
        self.tell_anomaly(connection, place, Anomaly::UrgentData, consumer);
        let now = segment.start.distance_from(next) <= 0 && segment.end.is_after(urgent);
        if self.options.urgent == Urgent::OutOfBand
            && !now
            && let Some(queue) = self.queue_of(connection, place, segment.shard)
        {
            self.held.mark(queue, None, Some(urgent));
        }
    }

    /// Which byte of a segment in order is read out of band.
    fn urgent_mark(
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
            return self.tell_anomaly(connection, place, Anomaly::InvalidFin, consumer);
        }
        if ahead == 0 && side.phase != Phase::Syn {
            return self.shut(connection, place, consumer);
        }
        let Some(queue) = self.queue_of(connection, place, segment.shard) else {
            return;
        };
        match self.held.queue(queue).fin {
            // The receiver reaches the earlier one first.
            Some(known) if segment.end.is_after(known) => {
                self.tell_anomaly(connection, place, Anomaly::FinChanged, consumer);
            }
            Some(known) if known != segment.end => {
                self.held.mark(queue, Some(segment.end), None);
                self.tell_anomaly(connection, place, Anomaly::FinChanged, consumer);
            }
            _ => self.held.mark(queue, Some(segment.end), None),
        }
    }
}

/// Whether a stream has begun while the other side was not heard: everything its sender
/// acknowledges is its own claim.
pub(super) fn is_early(side: &Side, peer: &Side) -> bool {
    side.phase == Phase::Syn && peer.phase == Phase::Guessed && !peer.marks.has(Marks::SEEN)
}

/// The number of a segment's bytes at or after `next`.
fn fresh_len(next: Seq, segment: &Segment<'_>) -> u32 {
    let fresh = segment.end.distance_from(next);
    u32::try_from(fresh).unwrap_or(0).min(segment.len)
}
