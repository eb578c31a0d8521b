//! The run of one part.

use super::{Carried, Division, PartNote, Seam, Slice};
use crate::input::gate::{Gate, in_order};
use crate::report::{ProgressSink, RunReport};
use crate::run::{self, Given};
use crate::{Control, RunError};
use flowpin_capture::{Shares, Source, mark_of};
use flowpin_config::{PipelineShape, Plan};
use flowpin_output::BatchSink;
use flowpin_packet::{SHARD_COUNT, Timestamp};
use std::sync::Arc;

/// A part.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// How connections are divided.
    pub division: &'a Division,
    /// Which part.
    pub number: u16,
    /// Where the whole input ends.
    pub whole: Whole,
    /// Which slice of the input; the default is all of it.
    pub slice: &'a Slice,
}

/// What a part has come to.
#[derive(Debug)]
pub struct PartReport {
    /// The sums.
    pub report: RunReport,
    /// What is open where its slice ends.
    pub open: Vec<super::OpenConnection>,
}

/// Where the input ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// The number of the last packet.
    pub packets: u64,
    /// Stream time at it.
    pub end: Timestamp,
}

/// Runs a part over its shares, which come in the order of their numbers: first those that the
/// slice before has [carried over](super::carry). Its records go to `sink`,
/// as those of [`crate::run_batches`] do, and what it says beside them to `notes`.
///
/// # Errors
/// As [`crate::run_batches`].
pub fn run_part(
    plan: &Plan,
    part: Part<'_>,
    mut shares: Shares,
    sink: Box<dyn BatchSink>,
    notes: Box<dyn FnMut(PartNote) + Send>,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<PartReport, RunError> {
    let plan = Plan {
        // Who dealt has left out what is not wanted.
        filter: String::new(),
        since: None,
        until: None,
        inputs: Vec::new(),
        pipeline: PipelineShape::Single,
        ..plan.clone()
    };
    let Part { whole, slice, .. } = part;
    // Time-outs that fall due at the next slice's beginning are the next slice's.
    let last = slice
        .until
        .map(|until| Timestamp(until.0.saturating_sub(1)));
    let end = last.unwrap_or(whole.end);
    let mut end = (whole.packets > 0).then(|| mark_of(whole.packets, end));
    let source = Source::told(Box::new(move || {
        let share = shares();
        share.or_else(|| end.take())
    }))?;
    let seam = (*slice != Slice::default()).then(|| Arc::new(Seam::new(slice)));
    let given = Given {
        source,
        gate: gate(part),
        notes,
        seam: seam.clone(),
    };
    let report = run::run_given(&plan, given, sink, control, progress)?;
    let open = seam.map(|seam| seam.take_open()).unwrap_or_default();
    Ok(PartReport { report, open })
}

fn gate(part: Part<'_>) -> Gate {
    let Part {
        division,
        number,
        slice,
        ..
    } = part;
    let mut shards = [false; SHARD_COUNT];
    for (shard, has) in shards.iter_mut().enumerate() {
        *has = shard % usize::from(division.count()) == usize::from(number);
    }
    let hosts = division.hosts.iter();
    Gate {
        shards,
        hosts: hosts.map(|&(one, other)| in_order(one, other)).collect(),
        has_hosts: number == division.of_hosts(),
        has_records: number == division.of_input(),
        carried: (slice.from.0 > 0).then(|| Carried::new(slice.from, &slice.open)),
    }
}
