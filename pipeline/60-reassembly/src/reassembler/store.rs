//! The bytes of a segment: delivered at once, or held until the bytes before them arrive.

use super::again::stream_id;
use super::deliver::deliver;
use super::segment::Segment;
use super::{Place, Reassembler, count, span};
use crate::connection::{Connection, NIL, Phase};
use crate::held::{Arrived, Standing, earlier, later};
use crate::{Anomaly, Extent, StreamConsumer};
use flowpin_config::SegmentOverlap;
use flowpin_packet::{Seq, TcpFlags};

impl Reassembler {
    /// The captured bytes of a segment from `next` on; `None` if there is nothing to store or
    /// deliver, not even a FIN.
    pub(super) fn captured<'a>(
        &mut self,
        next: Seq,
        segment: &Segment<'a>,
    ) -> Option<(Extent, &'a [u8])> {
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
    pub(super) fn hold(
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

    /// Delivers or stores the new bytes of a segment.
    pub(super) fn place_bytes<C: StreamConsumer>(
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
        if self.replace_fins(connection, place, segment, extent) {
            self.report_anomaly(connection, place, Anomaly::CloseIgnored, consumer);
            let held = connection.side(place.to_server).held;
            if self.held.queue(held).fin().is_none() {
                consumer.goes_on(span(connection, place), false);
            }
        }
        // Without room to wait, it is believed if its receiver may have read it.
        let waits = match segment.standing {
            Standing::Expected => false,
            Standing::Refused => true,
            _ => self.held.has_room(segment.shard, bytes.len()),
        };
        let now = if waits {
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

    /// FINs that came before the bytes in their place: the receiver reads those if they are inside
    /// its window. Returns whether there were any.
    fn replace_fins(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        extent: Extent,
    ) -> bool {
        let limit = self.limit(connection, place);
        let side = connection.side(place.to_server);
        if side.held == NIL || segment.is_doubted() || side.phase == Phase::Syn {
            return false;
        }
        let end = limit.map_or(segment.end, |limit| earlier(limit, segment.end));
        let data = Extent { end, ..extent };
        self.held
            .replace_fins(side.held, data, side.next, side.policy)
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
        let fin = self.held.queue(side.held).fin();
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
                standing: standing.min(segment.standing),
            };
            differs |= self.hold(queue, arrived, next, policy);
        }
        if differs {
            self.report_anomaly(connection, place, Anomaly::OverlapDiffers, consumer);
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
}

/// The number of a segment's bytes at or after `next`.
pub(super) fn fresh_len(next: Seq, segment: &Segment<'_>) -> u32 {
    let fresh = segment.end.distance_from(next);
    u32::try_from(fresh).unwrap_or(0).min(segment.len)
}
