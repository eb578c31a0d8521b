//! Memory for the connections of all parsers: one budget a shard, for all protocols together.
//!
//! A part for each protocol would be wasted where that protocol has no traffic. A connection is
//! charged the fixed size of its kind, not the memory that it holds at the moment, so the budget is
//! a function of the shard's connections alone.

use flowpin_packet::{SHARD_COUNT, Shard};

/// The bytes left in each shard.
#[derive(Debug)]
pub(super) struct Room {
    left: Box<[u32; SHARD_COUNT]>,
}

impl Room {
    pub(super) fn new(shard_bytes: u32) -> Self {
        Self {
            left: Box::new([shard_bytes; SHARD_COUNT]),
        }
    }

    /// Takes room for a connection; false, and nothing is taken, if there is none.
    pub(super) fn take(&mut self, shard: Shard, bytes: u32) -> bool {
        let Some(left) = self.left.get_mut(usize::from(shard.0)) else {
            return false;
        };
        match left.checked_sub(bytes) {
            Some(less) => *left = less,
            None => return false,
        }
        true
    }

    /// Returns room that was taken.
    pub(super) fn give_back(&mut self, shard: Shard, bytes: u32) {
        if let Some(left) = self.left.get_mut(usize::from(shard.0)) {
            *left = left.saturating_add(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Room;
    use flowpin_packet::Shard;

    /// A shard's room is limited and separate from the others; returned room can be taken again.
    #[test]
    fn a_shard_has_its_own_room() {
        let mut room = Room::new(1000);
        assert!(room.take(Shard(3), 384) && room.take(Shard(3), 512));
        assert!(!room.take(Shard(3), 128));
        assert!(room.take(Shard(4), 1000));
        room.give_back(Shard(3), 384);
        assert!(room.take(Shard(3), 488) && !room.take(Shard(3), 1));
    }
}
