//! Determinisation: each state is a set of the nondeterministic automaton's.

use super::Classes;
use super::nfa::{Nfa, Part, PartId};
use crate::diagnostic::Failure;
use crate::limits::Limits;
use std::collections::{BTreeSet, HashMap};

/// A deterministic automaton. State 0 is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dfa {
    pub(crate) class_count: usize,
    /// By `state * class_count + class`.
    pub(crate) next: Vec<u16>,
    pub(crate) states: Vec<DfaState>,
    /// Where each start condition begins: within a line, at its beginning.
    pub(crate) starts: Vec<[u16; 2]>,
    /// The rules that go on in each state that matches nothing; empty when minimal.
    pub(crate) going_on: Vec<Vec<u16>>,
}

/// What a state says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DfaState {
    /// The first rule that matches, plus 1.
    pub(crate) accept: u16,
    /// Rules whose heads end here.
    pub(crate) heads: Vec<u16>,
    /// Rules that match, too, but come later.
    pub(crate) beaten: Vec<u16>,
}

/// A state without a match, behind at least one byte: whoever ends there backs up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NonAccepting {
    pub(crate) state: u16,
    /// Rules that go on from there.
    pub(crate) rules: Vec<u16>,
    /// Bytes that lead there.
    pub(crate) example: Vec<u8>,
}

impl Dfa {
    pub(crate) fn step(&self, state: u16, class: usize) -> u16 {
        let at = usize::from(state) * self.class_count + class;
        self.next.get(at).copied().unwrap_or(0)
    }

    pub(crate) fn row(&self, state: u16) -> &[u16] {
        let at = usize::from(state) * self.class_count;
        self.next.get(at..at + self.class_count).unwrap_or_default()
    }

    pub(crate) fn build(nfa: &Nfa, classes: &Classes, limits: &Limits) -> Result<Self, Failure> {
        let mut subsets = Subsets {
            nfa,
            limits,
            ids: HashMap::new(),
            sets: Vec::new(),
            steps: 0,
            closed: vec![0; nfa.parts.len()],
            round: 0,
        };
        let mut dfa = Self {
            class_count: classes.count(),
            ..Self::default()
        };
        subsets.id(Vec::new(), &mut dfa)?;
        for [within, at_begin] in &nfa.starts {
            let within = subsets.closure(within.iter().copied())?;
            let at_begin = subsets.closure(at_begin.iter().copied())?;
            let pair = [
                subsets.id(within, &mut dfa)?,
                subsets.id(at_begin, &mut dfa)?,
            ];
            dfa.starts.push(pair);
        }
        let mut state = 0;
        while state < subsets.sets.len() {
            let set = subsets.sets.get(state).cloned().unwrap_or_default();
            for &sample in &classes.samples {
                let next = subsets.after(&set, sample)?;
                let id = subsets.id(next, &mut dfa)?;
                dfa.next.push(id);
            }
            state += 1;
        }
        Ok(dfa)
    }

    /// The states that `flex -b` would report.
    pub(crate) fn non_accepting(&self, classes: &Classes) -> Vec<NonAccepting> {
        let starts: BTreeSet<u16> = self.starts.iter().flatten().copied().collect();
        let mut examples: Vec<Option<Vec<u8>>> = vec![None; self.states.len()];
        let mut waiting = std::collections::VecDeque::new();
        for &start in &starts {
            if let Some(example) = examples.get_mut(usize::from(start)) {
                *example = Some(Vec::new());
            }
            waiting.push_back(start);
        }
        let mut found = Vec::new();
        while let Some(state) = waiting.pop_front() {
            let index = usize::from(state);
            let example = examples.get(index).cloned().flatten().unwrap_or_default();
            let accepts = self
                .states
                .get(index)
                .is_some_and(|state| state.accept != 0);
            if state != 0 && !accepts && !starts.contains(&state) {
                found.push(NonAccepting {
                    state,
                    rules: self.going_on.get(index).cloned().unwrap_or_default(),
                    example: example.clone(),
                });
            }
            for (class, &sample) in classes.samples.iter().enumerate() {
                let next = self.step(state, class);
                let place = examples.get_mut(usize::from(next));
                if let Some(place) = place.filter(|place| next != 0 && place.is_none()) {
                    let mut longer = example.clone();
                    if longer.len() < EXAMPLE_LEN_MAX {
                        longer.push(sample);
                    }
                    *place = Some(longer);
                    waiting.push_back(next);
                }
            }
        }
        found
    }
}

