//! Where a search stands.

use crate::HEAD_LEN;
use crate::kept::Kept;
use flowpin_packet::Shard;
use flowpin_pattern::{SetState, State};

/// One direction of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    /// Checks that have not said no.
    pub(super) alive: u128,
    pub(super) state: State,
    pub(super) kept: Kept,
    /// Bytes (TCP: in `kept`) have come.
    pub(super) begun: bool,
    /// Nothing that comes can matter any more.
    pub(super) over: bool,
    pub(super) head: [u8; HEAD_LEN],
    pub(super) head_len: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) sides: [Side; 2],
    pub(super) shard: u8,
    pub(super) datagrams: u8,
    /// TCP: the direction that spoke last.
    pub(super) turn: u8,
    /// The rule that said likely, plus one, and where it did.
    pub(super) likely: u16,
    pub(super) likely_side: u8,
    /// The project's own rules have given up.
    pub(super) own_over: bool,
    /// What loaded patterns have seen.
    pub(super) loaded: Loaded,
}

/// A search over loaded patterns: both directions in one, in order of arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) state: SetState,
    pub(super) begun: bool,
    /// Whose turn it is.
    pub(super) turn: u8,
    /// Bytes looked at, by direction.
    pub(super) fed: [u16; 2],
    /// The pattern that matched, plus one, if own rules still look; and in whose turn.
    pub(super) found: u16,
    pub(super) found_to_server: bool,
}

impl Progress {
    pub(super) fn new(shard: Shard) -> Self {
        let side = Side {
            alive: 0,
            state: State::DEAD,
            kept: Kept::default(),
            begun: false,
            over: false,
            head: [0; HEAD_LEN],
            head_len: 0,
        };
        Self {
            sides: [side; 2],
            shard: shard.0,
            datagrams: 0,
            turn: 0,
            likely: 0,
            likely_side: 0,
            own_over: false,
            loaded: Loaded {
                state: SetState::OVER,
                begun: false,
                turn: 0,
                fed: [0; 2],
                found: 0,
                found_to_server: false,
            },
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
