//! How much is kept, by the memory that there is for it.

/// The most that observers and the merger keep.
///
/// ```
/// use flowpin_portscan::ScanCaps;
///
/// assert_eq!(ScanCaps::default(), ScanCaps::of(8 << 30));
/// assert!(ScanCaps::of(32 << 20).bytes() == 4 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanCaps {
    bytes: u64,
    /// Attempts that a shard logs in an interval from any source.
    pub(crate) attempts: u16,
    /// Attempts that a shard logs beyond that, of sources that asked before.
    pub(crate) late: u16,
    /// Connections with many packets that a shard logs.
    pub(crate) runs: u16,
    /// Words of each of a shard's two filters: a power of two.
    pub(crate) filter_words: usize,
    /// Sources beyond which those that asked least are forgotten.
    pub(crate) sources: usize,
    /// Targets kept one by one, over all sources, likewise.
    pub(crate) targets: usize,
    /// Hosts that are asked, likewise.
    pub(crate) victims: usize,
    /// Pairs of sources and ports, over all hosts, likewise.
    pub(crate) pairs: usize,
}

impl ScanCaps {
    /// Those for so much of `--memory`: an eighth of it is used, 64 MiB at most.
    pub const fn of(memory_bytes: u64) -> Self {
        let eighth = memory_bytes / 8;
        let bytes = if eighth < BYTES_MAX {
            eighth
        } else {
            BYTES_MAX
        };
        // A power of two each: 1/128 at least.
        let mut shift = 0;
        while BYTES_MAX >> shift > bytes && shift < SHIFT_MAX {
            shift += 1;
        }
        Self {
            bytes,
            attempts: 512 >> shift,
            late: 1024 >> shift,
            runs: if shift < 4 { 64 >> shift } else { 4 },
            filter_words: (1 << 13) >> shift,
            sources: (1 << 16) >> shift,
            targets: (1 << 20) >> shift,
            victims: (1 << 14) >> shift,
            pairs: (1 << 18) >> shift,
        }
    }

    /// The memory that they stand for.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sources beyond which there is no waiting for the end of an interval.
    pub(crate) const fn sources_amid(&self) -> usize {
        self.sources + self.sources / 2
    }

    /// What forgotten sources leave is kept for so many: an interval has no more new ones.
    pub(crate) const fn spare(&self) -> usize {
        2 * self.sources
    }
}

impl Default for ScanCaps {
    fn default() -> Self {
        Self::of(u64::MAX)
    }
}

/// What is used of a large memory.
const BYTES_MAX: u64 = 64 << 20;

/// However little memory there is, so much of the full caps is left.
const SHIFT_MAX: u32 = 7;
