//! Rare facts about packets, and where they are stored.

use super::{Cause, Table};
use crate::entry::history::{Letter, is_repeated_at};
use crate::entry::{Extra, Handle, Hot, NIL};
use crate::observe::FlowObserver;
use crate::options::EXTRA_BYTES;
use crate::tcp::Rare;
use flowpin_record::RecordSink;

impl Table {
    /// Stores the rare facts about a packet.
    #[cold]
    #[inline(never)]
    pub(super) fn note<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        side: usize,
        rare: &Rare,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) {
        let Some(extra) = self.extra_of(handle, cause, sink, observer) else {
            return;
        };
        let (extra, hot) = (&mut self.extra[extra], &mut self.hot[handle]);
        let (side, peer) = (side & 1, side & 1 ^ 1);
        let by_client = side == hot.client();
        let add = |bit: u16, count: &mut u32| -> bool {
            let hit = rare.bits & bit != 0;
            *count = count.saturating_add(u32::from(hit));
            hit
        };
        let counters = &mut self.counters;
        counters.duplicates += u64::from(add(Rare::DUPLICATE, &mut extra.duplicates[side]));
        counters.snapped += u64::from(add(Rare::SNAPPED, &mut extra.snapped[side]));
        counters.icmp_errors += u64::from(add(Rare::ICMP_ERROR, &mut extra.icmp_errors[side]));
        add(Rare::WRAP, &mut extra.wraps[side]);
        add(Rare::PEER_WRAP, &mut extra.wraps[peer]);
        if add(Rare::BAD_CHECKSUM, &mut extra.bad_checksums[side]) {
            counters.bad_checksums += 1;
            if is_repeated_at(extra.bad_checksums[side]) {
                hot.history.push_for(Letter::Checksum, by_client);
            }
        }
        if add(Rare::ZERO_WINDOW, &mut extra.zero_windows[side])
            && is_repeated_at(extra.zero_windows[side])
        {
            hot.history.push_for(Letter::ZeroWindow, by_client);
        }
        if add(Rare::RETRANSMISSION, &mut extra.retransmissions[side]) {
            counters.retransmissions += 1;
            if is_repeated_at(extra.retransmissions[side]) {
                hot.history.push_for(Letter::Retransmission, by_client);
            }
        }
        if add(Rare::GAP, &mut extra.gaps[peer]) {
            counters.missed_bytes += u64::from(rare.missed);
            extra.missed_bytes[peer] += u64::from(rare.missed);
            extra.seen_end[peer] = rare.seen_end;
            if is_repeated_at(extra.gaps[peer]) {
                hot.history.push_for(Letter::Gap, !by_client);
            }
        }
        if rare.bits & (Rare::FOUND | Rare::UNSENT) != 0 {
            for (whose, bytes) in [(side, rare.found), (peer, rare.unsent)] {
                let missed = &mut extra.missed_bytes[whose];
                let less = missed.saturating_sub(bytes.into());
                counters.missed_bytes = counters.missed_bytes.saturating_sub(*missed - less);
                if *missed > 0 && less == 0 {
                    extra.gaps[whose] = 0;
                    hot.history.take_back(Letter::Gap, whose == hot.client());
                }
                extra.missed_bytes[whose] = less;
            }
        }
        if rare.bits & Rare::ISLAND != 0 {
            extra.islands[side].insert(rare.island.0, rare.island.1);
        }
    }

    /// Moves sums that would overflow to 64-bit fields.
    #[cold]
    pub(super) fn spill<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        side: usize,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) {
        let Some(extra) = self.extra_of(handle, cause, sink, observer) else {
            return;
        };
        let (extra, hot) = (&mut self.extra[extra], &mut self.hot[handle]);
        for (to, from) in [
            (&mut extra.packets[side], &mut hot.packets[side]),
            (&mut extra.frame_bytes[side], &mut hot.frame_bytes[side]),
            (&mut extra.ip_bytes[side], &mut hot.ip_bytes[side]),
            (&mut extra.payload_bytes[side], &mut hot.payload_bytes[side]),
        ] {
            *to += u64::from(core::mem::take(from));
        }
    }

    /// The handle of a connection's [`Extra`], which is made if there is none.
    pub(super) fn extra_of<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) -> Option<Handle> {
        let Hot { extra, hash, .. } = self.hot[handle];
        if extra != NIL {
            return Some(extra);
        }
        if !self.take_room(hash, EXTRA_BYTES, handle, cause, sink, observer) {
            return None;
        }
        let Some(extra) = self.extra.insert(Extra::EMPTY) else {
            self.give_back(hash, EXTRA_BYTES);
            return None;
        };
        self.hot[handle].extra = extra;
        Some(extra)
    }
}
