//! The state of a search over the user's patterns: both directions as one buffer, in order of
//! arrival, and each direction alone.

use super::{Progress, Whose, side_of};
use crate::identifier::Loaded;
use crate::kept::{Blocks, STREAM_BYTES_MAX};
use crate::table::{LOADED_FIRST, ProtocolId, RuleId};
use crate::verdict::{Confidence, GaveUp, Step, Verdict};
use crate::{DATAGRAMS_MAX, On};
use flowpin_pattern::{Matched, SetState, State};

/// A search over the user's patterns.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct PatternSearch {
    state: SetState,
    /// Over each direction alone.
    directed: [State; 2],
    begun: bool,
    /// The direction that sent last.
    turn: u8,
    /// Bytes fed, by direction.
    fed: [u16; 2],
    /// The pattern that matched, plus one, and the direction of its turn.
    found: u16,
    found_to_server: bool,
    /// The same for the first match that is likely by chance.
    weak: u16,
    weak_to_server: bool,
}

/// Memory for one, with its place in the list of free ones.
pub(in crate::search) const PATTERN_SEARCH_BYTES: u64 = size_of::<PatternSearch>() as u64 + 4;

impl PatternSearch {
    pub(super) const NEW: Self = Self {
        state: SetState::OVER,
        directed: [State::DEAD; 2],
        begun: false,
        turn: 0,
        fed: [0; 2],
        found: 0,
        found_to_server: false,
        weak: 0,
        weak_to_server: false,
    };

    /// Whether bytes were fed.
    pub(super) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Feeds bytes to the patterns, after the built-in rules returned `own`.
    pub(super) fn look(
        &mut self,
        progress: &mut Progress,
        loaded: &Loaded,
        whose: Whose<'_>,
        bytes: &[u8],
        own: Step,
    ) -> Step {
        progress.own_over |= own != Step::Undecided;
        // While the built-in rules are searched, they count the datagrams.
        if whose.on != On::Tcp && own != Step::Undecided {
            progress.datagrams = progress.datagrams.saturating_add(1);
        }
        let mut is_over = self.show(loaded, whose.on, whose.to_server, bytes);
        is_over |= whose.on != On::Tcp && progress.datagrams >= DATAGRAMS_MAX;
        self.step(loaded, progress.own_over, is_over)
    }

    /// Feeds the kept bytes of a stream to the patterns, turn by turn, if that was not done yet;
    /// returns whether no pattern can match any more.
    pub(super) fn catch_up(
        &mut self,
        progress: &Progress,
        loaded: &Loaded,
        blocks: &Blocks,
    ) -> bool {
        let mut is_over = false;
        if !self.begun {
            let kept = progress.sides.map(|side| blocks.bytes(side.kept));
            progress.order.for_each_turn(kept, |to_server, bytes| {
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
        if !self.begun {
            self.begun = true;
            self.state = set.start();
            self.directed = directed.start();
            self.turn = side_of(to_server);
        }
        let own = side_of(to_server);
        if self.turn != own {
            self.turn_ends(loaded, self.turn);
            self.turn = own;
        }
        let [client, server] = &mut self.fed;
        let fed = if own == 0 { client } else { server };
        let room = STREAM_BYTES_MAX.saturating_sub(usize::from(*fed));
        let bytes = bytes.get(..room).unwrap_or(bytes);
        *fed = fed.saturating_add(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
        let found = set.feed(&mut self.state, bytes);
        let found = self.sharp(found);
        let place = usize::from(own);
        let state = self.directed.get_mut(place);
        let own_found = state.and_then(|state| directed.feed(place, state, bytes));
        // The match that needs fewer bytes wins, whatever the segmentation.
        match (found, own_found) {
            (Some(joint), Some((_, len))) if joint.len <= len => self.note(joint.pattern),
            (_, Some((number, _))) => self.note(expression_number(loaded, number)),
            (Some(joint), None) => self.note(joint.pattern),
            (None, None) => {}
        }
        let is_over = set.is_over(&self.state) && self.directed.iter().all(|state| state.is_dead());
        if on != On::Tcp {
            self.turn_ends(loaded, own);
            return is_over;
        }
        let is_full = |fed: u16| usize::from(fed) >= STREAM_BYTES_MAX;
        self.fed.iter().all(|&fed| is_full(fed)) || is_over
    }

    /// Ends a turn, a datagram or a direction.
    pub(super) fn turn_ends(&mut self, loaded: &Loaded, side: u8) {
        let joint = loaded.set.at_end(&self.state);
        if let Some(joint) = self.sharp(joint) {
            self.note(joint.pattern);
        }
        let place = usize::from(side);
        let state = self.directed.get(place);
        if let Some(number) = state.and_then(|&state| loaded.directed.at_end(place, state)) {
            self.note(expression_number(loaded, number));
        }
    }

    /// Keeps the first decisive match.
    fn note(&mut self, pattern: u16) {
        if self.found == 0 {
            self.found = pattern.saturating_add(1);
            self.found_to_server = self.turn == side_of(true);
        }
    }

    /// Filters decisive matches. The first match that is likely by chance is kept for the end.
    fn sharp(&mut self, found: Option<Matched>) -> Option<Matched> {
        let found = found?;
        if !found.is_hint {
            return Some(found);
        }
        if self.weak == 0 {
            self.weak = found.pattern.saturating_add(1);
            self.weak_to_server = self.turn == side_of(true);
        }
        None
    }

    /// The verdict of a match that is likely by chance, for when nothing else decides.
    pub(super) fn weak(&self) -> Option<Verdict> {
        let number = loaded_number(self.weak.checked_sub(1)?);
        Some(Verdict {
            protocol: ProtocolId(number),
            rule: RuleId(number),
            confidence: Confidence::Likely,
            to_server: self.weak_to_server,
        })
    }

    /// The verdict of the decisive match, held until the built-in rules give up.
    pub(super) fn held(&self) -> Option<Verdict> {
        let number = loaded_number(self.found.checked_sub(1)?);
        Some(Verdict {
            protocol: ProtocolId(number),
            rule: RuleId(number),
            confidence: Confidence::Sure,
            to_server: self.found_to_server,
        })
    }

    /// The verdict, once the built-in rules have given up. `is_over`: no later byte can match.
    pub(super) fn step(&self, loaded: &Loaded, own_over: bool, is_over: bool) -> Step {
        match self.held() {
            Some(verdict) if own_over => Step::Verdict(verdict),
            Some(_) => Step::Undecided,
            None if own_over
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
