//! Matches the user's patterns, after the built-in rules, which take precedence.
//!
//! As in l7-filter, both directions form one buffer in order of arrival, and `$` matches the end of
//! a datagram, a turn or the stream. Expressions of grammars see one direction only. A match is
//! held until the built-in rules have given up, so that segmentation cannot decide which comes
//! first. Therefore the kept bytes of a stream are matched only then, or when the stream ends;
//! earlier if it has more turns than are distinguished.

mod state;
#[cfg(test)]
mod tests;

use super::progress::Progress;
use super::{Memory, Search, Whose, side_of};
use crate::On;
use crate::identifier::Loaded;
use crate::verdict::{GaveUp, Step, Verdict};
pub(super) use state::{PATTERN_SEARCH_BYTES, PatternSearch};

impl Memory {
    /// Whether the built-in rules have given up.
    pub(super) fn is_own_over(&self, handle: u32) -> bool {
        self.slab
            .get(handle)
            .is_some_and(|progress| progress.own_over)
    }

    /// Feeds bytes to the patterns, after the built-in rules returned `own`. `is_kept`: the bytes
    /// are among those that are kept.
    pub(super) fn loaded_bytes(
        &mut self,
        loaded: &Loaded,
        search: &mut Search,
        whose: Whose<'_>,
        (bytes, is_kept): (&[u8], bool),
        own: Step,
    ) -> Step {
        if !matches!(own, Step::Undecided | Step::GaveUp(GaveUp::NothingFits)) {
            return own;
        }
        let mut progress = Progress::new(whose);
        let mut patterns = PatternSearch::NEW;
        if let Some(handle) = search.handle() {
            let Some(known) = self.slab.get(handle) else {
                return own;
            };
            (progress, patterns) = (*known, self.pattern_search(known));
            // PERF: the built-in rules decide most undecided streams one turn later.
            let is_first = whose.on == On::Tcp && !patterns.has_begun();
            if is_first && own == Step::Undecided && progress.order.has_room() {
                return own;
            }
            if is_first {
                let is_over = patterns.catch_up(&progress, loaded, &self.blocks);
                if is_kept {
                    progress.own_over |= own != Step::Undecided;
                    let step = patterns.step(loaded, progress.own_over, is_over);
                    return self.keep_patterns(search, &progress, &patterns, step);
                }
            }
        }
        let step = patterns.look(&mut progress, loaded, whose, bytes, own);
        self.keep_patterns(search, &progress, &patterns, step)
    }

    /// Ends one direction.
    pub(super) fn loaded_end(
        &mut self,
        loaded: &Loaded,
        handle: u32,
        to_server: bool,
        own: Step,
    ) -> Step {
        if matches!(own, Step::Verdict(_)) {
            return own;
        }
        let Some(known) = self.slab.get(handle) else {
            return own;
        };
        let (mut progress, mut patterns) = (*known, self.pattern_search(known));
        progress.own_over |= own != Step::Undecided;
        patterns.catch_up(&progress, loaded, &self.blocks);
        patterns.turn_ends(loaded, side_of(to_server));
        let step = patterns.step(loaded, progress.own_over, false);
        let mut search = Search::of(handle).unwrap_or(Search::NONE);
        self.keep_patterns(&mut search, &progress, &patterns, step)
    }

    /// The held verdict of the patterns, as if the built-in rules had given up.
    pub(super) fn loaded_held(&self, loaded: &Loaded, handle: u32) -> Option<Verdict> {
        let progress = self.slab.get(handle)?;
        let mut patterns = self.pattern_search(progress);
        patterns.catch_up(progress, loaded, &self.blocks);
        patterns.held().or_else(|| patterns.weak())
    }

    /// The search over the patterns that belongs to a search; a new one if it has none.
    fn pattern_search(&self, progress: &Progress) -> PatternSearch {
        let handle = progress.patterns.checked_sub(1);
        let begun = handle.and_then(|handle| self.patterns.get(handle));
        begun.copied().unwrap_or(PatternSearch::NEW)
    }

    /// Stores both searches if they go on; returns `step`, or that there is no memory for them.
    fn keep_patterns(
        &mut self,
        search: &mut Search,
        progress: &Progress,
        patterns: &PatternSearch,
        step: Step,
    ) -> Step {
        if step != Step::Undecided {
            return step;
        }
        let begun = match search.handle() {
            Some(_) => Step::Undecided,
            None => self.begin(search, progress),
        };
        let Some(handle) = search.handle().filter(|_| begun == Step::Undecided) else {
            return begun;
        };
        let shard = progress.shard;
        let known = progress.patterns.checked_sub(1);
        if let Some(known) = known.and_then(|known| self.patterns.get_mut(known)) {
            *known = *patterns;
        } else if !self.budget.take(shard, PATTERN_SEARCH_BYTES) {
            return Step::GaveUp(GaveUp::Memory);
        }
        let place = known.or_else(|| self.patterns.insert(*patterns));
        let Some(place) = place else {
            self.budget.give_back(shard, PATTERN_SEARCH_BYTES);
            return Step::GaveUp(GaveUp::Memory);
        };
        if let Some(stored) = self.slab.get_mut(handle) {
            stored.own_over = progress.own_over;
            stored.datagrams = progress.datagrams;
            stored.patterns = place.saturating_add(1);
        }
        Step::Undecided
    }

    /// Releases the search over the patterns.
    pub(super) fn release_patterns(&mut self, shard: u8, patterns: u32) {
        if let Some(handle) = patterns.checked_sub(1) {
            self.budget.give_back(shard, PATTERN_SEARCH_BYTES);
            self.patterns.remove(handle);
        }
    }
}
