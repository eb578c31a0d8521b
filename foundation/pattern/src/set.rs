//! Many patterns in few automata.
//!
//! Anchored patterns go together as far as the limit on states allows, those that begin anywhere
//! likewise among themselves; patterns that may only hint are kept apart from those that may
//! decide, because a search ends at its first match.

use crate::rewrite::rewrite;
use crate::{Automaton, Fed, Limits, Rating, Refusal, Rewrite, State};
use regex_syntax::hir::Hir;

/// The most automata of a set: one state each is what a search keeps.
pub const GROUPS_MAX: usize = 24;

/// States of an automaton with several patterns: beyond it, two smaller ones cost less to build.
const GROUP_STATES_MAX: usize = 4096;

/// And so many are welcome, however few the parts have.
const GROUP_STATES_SMALL: usize = 1024;

/// A pattern to compile.
#[derive(Clone, Debug)]
pub struct Source {
    /// Names it in results and refusals.
    pub name: String,
    /// Read.
    pub hir: Hir,
}

/// What became of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// Its name.
    pub name: String,
    /// Its place among the sources.
    pub source: u16,
    /// How often it matches by chance.
    pub rating: Rating,
    /// States of its own automaton, compiled alone.
    pub states: u32,
    /// It begins with the first byte.
    pub anchored: bool,
}

/// One automaton with several patterns.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The automaton.
    pub automaton: Automaton,
    /// By pattern of the automaton: its place in the set.
    pub patterns: Vec<u16>,
    /// Its matches are hints, never verdicts.
    pub is_hint: bool,
}

/// Compiled patterns. Never written after [`PatternSet::build`]: shared by all workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatternSet {
    /// All patterns, in the order given, without the refused ones.
    pub patterns: Vec<Compiled>,
    /// Their automata; those that decide come first.
    pub groups: Vec<Group>,
}

/// Where a search over a set stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetState {
    states: [State; GROUPS_MAX],
}

/// A match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Which pattern, by its place in the set.
    pub pattern: u16,
    /// How many of the bytes fed last were needed.
    pub len: usize,
    /// Only a hint.
    pub is_hint: bool,
}

impl SetState {
    /// A search that cannot match any more.
    pub const OVER: Self = Self {
        states: [State::DEAD; GROUPS_MAX],
    };
}

impl PatternSet {
    /// Compiles patterns; those that break a limit are refused one by one, told by their place.
    pub fn build(
        sources: &[Source],
        how: Rewrite,
        limits: &Limits,
    ) -> (Self, Vec<(usize, Refusal)>) {
        let mut set = Self::default();
        let mut refused = Vec::new();
        // By kind (anchored or not, hint or not): what is to be grouped.
        let mut kinds: [Vec<(u16, Automaton)>; 4] = Default::default();
        for (number, source) in sources.iter().enumerate() {
            let rewritten = rewrite(&source.hir, how);
            let alone = [rewritten.hir];
            let automaton = match Automaton::build(&alone, rewritten.anchored, limits) {
                Ok(automaton) => automaton,
                Err(refusal) => {
                    refused.push((number, refusal));
                    continue;
                }
            };
            let rating = Rating::of(&automaton);
            let place = u16::try_from(set.patterns.len()).unwrap_or(u16::MAX);
            set.patterns.push(Compiled {
                name: source.name.clone(),
                source: u16::try_from(number).unwrap_or(u16::MAX),
                rating,
                states: u32::try_from(automaton.states()).unwrap_or(u32::MAX),
                anchored: rewritten.anchored,
            });
            let kind = usize::from(!rating.is_sharp()) * 2 + usize::from(!rewritten.anchored);
            if let Some(list) = kinds.get_mut(kind) {
                list.push((place, automaton));
            }
        }
        for (kind, mut list) in kinds.into_iter().enumerate() {
            list.sort_by_key(|(place, automaton)| (automaton.states(), *place));
            group(&list, kind >= 2, limits, &mut set.groups);
        }
        for group in set.groups.drain(GROUPS_MAX.min(set.groups.len())..) {
            let names = group
                .patterns
                .iter()
                .filter_map(|&place| set.patterns.get(usize::from(place)));
            refused.extend(names.map(|one| (usize::from(one.source), Refusal::Groups(GROUPS_MAX))));
        }
        (set, refused)
    }

