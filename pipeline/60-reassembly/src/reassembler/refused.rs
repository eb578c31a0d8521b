//! Segments that their receiver refuses for their time stamp or their acknowledgement.
//!
//! Which ones those are depends on the receiver: Linux accepts a time stamp that is one tick too
//! old, and does not look at the acknowledgement of a segment that it expects. So their bytes wait:
//! they lose against all others, and count if the receiver acknowledges them before others come.

use super::handshake::peer_seen;
use super::segment::Segment;
use super::store::fresh_len;
use super::{Place, Reassembler};
use crate::StreamConsumer;
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase, Side};
use crate::held::{Standing, earlier};
use crate::policy::skips_old_acks;
use flowpin_packet::TcpFlags;

impl Reassembler {
    /// Keeps the bytes of a segment that its receiver refuses as far as known; false if they cannot
    /// be acknowledged. Its FIN and its acknowledgement count for nothing.
    pub(super) fn keep_refused<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &mut Segment<'_>,
        consumer: &mut C,
    ) -> bool {
        let heard = peer_seen(connection, place);
        let side = connection.side(place.to_server);
        let begun = side.phase == Phase::Open || side.is_shut();
        let ahead = segment.end.distance_from(side.next).unsigned_abs();
        let inside = ahead <= FAR_BYTES && side.edge.is_after(segment.start);
        if !(heard && begun && inside) || fresh_len(side.next, segment) == 0 {
            return false;
        }
        segment.standing = Standing::Refused;
        if self.is_unwanted(connection, place, segment, consumer) {
            return true;
        }
        self.make_room(connection, place, segment, consumer);
        // Giving up a hole may have brought the stream to its end.
        if self.is_unwanted(connection, place, segment, consumer) {
            return true;
        }
        self.place_bytes(connection, place, segment, consumer);
        self.advance(connection, place, None, consumer);
        true
    }

    /// Stores the time stamp of a segment that its receiver reads (RFC 7323 §5.3, R3; §4.3: only if
    /// the segment was next to be acknowledged). One that lies outside the window, or acknowledges
    /// what was never sent, is dropped before that; so is one with an old acknowledgement, in most
    /// cases.
    pub(super) fn note_stamp(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) {
        let (side, peer) = connection.both(place.to_server);
        let (true, Some(stamp)) = (side.marks.has(Marks::STAMPED), segment.stamp) else {
            return;
        };
        let is_latest = !segment.is_doubted() && segment.ack.distance_from(peer.acked) >= 0
            || is_predicted(side, peer, segment);
        let is_newer = side.stamp == 0 || stamp.wrapping_sub(side.stamp).cast_signed() >= 0;
        let copy = *side;
        let last = earlier(copy.acked, self.sent(&copy));
        let end = segment.end.plus(u32::from(segment.has(TcpFlags::FIN)));
        let is_next = !segment.start.is_after(last) && !last.is_after(end);
        if is_latest && is_newer && is_next {
            connection.side(place.to_server).stamp = stamp;
        }
    }
}

/// Whether Linux reads a segment without looking at an old acknowledgement: the next data, with
/// nothing missing and the same window as before (observed with 6.18).
fn is_predicted(side: &Side, peer: &Side, segment: &Segment<'_>) -> bool {
    let window = u32::from(segment.window).wrapping_shl(peer.shift.into());
    skips_old_acks(side.policy)
        && segment.start == side.next
        && side.held == NIL
        && segment.len > 0
        && !segment.has(TcpFlags::FIN)
        && peer.acked.plus(window) == peer.edge
        && peer.acked.is_after(segment.ack)
}
