//! How a connection opens: SYN, SYN-ACK, both at once, with data; or in the middle.

use super::premature::is_close;
use super::segment::Segment;
use super::{Place, Reassembler, count, span};
use crate::connection::{Connection, FAR_BYTES, Marks, NIL, Phase, Side};
use crate::policy::stamp_slack;
use crate::{Anomaly, StreamConsumer};
use flowpin_packet::{Seq, TcpFlags};

impl Reassembler {
    /// A SYN or SYN-ACK, first or repeated.
    pub(super) fn take_syn<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        if !self.answers_syn(connection, place, segment) {
            self.report_anomaly(connection, place, Anomaly::SynAckMismatch, consumer);
            if connection.side(place.to_server).phase == Phase::Premature {
                self.refuse_premature(connection, place, consumer);
            }
            let side = connection.side(place.to_server);
            if matches!(
                side.phase,
                Phase::Unseen | Phase::Premature | Phase::Guessed
            ) {
                // The SYN that was seen may be forged: the client's answer will show.
                connection.dispute(place.to_server, segment.start, segment.window);
            }
            return count(&mut self.stats.out_of_window, segment.len);
        }
        let side = connection.side(place.to_server);
        // The SYN's number follows from the stream's current position.
        let first = Seq(side.next.0.wrapping_sub(low_word(side.offset)));
        let again = side.marks.has(Marks::SYN) && first == segment.start;
        let refused = side.phase == Phase::Refused;
        let mut disputed = side.is_disputed();
        let is_reset = side.is_reset();
        // RFC 9293 §3.10.7.4: once the stream has begun, its sender ignores SYNs.
        let peer_begun = again && has_begun(connection.side(!place.to_server));
        let side = connection.side(place.to_server);
        match side.phase {
            Phase::Guessed if disputed && side.marks.has(Marks::SYN) && !again => {
                self.report_anomaly(connection, place, Anomaly::SynInConnection, consumer);
            }
            Phase::Unseen | Phase::Guessed | Phase::Refused => {}
            Phase::Premature => {
                self.number_premature(connection, place, segment.start, consumer);
            }
            Phase::Syn if again => {}
            // The one before is unconfirmed: the answer will show which one counts.
            Phase::Syn => {
                self.refuse_syn_data(connection, place);
                self.report_anomaly(connection, place, Anomaly::SynInConnection, consumer);
                disputed = segment.has(TcpFlags::ACK) || peer_seen(connection, place);
            }
            _ if again => {
                count(&mut self.stats.duplicate, segment.len);
                if !peer_begun {
                    self.take_acknowledgement(connection, place.back(), segment, consumer);
                }
                return;
            }
            _ => {
                // After a RST it may belong to a new connection with the same ports: its answer
                // will show.
                if !is_reset {
                    self.report_anomaly(connection, place, Anomaly::SynInConnection, consumer);
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
            // A host that was reset does not answer, if it accepted the RST.
            connection.side(place.to_server).phase = Phase::Reset;
        }
        consumer.handshake(span(connection, place), segment.handshake);
        if segment.has(TcpFlags::ACK) && !peer_begun {
            if connection.side(!place.to_server).phase == Phase::Premature {
                self.answer_premature(connection, place.back(), segment.ack, consumer);
            }
            self.guess(connection, place.back(), segment.ack);
            self.take_acknowledgement(connection, place.back(), segment, consumer);
        }
        if disputed {
            connection.dispute(place.to_server, segment.start, segment.window);
            return count(&mut self.stats.syn_refused, segment.len);
        }
        if segment.len > 0 {
            // RFC 9293 §3.10.7.2 lets it wait; acknowledged data was accepted (RFC 7413 §4.2).
            self.report_anomaly(connection, place, Anomaly::DataOnSyn, consumer);
        }
        self.take_data(connection, place, segment, consumer);
    }

    /// Drops what came with a SYN, or in its place, that does not count.
    fn refuse_syn_data(&mut self, connection: &mut Connection, place: Place) {
        let side = connection.side(place.to_server);
        let held = core::mem::replace(&mut side.held, NIL);
        let refused = self.held.close(held);
        count(&mut self.stats.syn_refused, refused);
        self.stats.held = self.stats.held.saturating_sub(refused.into());
    }

    /// Whether a SYN-ACK, if it is one, acknowledges the SYN that was seen (RFC 9293 §3.10.7.3).
    fn answers_syn(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
    ) -> bool {
        let (side, peer) = connection.both(place.to_server);
        // A repeated one must not change what the first one said.
        let again = side.phase == Phase::Syn && side.next == segment.start;
        let repeats = again && peer.phase == Phase::Open && peer.marks.has(Marks::SYN);
        if !segment.has(TcpFlags::ACK) || peer.phase != Phase::Syn && !repeats {
            return true;
        }
        let first = Seq(peer.next.0.wrapping_sub(low_word(peer.offset)));
        let end = self.held.end(peer.held, peer.next);
        segment.ack.distance_from(first) >= 0 && segment.ack.distance_from(end) <= 0
    }

    /// Numbers an unseen stream by its receiver's acknowledgements.
    fn guess(&mut self, connection: &mut Connection, place: Place, ack: Seq) {
        let side = connection.side(place.to_server);
        let disputed = side.is_disputed();
        let further = side.phase == Phase::Guessed && ack.is_after(side.next);
        if disputed || further || side.phase == Phase::Unseen {
            side.renumber(ack);
            side.phase = Phase::Guessed;
        }
    }

    /// Segments after the handshake, or without one: numbers streams that have no numbers yet.
    pub(super) fn meet<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let peer_seen = peer_seen(connection, place);
        self.choose_syn(connection, place, segment);
        if connection.side(!place.to_server).phase == Phase::Premature {
            self.answer_premature(connection, place.back(), segment.ack, consumer);
        }
        let (side, peer) = connection.both(place.to_server);
        side.marks.set(Marks::SEEN, true);
        let ahead = segment.start.distance_from(side.next);
        let far = ahead.unsigned_abs() > FAR_BYTES;
        // A capture may contain an answer before its cause. One byte before is a keep-alive.
        let answered = ahead < 0 && segment.len > 1 && !peer.marks.has(Marks::SYN);
        match side.phase {
            Phase::Unseen => side.renumber(segment.start),
            Phase::Refused => {
                side.renumber(segment.start);
                side.phase = Phase::Reset;
            }
            Phase::Guessed if far || answered => side.renumber(segment.start),
            _ => {}
        }
        let (side, peer) = connection.both(place.to_server);
        if matches!(side.phase, Phase::Unseen | Phase::Guessed) {
            // RFC 7323 §3.2: time stamps after the handshake were negotiated in it.
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
        // In SYN-RECEIVED a host answers what it drops by a bare ACK (RFC 9293 §3.10.7.4).
        let is_bare = segment.len == 0 && !segment.has(TcpFlags::FIN) && segment.start == side.next;
        let answered = peer.marks.has(Marks::SYN) && has_begun(peer);
        let waits = waits || side.phase == Phase::Syn && is_bare && answered;
        if matches!(side.phase, Phase::Unseen | Phase::Guessed | Phase::Syn) && !waits {
            side.phase = Phase::Open;
        }
        if !peer_seen && !waits {
            // The receiver's window is unknown: anything near.
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

    /// The client may continue from another SYN than the one seen, if the server has answered
    /// another.
    fn choose_syn(&mut self, connection: &mut Connection, place: Place, segment: &Segment<'_>) {
        let (side, peer) = connection.both(place.to_server);
        let disputed = peer.is_disputed();
        if side.phase != Phase::Syn || !disputed && peer.phase != Phase::Premature {
            return;
        }
        let next = side.next;
        let end = self.held.end(side.held, next);
        let outside = segment.start.distance_from(next) < 0 || segment.start.is_after(end);
        // Premature: whether it answered another SYN is not known; bytes may be missing.
        if outside && (disputed || !is_close(segment.start, next)) {
            self.refuse_syn_data(connection, place);
            connection.side(place.to_server).renumber(segment.start);
        }
    }

    /// The capture has only one direction: what its sender acknowledges counts.
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

    /// RFC 7323 §5.3, R1: a segment with a time stamp older than the last one is not acceptable.
    pub(super) fn is_fresh_stamp<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) -> bool {
        let side = connection.side(place.to_server);
        if !is_stale(side, segment) || may_have_been_overtaken(side, segment) {
            return true;
        }
        self.report_anomaly(connection, place, Anomaly::OldTimestamp, consumer);
        false
    }
}

/// Whether a stream's SYN is confirmed.
const fn has_begun(side: &Side) -> bool {
    matches!(side.phase, Phase::Open | Phase::Closing | Phase::Finished)
}

/// Whether the sender of a SYN has received an answer that was not seen: it acknowledges more than
/// before, or sends more than an unscaled window, as in a SYN-ACK (RFC 7323 §2.2).
fn has_gone_on(side: &Side, peer: &Side, segment: &Segment<'_>) -> bool {
    let answered = peer.phase == Phase::Guessed && segment.ack.is_after(peer.next);
    answered || segment.end.distance_from(side.next) > i32::from(u16::MAX)
}

/// Whether a segment's time stamp is older than the last one; to Linux, by more than one tick.
///
/// A last one of 0 refuses nothing: some systems have it in the handshake only, and Linux treats it
/// as none. The RFC's exception after 24 days (RFC 7323 §5.5) is omitted: no connection is idle for
/// so long and still known.
pub(super) fn is_stale(side: &Side, segment: &Segment<'_>) -> bool {
    let slack = stamp_slack(side.policy);
    let older = |stamp: u32| {
        let latest = stamp.wrapping_add(slack);
        latest.wrapping_sub(side.stamp).cast_signed() < 0
    };
    side.marks.has(Marks::STAMPED) && side.stamp != 0 && segment.stamp.is_some_and(older)
}

/// Without a handshake, the first segment seen may have overtaken others.
pub(super) fn may_have_been_overtaken(side: &Side, segment: &Segment<'_>) -> bool {
    !side.marks.has(Marks::SYN) && !segment.end.is_after(side.next)
}

/// Whether any segment of the other side was seen.
pub(super) fn peer_seen(connection: &mut Connection, place: Place) -> bool {
    connection.side(!place.to_server).marks.has(Marks::SEEN)
}

/// The low 32 bits.
pub(super) fn low_word(wide: u64) -> u32 {
    let [.., a, b, c, d] = wide.to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}
