//! The state of a search.

use super::Whose;
use super::waiting::Rank;
use crate::HEAD_LEN;
use crate::candidates::Set;
use crate::earlier::Earlier;
use crate::kept::Kept;
use flowpin_pattern::State;

/// One direction of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Checks that have not refused the bytes.
    pub(super) alive: Set,
    pub(super) state: State,
    pub(super) kept: Kept,
    /// Offset in the stream of the first of these bytes.
    pub(super) start: u64,
    /// Bytes (TCP: in `kept`) have arrived.
    pub(super) begun: bool,
    /// Later bytes cannot decide anything.
    pub(super) over: bool,
    /// Some bytes before the verdict were not kept.
    pub(super) cut: bool,
    /// Number of bytes that the checks have examined.
    pub(super) asked: u16,
    /// Number of junk bytes before the beginning of the verdict's protocol.
    pub(super) junk: u16,
    pub(super) head: [u8; HEAD_LEN],
    pub(super) head_len: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) sides: [Side; 2],
    pub(super) shard: u8,
    /// The connection's handle in the connection table.
    pub(super) connection: u32,
    pub(super) datagrams: u8,
    /// The datagrams kept in the blocks of both sides.
    pub(super) earlier: Earlier,
    /// TCP: the direction that sent last.
    pub(super) turn: u8,
    pub(super) order: Order,
    pub(super) likely: Likely,
    /// The built-in rules have given up.
    pub(super) own_over: bool,
    /// The search over the user's patterns: its handle, plus one; 0: not begun.
    pub(super) patterns: u32,
    pub(super) rank: Rank,
    /// The kept bytes were freed for other searches.
    pub(super) is_forgotten: bool,
}

/// The rule that returned likely, plus one, and the direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Likely {
    pub(super) rule: u16,
    pub(super) side: u8,
}

/// The order of the directions' turns: the end of each, in kept bytes of both directions. All turns
/// after the last one with room count as one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    ends: [u16; 7],
    count: u8,
    /// The direction that sent first.
    first: u8,
}

impl Order {
    pub(super) const fn begun_by(first: u8) -> Self {
        Self {
            ends: [0; 7],
            count: 0,
            first,
        }
    }

    /// Ends a turn, after `kept` bytes of both directions.
    pub(super) fn turn_over(&mut self, kept: usize) {
        if let Some(end) = self.ends.get_mut(usize::from(self.count)) {
            *end = u16::try_from(kept).unwrap_or(u16::MAX);
            self.count = self.count.saturating_add(1);
        }
    }

    /// Whether there is room for one more turn.
    pub(super) fn has_room(&self) -> bool {
        usize::from(self.count) < self.ends.len()
    }

    /// Calls `visit` for each turn in order, with whether the client sent it, and its bytes.
    pub(super) fn for_each_turn<'a>(
        &self,
        kept: [&'a [u8]; 2],
        mut visit: impl FnMut(bool, &'a [u8]),
    ) {
        let [mut client, mut server] = kept;
        let mut is_client = self.first == 0;
        let mut visited = 0u16;
        for &end in self.ends.iter().take(usize::from(self.count)) {
            let rest = if is_client { &mut client } else { &mut server };
            let len = usize::from(end.saturating_sub(visited)).min(rest.len());
            let (now, later) = rest.split_at(len);
            visit(is_client, now);
            *rest = later;
            visited = end;
            is_client = !is_client;
        }
        let (now, then) = if is_client {
            (client, server)
        } else {
            (server, client)
        };
        visit(is_client, now);
        visit(!is_client, then);
    }
}

impl Side {
    pub(super) const NEW: Self = Self {
        alive: Set::NONE,
        state: State::DEAD,
        kept: Kept::NONE,
        start: 0,
        begun: false,
        over: false,
        cut: false,
        asked: 0,
        junk: 0,
        head: [0; HEAD_LEN],
        head_len: 0,
    };
}

impl Progress {
    pub(super) fn new(whose: Whose<'_>) -> Self {
        Self {
            sides: [Side::NEW; 2],
            shard: whose.shard.0,
            connection: whose.connection,
            datagrams: 0,
            earlier: Earlier::NONE,
            turn: 0,
            order: Order::default(),
            likely: Likely::default(),
            own_over: false,
            patterns: 0,
            rank: Rank::default(),
            is_forgotten: false,
        }
    }

    /// One direction, the other one, and the likely rule.
    pub(super) fn both(&mut self, which: u8) -> (&mut Side, &mut Side, &mut Likely) {
        let [client, server] = &mut self.sides;
        if which == 0 {
            (client, server, &mut self.likely)
        } else {
            (server, client, &mut self.likely)
        }
    }

    pub(super) fn side(&mut self, which: u8) -> &mut Side {
        let [client, server] = &mut self.sides;
        if which == 0 { client } else { server }
    }

    pub(super) fn head(&self, which: u8) -> &[u8] {
        let [client, server] = &self.sides;
        let side = if which == 0 { client } else { server };
        side.head
            .get(..usize::from(side.head_len))
            .unwrap_or_default()
    }

    pub(super) fn remember(&mut self, which: u8, bytes: &[u8]) {
        let side = self.side(which);
        let mut len = 0u8;
        for (to, from) in side.head.iter_mut().zip(bytes) {
            *to = *from;
            len = len.saturating_add(1);
        }
        side.head_len = len;
    }
}

#[cfg(test)]
mod tests {
    use super::Order;
    use proptest::prelude::*;

    proptest! {
        /// Turns are visited in order of arrival; turns without room are visited direction by
        /// direction, and no byte is lost.
        #[test]
        fn kept_bytes_are_visited_in_the_order_of_turns(
            lens in prop::collection::vec(1..9usize, 1..14),
            is_client_first in any::<bool>(),
        ) {
            let mut order = Order::begun_by(u8::from(!is_client_first));
            let mut kept = [Vec::new(), Vec::new()];
            let mut turns = Vec::new();
            let mut is_client = is_client_first;
            for (number, &len) in (0u8..).zip(&lens) {
                if number > 0 {
                    order.turn_over(kept.iter().map(Vec::len).sum());
                    is_client = !is_client;
                }
                kept[usize::from(!is_client)].extend(vec![number; len]);
                turns.push((is_client, vec![number; len]));
            }
            let mut visited = Vec::new();
            order.for_each_turn([&kept[0], &kept[1]], |is_client, bytes| {
                if !bytes.is_empty() {
                    visited.push((is_client, bytes.to_vec()));
                }
            });
            for (side, kept) in [(true, &kept[0]), (false, &kept[1])] {
                let own = visited.iter().filter(|(one, _)| *one == side);
                let all: Vec<u8> = own.flat_map(|(_, bytes)| bytes.clone()).collect();
                prop_assert_eq!(&all, kept);
            }
            if lens.len() <= 8 {
                prop_assert_eq!(visited, turns);
            }
        }
    }
}
