//! The fast path of a connection's handshake and close, without the checks for unusual segments.
//!
//! Every step has exactly the effect of [`super::advance`], the slow path; the test below compares
//! them. It exists because most connections are short: of 13 packets, 9 would take the slow path.

use crate::entry::history::Letter;
use crate::entry::{Bits, Cold, End, EndState, Hot, NIL, Seen};
use crate::time::timeouts::Class;
use flowpin_packet::{PacketMeta, Seq, TcpFlags};
use flowpin_record::TcpState;

const CONTROLS: TcpFlags = TcpFlags::SYN
    .with(TcpFlags::FIN)
    .with(TcpFlags::RST)
    .with(TcpFlags::ACK);
const SYN: u8 = TcpFlags::SYN.0;
const SYN_ACK: u8 = TcpFlags::SYN.with(TcpFlags::ACK).0;
const ACK: u8 = TcpFlags::ACK.0;
const FIN_ACK: u8 = TcpFlags::FIN.with(TcpFlags::ACK).0;

/// Whether a segment is the next one of its stream, on a connection where it changes only sums and
/// perhaps the history: most are.
#[inline(always)]
pub(crate) fn is_in_order(hot: &Hot, side: usize, meta: &PacketMeta) -> bool {
    hot.seen.is_quiet()
        && meta.tcp_flags.0 & CONTROLS.0 == ACK
        && meta.seq == hot.next[side]
        && !meta.ack.is_after(hot.next[side ^ 1])
        && meta.window != 0
        && stays_below_wrap(meta)
        && hot.ends[side] != End::default()
}

/// Whether the stream advances without passing 2³², and by less than half of that.
#[inline]
fn stays_below_wrap(meta: &PacketMeta) -> bool {
    meta.payload_len <= i32::MAX.unsigned_abs() && meta.seq.0 <= u32::MAX - meta.payload_len
}

/// Marks data or an acknowledgement of a side; the first of each is a letter of the history.
/// Returns whether this was the first.
#[inline]
pub(crate) fn mark_letter(hot: &mut Hot, side: usize, meta: &PacketMeta) -> bool {
    let data = meta.payload_len > 0;
    let is_first = hot
        .seen
        .mark(if data { Seen::DATA } else { Seen::ACK }, side);
    if is_first {
        let by_client = side == hot.client();
        hot.history
            .push_for(if data { Letter::Data } else { Letter::Ack }, by_client);
    }
    is_first
}

/// Takes a step of an undisturbed handshake or close; false, with nothing changed, for anything
/// else.
#[inline]
pub(crate) fn take_fast(hot: &mut Hot, cold: &mut Cold, meta: &PacketMeta, side: usize) -> bool {
    let by_client = side == hot.client();
    if meta.window == 0 || hot.extra != NIL {
        return false;
    }
    match (meta.tcp_flags.0 & CONTROLS.0, hot.tcp_state) {
        (SYN, TcpState::None) => by_client && take_syn(hot, cold, meta, side),
        (SYN_ACK, TcpState::SynSent) => !by_client && take_syn_ack(hot, cold, meta, side),
        (ACK, TcpState::SynRecv) => by_client && take_ack(hot, cold, meta, side),
        (ACK | FIN_ACK, _) => take_close(hot, meta, side),
        _ => false,
    }
}

/// The client's SYN, before anything else.
#[inline]
fn take_syn(hot: &mut Hot, cold: &mut Cold, meta: &PacketMeta, side: usize) -> bool {
    if hot.seen != Seen::default() || hot.ends != [End::default(); 2] || meta.payload_len != 0 {
        return false;
    }
    number(hot, cold, meta, side);
    hot.ends[side].set(EndState::SynSent);
    hot.seen.mark(Seen::SYN, side);
    hot.history.push_for(Letter::Syn, true);
    hot.tcp_state = TcpState::SynSent;
    true
}

