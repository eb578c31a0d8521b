//! Patterns that the user loaded: asked beside the project's own rules, which come first.
//!
//! As l7-filter has it, both directions are one buffer in order of arrival, and `$` is where a
//! datagram, a turn or the stream ends. What matches is held until the own rules have given up, so
//! that segments cannot decide which of both is first.

use super::progress::Progress;
use super::{Memory, Search, Whose, side_of};
use crate::DATAGRAMS_MAX;
use crate::kept::STREAM_BYTES_MAX;
use crate::table::{LOADED_FIRST, On, ProtocolId, RuleId};
use crate::verdict::{Confidence, GaveUp, Step, Verdict};
use flowpin_pattern::{Matched, PatternSet};

impl Memory {
    /// Whether only loaded patterns are still looking.
    pub(super) fn is_own_over(&self, handle: u32) -> bool {
        self.slab
            .get(handle)
            .is_some_and(|progress| progress.own_over)
    }

    /// Shows bytes to the patterns, after the own rules came to `own`.
    pub(super) fn loaded_bytes(
        &mut self,
        set: &PatternSet,
        search: &mut Search,
        whose: Whose,
        bytes: &[u8],
        own: Step,
    ) -> Step {
        if !matches!(own, Step::Undecided | Step::GaveUp(GaveUp::NothingFits)) {
            return own;
        }
        let handle = search.0.checked_sub(1);
        if let Some(progress) = handle.and_then(|handle| self.slab.get_mut(handle)) {
            return progress.look(set, whose, bytes, own);
        }
        let mut progress = Progress::new(whose.shard);
        match progress.look(set, whose, bytes, own) {
            Step::Undecided => self.begin(search, &progress),
            step => step,
        }
    }

    /// One direction ends.
    pub(super) fn loaded_end(&mut self, set: &PatternSet, handle: u32, own: Step) -> Step {
        if matches!(own, Step::Verdict(_)) {
            return own;
        }
        let Some(progress) = self.slab.get_mut(handle) else {
            return own;
        };
        progress.own_over |= own != Step::Undecided;
        progress.note(set.at_end(&progress.loaded.state));
        progress.loaded_step(set, false)
    }
}

impl Progress {
    /// What the patterns say of bytes of which the own rules said `own`.
    fn look(&mut self, set: &PatternSet, whose: Whose, bytes: &[u8], own: Step) -> Step {
        self.own_over |= own != Step::Undecided;
        // Datagrams are counted by the own rules as long as they look.
        if whose.on != On::Tcp && own != Step::Undecided {
            self.datagrams = self.datagrams.saturating_add(1);
        }
        let is_over = self.show(set, whose, bytes);
        self.loaded_step(set, is_over)
    }

    /// Feeds the patterns; whether they can be asked no more.
    fn show(&mut self, set: &PatternSet, whose: Whose, bytes: &[u8]) -> bool {
        if !self.loaded.begun {
            self.loaded.begun = true;
            self.loaded.state = set.start();
            self.loaded.turn = side_of(whose.to_server);
        }
        let own = side_of(whose.to_server);
        if self.loaded.turn != own {
            self.note(set.at_end(&self.loaded.state));
            self.loaded.turn = own;
        }
        let [client, server] = &mut self.loaded.fed;
        let fed = if own == 0 { client } else { server };
        let room = STREAM_BYTES_MAX.saturating_sub(usize::from(*fed));
        let bytes = bytes.get(..room).unwrap_or(bytes);
        *fed = fed.saturating_add(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
        let found = set.feed(&mut self.loaded.state, bytes);
        self.note(found);
        if whose.on != On::Tcp {
            self.note(set.at_end(&self.loaded.state));
            return self.datagrams >= DATAGRAMS_MAX || set.is_over(&self.loaded.state);
        }
        let is_full = |fed: u16| usize::from(fed) >= STREAM_BYTES_MAX;
        self.loaded.fed.iter().all(|&fed| is_full(fed)) || set.is_over(&self.loaded.state)
    }

    /// Keeps the first match that decides.
    fn note(&mut self, found: Option<Matched>) {
        if let Some(found) = found
            && !found.is_hint
            && self.loaded.found == 0
        {
            self.loaded.found = found.pattern.saturating_add(1);
            self.loaded.found_to_server = self.loaded.turn == side_of(true);
        }
    }

    /// The verdict of a pattern that waits for the own rules to give up.
    pub(super) fn held(&self) -> Option<Verdict> {
        let number = loaded_number(self.loaded.found.checked_sub(1)?);
        Some(Verdict {
            protocol: ProtocolId(number),
            rule: RuleId(number),
            confidence: Confidence::Sure,
            to_server: self.loaded.found_to_server,
        })
    }

    fn loaded_step(&self, set: &PatternSet, is_over: bool) -> Step {
        match self.held() {
            Some(verdict) if self.own_over => Step::Verdict(verdict),
            Some(_) => Step::Undecided,
            None if self.own_over && (is_over || set.groups.is_empty()) => {
                Step::GaveUp(GaveUp::NothingFits)
            }
            None => Step::Undecided,
        }
    }
}

const fn loaded_number(pattern: u16) -> u16 {
    pattern | LOADED_FIRST
}

#[cfg(test)]
mod tests {
    use crate::testing::whose;
    use crate::{Identifier, On, Search, SearchOptions, Searches, Step};
    use flowpin_pattern::l7::parse_expression;
    use flowpin_pattern::{Limits, PatternSet, Rewrite, Source};
    use std::sync::Arc;

