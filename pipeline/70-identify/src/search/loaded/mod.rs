//! Matches the user's patterns, after the built-in rules, which take precedence.
//!
//! As in l7-filter, both directions form one buffer in order of arrival, and `$` matches the end of
//! a datagram, a turn or the stream. Expressions of grammars see one direction only. A match is
//! held until the built-in rules have given up, so that segmentation cannot decide which comes
//! first. Therefore the kept bytes of a stream are matched only then, or when the stream ends;
//! earlier if it has more turns than are distinguished.

#[cfg(test)]
mod tests;

use super::progress::Progress;
use super::{Memory, Search, Whose, side_of};
use crate::DATAGRAMS_MAX;
use crate::On;
use crate::identifier::Loaded;
use crate::kept::{Blocks, STREAM_BYTES_MAX};
use crate::table::{LOADED_FIRST, ProtocolId, RuleId};
use crate::verdict::{Confidence, GaveUp, Step, Verdict};
use flowpin_pattern::Matched;

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
        whose: Whose,
        (bytes, is_kept): (&[u8], bool),
        own: Step,
    ) -> Step {
        if !matches!(own, Step::Undecided | Step::GaveUp(GaveUp::NothingFits)) {
            return own;
        }
        let handle = search.handle();
        let Self { slab, blocks, .. } = self;
        if let Some(progress) = handle.and_then(|handle| slab.get_mut(handle)) {
            if whose.on == On::Tcp && !progress.loaded.begun {
                // PERF: the built-in rules decide most undecided streams one turn later.
                if own == Step::Undecided && progress.order.has_room() {
                    return own;
                }
                let is_over = progress.catch_up(loaded, blocks);
                if is_kept {
                    progress.own_over |= own != Step::Undecided;
                    return progress.loaded_step(loaded, is_over);
                }
            }
            return progress.look(loaded, whose, bytes, own);
        }
        let mut progress = Progress::new(whose.shard);
        match progress.look(loaded, whose, bytes, own) {
            Step::Undecided => self.begin(search, &progress),
            step => step,
        }
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
        let Self { slab, blocks, .. } = self;
        let Some(progress) = slab.get_mut(handle) else {
            return own;
        };
        progress.own_over |= own != Step::Undecided;
        progress.catch_up(loaded, blocks);
        progress.turn_ends(loaded, side_of(to_server));
        progress.loaded_step(loaded, false)
    }

    /// The held verdict of the patterns, as if the built-in rules had given up.
    pub(super) fn loaded_held(&self, loaded: &Loaded, handle: u32) -> Option<Verdict> {
        let mut progress = *self.slab.get(handle)?;
        progress.catch_up(loaded, &self.blocks);
        progress.held().or_else(|| progress.weak())
    }
}

impl Progress {
    /// Feeds bytes to the patterns, after the built-in rules returned `own`.
    fn look(&mut self, loaded: &Loaded, whose: Whose, bytes: &[u8], own: Step) -> Step {
        self.own_over |= own != Step::Undecided;
        // While the built-in rules are searched, they count the datagrams.
        if whose.on != On::Tcp && own != Step::Undecided {
            self.datagrams = self.datagrams.saturating_add(1);
        }
        let is_over = self.show(loaded, whose.on, whose.to_server, bytes);
        self.loaded_step(loaded, is_over)
    }

    /// Feeds the kept bytes of a stream to the patterns, turn by turn, if that was not done yet;
    /// returns whether no pattern can match any more.
    fn catch_up(&mut self, loaded: &Loaded, blocks: &Blocks) -> bool {
        let mut is_over = false;
        if !self.loaded.begun {
            let kept = self.sides.map(|side| blocks.bytes(side.kept));
            let order = self.order;
            order.for_each_turn(kept, |to_server, bytes| {
                if !bytes.is_empty() {
                    is_over = self.show(loaded, On::Tcp, to_server, bytes);
                }
            });
        }
        is_over
    }