/// The server's first answer to that SYN.
#[inline]
fn take_syn_ack(hot: &mut Hot, cold: &mut Cold, meta: &PacketMeta, side: usize) -> bool {
    let client = side ^ 1;
    if hot.ends[side] != End::default()
        || hot.ends[client] != End::SYN_SENT
        || hot.bits.has(Bits::SYN_ACK_SEEN)
        || meta.ack != hot.next[client]
        || meta.payload_len != 0
    {
        return false;
    }
    number(hot, cold, meta, side);
    hot.ends[side].set(EndState::Established);
    hot.ends[client].set(EndState::Established);
    hot.seen.mark(Seen::SYN, side);
    hot.history.push_for(Letter::SynAck, false);
    if !hot.bits.has(Bits::RTT_KNOWN | Bits::RTT_VOID) {
        hot.bits.set(Bits::SYN_ACK_SEEN);
    }
    hot.tcp_state = TcpState::SynRecv;
    hot.class = Class::TcpNew;
    true
}

/// The client's ACK of that answer, possibly with data.
#[inline]
fn take_ack(hot: &mut Hot, cold: &mut Cold, meta: &PacketMeta, side: usize) -> bool {
    let open = |end: End| matches!(end.state(), EndState::Established);
    if !open(hot.ends[0])
        || !open(hot.ends[1])
        || meta.seq != hot.next[side]
        || meta.ack != hot.next[side ^ 1]
        || !stays_below_wrap(meta)
        || hot.bits.has(Bits::BEHIND_ACK | (Bits::BEHIND_ACK << 1))
        || hot.seen.is_challenged()
    {
        return false;
    }
    mark_letter(hot, side, meta);
    if !hot.bits.has(Bits::RTT_KNOWN | Bits::RTT_VOID) && hot.bits.has(Bits::SYN_ACK_SEEN) {
        super::know_rtt(hot, cold, meta);
    }
    hot.next[side] = meta.seq.plus(meta.payload_len);
    hot.tcp_state = TcpState::Established;
    hot.class = Class::TcpEstablished;
    hot.seen.set_quiet(true);
    true
}

/// The next segment of a stream: a FIN, or a segment after a FIN of either side.
#[inline]
fn take_close(hot: &mut Hot, meta: &PacketMeta, side: usize) -> bool {
    let (me, peer) = (side & 1, side & 1 ^ 1);
    let (mine, other) = (hot.ends[me].state(), hot.ends[peer].state());
    let open = |end| matches!(end, EndState::Established | EndState::Partial);
    let closed = |end| end == EndState::Closed;
    let fin = meta.tcp_flags.has(TcpFlags::FIN);
    let is_step = if fin {
        open(mine) && (open(other) || closed(other)) && !hot.seen.has(Seen::FIN, me)
    } else {
        closed(mine) && (open(other) || closed(other)) || open(mine) && closed(other)
    };
    let disturbed = (Bits::BEHIND_ACK | Bits::CONTROL_IS_RST) * 0b11;
    if !is_step
        || hot.bits.has(disturbed)
        || hot.seen.is_challenged()
        || !hot.bits.has(Bits::RTT_KNOWN | Bits::RTT_VOID)
        || meta.seq != hot.next[me]
        || meta.ack.is_after(hot.next[peer])
        || meta.payload_len >= i32::MAX.unsigned_abs()
        || meta.seq.0 >= u32::MAX - meta.payload_len
    {
        return false;
    }
    let end = meta.seq.plus(meta.payload_len).plus(u32::from(fin));
    hot.next[me] = end;
    if fin {
        hot.seen.mark(Seen::FIN, me);
        hot.history.push_for(Letter::Fin, me == hot.client());
        hot.control_seq[me] = end;
        hot.ends[me].set(EndState::Closed);
        hot.bits.set(Bits::CLOSED << me);
    } else {
        mark_letter(hot, me, meta);
    }
    super::states::end_if_whole(hot);
    let acks_fin = hot.tcp_flags[peer].has(TcpFlags::FIN)
        && meta.ack.distance_from(hot.control_seq[peer]) >= 0;
    let to_server = me == hot.client();
    hot.tcp_state =
        crate::record::suricata::next(hot.tcp_state, meta.tcp_flags, to_server, acks_fin);
    hot.class = super::states::class_of(hot);
    hot.seen.set_quiet(false);
    true
}

