//! Delivers a stream: bytes, gaps, and what has become contiguous.

use super::again::stream_id;
use super::{Place, Reassembler, count, span};
use crate::connection::{Connection, Marks, NIL, Phase};
use crate::held::{Standing, earlier, later};
use crate::{ReassemblyStats, Span, StreamConsumer};
use flowpin_packet::Seq;

impl Reassembler {
    /// Delivers held bytes up to the first hole; of bytes that came outside the receiver's window
    /// only those before `limit`. Returns whether there were any.
    pub(super) fn drain<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        limit: Option<Seq>,
        consumer: &mut C,
    ) -> bool {
        let mut any = false;
        loop {
            let side = connection.side(place.to_server);
            let (queue, next) = (side.held, side.next);
            let Some((handle, first)) = self.held.first(queue) else {
                return any;
            };
            let mut end = match limit {
                Some(limit) => match first.standing {
                    Standing::Expected => first.end(),
                    Standing::Outside => earlier(limit, first.end()),
                    Standing::Refused | Standing::Doubted | Standing::Beyond => {
                        earlier(side.acked, first.end())
                    }
                },
                None => first.end(),
            };
            // After the FIN the receiver reads no more.
            if let Some(fin) = self.held.queue(queue).fin() {
                end = earlier(end, fin);
            }
            if first.start != next || !end.is_after(next) {
                return any;
            }
            let len = end.0.wrapping_sub(next.0);
            let urgent = self.held.queue(queue).urgent;
            let bytes = self.held.bytes(&first);
            let bytes = bytes.get(..len as usize).unwrap_or_default();
            // Of a connection that ends nothing is sent again.
            if self.delivered.is_on() && !self.is_ending {
                let shard = self.held.queue(queue).shard;
                let stream = stream_id(connection, place);
                self.delivered.keep(shard, stream, next, bytes);
            }
            let stats = &mut self.stats;
            deliver(
                stats, self.depth, connection, place, bytes, urgent, consumer,
            );
            self.stats.held = self.stats.held.saturating_sub(u64::from(len));
            let len = u16::try_from(len).unwrap_or(u16::MAX);
            self.held.consume(queue, handle, len);
            any = true;
        }
    }

    /// Reports that the stream's bytes up to `to` are missing.
    pub(super) fn report_gap<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        to: Seq,
        consumer: &mut C,
    ) {
        let at = span(connection, place);
        let side = connection.side(place.to_server);
        let len = to.0.wrapping_sub(side.next.0);
        side.next = to;
        side.offset = side.offset.wrapping_add(u64::from(len));
        if side.marks.has(Marks::SKIPPED) || at.offset >= self.depth {
            return;
        }
        count(&mut self.stats.gaps, 1);
        count(&mut self.stats.gap_bytes, len);
        consumer.gap(at, len.into());
    }

    /// Delivers what it can, reports holes that the receiver does not have, and detects the end.
    /// `shown` is the number of a segment of the stream's sender, which has thus sent everything
    /// before.
    pub(super) fn advance<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        shown: Option<Seq>,
        consumer: &mut C,
    ) {
        let mut moved = false;
        let side = connection.side(place.to_server);
        if side.is_shut() || side.is_over() {
            return;
        }
        // The receiver accepted more than that: it never got these FINs.
        let (held, acked) = (side.held, side.acked);
        self.held
            .forget_fins(held, |fin| acked.is_after(fin.plus(1)));
        loop {
            let limit = self.limit(connection, place);
            moved |= self.drain(connection, place, limit, consumer);
            let side = connection.side(place.to_server);
            let (next, acked) = (side.next, side.acked);
            let fin = self.held.queue(side.held).fin();
            // A FIN on a SYN counts once that is confirmed, as data does.
            if fin == Some(next) && side.phase != Phase::Syn {
                return self.shut(connection, place, consumer);
            }
            if !acked.is_after(next) {
                break;
            }
            // An acknowledgement alone proves nothing: the sender must have reached that point,
            // too.
            let first = self.held.first(side.held).map(|(_, first)| first.start);
            let side = *side;
            let sent = self.sent(&side);
            let reach = shown.map_or(sent, |shown| later(sent, shown));
            let proof = [first, fin, shown].into_iter().flatten();
            let ahead = proof.filter(|seq| seq.is_after(next)).reduce(earlier);
            let Some(ahead) = ahead.filter(|_| !acked.is_after(reach)) else {
                break;
            };
            self.report_gap(connection, place, earlier(acked, ahead), consumer);
            moved = true;
        }
        self.settle_queue(connection, place, moved);
    }

    /// Frees an empty queue; moves a queue whose hole is a new one to its new place.
    pub(super) fn settle_queue(&mut self, connection: &mut Connection, place: Place, moved: bool) {
        let side = connection.side(place.to_server);
        if side.held == NIL {
            return;
        }
        let queue = self.held.queue(side.held);
        let urgent = queue
            .urgent
            .is_some_and(|urgent| urgent.distance_from(side.next) >= 0);
        if queue.root == NIL && queue.fin().is_none() && !urgent {
            self.held.close(side.held);
            side.held = NIL;
        } else if moved {
            self.held.renew(side.held);
        }
    }
}

/// The next bytes of a stream, up to the depth; one of them may be out of band.
pub(super) fn deliver<C: StreamConsumer>(
    stats: &mut ReassemblyStats,
    depth: u64,
    connection: &mut Connection,
    place: Place,
    bytes: &[u8],
    urgent: Option<Seq>,
    consumer: &mut C,
) {
    let at = span(connection, place);
    let side = connection.side(place.to_server);
    let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let pulled = urgent.map_or(u32::MAX, |urgent| urgent.0.wrapping_sub(side.next.0));
    side.next = side.next.plus(len);
    side.offset = side.offset.wrapping_add(u64::from(len));
    let room = if side.marks.has(Marks::SKIPPED) {
        0
    } else {
        depth.saturating_sub(at.offset)
    };
    let told = u32::try_from(room).unwrap_or(u32::MAX).min(len);
    count(&mut stats.beyond_depth, len.saturating_sub(told));
    let bytes = bytes.get(..told as usize).unwrap_or_default();
    let mut hand_up = |at: Span, bytes: &[u8], consumer: &mut C| {
        if !bytes.is_empty() {
            let len = bytes.len() as u64;
            stats.delivered = stats.delivered.saturating_add(len);
            consumer.data(at, bytes);
        }
    };
    let Some((before, [byte, behind @ ..])) = bytes.split_at_checked(pulled as usize) else {
        return hand_up(at, bytes, consumer);
    };
    hand_up(at, before, consumer);
    let ahead = u64::from(pulled);
    consumer.urgent(at.ahead(ahead), *byte);
    hand_up(at.ahead(ahead.saturating_add(1)), behind, consumer);
    count(&mut stats.urgent, 1);
}

impl Span {
    /// The position `len` bytes further on.
    pub(super) const fn ahead(self, bytes: u64) -> Self {
        Self {
            offset: self.offset.wrapping_add(bytes),
            ..self
        }
    }
}
