//! The settings of a table.

use crate::Timeouts;
use crate::entry::{Addresses, Cold, Extra, Hot};
use flowpin_memory::Budget;
use flowpin_packet::SHARD_COUNT;

/// Packets that are looked up together.
pub const BATCH_MAX: usize = 32;

/// Settings of a [`crate::Table`], the same for all tables of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowOptions {
    /// Which set of time-outs applies.
    pub timeouts: Timeouts,
    /// Stream time between the interim records of a connection; `None` for no such records.
    pub interim_ns: Option<u64>,
    /// Memory of all 256 shards, however many tables own them. Less than 2 MiB counts as 2 MiB.
    pub memory_bytes: u64,
    /// Memory that the observer has for each connection, by its handle.
    pub observer_bytes: u32,
    /// Key of the identifiers.
    pub id_seed: u64,
}

impl Default for FlowOptions {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::Zeek,
            interim_ns: None,
            memory_bytes: 1 << 30,
            observer_bytes: 0,
            id_seed: 0,
        }
    }
}

impl FlowOptions {
    /// The memory, divided equally among all shards.
    pub(crate) fn budget(&self) -> Budget {
        Budget::new(self.shard_bytes())
    }

    fn shard_bytes(&self) -> u64 {
        (self.memory_bytes / SHARD_COUNT as u64).max(SHARD_BYTES_MIN)
    }

    /// What a connection takes.
    pub(crate) fn connection_bytes(&self) -> u64 {
        CONNECTION_BYTES + u64::from(self.observer_bytes)
    }

    /// Most connections per shard.
    pub(crate) fn per_shard_max(&self) -> u32 {
        let most = self.shard_bytes() / self.connection_bytes();
        // The index has 24 bits of a hash to tell slots apart.
        u32::try_from(most).unwrap_or(u32::MAX).min(PER_SHARD_MAX)
    }
}

/// Enough for a few connections with everything that one can have: eviction always finds others.
const SHARD_BYTES_MIN: u64 = 8 << 10;

const PER_SHARD_MAX: u32 = 14 << 20;

/// Memory per connection in the table: its entry, its links in the timer wheel, its slots in the
/// index (at least 3/8 of them are in use) and in the lists of free handles.
const CONNECTION_BYTES: u64 = (size_of::<Hot>() + size_of::<Cold>()) as u64 + 8 + 22 + 8;

/// Memory for addresses that the key does not hold.
pub(crate) const ADDRESSES_BYTES: u64 = size_of::<Addresses>() as u64 + 4;

/// Memory for rare facts about a connection.
pub(crate) const EXTRA_BYTES: u64 = size_of::<Extra>() as u64 + 4;

const _: () = assert!(
    SHARD_BYTES_MIN >= 16 * (CONNECTION_BYTES + ADDRESSES_BYTES + EXTRA_BYTES),
    "a shard has room for 16 connections"
);
