//! Where runs end: for each set of bytes, the block that was classified last.
//!
//! ```text
//!  bytes  │ block │ block │ block │ … │ last 64 bytes │
//!  set 0          └ mask of its bytes that end the run
//!  set 1  └ mask
//! ```
//!
//! Blocks follow one another whatever the runs are, so that the processor classifies the next one
//! while it still looks for the end of this run; the end itself is a shift and a count of zeros.

use flowpin_cpu::{BLOCK_BYTES, ByteSet, Classifier, SparseSet};

/// How many sets of bytes a scanner can run with.
pub const RUN_SETS_MAX: usize = 8;

/// Masks over a segment: of each set, that of the block that was classified last.
pub(crate) type Masks = [Window; RUN_SETS_MAX];

/// The masks before anything was classified.
pub(crate) const NO_MASKS: Masks = [NOWHERE; RUN_SETS_MAX];

/// A segment that is searched.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'b, C> {
    classifier: C,
    bytes: &'b [u8],
    blocks: &'b [[u8; BLOCK_BYTES]],
    sparse: &'b SparseSets,
}

/// The same sets, where they are of few bytes; their index has [`SPARSE`] then.
pub(crate) type SparseSets = [SparseSet; RUN_SETS_MAX];

pub(crate) const SPARSE: u8 = 0x80;

/// A block, and which of its bytes are in the set.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    base: usize,
    mask: u64,
}

/// No place is within 64 bytes behind it.
const NOWHERE: Window = Window {
    base: usize::MAX / 2 + 1,
    mask: 0,
};

impl<'b, C: Classifier> Windows<'b, C> {
    #[inline(always)]
    pub(crate) const fn new(classifier: C, bytes: &'b [u8], sparse: &'b SparseSets) -> Self {
        Self {
            classifier,
            bytes,
            blocks: bytes.as_chunks::<BLOCK_BYTES>().0,
            sparse,
        }
    }

    /// The first place at or behind `at` whose byte is in the set; the length if there is none.
    /// `index` is the set's.
    #[inline(always)]
    pub(crate) fn find(self, masks: &mut Masks, index: u8, set: &ByteSet, at: usize) -> usize {
        let Some(kept) = masks.get_mut(usize::from(index) & (RUN_SETS_MAX - 1)) else {
            return at;
        };
        let window = *kept;
        let offset = at.wrapping_sub(window.base);
        let mut base = window.base;
        let mut at = at;
        if offset < BLOCK_BYTES {
            let mask = window.mask >> offset;
            if mask != 0 {
                return at.wrapping_add(mask.trailing_zeros() as usize);
            }
            base = base.wrapping_add(BLOCK_BYTES);
            at = base;
        } else if offset < NEAR_BYTES {
            // Step by step: a guess of how many steps does not wait for `at`.
            while at.wrapping_sub(base) >= BLOCK_BYTES {
                base = base.wrapping_add(BLOCK_BYTES);
            }
        } else {
            base = at & !(BLOCK_BYTES - 1);
        }
        loop {
            let Some(block) = self.blocks.get(base / BLOCK_BYTES) else {
                return self.find_in_last(kept, index, set, at);
            };
            let members = members(self.classifier, self.sparse, index, set, block);
            let mask = members >> (at.wrapping_sub(base) & (BLOCK_BYTES - 1));
            if mask != 0 {
                *kept = Window {
                    base,
                    mask: members,
                };
                return at.wrapping_add(mask.trailing_zeros() as usize);
            }
            base = base.wrapping_add(BLOCK_BYTES);
            at = base;
        }
    }

    /// The same in the last bytes: they are looked at together with bytes before them.
    #[inline(always)]
    fn find_in_last(self, kept: &mut Window, index: u8, set: &ByteSet, at: usize) -> usize {
        let len = self.bytes.len();
        if at >= len {
            return len;
        }
        let (base, members) = match self.bytes.last_chunk::<BLOCK_BYTES>() {
            Some(block) => {
                let members = members(self.classifier, self.sparse, index, set, block);
                (len.wrapping_sub(BLOCK_BYTES), members)
            }
            None => (0, short(self.classifier, self.bytes, set)),
        };
        *kept = Window {
            base,
            mask: members,
        };
        let mask = members >> (at.wrapping_sub(base) & (BLOCK_BYTES - 1));
        match mask {
            0 => len,
            _ => at.wrapping_add(mask.trailing_zeros() as usize),
        }
    }
}

/// Which bytes of a block are in a set.
#[inline(always)]
fn members<C: Classifier>(
    classifier: C,
    sparse: &SparseSets,
    index: u8,
    set: &ByteSet,
    block: &[u8; BLOCK_BYTES],
) -> u64 {
    if index & SPARSE != 0
        && let Some(sparse) = sparse.get(usize::from(index) & (RUN_SETS_MAX - 1))
    {
        return classifier.sparse_members(sparse, block);
    }
    classifier.members(set, block)
}

/// Which bytes of a segment that is no whole block are in a set.
#[cold]
#[inline(never)]
fn short<C: Classifier>(classifier: C, bytes: &[u8], set: &ByteSet) -> u64 {
    let mut block = [0; BLOCK_BYTES];
    for (place, byte) in block.iter_mut().zip(bytes) {
        *place = *byte;
    }
    let members = classifier.members(set, &block);
    let unused = BLOCK_BYTES.saturating_sub(bytes.len());
    let used = u64::MAX.checked_shr(u32::try_from(unused).unwrap_or(64));
    members & used.unwrap_or(0)
}

/// Farther behind the last block it is computed which block is next.
const NEAR_BYTES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::{NO_MASKS, RUN_SETS_MAX, SPARSE, Windows};
    use flowpin_cpu::{ByteSet, OneByOne, SparseSet};

    /// Wherever a search begins, in segments of any length, it ends where the bytes say.
    #[test]
    fn searches_find_the_next_member() {
        let set = ByteSet::new([1 << 10 | 1 << 13, 0, 0, 0]).unwrap();
        let sparse = [SparseSet::of(&set).unwrap(); RUN_SETS_MAX];
        for len in [0, 1, 5, 63, 64, 65, 127, 128, 129, 300, 3000] {
            let bytes: Vec<u8> = (0..len)
                .map(|at| if at * at % 97 == 3 { b'\n' } else { b'x' })
                .collect();
            let expected = |from: usize| {
                let found = bytes.iter().skip(from).position(|&byte| byte == b'\n');
                found.map_or(len, |found| from + found)
            };
            let windows = Windows::new(OneByOne, &bytes, &sparse);
            let mut forward = NO_MASKS;
            for from in 0..=len {
                assert_eq!(
                    windows.find(&mut forward, 3, &set, from),
                    expected(from),
                    "{from} of {len}"
                );
                let mut fresh = NO_MASKS;
                assert_eq!(
                    windows.find(&mut fresh, 3, &set, from),
                    expected(from),
                    "{from} of {len}"
                );
            }
            let mut leaps = NO_MASKS;
            for from in (0..=len).step_by(150) {
                assert_eq!(
                    windows.find(&mut leaps, SPARSE, &set, from),
                    expected(from),
                    "{from} of {len}"
                );
            }
        }
        assert!(RUN_SETS_MAX.is_power_of_two());
    }
}
