//! Many patterns in few automata.
//!
//! Anchored patterns go together as far as the limit on states allows, those that begin anywhere
//! likewise among themselves; patterns that may only hint are kept apart from those that may
//! decide, because a search ends at its first match. Those that begin anywhere, but with something
//! rare, sleep behind a gate.

use crate::gate::{self, Gate};
use crate::rewrite::rewrite;
use crate::{Automaton, Limits, Rating, Refusal, Rewrite, Rewritten};
use regex_syntax::hir::Hir;
use std::collections::BTreeMap;

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
    /// It sleeps until the gate opens.
    pub is_gated: bool,
    /// Of patterns that begin anywhere: the bytes that wake it, if they are few.
    pub(crate) wakes: Option<[u8; 3]>,
}

/// Compiled patterns. Never written after [`PatternSet::build`]: shared by all workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatternSet {
    /// All patterns, in the order given, without the refused ones.
    pub patterns: Vec<Compiled>,
    /// Their automata; those that decide come first.
    pub groups: Vec<Group>,
    /// Matches where any pattern of a gated group may have begun.
    pub gate: Option<Gate>,
    /// By first letter: the groups that can match what begins with it, a bit each.
    pub(crate) begun: Vec<u32>,
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
        let mut kinds: BTreeMap<Kind, Vec<(u16, Automaton)>> = BTreeMap::new();
        let mut gated = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let whole = rewrite(&source.hir, how);
            let alone = [whole.hir.clone()];
            let automaton = match Automaton::build(&alone, whole.anchored, limits) {
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
                anchored: whole.anchored,
            });
            let parts = if rating.is_sharp() {
                compiled_parts(whole, automaton, limits)
            } else {
                vec![(whole, automaton)]
            };
            for (part, automaton) in parts {
                let waits = if part.anchored || !rating.is_sharp() {
                    None
                } else {
                    gate::beginnings(&part.hir)
                };
                let kind = Kind {
                    is_hint: !rating.is_sharp(),
                    anywhere: !part.anchored,
                    is_gated: waits.is_some(),
                };
                gated.extend(waits);
                kinds.entry(kind).or_default().push((place, automaton));
            }
        }
        set.gate = gate::gate(&gated);
        for (mut kind, mut list) in kinds {
            // Without a gate all are awake.
            kind.is_gated &= set.gate.is_some();
            list.sort_by_key(|(place, automaton)| (automaton.states(), *place));
            group(&list, kind, limits, &mut set.groups);
        }
        for group in set.groups.drain(GROUPS_MAX.min(set.groups.len())..) {
            let names = group
                .patterns
                .iter()
                .filter_map(|&place| set.patterns.get(usize::from(place)));
            refused.extend(names.map(|one| (usize::from(one.source), Refusal::Groups(GROUPS_MAX))));
        }
        (set.ready(), refused)
    }

    /// A set of parts that are there, without a gate.
    pub fn of_parts(patterns: Vec<Compiled>, groups: Vec<Group>) -> Self {
        let set = Self {
            patterns,
            groups,
            ..Self::default()
        };
        set.ready()
    }

    /// Notes what each group can begin with.
    pub(crate) fn ready(mut self) -> Self {
        let begun = |letter: u8| {
            let groups = (0u32..).zip(&self.groups);
            let bits = groups.map(|(number, group)| {
                u32::from(group.automaton.may_begin(letter)).wrapping_shl(number)
            });
            bits.fold(0, |all, bit| all | bit)
        };
        self.begun = (0..=u8::MAX).map(begun).collect();
        self
    }

    /// With all automata awake from the beginning: what the gate must not change.
    pub(crate) fn without_gate(mut self) -> Self {
        self.gate = None;
        for group in &mut self.groups {
            group.is_gated = false;
        }
        self.ready()
    }

    /// States and bytes of all automata.
    pub fn size(&self) -> (usize, usize) {
        let all = || self.groups.iter().map(|group| &group.automaton);
        let gate = self
            .gate
            .as_ref()
            .map_or(0, |gate| size_of_val(&*gate.barred));
        (
            all().map(Automaton::states).sum(),
            all().map(Automaton::bytes).sum::<usize>() + gate,
        )
    }
}

impl Group {
    /// That is always awake.
    pub fn new(automaton: Automaton, patterns: Vec<u16>, is_hint: bool) -> Self {
        Self {
            wakes: automaton.wakes(),
            automaton,
            patterns,
            is_hint,
            is_gated: false,
        }
    }
}

/// A pattern's branches that begin with the first byte, and its others, each by itself; the whole
/// if there is nothing to part, or if the parts cannot be compiled.
fn compiled_parts(
    whole: Rewritten,
    automaton: Automaton,
    limits: &Limits,
) -> Vec<(Rewritten, Automaton)> {
    let parts: Option<Vec<_>> = whole
        .parts()
        .into_iter()
        .flatten()
        .map(|part| {
            let hir = std::slice::from_ref(&part.hir);
            let automaton = Automaton::build(hir, part.anchored, limits).ok()?;
            Some((part, automaton))
        })
        .collect();
    match parts {
        Some(parts) if !parts.is_empty() => parts,
        _ => vec![(whole, automaton)],
    }
}

/// What is grouped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    is_hint: bool,
    anywhere: bool,
    is_gated: bool,
}

/// Puts as many as possible into one automaton; halves the list, largest apart, if they do not fit.
fn group(list: &[(u16, Automaton)], kind: Kind, limits: &Limits, groups: &mut Vec<Group>) {
    let whole = match list {
        [] => return,
        [(_, alone)] => Some(alone.clone()),
        _ => together(list, limits),
    };
    if let Some(automaton) = whole {
        let patterns = list.iter().map(|&(place, _)| place).collect();
        let group = Group::new(automaton, patterns, kind.is_hint);
        return groups.push(Group {
            is_gated: kind.is_gated,
            ..group
        });
    }
    // The large ones make the trouble: most of the small ones stay together.
    let (small, large) = list.split_at(list.len() - list.len().div_ceil(3));
    group(small, kind, limits, groups);
    group(large, kind, limits, groups);
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
