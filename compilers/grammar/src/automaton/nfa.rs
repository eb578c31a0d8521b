//! The nondeterministic automaton (Thompson's construction).

use super::AutomatonRule;
use crate::diagnostic::Failure;
use crate::limits::Limits;
use crate::pattern::{Node, Set};
use flowpin_lexer::Trail;

/// An index into [`Nfa::parts`].
pub(crate) type PartId = u32;

/// A state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// A byte of the set leads on.
    Byte(Set, PartId),
    /// Nothing leads on, to either.
    Split(PartId, PartId),
    /// The head of a rule with variable trailing context ends here.
    Head(u16, PartId),
    /// A rule matches.
    Accept(u16),
}

/// How a rule's trailing context is told from its head.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RuleTrail {
    pub(crate) trail: Trail,
}

/// All rules' automaton.
pub(crate) struct Nfa {
    pub(crate) parts: Vec<Part>,
    /// Where each start condition begins: within a line, at its beginning.
    pub(crate) starts: Vec<[Vec<PartId>; 2]>,
    pub(crate) trails: Vec<RuleTrail>,
    /// Which rule each part is of.
    pub(crate) owners: Vec<u16>,
}

impl Nfa {
    pub(crate) fn build(
        rules: &[AutomatonRule<'_>],
        condition_count: usize,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let mut builder = Builder {
            parts: Vec::new(),
            parts_max: limits.parts_max,
            rule_at: 0,
        };
        let mut starts = vec![[Vec::new(), Vec::new()]; condition_count];
        let mut trails = Vec::new();
        let mut owners = Vec::new();
        for (number, rule) in (0u16..).zip(rules) {
            builder.rule_at = rule.at;
            let (start, trail) = builder.rule(number, rule)?;
            trails.push(RuleTrail { trail });
            owners.resize(builder.parts.len(), number);
            for ([within, at_begin], holds) in starts.iter_mut().zip(&rule.holds_in) {
                if *holds {
                    at_begin.push(start);
                    if !rule.pattern.at_line_start {
                        within.push(start);
                    }
                }
            }
        }
        Ok(Self {
            parts: builder.parts,
            starts,
            trails,
            owners,
        })
    }
}

struct Builder {
    parts: Vec<Part>,
    parts_max: usize,
    rule_at: usize,
}

impl Builder {
    fn rule(&mut self, number: u16, rule: &AutomatonRule<'_>) -> Result<(PartId, Trail), Failure> {
        let accept = self.add(Part::Accept(number))?;
        let pattern = rule.pattern;
        let Some(tail) = &pattern.tail else {
            return Ok((self.node(&pattern.head, accept)?, Trail::None));
        };
        let mut next = self.node(tail, accept)?;
        let trail = match (pattern.head.fixed_len(), tail.fixed_len()) {
            (_, Some(len)) => Trail::Tail(len),
            (Some(len), None) => Trail::Head(len),
            (None, None) => {
                next = self.add(Part::Head(number, next))?;
                Trail::Variable
            }
        };
        Ok((self.node(&pattern.head, next)?, trail))
    }

    /// The automaton of a node in front of `next`: where it begins.
    fn node(&mut self, node: &Node, next: PartId) -> Result<PartId, Failure> {
        match node {
            Node::Empty => Ok(next),
            Node::Class(set) => self.add(Part::Byte(*set, next)),
            Node::Concat(parts) => parts
                .iter()
                .rev()
                .try_fold(next, |next, part| self.node(part, next)),
            Node::Either(choices) => {
                let mut begin = None;
                for choice in choices.iter().rev() {
                    let choice = self.node(choice, next)?;
                    begin = Some(match begin {
                        None => choice,
                        Some(other) => self.add(Part::Split(choice, other))?,
                    });
                }
                Ok(begin.unwrap_or(next))
            }
            Node::Repeat(part, min, max) => self.repeat(part, *min, *max, next),
        }
    }

    fn repeat(
        &mut self,
        part: &Node,
        min: u32,
        max: Option<u32>,
        next: PartId,
    ) -> Result<PartId, Failure> {
        let mut begin = match max {
            None => {
                let split = self.add(Part::Split(next, next))?;
                let body = self.node(part, split)?;
                if let Some(place) = self.parts.get_mut(split as usize) {
                    *place = Part::Split(body, next);
                }
                split
            }
            Some(max) => {
                let mut begin = next;
                for _ in min..max {
                    let body = self.node(part, begin)?;
                    begin = self.add(Part::Split(body, next))?;
                }
                begin
            }
        };
        for _ in 0..min {
            begin = self.node(part, begin)?;
        }
        Ok(begin)
    }

    fn add(&mut self, part: Part) -> Result<PartId, Failure> {
        if self.parts.len() >= self.parts_max {
            let text = format!(
                "the rules up to here have more than {} parts, counts written out",
                self.parts_max
            );
            return Err(Failure::new(self.rule_at, text));
        }
        let id = PartId::try_from(self.parts.len()).unwrap_or(PartId::MAX);
        self.parts.push(part);
        Ok(id)
    }
}