struct Subsets<'a> {
    nfa: &'a Nfa,
    limits: &'a Limits,
    ids: HashMap<Vec<PartId>, u16>,
    sets: Vec<Vec<PartId>>,
    steps: usize,
    closed: Vec<u32>,
    round: u32,
}

impl Subsets<'_> {
    /// The parts that can be reached without a byte: those that say something, sorted.
    fn closure(&mut self, from: impl Iterator<Item = PartId>) -> Result<Vec<PartId>, Failure> {
        self.round += 1;
        let mut stack: Vec<PartId> = from.collect();
        let mut set = Vec::new();
        while let Some(id) = stack.pop() {
            self.step()?;
            let Some(mark) = self.closed.get_mut(id as usize) else {
                continue;
            };
            if *mark == self.round {
                continue;
            }
            *mark = self.round;
            match self.nfa.parts.get(id as usize) {
                Some(Part::Split(one, other)) => stack.extend([*other, *one]),
                Some(Part::Head(_, next)) => {
                    set.push(id);
                    stack.push(*next);
                }
                Some(Part::Byte(..) | Part::Accept(_)) => set.push(id),
                None => {}
            }
        }
        set.sort_unstable();
        Ok(set)
    }

    fn after(&mut self, set: &[PartId], byte: u8) -> Result<Vec<PartId>, Failure> {
        let mut next = Vec::new();
        for &id in set {
            self.step()?;
            if let Some(Part::Byte(bytes, to)) = self.nfa.parts.get(id as usize)
                && bytes.contains(byte)
            {
                next.push(*to);
            }
        }
        self.closure(next.into_iter())
    }

    fn id(&mut self, set: Vec<PartId>, dfa: &mut Dfa) -> Result<u16, Failure> {
        if let Some(&id) = self.ids.get(&set) {
            return Ok(id);
        }
        let table_bytes = (dfa.states.len() + 1) * dfa.class_count.next_power_of_two() * 2;
        if table_bytes > self.limits.table_bytes_max {
            let text = format!(
                "the automaton needs a table of more than {} bytes",
                self.limits.table_bytes_max
            );
            return Err(Failure::new(0, text));
        }
        if dfa.states.len() >= self.limits.states_max {
            let text = format!(
                "the automaton needs more than {} states",
                self.limits.states_max
            );
            return Err(Failure::new(0, text));
        }
        let mut rules = Vec::new();
        let mut heads = Vec::new();
        for &id in &set {
            match self.nfa.parts.get(id as usize) {
                Some(Part::Accept(rule)) => rules.push(*rule),
                Some(Part::Head(rule, _)) => heads.push(*rule),
                _ => {}
            }
        }
        rules.sort_unstable();
        heads.sort_unstable();
        let mut going_on = Vec::new();
        if rules.is_empty() {
            let owner = |&id: &PartId| self.nfa.owners.get(id as usize).copied();
            going_on.extend(set.iter().filter_map(owner));
            going_on.sort_unstable();
            going_on.dedup();
        }
        dfa.going_on.push(going_on);
        let accept = rules.first().map_or(0, |rule| rule + 1);
        dfa.states.push(DfaState {
            accept,
            heads,
            beaten: rules.into_iter().skip(1).collect(),
        });
        let id = u16::try_from(self.sets.len()).unwrap_or(0);
        // The memory that sets take is bounded by the steps that made them.
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        Ok(id)
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.steps += 1;
        if self.steps > self.limits.steps_max {
            let text = format!(
                "determinisation takes more than {} steps: too many counts or stars in front of \
                 each other",
                self.limits.steps_max
            );
            return Err(Failure::new(0, text));
        }
        Ok(())
    }
}

const EXAMPLE_LEN_MAX: usize = 60;