/// Numbers a stream from its SYN on.
#[inline]
fn number(hot: &mut Hot, cold: &mut Cold, meta: &PacketMeta, side: usize) {
    cold.start_seq[side] = meta.seq;
    hot.next[side] = Seq(meta.seq.0.wrapping_add(1));
}

#[cfg(test)]
mod tests {
    use super::super::{Rare, advance};
    use super::{is_in_order, mark_letter, take_fast};
    use crate::entry::{Bits, Cold, Hot, NIL};
    use crate::time::timeouts::Class;
    use flowpin_packet::{FlowKey, PacketMeta, Seq, TcpFlags, Timestamp};
    use proptest::prelude::*;

    /// A segment of a small world: mostly the next step of a handshake, sometimes anything.
    fn segment() -> impl Strategy<Value = (bool, u8, u32, u32, u32, u16, u64)> {
        let flags = prop_oneof![Just(2u8), Just(18), Just(16), Just(24), Just(17), 0u8..64];
        let number = || prop_oneof![4 => Just(0u32), 1 => 0u32..4, 1 => Just(u32::MAX)];
        let len = prop_oneof![2 => Just(0u32), 2 => 1u32..4, 1 => Just(1 << 31)];
        (
            any::<bool>(),
            flags,
            number(),
            number(),
            len,
            0u16..6,
            0u64..3,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// Whatever came before, the fast path leaves the connection as the slow path does.
        #[test]
        fn shortcuts_change_nothing(
            segments in prop::collection::vec(segment(), 1..30),
            void in any::<bool>(),
            client_high in any::<bool>(),
            isn in prop_oneof![Just(0u32), Just(u32::MAX)],
        ) {
            let mut hot = Hot::new(FlowKey::default(), 0, Timestamp(9), Class::Attempt);
            if void { hot.bits.set(Bits::RTT_VOID); }
            if client_high { hot.bits.set(Bits::CLIENT_HIGH); }
            let first = PacketMeta { time: Timestamp(9), ..PacketMeta::default() };
            let mut cold = Cold::new(&first, NIL);
            // Follow the streams, so that most segments are in order.
            let mut time = 9;
            for (nth, segment) in segments.into_iter().enumerate() {
                let (back, flags, seq, ack, len, window, wait) = segment;
                // The connection begins with its first segment.
                time += if nth == 0 { 0 } else { wait };
                let side = usize::from(back != client_high);
                let fresh = if hot.ends[side].state() as u8 == 0 { isn } else { hot.next[side].0 };
                let meta = PacketMeta {
                    time: Timestamp(time),
                    tcp_flags: TcpFlags(flags),
                    seq: Seq(fresh.wrapping_add(seq)),
                    ack: Seq(hot.next[side ^ 1].0.wrapping_sub(ack)),
                    payload_len: len,
                    window,
                    ..PacketMeta::default()
                };
                hot.tcp_flags[side] = hot.tcp_flags[side].with(meta.tcp_flags);
                let (mut long_hot, mut long_cold) = (hot, cold);
                let rare = advance(&mut long_hot, &mut long_cold, None, &meta, side);
                let taken = if is_in_order(&hot, side, &meta) {
                    hot.next[side] = meta.seq.plus(meta.payload_len);
                    mark_letter(&mut hot, side, &meta);
                    true
                } else {
                    let before = (hot, cold);
                    let taken = take_fast(&mut hot, &mut cold, &meta, side);
                    prop_assert!(taken || before == (hot, cold));
                    taken
                };
                if taken {
                    prop_assert_eq!(rare.bits, Rare::default().bits);
                    prop_assert_eq!((&hot, &cold), (&long_hot, &long_cold));
                }
                (hot, cold) = (long_hot, long_cold);
            }
        }
    }
}
