//! Sets that rules write (`dataset:set`): decided in the order of keys, as what hosts remember is.

use flowpin_record::{SetAction, SetUse};
use flowpin_rule::ValueSet;
use std::collections::HashMap;
use std::sync::Arc;

/// The sets of a run.
#[derive(Debug, Default)]
pub(crate) struct WrittenSets {
    sets: Vec<WrittenSet>,
    /// What values take that have changed.
    bytes: usize,
    /// Values that were not kept for lack of room.
    pub(crate) left_out: u64,
}

#[derive(Debug)]
struct WrittenSet {
    /// What was loaded.
    initial: Arc<ValueSet>,
    /// What has changed since: whether the value is in the set.
    changed: HashMap<Vec<u8>, bool>,
}

impl WrittenSet {
    fn contains(&self, value: &[u8]) -> bool {
        let changed = self.changed.get(value).copied();
        changed.unwrap_or_else(|| self.initial.contains(value))
    }
}

impl WrittenSets {
    pub(crate) fn new(initial: Vec<Arc<ValueSet>>) -> Self {
        let sets = initial.into_iter().map(|initial| WrittenSet {
            initial,
            changed: HashMap::new(),
        });
        Self {
            sets: sets.collect(),
            ..Self::default()
        }
    }

    /// Whether all holds that a rule asks of sets.
    pub(crate) fn hold(&self, uses: &[SetUse]) -> bool {
        uses.iter().all(|one| {
            let mut values = one.values.iter();
            match one.action {
                SetAction::In => values.any(|value| self.contains(one.set, value)),
                SetAction::NotIn => values.any(|value| !self.contains(one.set, value)),
                SetAction::Add | SetAction::Remove => true,
            }
        })
    }

    /// Changes sets as a rule says.
    pub(crate) fn change(&mut self, uses: &[SetUse]) {
        for one in uses {
            let is_in = match one.action {
                SetAction::Add => true,
                SetAction::Remove => false,
                SetAction::In | SetAction::NotIn => continue,
            };
            for value in &one.values {
                self.put(one.set, value, is_in);
            }
        }
    }

    fn contains(&self, set: u16, value: &[u8]) -> bool {
        let set = self.sets.get(usize::from(set));
        set.is_some_and(|set| set.contains(value))
    }

    fn put(&mut self, set: u16, value: &[u8], is_in: bool) {
        let Some(set) = self.sets.get_mut(usize::from(set)) else {
            return;
        };
        if let Some(known) = set.changed.get_mut(value) {
            *known = is_in;
            return;
        }
        if set.initial.contains(value) == is_in {
            return;
        }
        let taken = value.len() + ENTRY_BYTES;
        if self.bytes + taken > BYTES_MAX {
            self.left_out += 1;
            return;
        }
        self.bytes += taken;
        set.changed.insert(value.to_vec(), is_in);
    }
}

/// Of a value, beside its bytes.
const ENTRY_BYTES: usize = 64;
/// A million short values.
const BYTES_MAX: usize = 96 << 20;

#[cfg(test)]
mod tests {
    use super::WrittenSets;
    use flowpin_record::{SetAction, SetUse};
    use flowpin_rule::ValueSet;
    use std::sync::Arc;

    /// What was loaded counts until it is changed, and what is changed last.
    #[test]
    fn values_are_in_until_they_are_taken_out() {
        let mut loaded = ValueSet::default();
        loaded.add(b"a", 0);
        let mut sets = WrittenSets::new(vec![Arc::new(loaded)]);
        let one = |action, value: &[u8]| {
            let values = vec![value.to_vec()];
            [SetUse {
                set: 0,
                action,
                values,
            }]
        };
        let is_in = |sets: &WrittenSets, value: &[u8]| sets.hold(&one(SetAction::In, value));
        assert!(is_in(&sets, b"a") && !is_in(&sets, b"b"));
        sets.change(&one(SetAction::Remove, b"a"));
        sets.change(&one(SetAction::Add, b"b"));
        assert!(!is_in(&sets, b"a") && is_in(&sets, b"b"));
        assert!(sets.hold(&one(SetAction::NotIn, b"a")));
        let most = vec![0; super::BYTES_MAX];
        sets.change(&one(SetAction::Add, &most));
        assert!(!is_in(&sets, &most) && sets.left_out == 1);
    }
}
