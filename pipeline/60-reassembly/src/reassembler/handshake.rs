//! How a connection opens: SYN, SYN-ACK, both at once, with data; or in the middle.

use super::segment::Segment;
use super::{Place, Reassembler, count, span};
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase, Side};
use crate::{Anomaly, StreamConsumer};
use flowpin_packet::{Seq, TcpFlags};

impl Reassembler {
    /// A SYN or SYN-ACK, first or again.
    pub(super) fn take_syn<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        if !self.answers_syn(connection, place, segment) {
            self.tell_anomaly(connection, place, Anomaly::SynAckMismatch, consumer);
            let side = connection.side(place.to_server);
            if matches!(side.phase, Phase::Unseen | Phase::Guessed) {
                // The SYN that was seen may be the forged one: the client's answer will show.
                connection.dispute(place.to_server, segment.start, segment.window);
            }
            return count(&mut self.stats.out_of_window, segment.len);
        }
        let side = connection.side(place.to_server);
        // The SYN's number follows from how far the stream has come.
        let first = Seq(side.next.0.wrapping_sub(low_word(side.offset)));
        let again = side.marks.has(Marks::SYN) && first == segment.start;
        let refused = side.phase == Phase::Refused;
        let mut disputed = side.is_disputed();
        let is_reset = side.is_reset();
        // RFC 9293 §3.10.7.4: once the stream has begun, its sender looks at no SYN any more.
        let peer_begun = again && has_begun(connection.side(!place.to_server));
        let side = connection.side(place.to_server);
        match side.phase {
            Phase::Guessed if disputed && side.marks.has(Marks::SYN) && !again => {
                self.tell_anomaly(connection, place, Anomaly::SynInConnection, consumer);
            }
            Phase::Unseen | Phase::Guessed | Phase::Refused => {}
            Phase::Syn if again => {}
            // Nothing has confirmed the one before: whoever is answered will show.
            Phase::Syn => {
                let held = core::mem::replace(&mut side.held, NIL);
                let refused = self.held.close(held);
                count(&mut self.stats.syn_refused, refused);
                self.stats.held = self.stats.held.saturating_sub(refused.into());
                self.tell_anomaly(connection, place, Anomaly::SynInConnection, consumer);
                disputed = segment.has(TcpFlags::ACK);
            }
            _ if again => {
                count(&mut self.stats.duplicate, segment.len);
                if !peer_begun {
                    self.take_acknowledgement(connection, place.back(), segment, consumer);
                }
                return;
            }
            _ => {
                // Behind a RST it may be what uses the ports again: its answer will show.
                if !is_reset {
                    self.tell_anomaly(connection, place, Anomaly::SynInConnection, consumer);
                }
                return count(&mut self.stats.out_of_window, segment.len);
            }
        }
        connection.number(
            place.to_server,
            (segment.start, segment.window),
            &segment.handshake,
            segment.stamp,
            self.options.paws,
        );
        if refused {
            // Whoever was reset answers nothing, if the RST was believed.
            connection.side(place.to_server).phase = Phase::Reset;
        }
        consumer.handshake(span(connection, place), segment.handshake);
        if segment.has(TcpFlags::ACK) && !peer_begun {
            self.guess(connection, place.back(), segment.ack);
            self.take_acknowledgement(connection, place.back(), segment, consumer);
        }
        if disputed {
            connection.dispute(place.to_server, segment.start, segment.window);
            return count(&mut self.stats.syn_refused, segment.len);
        }
        if segment.len > 0 {
            // RFC 9293 §3.10.7.2 lets it wait; what is acknowledged was taken (RFC 7413 §4.2).
            self.tell_anomaly(connection, place, Anomaly::DataOnSyn, consumer);
        }
        self.take_data(connection, place, segment, consumer);
    }

    /// Whether a SYN-ACK, if it is one, acknowledges the SYN that was seen (RFC 9293 §3.10.7.3).
    fn answers_syn(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) -> bool {
        let peer = connection.side(!place.to_server);
        if !segment.has(TcpFlags::ACK) || peer.phase != Phase::Syn {
            return true;
        }
        let end = self.held.end(peer.held, peer.next);
        segment.ack.distance_from(peer.next) >= 0 && segment.ack.distance_from(end) <= 0
    }

    /// Numbers a stream that was not seen by what its receiver acknowledges.
    fn guess(&mut self, connection: &mut Connection, place: Place, ack: Seq) {
        let side = connection.side(place.to_server);
        let disputed = side.is_disputed();
        let further = side.phase == Phase::Guessed && ack.is_after(side.next);
        if disputed || further || side.phase == Phase::Unseen {
            side.renumber(ack);
            side.phase = Phase::Guessed;
        }
    }

    /// Segments after the handshake, or without one: numbers what has no number yet.
    pub(super) fn meet<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let peer_seen = peer_seen(connection, place);
        let (side, peer) = connection.both(place.to_server);
        side.marks.set(Marks::SEEN, true);
        let ahead = segment.start.distance_from(side.next);
        let far = ahead.unsigned_abs() > FAR_BYTES;
        // A capture may have an answer before what it answers. One byte before is a keep-alive.
        let answered = ahead < 0 && segment.len > 1 && !peer.marks.has(Marks::SYN);
        match side.phase {
            Phase::Unseen => side.renumber(segment.start),
            Phase::Refused => {
                side.renumber(segment.start);
                side.phase = Phase::Reset;
            }
            Phase::Guessed if far || answered => side.renumber(segment.start),
            // The client may go on from another SYN than the one seen.
            Phase::Syn if peer.is_disputed() && side.held == NIL => side.renumber(segment.start),
            Phase::Syn if far && side.held == NIL => {
                side.renumber(segment.start);
                side.phase = Phase::Open;
                self.tell_anomaly(connection, place, Anomaly::SynInConnection, consumer);
            }
            _ => {}
        }
        let (side, peer) = connection.both(place.to_server);
        if matches!(side.phase, Phase::Unseen | Phase::Guessed) {
            // RFC 7323 §3.2: who sends time stamps behind the handshake has agreed on them in it.
            let agreed = !peer.marks.has(Marks::SYN) || peer.marks.has(Marks::STAMP);
            if let (Some(stamp), true, true) = (segment.stamp, agreed, self.options.paws) {
                side.stamp = stamp;
                side.marks.set(Marks::STAMPED, true);
                peer.marks.set(
                    Marks::STAMPED,
                    peer.marks.has(Marks::STAMP | Marks::STAMPED),
                );
            }
        }
        let waits = side.phase == Phase::Syn && !peer_seen && self.options.one_sided;
        if matches!(side.phase, Phase::Unseen | Phase::Guessed | Phase::Syn) && !waits {
            side.phase = Phase::Open;
        }
        if !peer_seen && !waits {
            // Nobody says what the receiver takes: anything near.
            (side.acked, side.edge) = (side.next, side.next.plus(FAR_BYTES));
        }
        if waits && has_gone_on(side, peer, segment) {
            self.go_alone(connection, place, consumer);
        }
        if segment.has(TcpFlags::ACK) {
            let disputed = connection.side(!place.to_server).is_disputed();
            self.guess(connection, place.back(), segment.ack);
            if disputed {
                connection.side(!place.to_server).phase = Phase::Open;
            }
        }
    }

    /// The capture has one direction of a connection only: what its sender acknowledges counts.
    pub(super) fn go_alone<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        side.phase = Phase::Open;
        (side.acked, side.edge) = (side.next, side.next.plus(FAR_BYTES));
        self.advance(connection, place, None, consumer);
    }

    /// RFC 7323 §5.3: a segment with a time stamp older than the last one is not acceptable.
    ///
    /// A last one of 0 refuses nothing: some systems have it in the handshake only, and Linux
    /// takes it for none. The RFC's exception after 24 days (§5.5) is left out: no connection
    /// is idle for so long and known.
    pub(super) fn is_fresh_stamp<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) -> bool {
        let side = connection.side(place.to_server);
        let (true, Some(stamp)) = (side.marks.has(Marks::STAMPED), segment.stamp) else {
            return true;
        };
        if is_stale(side, segment) {
            if may_have_been_overtaken(side, segment) {
                return true;
            }
            self.tell_anomaly(connection, place, Anomaly::OldTimestamp, consumer);
            return false;
        }
        // RFC 7323 §4.3: only of a segment that was next to be acknowledged.
        if segment.start.distance_from(side.acked) <= 0 {
            side.stamp = stamp;
        }
        true
    }
}

