//! Patterns that the user loaded: asked beside the project's own rules, which come first.
//!
//! As l7-filter has it, both directions are one buffer in order of arrival, and `$` is where a
//! datagram, a turn or the stream ends. Expressions of grammars are asked of one direction alone.
//! What matches is held until the own rules have given up, so that segments cannot decide which of
//! both is first. So a stream is shown to them only then, or when it ends, from the bytes that are
//! kept; sooner if its turns are more than are told apart.

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
    /// Whether only loaded patterns are still looking.
    pub(super) fn is_own_over(&self, handle: u32) -> bool {
        self.slab
            .get(handle)
            .is_some_and(|progress| progress.own_over)
    }

    /// Shows bytes to the patterns, after the own rules came to `own`. `is_kept`: they are among
    /// the bytes that are kept.
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
                // PERF: most streams that the own rules do not know at once they know a turn later.
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

    /// One direction ends.
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

    /// What the patterns say that wait for the own rules to give up.
    pub(super) fn loaded_held(&self, loaded: &Loaded, handle: u32) -> Option<Verdict> {
        let mut progress = *self.slab.get(handle)?;
        progress.catch_up(loaded, &self.blocks);
        progress.held().or_else(|| progress.weak())
    }
}

impl Progress {
    /// What the patterns say of bytes of which the own rules said `own`.
    fn look(&mut self, loaded: &Loaded, whose: Whose, bytes: &[u8], own: Step) -> Step {
        self.own_over |= own != Step::Undecided;
        // Datagrams are counted by the own rules as long as they look.
        if whose.on != On::Tcp && own != Step::Undecided {
            self.datagrams = self.datagrams.saturating_add(1);
        }
        let is_over = self.show(loaded, whose.on, whose.to_server, bytes);
        self.loaded_step(loaded, is_over)
    }

    /// Feeds the patterns with what is kept of a stream, turn by turn, if they have not been fed
    /// yet; whether they can be asked no more.
    fn catch_up(&mut self, loaded: &Loaded, blocks: &Blocks) -> bool {
        let mut is_over = false;
        if !self.loaded.begun {
            let kept = self.sides.map(|side| blocks.bytes(side.kept));
            let order = self.order;
            order.tell(kept, |to_server, bytes| {
                if !bytes.is_empty() {
                    is_over = self.show(loaded, On::Tcp, to_server, bytes);
                }
            });
        }
        is_over
    }

