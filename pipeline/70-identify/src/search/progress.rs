//! Where a search stands.

use crate::HEAD_LEN;
use crate::candidates::Set;
use crate::earlier::Earlier;
use crate::kept::Kept;
use flowpin_packet::Shard;
use flowpin_pattern::{SetState, State};

/// One direction of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Checks that have not said no.
    pub(super) alive: Set,
    pub(super) state: State,
    pub(super) kept: Kept,
    /// Where in the stream the first of these bytes lies.
    pub(super) start: u64,
    /// Bytes (TCP: in `kept`) have come.
    pub(super) begun: bool,
    /// Nothing that comes can matter any more.
    pub(super) over: bool,
    /// Bytes came before the verdict that were not kept.
    pub(super) cut: bool,
    /// How many bytes the checks have been shown.
    pub(super) asked: u16,
    /// So many bytes before what the verdict names are none of it.
    pub(super) junk: u16,
    pub(super) head: [u8; HEAD_LEN],
    pub(super) head_len: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) sides: [Side; 2],
    pub(super) shard: u8,
    pub(super) datagrams: u8,
    /// Datagrams: those in the blocks of both sides.
    pub(super) earlier: Earlier,
    /// TCP: the direction that spoke last.
    pub(super) turn: u8,
    pub(super) order: Order,
    pub(super) likely: Likely,
    /// The project's own rules have given up.
    pub(super) own_over: bool,
    /// What loaded patterns have seen.
    pub(super) loaded: Loaded,
}

/// The rule that said likely, plus one, and where it did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Likely {
    pub(super) rule: u16,
    pub(super) side: u8,
}

/// In which order both directions' bytes came: where turns ended, in bytes kept of both. Later
/// turns than there is room for are one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    ends: [u16; 7],
    count: u8,
    /// Who spoke first.
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

    /// The other direction speaks, after `kept` bytes of both.
    pub(super) fn turn_over(&mut self, kept: usize) {
        if let Some(end) = self.ends.get_mut(usize::from(self.count)) {
            *end = u16::try_from(kept).unwrap_or(u16::MAX);
            self.count = self.count.saturating_add(1);
        }
    }

    /// Whether all turns so far are told apart, and one more would be.
    pub(super) fn has_room(&self) -> bool {
        usize::from(self.count) < self.ends.len()
    }

    /// Tells the bytes of both directions in order: whether they are the client's, and they.
    pub(super) fn tell<'a>(&self, kept: [&'a [u8]; 2], mut tell: impl FnMut(bool, &'a [u8])) {
        let [mut client, mut server] = kept;
        let mut is_client = self.first == 0;
        let mut told = 0u16;
        for &end in self.ends.iter().take(usize::from(self.count)) {
            let rest = if is_client { &mut client } else { &mut server };
            let len = usize::from(end.saturating_sub(told)).min(rest.len());
            let (now, later) = rest.split_at(len);
            tell(is_client, now);
            *rest = later;
            told = end;
            is_client = !is_client;
        }
        let (now, then) = if is_client {
            (client, server)
        } else {
            (server, client)
        };
        tell(is_client, now);
        tell(!is_client, then);
    }
}

/// A search over loaded patterns: both directions in one, in order of arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) state: SetState,
    /// Over what each direction says alone.
    pub(super) directed: [State; 2],
    pub(super) begun: bool,
    /// Whose turn it is.
    pub(super) turn: u8,
    /// Bytes looked at, by direction.
    pub(super) fed: [u16; 2],
    /// The pattern that matched, plus one, if own rules still look; and in whose turn.
    pub(super) found: u16,
    pub(super) found_to_server: bool,
    /// The same of the first that matches much by chance.
    pub(super) weak: u16,
    pub(super) weak_to_server: bool,
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
    pub(super) fn new(shard: Shard) -> Self {
        Self {
            sides: [Side::NEW; 2],
            shard: shard.0,
            datagrams: 0,
            earlier: Earlier::NONE,
            turn: 0,
            order: Order::default(),
            likely: Likely::default(),
            own_over: false,
            loaded: Loaded {
                state: SetState::OVER,
                directed: [State::DEAD; 2],
                begun: false,
                turn: 0,
                fed: [0; 2],
                found: 0,
                found_to_server: false,
                weak: 0,
                weak_to_server: false,
            },
        }
    }

    /// A direction, the other one, and what was likely.
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
        /// What is told is what came, turn by turn; turns later than are told apart come
        /// direction by direction, and no byte is lost.
        #[test]
        fn kept_bytes_are_told_in_the_order_of_turns(
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
            let mut told = Vec::new();
            order.tell([&kept[0], &kept[1]], |is_client, bytes| {
                if !bytes.is_empty() {
                    told.push((is_client, bytes.to_vec()));
                }
            });
            for (side, kept) in [(true, &kept[0]), (false, &kept[1])] {
                let own = told.iter().filter(|(one, _)| *one == side);
                let all: Vec<u8> = own.flat_map(|(_, bytes)| bytes.clone()).collect();
                prop_assert_eq!(&all, kept);
            }
            if lens.len() <= 8 {
                prop_assert_eq!(told, turns);
            }
        }
    }
}
