//! The searches without a verdict, in the order in which they began: what is given up first if a
//! shard's memory for first bytes is used up.

use super::progress::Progress;
use super::{Memory, Whose};
use crate::verdict::{GaveUp, Step};
use flowpin_memory::Slab;
use flowpin_packet::Lives;

/// By shard: the searches that began first and last, plus one; 0: none.
#[derive(Debug)]
pub(super) struct Waiting {
    ends: Box<[[u32; 2]; 256]>,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            ends: Box::new([[0; 2]; 256]),
        }
    }
}

/// The place of a search in that order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rank {
    /// The searches that began before and after it, plus one; 0: none.
    older: u32,
    newer: u32,
    is_listed: bool,
}

impl Waiting {
    /// Adds a search that begins.
    pub(super) fn enlist(&mut self, slab: &mut Slab<Progress>, handle: u32) {
        let Some(progress) = slab.get_mut(handle) else {
            return;
        };
        let Some([oldest, newest]) = self.ends.get_mut(usize::from(progress.shard)) else {
            return;
        };
        progress.rank = Rank {
            older: *newest,
            newer: 0,
            is_listed: true,
        };
        let (before, own) = (*newest, handle.saturating_add(1));
        *newest = own;
        if *oldest == 0 {
            *oldest = own;
        }
        if let Some(before) = rank(slab, before) {
            before.newer = own;
        }
    }

    /// Removes a search, if it is there.
    pub(super) fn delist(&mut self, slab: &mut Slab<Progress>, handle: u32) {
        let Some(progress) = slab.get_mut(handle) else {
            return;
        };
        let Rank {
            older,
            newer,
            is_listed,
        } = core::mem::take(&mut progress.rank);
        let ends = self.ends.get_mut(usize::from(progress.shard));
        let Some([oldest, newest]) = ends.filter(|_| is_listed) else {
            return;
        };
        match rank(slab, older) {
            Some(before) => before.newer = newer,
            None => *oldest = newer,
        }
        match rank(slab, newer) {
            Some(after) => after.older = older,
            None => *newest = older,
        }
    }

    /// The search of a shard that began first, `but` excepted.
    fn first(&self, slab: &mut Slab<Progress>, shard: u8, but: Option<u32>) -> Option<u32> {
        let [oldest, _] = self.ends.get(usize::from(shard))?;
        let first = oldest.checked_sub(1)?;
        if Some(first) != but {
            return Some(first);
        }
        rank(slab, *oldest)?.newer.checked_sub(1)
    }
}

/// The rank of a search, by its handle plus one.
fn rank(slab: &mut Slab<Progress>, handle: u32) -> Option<&mut Rank> {
    let progress = slab.get_mut(handle.checked_sub(1)?)?;
    Some(&mut progress.rank)
}

impl Memory {
    /// Makes room for what one call may keep: the searches of the shard that began first, `but`
    /// excepted, give up and free their bytes. One that goes on later has the verdict "unknown".
    ///
    /// Those of connections that are due are passed over: whether their ends were noticed before
    /// depends on where pieces end, and their records say what was known before they were due.
    pub(super) fn make_room(&mut self, whose: Whose<'_>, but: Option<u32>) {
        let shard = whose.shard.0;
        while !self.blocks.has_room(shard) {
            let Some(first) = self.waiting.first(&mut self.slab, shard, but) else {
                return;
            };
            let owner = self.slab.get(first).map(|progress| progress.connection);
            let is_due = |lives: Lives<'_>| owner.is_some_and(|owner| lives.is_due(owner));
            if whose.lives.is_some_and(is_due) {
                self.waiting.delist(&mut self.slab, first);
            } else {
                self.forget(first);
            }
        }
    }

    #[cold]
    fn forget(&mut self, handle: u32) {
        self.waiting.delist(&mut self.slab, handle);
        if let Some(progress) = self.slab.get_mut(handle) {
            for side in &mut progress.sides {
                self.blocks.free(&mut side.kept, progress.shard);
            }
            progress.is_forgotten = true;
        }
    }

    /// Whether the bytes of a search were freed for others.
    pub(super) fn has_forgotten(&self, handle: u32) -> bool {
        self.slab
            .get(handle)
            .is_some_and(|progress| progress.is_forgotten)
    }

    /// What becomes of a search whose bytes were freed: it lost something only if what its
    /// connection had sent could still have become a protocol.
    pub(super) fn given_up(&self, handle: u32) -> Step {
        let progress = self.slab.get(handle);
        let could_fit = |progress: &Progress| {
            let mut sides = progress.sides.iter();
            progress.datagrams == 0 && sides.any(|side| side.begun && !side.over)
        };
        if progress.is_some_and(could_fit) {
            Step::GaveUp(GaveUp::Memory)
        } else {
            Step::GaveUp(GaveUp::NothingFits)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::kept::STREAM_BYTES_MAX;
    use crate::testing::{identifier, whose};
    use crate::{GaveUp, On, Search, SearchOptions, Searches, Step};

    /// Many connections that no rule knows: the first ones give up, the last ones go on, and all
    /// memory comes back.
    #[test]
    fn the_searches_that_began_first_give_up_their_bytes() {
        let options = SearchOptions {
            shard_bytes_max: 4 * STREAM_BYTES_MAX as u64,
            keeps_datagrams: true,
        };
        let mut searches = Searches::new(identifier(), options).unwrap();
        let whose = whose(On::Tcp, true, (50_000, 50_001));
        let mut begun = [Search::default(); 20];
        for search in &mut begun {
            // Could still become a request.
            assert_eq!(
                searches.stream_bytes(search, whose, b"GET"),
                Step::Undecided
            );
            let step = searches.stream_bytes(search, whose, &[b' '; 1100]);
            assert_eq!(step, Step::Undecided);
        }
        let forgotten =
            |searches: &Searches, search: Search| searches.kept(search, true).is_empty();
        let count = begun
            .iter()
            .filter(|one| forgotten(&searches, **one))
            .count();
        assert!(count > 5, "{count}");
        assert!(begun[..count].iter().all(|one| forgotten(&searches, *one)));
        let step = searches.stream_bytes(&mut begun[0], whose, b"x");
        assert_eq!(step, Step::GaveUp(GaveUp::Memory));
        let step = searches.stream_bytes(&mut begun[19], whose, b" ");
        assert_eq!(step, Step::Undecided);
        for search in &mut begun {
            searches.release(search);
        }
        assert!(searches.memory.budget.is_whole());
    }
}
