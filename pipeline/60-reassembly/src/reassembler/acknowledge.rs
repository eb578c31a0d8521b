//! Acknowledgements: how far they are believed, and what follows for the other side's stream.

use super::data::is_early;
use super::segment::Segment;
use super::{Place, Reassembler, count};
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase, Side};
use crate::held::{earlier, later};
use crate::{Anomaly, StreamConsumer};
use flowpin_packet::{Seq, TcpFlags};

impl Reassembler {
    /// Whether the receiver of a segment reads its acknowledgement: it drops a segment whose number
    /// lies outside its window as a whole (RFC 9293 §3.10.7.4).
    ///
    /// If the capture lacks packets, the window may have moved. Then later segments repeat what
    /// this one says: each acknowledges everything before it.
    pub(super) fn is_heard(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) -> bool {
        let (side, peer) = connection.both(place.to_server);
        let is_unbegun = !peer.marks.has(Marks::SYN) && peer.offset == 0 && peer.held == NIL;
        if !peer.marks.has(Marks::SEEN) || is_unbegun {
            // The window is unknown, or nothing can be missing yet.
            return true;
        }
        let side = *side;
        let fin = u32::from(segment.has(TcpFlags::FIN));
        // A receiver cannot have more than was sent, whatever was acknowledged.
        let from = earlier(side.acked, self.sent(&side));
        let to = later(side.edge, side.next);
        !from.is_after(segment.end.plus(fin)) && !segment.start.is_after(to)
    }

    /// A segment that its receiver drops acknowledges bytes of the stream at `place` that were sent
    /// after a hole. It is only reported: its sender may have the bytes or not.
    pub(super) fn report_unheard<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let side = *connection.side(place.to_server);
        let known = later(side.acked, side.next);
        if segment.ack.is_after(known) && !segment.ack.is_after(self.sent(&side)) {
            self.report_anomaly(connection, place.back(), Anomaly::InvalidAck, consumer);
        }
    }

    /// Applies what a segment of the other side says about the stream at `place`.
    pub(super) fn take_acknowledgement<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        let (acked, unseen) = (side.acked, side.phase == Phase::Unseen);
        let ahead = segment.ack.distance_from(acked);
        if !segment.has(TcpFlags::ACK) || unseen || ahead.unsigned_abs() > FAR_BYTES {
            return;
        }
        if ahead < 0 {
            if !self.takes_back(connection, place, segment) {
                return;
            }
            self.report_anomaly(connection, place.back(), Anomaly::InvalidAck, consumer);
        }
        let side = connection.side(place.to_server);
        let shift = if segment.has(TcpFlags::SYN) {
            0
        } else {
            side.shift
        };
        side.acked = segment.ack;
        let window = u32::from(segment.window).wrapping_shl(shift.into());
        side.edge = segment.ack.plus(window);
        let confirms = side.phase == Phase::Syn;
        if confirms {
            side.phase = Phase::Open;
            self.drain(connection, place, Some(segment.ack), consumer);
            self.refuse_early(connection, place);
        }
        if self.is_shut(connection, place) {
            return self.weigh(connection, place, consumer);
        }
        self.advance(connection, place, None, consumer);
    }

    /// Data on the SYN that is not acknowledged was not accepted. Later data may have been, if its
    /// acknowledgement is of bytes that the other side is yet to send.
    fn refuse_early(&mut self, connection: &mut Connection, place: Place) {
        let side = connection.side(place.to_server);
        if side.held == NIL {
            return;
        }
        let (refused, is_left) = self.held.keep_doubted(side.held);
        if !is_left {
            side.held = NIL;
        }
        count(&mut self.stats.syn_refused, refused);
        self.stats.held = self.stats.held.saturating_sub(refused.into());
    }

    /// Whether an acknowledgement that is older than the last one shows that the last one was of
    /// bytes never sent: they were not seen, and their receiver does not have them.
    fn takes_back(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) -> bool {
        let side = *connection.side(place.to_server);
        let sent = self.sent(&side);
        side.acked.is_after(sent) && is_acceptable(&side, sent, segment)
    }

    /// One past the last byte that a stream's sender was seen to send.
    pub(super) fn sent(&mut self, side: &Side) -> Seq {
        if side.held == NIL {
            return side.next;
        }
        let end = self.held.end(side.held, side.next);
        match self.held.queue(side.held).last_fin() {
            Some(fin) => later(end, fin.plus(1)),
            None => end,
        }
    }

    /// Whether a segment acknowledges more than the other side was seen to send. If that was never
    /// sent, its receiver drops the segment (RFC 9293 §3.10.7.4); if the capture lacks it, it does
    /// not. The same for something older than the window: receivers that follow RFC 5961 §5.2 drop
    /// it, unless their window was wider before.
    pub(super) fn is_doubted(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) -> bool {
        let (side, peer) = connection.both(place.to_server);
        let is_numbered = match peer.phase {
            Phase::Open | Phase::Closing | Phase::Finished | Phase::Reset => {
                peer.marks.has(Marks::SEEN)
            }
            // It answers a SYN-ACK.
            Phase::Syn => side.phase == Phase::Open,
            // No segment of it was seen at all.
            Phase::Guessed => return is_early(side, peer),
            _ => false,
        };
        let peer = *peer;
        let sent = self.sent(&peer);
        let behind = earlier(peer.acked, sent).distance_from(segment.ack);
        let window = peer.edge.distance_from(peer.acked).max(0);
        let is_old = both_known(connection) && behind > window;
        is_numbered && (segment.ack.is_after(sent) || is_old)
    }

    /// Whether a segment's data is dropped because of what the segment acknowledges of the stream
    /// at `place`: something more than a window old (RFC 5961 §5.2), or not even the SYN. Only if
    /// both handshakes were seen: then the window is known.
    pub(super) fn is_too_old(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) -> bool {
        let known = both_known(connection);
        let side = *connection.side(place.to_server);
        let sent = self.sent(&side);
        let is_old = match side.phase {
            Phase::Open | Phase::Closing | Phase::Finished => !is_acceptable(&side, sent, segment),
            // RFC 9293 §3.10.7.4: in SYN-RECEIVED it must acknowledge the SYN.
            Phase::Syn => segment.ack.distance_from(side.next) < 0,
            _ => false,
        };
        let says = segment.len > 0 || segment.has(TcpFlags::FIN);
        known && is_old && says
    }
}

/// Whether both handshakes were seen.
fn both_known(connection: &Connection) -> bool {
    let mut sides = connection.sides.iter();
    sides.all(|side| side.marks.has(Marks::SYN))
}

/// Whether an acknowledgement is at most the greatest window older than the last one, or than the
/// bytes sent if those are fewer: more cannot be acknowledged. Nor can what comes before the first
/// byte (Linux 6.18 drops even what acknowledges the SYN's own number).
fn is_acceptable(side: &Side, sent: Seq, segment: &Segment<'_>) -> bool {
    let last = earlier(side.acked, sent);
    let window = u32::from(u16::MAX).wrapping_shl(side.shift.into());
    let passed = u32::try_from(side.offset)
        .unwrap_or(FAR_BYTES)
        .min(FAR_BYTES);
    let first = Seq(side.resume().0.wrapping_sub(passed));
    let is_sent = !side.marks.has(Marks::SYN) || segment.ack.distance_from(first) >= 0;
    is_sent && segment.ack.distance_from(last) >= window.cast_signed().wrapping_neg()
}
