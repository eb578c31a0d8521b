//! The memory of one worker: sessions, and blocks for messages that arrive in parts.

use flowpin_counters::{Loss, Losses};
use flowpin_memory::Slab;
use std::io;

/// Memory limits of one worker's parser.
#[derive(Clone, Copy, Debug)]
pub struct TlsOptions {
    /// Maximum number of open handshakes per shard.
    pub shard_sessions_max: u32,
    /// Maximum number of handshake messages in parts per shard.
    pub shard_blocks_max: u32,
}

impl Default for TlsOptions {
    fn default() -> Self {
        Self::within(64 << 20)
    }
}

impl TlsOptions {
    /// Divides `bytes`: half for sessions, half for messages in parts, equally among all shards.
    /// Each shard gets room for at least two of either.
    pub fn within(bytes: u64) -> Self {
        let half = bytes.checked_div(2 * 256).unwrap_or(0);
        let count = |one: u64| {
            let count = half.checked_div(one).unwrap_or(0).clamp(2, 1 << 14);
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        Self {
            shard_sessions_max: count(SESSION_BYTES),
            shard_blocks_max: count(MESSAGE_BYTES_MAX as u64),
        }
    }
}

/// Approximate memory of a session.
const SESSION_BYTES: u64 = 2048;

/// Maximum stored length of a handshake message: hellos are far shorter, and of a longer
/// certificate chain the first certificate is sufficient.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// Values with a limit per shard.
#[derive(Debug)]
pub(crate) struct Sharded<T> {
    slab: Slab<T>,
    counts: Box<[u32; 256]>,
    shard_max: u32,
    /// Values refused for lack of room.
    refused: u64,
}

impl<T: Copy> Sharded<T> {
    pub(crate) fn new(shard_max: u32) -> io::Result<Self> {
        Ok(Self {
            slab: Slab::with_capacity(shard_max.saturating_mul(256))?,
            counts: Box::new([0; 256]),
            shard_max,
            refused: 0,
        })
    }

    /// Stores a value; if the shard is at its limit, counts that and returns `None`.
    pub(crate) fn insert(&mut self, shard: u8, value: T) -> Option<u32> {
        self.hold(shard, |slab| slab.insert(value))
    }

    fn hold(&mut self, shard: u8, new: impl FnOnce(&mut Slab<T>) -> Option<u32>) -> Option<u32> {
        let count = self.counts.get_mut(usize::from(shard))?;
        let handle = if *count < self.shard_max {
            new(&mut self.slab)
        } else {
            None
        };
        match handle {
            Some(_) => *count = count.saturating_add(1),
            None => self.refused = self.refused.saturating_add(1),
        }
        handle
    }

    pub(crate) fn remove(&mut self, shard: u8, handle: u32) {
        self.slab.remove(handle);
        if let Some(count) = self.counts.get_mut(usize::from(shard)) {
            *count = count.saturating_sub(1);
        }
    }

    #[inline]
    pub(crate) fn prefetch(&self, handle: u32) {
        self.slab.prefetch(handle);
    }

    pub(crate) fn get(&self, handle: u32) -> Option<&T> {
        self.slab.get(handle)
    }

    pub(crate) fn get_mut(&mut self, handle: u32) -> Option<&mut T> {
        self.slab.get_mut(handle)
    }

    pub(crate) fn len(&self) -> u32 {
        self.slab.len()
    }

    /// Returns how often there was no room.
    const fn refused(&self) -> u64 {
        self.refused
    }
}

/// Returns the losses due to the limits of both pools.
pub(crate) fn losses<T: Copy>(sessions: &Sharded<T>, blocks: &Blocks) -> Losses {
    let mut losses = Losses::default();
    losses.count(Loss::TlsHandshakes, sessions.refused());
    losses.count(Loss::TlsMemory, blocks.refused());
    losses
}

/// Room for messages in parts.
pub(crate) type Blocks = Sharded<[u8; MESSAGE_BYTES_MAX]>;

/// A message in parts: the block of its bytes, if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gathered {
    /// The handle of the block plus one; 0: none.
    block: u32,
}

impl Gathered {
    /// Writes bytes at an offset; returns whether there was room.
    pub(crate) fn put(&mut self, blocks: &mut Blocks, shard: u8, at: usize, bytes: &[u8]) -> bool {
        if self.block == 0 {
            // The block may contain the bytes of an earlier message: only bytes written since are
            // read.
            let block = blocks.hold(shard, Slab::take);
            self.block = block.and_then(|block| block.checked_add(1)).unwrap_or(0);
        }
        let Some(block) = self.block.checked_sub(1) else {
            return false;
        };
        let end = at.saturating_add(bytes.len());
        let room = blocks.get_mut(block).and_then(|all| all.get_mut(at..end));
        room.map(|room| room.copy_from_slice(bytes)).is_some()
    }

    /// Returns the first `len` bytes.
    pub(crate) fn bytes(self, blocks: &Blocks, len: usize) -> &[u8] {
        let block = self.block.checked_sub(1);
        block
            .and_then(|block| blocks.get(block))
            .and_then(|all| all.get(..len))
            .unwrap_or_default()
    }

    pub(crate) fn free(&mut self, blocks: &mut Blocks, shard: u8) {
        if let Some(block) = self.block.checked_sub(1) {
            blocks.remove(shard, block);
        }
        self.block = 0;
    }
}