    /// Without the automata of those that may only hint: what a search for verdicts needs.
    #[must_use]
    pub fn without_hints(mut self) -> Self {
        self.groups.retain(|group| !group.is_hint);
        self
    }

    /// A search that has seen nothing.
    pub fn start(&self) -> SetState {
        let mut states = [State::DEAD; GROUPS_MAX];
        for (state, group) in states.iter_mut().zip(&self.groups) {
            *state = group.automaton.start();
        }
        SetState { states }
    }

    /// Goes on with `bytes` (zeros are left out). The match that needs the fewest bytes is told,
    /// of equals the earlier group's; one that decides before one that hints.
    pub fn feed(&self, search: &mut SetState, bytes: &[u8]) -> Option<Matched> {
        let mut best: Option<Matched> = None;
        for (group, state) in self.groups.iter().zip(&mut search.states) {
            if state.is_dead() {
                continue;
            }
            if let Fed::Match(pattern, len) = group.automaton.feed_without_nuls(state, bytes) {
                // Told once.
                *state = State::DEAD;
                let found = group.matched(pattern, len);
                let is_better =
                    best.is_none_or(|best| (found.is_hint, found.len) < (best.is_hint, best.len));
                if is_better {
                    best = Some(found);
                }
            }
        }
        best
    }

    /// A turn, datagram or stream ends here: what `$` waits for. The search may go on.
    pub fn at_end(&self, search: &SetState) -> Option<Matched> {
        self.groups
            .iter()
            .zip(&search.states)
            .find_map(|(group, &state)| {
                let pattern = group.automaton.at_end(state)?;
                Some(group.matched(pattern, 0))
            })
    }

    /// Whether nothing can match any more.
    pub fn is_over(&self, search: &SetState) -> bool {
        search.states.iter().all(|state| state.is_dead())
    }

    /// States and bytes of all automata.
    pub fn size(&self) -> (usize, usize) {
        let states = self
            .groups
            .iter()
            .map(|group| group.automaton.states())
            .sum();
        (
            states,
            self.groups
                .iter()
                .map(|group| group.automaton.bytes())
                .sum(),
        )
    }
}

impl Group {
    fn matched(&self, pattern: u16, len: usize) -> Matched {
        Matched {
            pattern: self
                .patterns
                .get(usize::from(pattern))
                .copied()
                .unwrap_or(u16::MAX),
            len,
            is_hint: self.is_hint,
        }
    }
}

/// Puts as many as possible into one automaton; halves the list, largest apart, if they do not fit.
fn group(list: &[(u16, Automaton)], is_hint: bool, limits: &Limits, groups: &mut Vec<Group>) {
    let whole = match list {
        [] => return,
        [(_, alone)] => Some(alone.clone()),
        _ => together(list, limits),
    };
    if let Some(automaton) = whole {
        return groups.push(Group {
            automaton,
            patterns: list.iter().map(|&(place, _)| place).collect(),
            is_hint,
        });
    }
    // The large ones make the trouble: most of the small ones stay together.
    let (small, large) = list.split_at(list.len() - list.len().div_ceil(3));
    group(small, is_hint, limits, groups);
    group(large, is_hint, limits, groups);
}

/// All of them, unless their states multiply.
fn together(list: &[(u16, Automaton)], limits: &Limits) -> Option<Automaton> {
    let parts: Vec<&Automaton> = list.iter().map(|(_, automaton)| automaton).collect();
    let sum: usize = parts.iter().map(|one| one.states()).sum();
    if sum > GROUP_STATES_MAX {
        return None;
    }
    // More states than twice the parts have: they will be better off apart.
    let limits = Limits {
        states: limits
            .states
            .min(GROUP_STATES_MAX)
            .min((sum * 2).max(GROUP_STATES_SMALL)),
        ..*limits
    };
    Automaton::together(&parts, &limits).ok()
}
