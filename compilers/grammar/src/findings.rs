//! What a grammar's author should know: rules that never match, rules that back up.

use crate::automaton::Built;
use crate::diagnostic::{Failure, Source};
use crate::lower;
use crate::read::GrammarSource;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Rules that make the scanner back up, as `flex -b` reports them.
///
/// Behind `example` nothing has matched, and what comes next may match nothing, either: then the
/// scanner goes back to the last byte where a rule did match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackingUp {
    /// Lines of the rules that go on there, each once.
    pub rule_lines: Vec<usize>,
    /// Bytes that lead to such a state: a shortest example.
    pub example: Vec<u8>,
    /// How many states there are.
    pub state_count: usize,
    /// The way back may be as long as the token limit allows: a state leads to itself again.
    pub is_unbounded: bool,
}

impl fmt::Display for BackingUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.rule_lines.iter().map(usize::to_string).collect();
        write!(
            f,
            "rules of lines {} back up{}, for instance behind \"{}\" ({} states)",
            lines.join(", "),
            if self.is_unbounded {
                " without bound"
            } else {
                ""
            },
            self.example.escape_ascii(),
            self.state_count
        )
    }
}

/// Groups the states that back up by the rules that go on in them.
pub(crate) fn backing_up(
    source: &Source<'_>,
    read: &GrammarSource,
    matched: &[u16],
    built: &Built,
) -> Vec<BackingUp> {
    let line = |rule: &u16| {
        let index = matched.get(usize::from(*rule)).copied().unwrap_or(0);
        let rule = read.rules.get(usize::from(index));
        rule.map_or(0, |rule| source.line_of(rule.at))
    };
    let states = built.subsets.non_accepting(&built.classes);
    let on_cycles = on_cycles(built, states.iter().map(|state| state.state).collect());
    let mut groups: BTreeMap<Vec<usize>, BackingUp> = BTreeMap::new();
    for state in states {
        let lines: BTreeSet<usize> = state.rules.iter().map(line).collect();
        let lines: Vec<usize> = lines.into_iter().collect();
        let group = groups.entry(lines.clone()).or_insert_with(|| BackingUp {
            rule_lines: lines,
            example: state.example,
            state_count: 0,
            is_unbounded: false,
        });
        group.state_count += 1;
        group.is_unbounded |= on_cycles.contains(&state.state);
    }
    groups.into_values().collect()
}

/// Which of these states lie on a cycle of them, or lead to one: found by taking away, again and
/// again, those from which none of the others can be reached.
fn on_cycles(built: &Built, states: BTreeSet<u16>) -> BTreeSet<u16> {
    let subsets = &built.subsets;
    let mut left_of: BTreeMap<u16, usize> = BTreeMap::new();
    let mut before: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
    for &state in &states {
        let next: BTreeSet<u16> = subsets
            .row(state)
            .iter()
            .copied()
            .filter(|next| states.contains(next))
            .collect();
        left_of.insert(state, next.len());
        for next in next {
            before.entry(next).or_default().push(state);
        }
    }
    let mut ended: Vec<u16> = left_of
        .iter()
        .filter(|&(_, &left)| left == 0)
        .map(|(&state, _)| state)
        .collect();
    let mut rest = states;
    while let Some(state) = ended.pop() {
        rest.remove(&state);
        for before in before.get(&state).into_iter().flatten() {
            if let Some(left) = left_of.get_mut(before) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    ended.push(*before);
                }
            }
        }
    }
    rest
}

/// Rules that never match, and why.
pub(crate) fn unmatchable(
    source: &Source<'_>,
    read: &GrammarSource,
    matched: &[u16],
    built: &Built,
) -> Vec<Failure> {
    let mut wins: BTreeSet<u16> = BTreeSet::new();
    let mut beaten_by: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
    for state in &built.subsets.states {
        if let Some(rule) = state.accept.checked_sub(1) {
            wins.insert(rule);
            for &beaten in &state.beaten {
                beaten_by.entry(beaten).or_default().insert(rule);
            }
        }
    }
    let at = |rule: u16| {
        let index = matched.get(usize::from(rule)).copied().unwrap_or(0);
        read.rules.get(usize::from(index)).map_or(0, |rule| rule.at)
    };
    let mut findings = Vec::new();
    for rule in (0u16..).take(matched.len()) {
        if wins.contains(&rule) {
            continue;
        }
        let lines: Vec<String> = beaten_by
            .get(&rule)
            .into_iter()
            .flatten()
            .map(|&winner| source.line_of(at(winner)).to_string())
            .collect();
        let text = match lines.is_empty() {
            true => "this rule can never match: no start condition begins it".to_owned(),
            false => format!(
                "this rule can never match: whatever it matches, an earlier rule matches, too \
                 (line {})",
                lines.join(", ")
            ),
        };
        findings.push(Failure::new(at(rule), text));
    }
    findings
}

/// Rules whose head can match nothing: nothing is never a token here.
pub(crate) fn matching_nothing(read: &GrammarSource) -> Vec<Failure> {
    let mut findings = Vec::new();
    for rule in &read.rules {
        if rule
            .pattern
            .as_ref()
            .is_some_and(|p| p.head.matches_nothing())
        {
            let text = "this pattern can match nothing: nothing is never a token, so that a \
                        scanner always goes on";
            findings.push(Failure::new(rule.at, text));
        }
    }
    findings
}

/// Start conditions in which no rule holds.
pub(crate) fn empty_conditions(read: &GrammarSource) -> Vec<Failure> {
    let mut findings = Vec::new();
    for (index, condition) in read.conditions.iter().enumerate().skip(1) {
        let has_rule = read.rules.iter().any(|rule| {
            rule.pattern.is_some() && lower::holds(&rule.conditions, index, condition.is_exclusive)
        });
        if !has_rule {
            let text = format!("no rule holds in start condition {}", condition.name);
            findings.push(Failure::new(condition.at, text));
        }
    }
    findings
}