    /// Feeds bytes to the patterns; returns whether no pattern can match any more.
    fn show(&mut self, loaded: &Loaded, on: On, to_server: bool, bytes: &[u8]) -> bool {
        let Loaded { set, directed } = loaded;
        if !self.loaded.begun {
            self.loaded.begun = true;
            self.loaded.state = set.start();
            self.loaded.directed = directed.start();
            self.loaded.turn = side_of(to_server);
        }
        let own = side_of(to_server);
        if self.loaded.turn != own {
            self.turn_ends(loaded, self.loaded.turn);
            self.loaded.turn = own;
        }
        let [client, server] = &mut self.loaded.fed;
        let fed = if own == 0 { client } else { server };
        let room = STREAM_BYTES_MAX.saturating_sub(usize::from(*fed));
        let bytes = bytes.get(..room).unwrap_or(bytes);
        *fed = fed.saturating_add(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
        let found = set.feed(&mut self.loaded.state, bytes);
        let found = self.sharp(found);
        let place = usize::from(own);
        let state = self.loaded.directed.get_mut(place);
        let own_found = state.and_then(|state| directed.feed(place, state, bytes));
        // The match that needs fewer bytes wins, whatever the segmentation.
        match (found, own_found) {
            (Some(joint), Some((_, len))) if joint.len <= len => self.note(joint.pattern),
            (_, Some((number, _))) => self.note(expression_number(loaded, number)),
            (Some(joint), None) => self.note(joint.pattern),
            (None, None) => {}
        }
        let is_over = set.is_over(&self.loaded.state)
            && self.loaded.directed.iter().all(|state| state.is_dead());
        if on != On::Tcp {
            self.turn_ends(loaded, own);
            return self.datagrams >= DATAGRAMS_MAX || is_over;
        }
        let is_full = |fed: u16| usize::from(fed) >= STREAM_BYTES_MAX;
        self.loaded.fed.iter().all(|&fed| is_full(fed)) || is_over
    }

    /// Ends a turn, a datagram or a direction.
    fn turn_ends(&mut self, loaded: &Loaded, side: u8) {
        let joint = loaded.set.at_end(&self.loaded.state);
        if let Some(joint) = self.sharp(joint) {
            self.note(joint.pattern);
        }
        let place = usize::from(side);
        let state = self.loaded.directed.get(place);
        if let Some(number) = state.and_then(|&state| loaded.directed.at_end(place, state)) {
            self.note(expression_number(loaded, number));
        }
    }

    /// Keeps the first decisive match.
    fn note(&mut self, pattern: u16) {
        if self.loaded.found == 0 {
            self.loaded.found = pattern.saturating_add(1);
            self.loaded.found_to_server = self.loaded.turn == side_of(true);
        }
    }

    /// Filters decisive matches. The first match that is likely by chance is kept for the end.
    fn sharp(&mut self, found: Option<Matched>) -> Option<Matched> {
        let found = found?;
        if !found.is_hint {
            return Some(found);
        }
        if self.loaded.weak == 0 {
            self.loaded.weak = found.pattern.saturating_add(1);
            self.loaded.weak_to_server = self.loaded.turn == side_of(true);
        }
        None
    }

    /// The verdict of a match that is likely by chance, for when nothing else decides.
    fn weak(&self) -> Option<Verdict> {
        let number = loaded_number(self.loaded.weak.checked_sub(1)?);
        Some(Verdict {
            protocol: ProtocolId(number),
            rule: RuleId(number),
            confidence: Confidence::Likely,
            to_server: self.loaded.weak_to_server,
        })
    }

    /// The verdict of the decisive match, held until the built-in rules give up.
    fn held(&self) -> Option<Verdict> {
        let number = loaded_number(self.loaded.found.checked_sub(1)?);
        Some(Verdict {
            protocol: ProtocolId(number),
            rule: RuleId(number),
            confidence: Confidence::Sure,
            to_server: self.loaded.found_to_server,
        })
    }

    fn loaded_step(&self, loaded: &Loaded, is_over: bool) -> Step {
        match self.held() {
            Some(verdict) if self.own_over => Step::Verdict(verdict),
            Some(_) => Step::Undecided,
            None if self.own_over
                && (is_over || loaded.set.groups.is_empty() && loaded.directed.is_empty()) =>
            {
                let weak = self.weak().map(Step::Verdict);
                weak.unwrap_or(Step::GaveUp(GaveUp::NothingFits))
            }
            None => Step::Undecided,
        }
    }
}

/// The number of an expression, which follow those of patterns.
fn expression_number(loaded: &Loaded, number: u16) -> u16 {
    let patterns = u16::try_from(loaded.set.patterns.len()).unwrap_or(u16::MAX);
    patterns.saturating_add(number)
}

const fn loaded_number(pattern: u16) -> u16 {
    pattern | LOADED_FIRST
}
