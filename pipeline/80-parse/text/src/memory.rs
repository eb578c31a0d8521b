//! The memory of captured fields, charged to the budgets of their shards.

use flowpin_memory::{Budget, Buffers, Pool};
use std::io;

/// The entries and the bytes of all fields of a worker.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) entries: Buffers<[u64; 2]>,
    pub(crate) bytes: Buffers<u8>,
    /// A text on its way from one set of fields to another: no longer than those of a message.
    pub(crate) moved: Vec<u8>,
    /// Number of texts truncated or not kept.
    pub(crate) lost: u64,
}

/// Sizes of slots. Most questions of short commands take the smallest ones. The steps are small
/// enough for a packet of one byte.
const ENTRIES: &[usize] = &[4, 16, 64, 256, 1024];
const BYTES: &[usize] = &[64, 256, 1024, 4096, 16_384, 32_768, 49_152, 65_536, 81_920];

impl Memory {
    pub(crate) fn new(budget: &Budget) -> io::Result<Self> {
        Ok(Self {
            entries: Buffers::new(budget, ENTRIES)?,
            bytes: Buffers::new(budget, BYTES)?,
            moved: Vec::new(),
            lost: 0,
        })
    }

    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        self.entries.pools(visit);
        self.bytes.pools(visit);
    }

    /// Counts a text that was truncated or not kept.
    pub(crate) fn lose(&mut self) {
        self.lost = self.lost.saturating_add(1);
    }
}
