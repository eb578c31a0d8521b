//! The first pass over a split: how many packets, and what their times do to the clock.

use super::frames::{Limits, each};
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

/// What a split begins with, once it was surveyed before.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// The clock of the split before it.
    pub clock: ClockWords,
    /// The time of the first packet behind it, if its own bytes do not tell.
    pub next: Option<Timestamp>,
    /// How many packets it has; none: all that its source has. Bytes behind them may say when the
    /// next one came.
    pub packets: Option<u64>,
}

/// Surveys a split: without its clock the bytes have to end where it does.
///
/// # Errors
/// As [`crate::run`].
pub fn survey(
    plan: &Plan,
    bytes: Bytes,
    begun: Option<Begun>,
    control: &Control,
) -> Result<Survey, RunError> {
    let mut source = source(plan, bytes, control)?;
    let first = source.first_time();
    let (mut clock, limits) = match begun {
        Some(Begun {
            clock,
            next,
            packets,
        }) => {
            let clock = Clock::of_words(plan.clock_leap_max_ns, clock);
            (clock, Limits { packets, next })
        }
        None => (Clock::new(plan.clock_leap_max_ns), Limits::default()),
    };
    let mut times = TimesSeen::default();
    let is_silent = each(&mut source, &mut clock, limits, control, |seen| {
        times.add(seen.frame.time);
        Ok(())
    })?;
    let files = source.report().files;
    Ok(Survey {
        packets: limits.packets.unwrap_or_else(|| source.numbered()),
        first,
        times,
        clock: begun.map(|_| clock.words()),
        is_silent,
        inputs: files.iter().map(InputReport::of).collect(),
    })
}
