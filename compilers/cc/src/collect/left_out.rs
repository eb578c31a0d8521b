//! Text that conditional directives leave out wherever it is read.
//!
//! A header that is read twice is left out the second time by its guard, and what one unit leaves
//! out another may compile: only what every reading leaves out is unknown to the model.

use crate::model::FileId;
use std::collections::{BTreeMap, HashMap};

/// File, first byte, last byte.
type Range = (FileId, usize, usize);

/// How often each file was read, and how often each of its ranges was left out.
#[derive(Default)]
pub(super) struct LeftOut {
    readings: HashMap<FileId, usize>,
    ranges: BTreeMap<Range, usize>,
}

impl LeftOut {
    /// The files of one unit, each as often as it was included.
    pub(super) fn read(&mut self, files: &[FileId]) {
        for file in files {
            *self.readings.entry(*file).or_default() += 1;
        }
    }

    pub(super) fn skip(&mut self, range: Range) {
        *self.ranges.entry(range).or_default() += 1;
    }

    /// What no reading compiled, in the order of places.
    pub(super) fn always(&self) -> Vec<Range> {
        let is_always = |range: &Range| {
            let readings = self.readings.get(&range.0).copied().unwrap_or(1);
            self.times(range) >= readings
        };
        self.ranges.keys().copied().filter(is_always).collect()
    }

    /// How often a range was left out, by itself or within a larger one.
    fn times(&self, range: &Range) -> usize {
        let (file, start, end) = *range;
        let before = self.ranges.range((file, 0, 0)..=(file, start, usize::MAX));
        let covering = before.filter(|((_, _, other), _)| *other >= end);
        covering.map(|(_, times)| times).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header's guard leaves it out when it is read again; a branch in it is left out twice: once
    /// by itself, once with all the rest.
    #[test]
    fn what_some_reading_compiles_is_not_left_out() {
        let mut left_out = LeftOut::default();
        left_out.read(&[0, 7, 7]);
        left_out.skip((7, 10, 900));
        left_out.skip((7, 40, 60));
        left_out.skip((0, 5, 9));
        assert_eq!(left_out.always(), [(0, 5, 9), (7, 40, 60)]);
    }

    /// Another unit, with other flags, compiles what the first left out.
    #[test]
    fn another_unit_may_compile_it() {
        let mut left_out = LeftOut::default();
        left_out.read(&[0, 1]);
        left_out.skip((1, 3, 8));
        assert_eq!(left_out.always(), [(1, 3, 8)]);
        left_out.read(&[2, 1]);
        assert!(left_out.always().is_empty());
    }
}