/// Whether a stream's SYN is confirmed.
const fn has_begun(side: &Side) -> bool {
    matches!(side.phase, Phase::Open | Phase::Closing | Phase::Finished)
}

/// Whether the sender of a SYN has had an answer that nobody saw: it acknowledges more than before,
/// or sends more than a window that is not scaled, as that of a SYN-ACK is (RFC 7323 §2.2).
fn has_gone_on(side: &Side, peer: &Side, segment: &Segment<'_>) -> bool {
    let answered = peer.phase == Phase::Guessed && segment.ack.is_after(peer.next);
    answered || segment.end.distance_from(side.next) > i32::from(u16::MAX)
}

/// Whether a segment's time stamp is older than the last one.
pub(super) fn is_stale(side: &Side, segment: &Segment<'_>) -> bool {
    let older = |stamp: u32| stamp.wrapping_sub(side.stamp).cast_signed() < 0;
    side.marks.has(Marks::STAMPED) && side.stamp != 0 && segment.stamp.is_some_and(older)
}

/// Where the handshake is missing, the first segment seen may have overtaken others.
pub(super) fn may_have_been_overtaken(side: &Side, segment: &Segment<'_>) -> bool {
    !side.marks.has(Marks::SYN) && !segment.end.is_after(side.next)
}

/// Whether the other side was ever seen.
pub(super) fn peer_seen(connection: &mut Connection, place: Place) -> bool {
    connection.side(!place.to_server).marks.has(Marks::SEEN)
}

/// The low 32 bits.
pub(super) fn low_word(wide: u64) -> u32 {
    let [.., a, b, c, d] = wide.to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}