    fn searches(patterns: &[(&str, &str)]) -> Searches {
        let limits = Limits::default();
        let sources: Vec<Source> = patterns
            .iter()
            .map(|&(name, expression)| Source {
                name: name.into(),
                hir: parse_expression(expression, &limits).unwrap(),
            })
            .collect();
        let (set, refused) = PatternSet::build(&sources, Rewrite::Exact, &limits);
        assert!(refused.is_empty());
        let identifier = Identifier::new().unwrap().with_patterns(set);
        let options = SearchOptions {
            shard_searches_max: 8,
            shard_bytes_max: 64 << 10,
            keeps_datagrams: true,
        };
        Searches::new(Arc::new(identifier), options).unwrap()
    }

    /// The name found in these turns, in segments of this size.
    fn find(searches: &mut Searches, turns: &[(bool, &[u8])], size: usize) -> Option<String> {
        let mut search = Search::default();
        let mut found = None;
        for &(to_server, turn) in turns {
            for segment in turn.chunks(size) {
                let whose = whose(On::Tcp, to_server, (50_000, 50_001));
                let step = searches.stream_bytes(&mut search, whose, segment);
                found = found.or(name(searches, step));
            }
        }
        for to_server in [true, false] {
            let whose = whose(On::Tcp, to_server, (50_000, 50_001));
            let step = searches.stream_ended(&mut search, whose);
            found = found.or(name(searches, step));
        }
        searches.release(&mut search);
        found
    }

    fn name(searches: &Searches, step: Step) -> Option<String> {
        match step {
            Step::Verdict(verdict) => Some(searches.identifier().name(verdict.protocol).to_owned()),
            _ => None,
        }
    }

    /// l7-filter keeps one buffer for both directions; `$` is also where a turn ends.
    #[test]
    fn a_pattern_reaches_over_directions_and_its_dollar_is_a_turn() {
        let mut searches = searches(&[
            ("both", "^hello there.*general"),
            ("ends", "^come in please$"),
        ]);
        for size in [1, 3, 100] {
            let both: &[(bool, &[u8])] = &[(true, b"Hello there\n"), (false, b"General K\n")];
            assert_eq!(find(&mut searches, both, size).as_deref(), Some("both"));
            let ends: &[(bool, &[u8])] = &[(true, b"come in please"), (false, b"no")];
            assert_eq!(find(&mut searches, ends, size).as_deref(), Some("ends"));
            let more: &[(bool, &[u8])] = &[(true, b"come in please do"), (false, b"no")];
            assert_eq!(find(&mut searches, more, size), None);
        }
        assert_eq!(searches.live(), 0);
    }

    /// The project's own rules come first, also where a pattern needs fewer bytes.
    #[test]
    fn an_own_rule_decides_before_a_loaded_pattern() {
        let mut searches = searches(&[("mine", "^SSH-")]);
        for size in [1, 100] {
            let turns: &[(bool, &[u8])] = &[(true, b"SSH-2.0-OpenSSH\r\n")];
            assert_eq!(find(&mut searches, turns, size).as_deref(), Some("ssh"));
        }
    }

    /// What matches by chance more than once in a million hints at most.
    #[test]
    fn a_loose_pattern_never_decides() {
        let mut searches = searches(&[("loose", "^a.+")]);
        let turns: &[(bool, &[u8])] = &[(true, b"any text at all")];
        assert_eq!(find(&mut searches, turns, 100), None);
    }

    #[test]
    fn datagrams_are_searched_too() {
        let mut searches = searches(&[("game", "^\\xff\\xff\\xff\\xffhello$")]);
        let mut search = Search::default();
        let whose = whose(On::Udp, true, (50_000, 50_001));
        let bytes = b"\xff\xff\xff\xffhello";
        let mut found = None;
        for count in 0..crate::DATAGRAMS_MAX {
            let step = searches.datagram(&mut search, whose, bytes, bytes.len());
            found = found.or(name(&searches, step));
            // A connection that ends here is of the pattern's protocol, too.
            let held = searches.held(search).map(Step::Verdict);
            let last = held.and_then(|step| name(&searches, step));
            assert_eq!(last.as_deref(), Some("game"), "after {count}");
        }
        assert_eq!(found.as_deref(), Some("game"));
        searches.release(&mut search);
        assert_eq!(searches.live(), 0);
    }
}
