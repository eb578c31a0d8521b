//! The first pass over a split: how many packets, and what their times do to the clock.

use super::frames::each;
use super::{Bytes, source};
use crate::report::InputReport;
use crate::{Control, RunError};
use flowpin_config::Plan;
use flowpin_dispatch::{Clock, ClockWords, TimesSeen};
use flowpin_packet::Timestamp;

/// What a survey finds.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Packets, those included that the filter leaves out.
    pub packets: u64,
    /// The time of the first of them.
    pub first: Option<Timestamp>,
    /// The times of those that it lets through.
    pub times: TimesSeen,
    /// The clock behind them; none unless it was given.
    pub clock: Option<ClockWords>,
    /// It tells of times without a packet: the clock has to be given.
    pub is_silent: bool,
    /// The inputs, and what is wrong with them.
    pub inputs: Vec<InputReport>,
}

/// Surveys a split. `clock`: that of the split before it, and the time of the first packet behind
/// it, if the split's own bytes do not tell.
///
/// # Errors
/// As [`crate::run`].
pub fn survey(
    plan: &Plan,
    bytes: Bytes,
    clock: Option<(ClockWords, Option<Timestamp>)>,
    control: &Control,
) -> Result<Survey, RunError> {
    let mut source = source(plan, bytes, control)?;
    let first = source.first_time();
    let (mut its, next) = match clock {
        Some((words, next)) => (Clock::of_words(plan.clock_leap_max_ns, words), next),
        None => (Clock::new(plan.clock_leap_max_ns), None),
    };
    let mut times = TimesSeen::default();
    let is_silent = each(&mut source, &mut its, next, control, |seen| {
        times.add(seen.frame.time);
        Ok(())
    })?;
    let files = source.report().files;
    Ok(Survey {
        packets: source.numbered(),
        first,
        times,
        clock: clock.map(|_| its.words()),
        is_silent,
        inputs: files.iter().map(InputReport::of).collect(),
    })
}
