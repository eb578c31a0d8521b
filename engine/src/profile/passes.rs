//! Passes over the input, in turn.

use super::counters::{Clock, Span};
use super::pipeline::{Layer, Pipeline, Totals};
use crate::report::{Progress, ProgressSink};
use crate::worker::identify::IdentifyRules;
use crate::{Control, RunError};
use core::cmp::Ordering;
use flowpin_config::Plan;
use std::sync::{Mutex, PoisonError};

/// What all passes of a profile share.
pub(super) struct Bench<'a> {
    pub(super) plan: &'a Plan,
    pub(super) known: Option<&'a IdentifyRules>,
    pub(super) control: &'a Control,
    pub(super) shown: Shown<'a>,
}

/// One pass: its time and its totals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub(super) span: Span,
    pub(super) totals: Totals,
}

impl Bench<'_> {
    /// Runs the input through the pipeline up to a layer: from an empty table to the last record,
    /// all of it measured. None if stopped.
    pub(super) fn pass(&self, layer: Layer, clock: &mut Clock) -> Result<Option<Pass>, RunError> {
        clock.start();
        let mut lane = Pipeline::new(layer, self.plan, self.known, self.control)?;
        while lane.piece()? {
            if self.control.is_stopped() {
                return Ok(None);
            }
            self.shown.update(&lane.progress());
        }
        lane.finish()?;
        let totals = lane.totals();
        let span = clock.stop();
        self.shown.next();
        Ok(Some(Pass { span, totals }))
    }
}

/// The median by a figure; none of an empty slice.
pub(super) fn middle<T: Copy>(all: &[T], figure: impl Fn(&T) -> f64) -> Option<T> {
    let mut sorted = all.to_vec();
    sorted.sort_by(|a, b| figure(a).partial_cmp(&figure(b)).unwrap_or(Ordering::Equal));
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

/// Shows all passes as one long input.
pub(super) struct Shown<'a> {
    sink: &'a dyn ProgressSink,
    passes: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Passes that have ended, and their packets.
    done: u64,
    packets: u64,
    /// The progress of the current pass.
    last: Progress,
}

impl<'a> Shown<'a> {
    pub(super) fn new(sink: &'a dyn ProgressSink, passes: u64) -> Self {
        Self {
            sink,
            passes,
            state: Mutex::default(),
        }
    }

    /// A pass has ended.
    pub(super) fn next(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        state.packets += core::mem::take(&mut state.last).packets;
    }
}

impl ProgressSink for Shown<'_> {
    fn update(&self, progress: &Progress) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last = *progress;
        let all = progress.bytes_total;
        self.sink.update(&Progress {
            bytes_read: state.done * all.unwrap_or(0) + progress.bytes_read,
            bytes_total: all.map(|all| all * self.passes),
            packets: state.packets + progress.packets,
            ..*progress
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One slow moment of the machine must not change the result.
    #[test]
    fn the_middle_is_not_moved_by_one_that_is_off() {
        assert_eq!(middle(&[3.0, 1.0, 90.0], |one| *one), Some(3.0));
        assert_eq!(middle(&[4.0, 2.0], |one| *one), Some(2.0));
        assert_eq!(middle(&[], |one: &f64| *one), None);
    }
}
