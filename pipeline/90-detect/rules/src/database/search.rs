//! Searching a buffer for all fast patterns of its rules at once.

use daachorse::DoubleArrayAhoCorasick;
use std::collections::BTreeMap;

/// Many patterns, and which rules each belongs to.
pub(crate) trait Search: core::fmt::Debug + Send + Sync {
    /// Calls `hit` with each rule one of whose patterns stands in `bytes`, in small letters; maybe
    /// more than once.
    fn search(&self, bytes: &[u8], hit: &mut dyn FnMut(u32));
}

/// The patterns as one automaton.
pub(crate) struct Automaton {
    automaton: DoubleArrayAhoCorasick<u32>,
    /// The rules of each pattern.
    rules: Vec<Box<[u32]>>,
}

impl core::fmt::Debug for Automaton {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("Automaton")
            .field("patterns", &self.rules.len())
            .finish()
    }
}

impl Automaton {
    /// None if there are no patterns.
    ///
    /// # Errors
    /// If there are more than an automaton has room for.
    pub(crate) fn new(patterns: &BTreeMap<Vec<u8>, Vec<u32>>) -> Result<Option<Self>, String> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let numbered = patterns.keys().zip(0_u32..);
        let automaton = DoubleArrayAhoCorasick::with_values(numbered);
        let automaton = automaton.map_err(|error| error.to_string())?;
        let rules = patterns
            .values()
            .map(|rules| rules.clone().into_boxed_slice());
        Ok(Some(Self {
            automaton,
            rules: rules.collect(),
        }))
    }
}

impl Search for Automaton {
    fn search(&self, bytes: &[u8], hit: &mut dyn FnMut(u32)) {
        for found in self.automaton.find_overlapping_iter(bytes) {
            let rules = self.rules.get(found.value() as usize);
            rules.into_iter().flatten().for_each(|&rule| hit(rule));
        }
    }
}
