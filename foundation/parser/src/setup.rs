//! What a parser is made from: what the user asked for, the memory, what all workers share.

use core::any::Any;
use flowpin_config::{FilesPlan, ParsePlan};
use flowpin_memory::Budget;
use std::path::PathBuf;
use std::sync::Arc;

/// What parsers are made from: the same for all workers of a run.
#[derive(Clone, Debug)]
pub struct ParserSetup {
    /// What is asked for of messages.
    pub parse: ParsePlan,
    /// What is asked for of the files that they carry.
    pub files: FilesPlan,
    /// Whether formats are written that go by columns.
    pub has_columns: bool,
    /// Whether rules read fields and bodies that no record has.
    pub rules: bool,
    /// The memory of the worker's shards, which parsers share with all other stages.
    pub budget: Budget,
    /// The memory of bodies that are decoded, hashed or written.
    pub bodies: Budget,
    shared: Vec<Arc<dyn Any + Send + Sync>>,
}

/// A file of the user's that a parser cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct SetupError {
    /// The setting of `[parse]` that names it.
    pub key: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

impl ParserSetup {
    /// What these settings ask for, without memory: each worker adds its own.
    pub fn new(parse: ParsePlan, files: FilesPlan, has_columns: bool) -> Self {
        Self {
            parse,
            files,
            has_columns,
            rules: false,
            budget: Budget::new(0),
            bodies: Budget::new(0),
            shared: Vec::new(),
        }
    }

    /// The same for one worker: with the memory of its shards.
    #[must_use]
    pub fn with_budgets(&self, budget: Budget, bodies: Budget) -> Self {
        Self {
            budget,
            bodies,
            ..self.clone()
        }
    }

    /// Keeps what the parsers of all workers share: one value of each type.
    pub fn share<T: Any + Send + Sync>(&mut self, value: Arc<T>) {
        self.shared.push(value);
    }

    /// What [`share`](Self::share) has kept of this type.
    pub fn shared<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let mut kept = self.shared.iter();
        kept.find_map(|one| Arc::clone(one).downcast().ok())
    }
}

/// The defaults, with 256 KiB for each shard, and as much for bodies.
impl Default for ParserSetup {
    fn default() -> Self {
        let memory = || Budget::new(256 << 10);
        Self::new(ParsePlan::default(), FilesPlan::default(), true).with_budgets(memory(), memory())
    }
}
