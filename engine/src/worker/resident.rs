//! Keeps what a worker's pools have resident within the memory that they share.
//!
//! Each pool may have used all of the budget at some time, and what was used once stays resident.
//! At some ticks the pools are asked; where together they hold more than the budget and a little,
//! they give their free pages back. It changes no answer: what is charged is what is in use.

use flowpin_memory::Pool;

/// When pools were asked, and when they are to be asked again.
#[derive(Debug)]
pub(super) struct Resident {
    /// What the pools may have resident.
    most: u64,
    /// Above this they are trimmed: more than `most` if the last time gave little.
    trim_above: u64,
    ticks: u32,
}

impl Resident {
    /// For pools that share `bytes`.
    pub(super) const fn new(bytes: u64) -> Self {
        Self {
            most: bytes,
            trim_above: bytes,
            ticks: 0,
        }
    }

    /// At each tick: trims the pools if it is time, and returns whether it was. `visit_all` calls
    /// its argument with each pool.
    pub(super) fn tick(
        &mut self,
        mut visit_all: impl FnMut(&mut dyn FnMut(&mut dyn Pool)),
    ) -> bool {
        self.ticks = self.ticks.wrapping_add(1);
        if !self.ticks.is_multiple_of(TICKS) {
            return false;
        }
        let mut touched = 0u64;
        visit_all(&mut |pool| touched += pool.touched_bytes());
        if touched <= self.trim_above {
            return false;
        }
        let mut left = 0u64;
        visit_all(&mut |pool| {
            // What is small is not worth its scattered pages.
            if pool.touched_bytes() > SMALL_BYTES {
                pool.trim();
            }
            left += pool.touched_bytes();
        });
        // Pages with few values each, in use to the end: asking at every tick would not help.
        self.trim_above = self.most.max(left.saturating_add(self.most / SHARE));
        true
    }
}

/// Pools are asked at every so many ticks: a tick is the end of a piece, 256 KiB of input.
const TICKS: u32 = 16;
/// A pool with less than this resident is left alone.
const SMALL_BYTES: u64 = 256 << 10;
/// How much more must be resident before pools are trimmed again, as a part of the budget.
const SHARE: u64 = 16;

#[cfg(test)]
mod tests {
    use super::{Resident, SMALL_BYTES, TICKS};
    use flowpin_memory::{BlockPool, Pool};

    /// Two pools of which each has had all of the budget keep it once.
    #[test]
    fn pools_in_turn_hold_one_budget() {
        let most = 8 << 20;
        let count = u32::try_from(most / 2048).unwrap();
        let mut pools = [2048, 512].map(|size| BlockPool::new(size, 4 * count).unwrap());
        let mut resident = Resident::new(most);
        for nth in [0, 1, 0, 1] {
            let pool = &mut pools[nth];
            let each = u32::try_from(pool.block_bytes()).unwrap();
            let used: Vec<u32> = (0..count * 2048 / each)
                .map(|_| pool.take().unwrap())
                .collect();
            for block in used {
                pool.bytes_mut(block).fill(1);
                pool.put_back(block);
            }
            for _ in 0..TICKS {
                resident.tick(|visit| pools.iter_mut().for_each(|pool| visit(pool)));
            }
        }
        let touched: u64 = pools.iter().map(Pool::touched_bytes).sum();
        assert!(touched <= most + SMALL_BYTES, "{touched}");
    }
}
