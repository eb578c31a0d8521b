//! The fast path of a connection's handshake and close, without the checks for unusual segments.
//!
//! Every step has exactly the effect of the slow path, but works on the connection in place,
//! without a copy; the test in `compare.rs` compares both. It exists because most connections are
//! short: of 10 segments, 6 are not data in order.

use super::close::how_ended;
use super::segment::header;
use super::{Place, Reassembler, span};
use crate::connection::{CONTROLS, Connection, FIN_ACK, Marks, NEVER_FAST, NIL, Phase, Side};
use crate::{Closed, Handshake, Span, StreamConsumer};
use flowpin_config::SegmentOverlap;
use flowpin_packet::{FrameBytes, PacketMeta, TcpFlags};

const SYN: u8 = TcpFlags::SYN.0;
const SYN_ACK: u8 = TcpFlags::SYN.with(TcpFlags::ACK).0;
const ACK: u8 = TcpFlags::ACK.0;
const FIN: u8 = FIN_ACK.0;

impl Reassembler {
    /// Takes a step of an undisturbed handshake or close; false, with nothing changed, for anything
    /// else.
    #[inline(never)]
    pub(super) fn take_fast<C: StreamConsumer>(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        place: Place,
        begins: bool,
        consumer: &mut C,
    ) -> bool {
        #[cfg(test)]
        if self.slow_only {
            return false;
        }
        match meta.tcp_flags.0 & CONTROLS {
            _ if meta.flags.has_any(NEVER_FAST) => false,
            SYN if begins && meta.payload_len == 0 => {
                self.take_first_syn(frames, meta, place, consumer)
            }
            SYN_ACK if !begins && meta.payload_len == 0 => {
                self.take_first_answer(frames, meta, place, consumer)
            }
            ACK | FIN if !begins => self.take_turn(frames, meta, place, consumer),
            _ => false,
        }
    }

    /// The SYN that begins a connection.
    fn take_first_syn<C: StreamConsumer>(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        place: Place,
        consumer: &mut C,
    ) -> bool {
        self.reach(place.handle);
        let Some(connection) = self.connections.get_mut(place.handle) else {
            return false;
        };
        if !connection.is_fresh() {
            return false;
        }
        *connection = Connection::new(self.options.policies(frames, meta, place.to_server));
        number(connection, frames, meta, place, self.options.paws, consumer);
        true
    }

    /// The first SYN-ACK, in answer to the SYN that was seen.
    fn take_first_answer<C: StreamConsumer>(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        place: Place,
        consumer: &mut C,
    ) -> bool {
        let Some(connection) = self.connections.get_mut(place.handle) else {
            return false;
        };
        let (side, peer) = connection.both(place.to_server);
        if side.phase != Phase::Unseen
            || side.held != NIL
            || peer.phase != Phase::Syn
            || peer.held != NIL
            || meta.ack != peer.next
            || peer.acked != peer.next
        {
            return false;
        }
        number(connection, frames, meta, place, self.options.paws, consumer);
        let peer = connection.side(!place.to_server);
        peer.edge = meta.ack.plus(meta.window.into());
        peer.phase = Phase::Open;
        connection.settle();
        true
    }

    /// A segment that ends the handshake, ends a stream, or follows its end.
    fn take_turn<C: StreamConsumer>(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        place: Place,
        consumer: &mut C,
    ) -> bool {
        let Place { handle, to_server } = place;
        let Some(connection) = self.connections.get_mut(handle) else {
            return false;
        };
        let turn = connection.take_turn(frames, meta, to_server, self.depth);
        let Some((offset, finishes)) = turn else {
            return false;
        };
        if finishes {
            consumer.closed(span(connection, place.back()), Closed::Fin);
            if connection.is_finished() {
                consumer.over(handle);
            }
        }
        let len = u64::from(meta.payload_len);
        self.stats.in_order = self.stats.in_order.wrapping_add(len);
        if len > 0 {
            let at = Span {
                handle,
                to_server,
                offset,
            };
            if self.delivered.is_on() {
                self.keep_next(frames, meta, at);
            }
            consumer.data(at, frames.payload(meta));
        }
        true
    }

    /// Ends a connection for which nothing is held or missing, or which does not exist; false, with
    /// nothing changed, for any other.
    pub(super) fn end_fast<C: StreamConsumer>(&mut self, handle: u32, consumer: &mut C) -> bool {
        let Some(connection) = self.connections.get_mut(handle) else {
            return true;
        };
        #[cfg(test)]
        if self.slow_only {
            return connection.is_fresh();
        }
        let [first, second] = &connection.sides;
        let is_whole = |side: &Side| side.held == NIL && !side.acked.is_after(side.next.plus(1));
        let both_seen = first.marks.has(Marks::SEEN) && second.marks.has(Marks::SEEN);
        let empty = first.offset == 0 && second.offset == 0;
        if !(is_whole(first) && is_whole(second) && (both_seen || empty)) {
            return false;
        }
        for to_server in [true, false] {
            let side = connection.side(to_server);
            if let Some(how) = how_ended(side.phase) {
                let place = Place { handle, to_server };
                consumer.closed(span(connection, place), how);
            }
        }
        *connection = Connection::new([SegmentOverlap::First; 2]);
        true
    }
}

/// Records a SYN, and reports its options.
// PERF: inlined, so that a consumer that ignores the options leaves them in registers. Returned
// from a function, they were copied right after their parts were written, and the copy waited for
// them (60 cycles per SYN).
#[inline]
fn number<C: StreamConsumer>(
    connection: &mut Connection,
    frames: &FrameBytes<'_>,
    meta: &PacketMeta,
    place: Place,
    paws: bool,
    consumer: &mut C,
) {
    let mut handshake = Handshake::default();
    let stamp = header(frames, meta).and_then(|header| handshake.read(header));
    let (start, window) = (meta.seq.plus(1), meta.window);
    connection.number(place.to_server, (start, window), &handshake, stamp, paws);
    consumer.handshake(span(connection, place), handshake);
}
