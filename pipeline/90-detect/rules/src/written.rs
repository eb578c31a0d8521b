//! Sets that rules write (`dataset:set`): decided in the order of keys, as what hosts remember is.

use flowpin_record::{SetAction, SetUse};
use flowpin_rule::ValueSet;
use std::collections::HashMap;
use std::sync::Arc;

/// The sets of a run.
#[derive(Debug, Default)]
pub(crate) struct WrittenSets {
    /// What was loaded.
    initial: Vec<Arc<ValueSet>>,
    /// What has changed since: whether the value is in the set.
    changed: HashMap<(u16, Vec<u8>), bool>,
    bytes: usize,
    /// Values that were not kept for lack of room.
    pub(crate) left_out: u64,
}

impl WrittenSets {
    pub(crate) fn new(initial: Vec<Arc<ValueSet>>) -> Self {
        Self {
            initial,
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
        let changed = self.changed.get(&(set, value.to_vec()));
        changed.copied().unwrap_or_else(|| {
            let initial = self.initial.get(usize::from(set));
            initial.is_some_and(|initial| initial.contains(value))
        })
    }

    fn put(&mut self, set: u16, value: &[u8], is_in: bool) {
        if self.contains(set, value) == is_in {
            return;
        }
        let key = (set, value.to_vec());
        if let Some(known) = self.changed.get_mut(&key) {
            *known = is_in;
            return;
        }
        let taken = value.len() + ENTRY_BYTES;
        if self.bytes + taken > BYTES_MAX {
            self.left_out += 1;
            return;
        }
        self.bytes += taken;
        self.changed.insert(key, is_in);
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
