//! The memory budget for captured texts, per shard, and spare memory for fields.

use crate::fields::Entry;

/// Bytes of texts used in each shard, and spare memory.
#[derive(Debug)]
pub(crate) struct Budget {
    used: Vec<u64>,
    pub(crate) spares: Vec<Spare>,
    shard_bytes_max: u64,
    /// Number of texts truncated or not kept.
    pub(crate) lost: u64,
}

impl Budget {
    pub(crate) fn new(shard_bytes_max: u64) -> Self {
        Self {
            used: vec![0; SHARDS],
            spares: Vec::new(),
            shard_bytes_max,
            lost: 0,
        }
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.used.iter().sum()
    }

    pub(crate) fn take(&mut self, shard: u8, len: usize) -> bool {
        let Some(used) = self.used.get_mut(usize::from(shard)) else {
            return false;
        };
        let after = used.saturating_add(len as u64);
        let fits = after <= self.shard_bytes_max;
        if fits {
            *used = after;
        }
        fits
    }

    pub(crate) fn give_back(&mut self, shard: u8, len: usize) {
        if let Some(used) = self.used.get_mut(usize::from(shard)) {
            *used = used.saturating_sub(len as u64);
        }
    }
}

/// Spare memory for fields.
#[derive(Debug)]
pub(crate) struct Spare {
    pub(crate) entries: Vec<Entry>,
    pub(crate) bytes: Vec<u8>,
}

const SHARDS: usize = 256;
