//! Functions that need the core's context: those that use a private variable, and all that call
//! one of them by name.
//!
//! What calls through a pointer needs none: a function whose address is taken has a callback with
//! its old parameters, which finds the context of the thread that runs it.

use crate::model::{FunctionId, GlobalId, Model};
use std::collections::{HashMap, HashSet};

/// Functions by why they need the context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closure {
    /// They use a private variable themselves.
    pub direct: HashSet<FunctionId>,
    /// These, and all that call one of these, but for those that find their core themselves.
    pub all: HashSet<FunctionId>,
    /// Functions that use state and find their core themselves.
    pub finders: HashSet<FunctionId>,
}

impl Closure {
    /// The functions that need the context when `private` is private; `others` need it anyway, and
    /// `finders` would find it themselves.
    #[must_use]
    pub fn of(
        model: &Model,
        is_private: impl Fn(GlobalId) -> bool,
        others: impl Iterator<Item = FunctionId>,
        finders: &HashSet<FunctionId>,
    ) -> Self {
        let direct: HashSet<FunctionId> = model
            .references
            .iter()
            .filter(|one| model.needs_state(one) && is_private(one.global))
            .filter_map(|one| one.inside)
            .chain(others)
            .collect();
        let mut callers: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
        for call in &model.calls {
            if let Some(caller) = call.caller {
                callers.entry(call.callee).or_default().push(caller);
            }
        }
        let mut all = HashSet::new();
        let mut found = HashSet::new();
        let mut work: Vec<FunctionId> = direct.iter().copied().collect();
        while let Some(function) = work.pop() {
            if finders.contains(&function) {
                found.insert(function);
            } else if all.insert(function) {
                work.extend(callers.get(&function).into_iter().flatten());
            }
        }
        Self {
            direct,
            all,
            finders: found,
        }
    }

    /// Whether a function needs the context, whoever gives it.
    #[must_use]
    pub fn needs(&self, function: FunctionId) -> bool {
        self.all.contains(&function) || self.finders.contains(&function)
    }
}
