//! How the parsers' memory is divided.

use flowpin_packet::SHARD_COUNT;

/// The memory of all parsers. A parser takes its parts of it in [`Parser::new`].
///
/// Connections share three eighths, whatever they speak: where all are FIX, FIX has all of it. The
/// other parts are upper limits of single parsers, of which few reach theirs at once; together they
/// are more than the whole.
///
/// [`Parser::new`]: crate::Parser::new
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParserMemory {
    bytes: u64,
    body_bytes: u64,
    shard_room: u32,
}

impl ParserMemory {
    /// `bytes` for parsers and `body_bytes` for bodies of messages, over all workers. A shard has
    /// room for two connections of `connection_bytes_max` at least.
    pub fn new(bytes: u64, body_bytes: u64, connection_bytes_max: u32) -> Self {
        let whole = Self {
            bytes,
            body_bytes,
            shard_room: 0,
        };
        let room = whole.shard_count_of(bytes / 8 * 3, 1);
        Self {
            shard_room: room.max(connection_bytes_max.saturating_mul(2)),
            ..whole
        }
    }

    /// Bytes of all parsers, over all workers.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// Bytes for the connections of all parsers together, in each shard.
    pub const fn shard_room(self) -> u32 {
        self.shard_room
    }

    /// Bytes for bodies that are decoded, hashed or written, in each shard.
    pub const fn shard_body_bytes(self) -> u64 {
        self.body_bytes / SHARD_COUNT as u64
    }

    /// How many connections of `each` bytes a shard's room holds, but at most `most`.
    pub fn shard_connections(self, each: u32, most: u32) -> u32 {
        self.shard_room.checked_div(each).unwrap_or(0).min(most)
    }

    /// How many values of `each` bytes a shard holds in a `part`-th of the memory: two at least.
    pub fn shard_values(self, part: u64, each: u64) -> u32 {
        self.shard_count_of(self.bytes.checked_div(part).unwrap_or(0), each)
    }

    /// Bytes of a shard in a `part`-th of the memory: room for one message in parts, in either
    /// direction, at least.
    pub fn shard_bytes(self, part: u64) -> u32 {
        self.shard_values(part, 1).max(MESSAGE_BYTES_MIN)
    }

    fn shard_count_of(self, bytes: u64, each: u64) -> u32 {
        let count = (bytes / SHARD_COUNT as u64).checked_div(each).unwrap_or(0);
        u32::try_from(count.max(2)).unwrap_or(u32::MAX)
    }
}

/// Room for one message in parts, in either direction.
pub const MESSAGE_BYTES_MIN: u32 = 128 << 10;

#[cfg(test)]
mod tests {
    use super::{MESSAGE_BYTES_MIN, ParserMemory};

    /// A quarter more or less of a part is a cap that moves: with it, which records a busy shard
    /// has.
    #[test]
    fn parts_are_what_they_were() {
        // An eighth of 2 GiB.
        let memory = ParserMemory::new(256 << 20, 512 << 20, 2048);
        assert_eq!(memory.shard_room(), 393_216);
        assert_eq!(memory.shard_connections(384, 4096), 1024);
        assert_eq!(memory.shard_connections(256, 1024), 1024);
        assert_eq!(memory.shard_values(8, 384), 341);
        assert_eq!(memory.shard_bytes(4), 256 << 10);
        assert_eq!(memory.shard_bytes(32), MESSAGE_BYTES_MIN);
        assert_eq!(memory.shard_body_bytes(), 2 << 20);
    }

    /// However little there is, a shard has room for two connections and one message.
    #[test]
    fn a_little_memory_is_enough_for_two() {
        for bytes in [0, 1, 1000, 1 << 20] {
            let memory = ParserMemory::new(bytes, 0, 2048);
            assert!(memory.shard_connections(2048, 100) >= 2, "{bytes}");
            assert!(memory.shard_values(8, 384) >= 2, "{bytes}");
            assert_eq!(memory.shard_bytes(8), MESSAGE_BYTES_MIN, "{bytes}");
        }
        let most = ParserMemory::new(u64::MAX, u64::MAX, 2048);
        assert_eq!(most.shard_room(), u32::MAX);
    }
}
