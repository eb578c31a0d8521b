//! What the evaluation of rules costs, where somebody asks.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What one rule has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleCost {
    /// How often it was compared: its fast pattern was found, or it has none.
    pub checks: u64,
    /// How often it fitted.
    pub matches: u64,
    /// Nanoseconds of the comparisons.
    pub nanos: u64,
}

/// What searching fast patterns in one kind of bytes has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchCost {
    /// How many searches there were.
    pub searches: u64,
    /// The bytes that were searched.
    pub bytes: u64,
    /// Nanoseconds of the searches.
    pub nanos: u64,
}

/// The costs of a run: by rule, and by what is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// By the rule's place in its set.
    pub rules: BTreeMap<u32, RuleCost>,
    /// By the name of a buffer, or `packets`, `streams` or `bodies`.
    pub searches: BTreeMap<&'static str, SearchCost>,
}

impl Costs {
    /// Adds the costs of another part of the run.
    pub fn add(&mut self, other: &Self) {
        for (&rule, cost) in &other.rules {
            let sum = self.rules.entry(rule).or_default();
            sum.checks += cost.checks;
            sum.matches += cost.matches;
            sum.nanos += cost.nanos;
        }
        for (&name, cost) in &other.searches {
            let sum = self.searches.entry(name).or_default();
            sum.searches += cost.searches;
            sum.bytes += cost.bytes;
            sum.nanos += cost.nanos;
        }
    }
}

/// Where the workers of a run leave their costs.
#[derive(Debug, Default)]
pub struct CostLedger(Mutex<Costs>);

impl CostLedger {
    /// Adds the costs of a worker.
    pub fn add(&self, costs: &Costs) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(costs);
    }

    /// The sum of all that was added.
    pub fn sum(&self) -> Costs {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Plans are compared by what they ask for: all ledgers are alike.
impl PartialEq for CostLedger {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CostLedger {}
