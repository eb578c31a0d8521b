//! What a worker's evaluation costs, measured only where somebody asks.

use crate::database::{Compiled, Database};
use flowpin_rule::{CostLedger, Costs};
use std::sync::Arc;
use std::time::Instant;

/// The costs of one worker, which hands them over when it ends.
#[derive(Debug)]
pub(super) struct Measured {
    costs: Costs,
    ledger: Arc<CostLedger>,
}

impl Measured {
    pub(super) fn new(database: &Database) -> Option<Box<Self>> {
        let ledger = Arc::clone(database.costs.as_ref()?);
        let costs = Costs::default();
        Some(Box::new(Self { costs, ledger }))
    }

    pub(super) fn rule(&mut self, compiled: &Compiled, begin: Instant, fits: bool) {
        let cost = self.costs.rules.entry(compiled.number).or_default();
        cost.checks += 1;
        cost.matches += u64::from(fits);
        cost.nanos += nanos(begin);
    }

    pub(super) fn search(&mut self, name: &'static str, bytes: usize, begin: Instant) {
        let cost = self.costs.searches.entry(name).or_default();
        cost.searches += 1;
        cost.bytes += bytes as u64;
        cost.nanos += nanos(begin);
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.ledger.add(&self.costs);
    }
}

fn nanos(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
