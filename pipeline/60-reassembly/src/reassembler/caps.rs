//! Frees memory when a cap is reached: gives up holes, the oldest first.
//!
//! A hole is given up by reporting it as a gap, so that the bytes after it are delivered and their
//! memory is free. First a stream's own hole, if the stream has reached its cap; then the oldest of
//! the shard: honest holes close within a round trip, those of a flood are old. Holes of
//! connections that are due are passed over: what is held after them is delivered when they end.

use super::data::is_early;
use super::segment::Segment;
use super::{Place, Reassembler, count};
use crate::StreamConsumer;
use crate::connection::{Connection, Marks, NIL, Phase};
use crate::held::{Held, Piece, Standing, earlier};

impl Reassembler {
    /// Makes room to store a segment.
    pub(super) fn make_room<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let len = segment.bytes.len();
        let most = u64::from(self.options.stream_bytes_max);
        loop {
            let held = connection.side(place.to_server).held;
            let queue = self.held.queue(held);
            let need = Held::cost(len);
            if queue.root == NIL || u64::from(queue.cost).saturating_add(need) <= most {
                break;
            }
            count(&mut self.stats.stream_cap_reached, 1);
            self.give_up_hole(connection, place, consumer);
        }
        while !self.held.has_room(segment.shard, len) {
            let Some(oldest) = self.held.oldest(segment.shard) else {
                return;
            };
            let victim = self.held.queue(oldest);
            if consumer.is_due(victim.handle) {
                self.held.pass_over(oldest);
                continue;
            }
            count(&mut self.stats.shard_cap_reached, 1);
            let place_of = Place {
                handle: victim.handle,
                to_server: victim.to_server,
            };
            if victim.handle == place.handle {
                self.give_up_hole(connection, place_of, consumer);
            } else if let Some(&(mut other)) = self.connections.get(victim.handle) {
                self.give_up_hole(&mut other, place_of, consumer);
                self.save(victim.handle, &other);
            }
        }
    }

    /// Whether a receiver that has not acknowledged a piece has dropped it, as far as known.
    fn is_refused(&mut self, connection: &mut Connection, place: Place, piece: Piece) -> bool {
        let (side, peer) = connection.both(place.to_server);
        let (begun, peer) = (side.phase == Phase::Open, *peer);
        match piece.standing {
            Standing::Expected => false,
            Standing::Refused | Standing::Outside => true,
            // It may have opened its window before, unseen.
            Standing::Beyond => {
                let limit = self.limit(connection, place);
                limit.is_some_and(|limit| !limit.is_after(piece.start))
            }
            // Its sender has withdrawn the acknowledgement, or repeats it. If nothing else has
            // completed the handshake, the capture lacks the rest.
            Standing::Doubted => {
                let is_open = begun && peer.phase == Phase::Syn;
                let is_known = peer.marks.has(Marks::SEEN) && !is_open;
                is_known && !peer.acked.is_after(self.sent(&peer))
            }
        }
    }

    /// Gives up the first hole of a stream: afterwards some of its memory is free.
    pub(super) fn give_up_hole<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        let (side, peer) = connection.both(place.to_server);
        if is_early(side, peer) {
            return self.go_alone(connection, place, consumer);
        }
        if side.phase == Phase::Premature {
            return self.believe_premature(connection, place, consumer);
        }
        let (held, next, is_shut) = (side.held, side.next, side.is_shut());
        match self.held.first(held) {
            Some(_) if is_shut => {
                let lost = self.held.drop_first(held);
                self.count_shut(connection, place, lost);
            }
            // The receiver has not accepted it: no reason to believe in the hole before it.
            Some((_, first)) if self.is_refused(connection, place, first) => {
                self.held.forget_fins(held, |fin| fin == first.run.end);
                let lost = self.held.drop_first(held);
                count(&mut self.stats.out_of_window, lost);
                self.stats.held = self.stats.held.saturating_sub(lost.into());
            }
            Some((_, first)) => {
                self.held.trust_first(held);
                let fin = self.held.queue(held).fin();
                let to = fin.map_or(first.start, |fin| earlier(fin, first.start));
                if to.is_after(next) {
                    self.report_gap(connection, place, to, consumer);
                }
                let limit = self.limit(connection, place);
                let at_fin = fin == Some(connection.side(place.to_server).next);
                if !self.drain(connection, place, limit, consumer) && !at_fin {
                    // Cannot happen; but the caller relies on getting some room.
                    let lost = self.held.drop_first(held);
                    count(&mut self.stats.no_room, lost);
                    self.stats.held = self.stats.held.saturating_sub(lost.into());
                    debug_assert!(false, "a hole was given up and nothing was free");
                }
            }
            None => {
                match self.held.queue(held).fin().filter(|_| !is_shut) {
                    Some(fin) => {
                        if fin.is_after(next) {
                            self.report_gap(connection, place, fin, consumer);
                        }
                        return self.shut(connection, place, consumer);
                    }
                    None => self.held.close(held),
                };
                connection.side(place.to_server).held = NIL;
                return;
            }
        }
        let side = connection.side(place.to_server);
        let queue = self.held.queue(side.held);
        if queue.root == NIL && queue.fin().is_none() {
            self.held.close(side.held);
            side.held = NIL;
        } else if queue.fin() == Some(side.next) && !side.is_shut() {
            self.shut(connection, place, consumer);
        }
    }
}