    /// Feeds the patterns; whether they can be asked no more.
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
        // Who needs fewer bytes: so it does not depend on segments.
        match (found, own_found) {
            (Some(joint), Some((_, len))) if joint.len <= len => self.note(joint.pattern),
            (_, Some((number, _))) => self.note(behind(loaded, number)),
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

    /// A turn, datagram or direction ends.
    fn turn_ends(&mut self, loaded: &Loaded, side: u8) {
        let joint = loaded.set.at_end(&self.loaded.state);
        if let Some(joint) = self.sharp(joint) {
            self.note(joint.pattern);
        }
        let place = usize::from(side);
        let state = self.loaded.directed.get(place);
        if let Some(number) = state.and_then(|&state| loaded.directed.at_end(place, state)) {
            self.note(behind(loaded, number));
        }
    }

    /// Keeps the first match that decides.
    fn note(&mut self, pattern: u16) {
        if self.loaded.found == 0 {
            self.loaded.found = pattern.saturating_add(1);
            self.loaded.found_to_server = self.loaded.turn == side_of(true);
        }
    }

    /// A match that decides. The first of those that happen much by chance is kept for the end.
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

    /// What a pattern says that matches much by chance, where nothing else decides.
    fn weak(&self) -> Option<Verdict> {
        let number = loaded_number(self.loaded.weak.checked_sub(1)?);
        Some(Verdict {
            protocol: ProtocolId(number),
            rule: RuleId(number),
            confidence: Confidence::Likely,
            to_server: self.loaded.weak_to_server,
        })
    }

    /// The verdict of a pattern that waits for the own rules to give up.
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

/// Expressions are numbered behind patterns.
fn behind(loaded: &Loaded, number: u16) -> u16 {
    let patterns = u16::try_from(loaded.set.patterns.len()).unwrap_or(u16::MAX);
    patterns.saturating_add(number)
}

const fn loaded_number(pattern: u16) -> u16 {
    pattern | LOADED_FIRST
}

#[cfg(test)]
mod tests {
    use crate::testing::whose;
    use crate::{Confidence, Expression, Identifier, On, Search, SearchOptions, Searches, Step};
    use flowpin_pattern::l7::parse_expression;
    use flowpin_pattern::{Limits, PatternSet, Rewrite, Source};
    use proptest::prelude::*;
    use std::sync::{Arc, LazyLock};

    fn searches(patterns: &[(&str, &str)]) -> Searches {
        searches_of(identifier(patterns))
    }

    fn identifier(patterns: &[(&str, &str)]) -> Arc<Identifier> {
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
        Arc::new(Identifier::new().unwrap().with_patterns(set))
    }

    fn searches_of(identifier: Arc<Identifier>) -> Searches {
        let options = SearchOptions {
            shard_searches_max: 8,
            shard_bytes_max: 64 << 10,
            keeps_datagrams: true,
        };
        Searches::new(identifier, options).unwrap()
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

    /// What matches by chance more than once in a million decides where nothing else does, and is
    /// only likely.
    #[test]
    fn a_loose_pattern_decides_last_and_is_not_sure() {
        let mut searches = searches(&[("loose", "^a.+"), ("sharp", "^any text at all.*tells")]);
        let turn: &[u8] = b"any text at all, or what tells";
        for size in [1, 3, 100] {
            assert_eq!(
                held(&mut searches, &turn[..10], size),
                Some(("loose".into(), false))
            );
            assert_eq!(
                held(&mut searches, turn, size),
                Some(("sharp".into(), true))
            );
            assert_eq!(held(&mut searches, b"SSH-2.0-a\r\n", size), None);
        }
        assert_eq!(searches.live(), 0);
    }

    /// What a connection is that ends behind these bytes, and whether that is sure; none if an own
    /// rule decides before, or nothing does.
    fn held(searches: &mut Searches, bytes: &[u8], size: usize) -> Option<(String, bool)> {
        let mut search = Search::default();
        for segment in bytes.chunks(size) {
            let whose = whose(On::Tcp, true, (50_000, 50_001));
            searches.stream_bytes(&mut search, whose, segment);
        }
        let verdict = searches.held(search);
        searches.release(&mut search);
        let verdict = verdict?;
        let is_sure = verdict.confidence == Confidence::Sure;
        Some((
            searches.identifier().name(verdict.protocol).to_owned(),
            is_sure,
        ))
    }

    /// What patterns say of turns that are shown to them as they come.
    fn expected(set: &PatternSet, turns: &[(bool, Vec<u8>)]) -> Option<String> {
        let mut state = set.start();
        let mut found = None;
        let mut whose = None;
        for (to_server, turn) in turns {
            if whose
                .replace(to_server)
                .is_some_and(|before| before != to_server)
            {
                found = found.or(set.at_end(&state));
            }
            found = found.or(set.feed(&mut state, turn));
        }
        let found = found.or(set.at_end(&state))?;
        Some(set.patterns[usize::from(found.pattern)].name.clone())
    }

    // Made once: compiling takes longer than all cases.
    static ACROSS: LazyLock<Arc<Identifier>> = LazyLock::new(|| identifier(PATTERNS));

    /// What grammars say: of one direction, whoever speaks first.
    fn directed() -> Arc<Identifier> {
        let limits = Limits::default();
        let all = [
            ("asks", "^qping", [true, false]),
            ("tells", "^qpong", [false, true]),
            ("says", "^qhey$", [true, true]),
        ];
        let expressions = all.map(|(protocol, expression, sides)| Expression {
            protocol: protocol.into(),
            hir: parse_expression(expression, &limits).unwrap(),
            sides,
        });
        let identifier = Identifier::new().unwrap();
        Arc::new(identifier.with_expressions(&expressions).unwrap())
    }

    /// An expression is of the direction that it names: the other's bytes are neither before it nor
    /// in its place. In segments of any size.
    #[test]
    fn expressions_of_grammars_see_one_direction() {
        let identifier = directed();
        let (ping, pong, hey) = (b"qping".as_slice(), b"qpong".as_slice(), b"qhey".as_slice());
        for (turns, expected) in [
            (vec![(true, ping), (false, b"qq")], Some("asks")),
            (vec![(false, b"qq"), (true, ping)], Some("asks")),
            (vec![(false, ping), (true, b"qq")], None),
            (vec![(true, b"qq"), (false, pong)], Some("tells")),
            (vec![(true, pong), (false, b"qq")], None),
            (
                vec![(true, b"qq"), (false, hey), (true, b"qq")],
                Some("says"),
            ),
            (vec![(true, b"qq"), (false, hey), (false, b"qq")], None),
            (vec![(false, pong), (true, ping)], Some("tells")),
        ] {
            for size in [1, 2, 3, 100] {
                let mut searches = searches_of(Arc::clone(&identifier));
                let found = find(&mut searches, &turns, size);
                assert_eq!(found.as_deref(), expected, "{turns:?} by {size}");
                assert_eq!(searches.live(), 0);
            }
        }
    }

    proptest! {
        /// Streams are shown late, and from what is kept: their order is that of arrival, also
        /// where turns are many.
        #[test]
        fn patterns_see_turns_in_order(
            turns in prop::collection::vec(
                (any::<bool>(), prop::sample::select(PARTS)),
                1..14,
            ),
            size in 1usize..6,
        ) {
            let turns: Vec<(bool, Vec<u8>)> =
                turns.into_iter().map(|(side, part)| (side, part.to_vec())).collect();
            let mut searches = searches_of(Arc::clone(&ACROSS));
            let set = searches.identifier().loaded().unwrap().clone();
            let shown: Vec<(bool, &[u8])> =
                turns.iter().map(|(side, turn)| (*side, turn.as_slice())).collect();
            prop_assert_eq!(find(&mut searches, &shown, size), expected(&set, &turns));
            prop_assert_eq!(searches.live(), 0);
        }
    }

    const PATTERNS: &[(&str, &str)] = &[
        ("across", "^qab.*qba.*aqq.*baq"),
        ("turn", "qaqbb$"),
        ("first", "^qqqqq"),
        ("late", "aabqbaq.?b"),
    ];
    const PARTS: &[&[u8]] = &[
        b"qab", b"qba", b"aqq", b"baq", b"qaqbb", b"qqqqq", b"aabq", b"q", b"b", b"\0a",
    ];

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
