//! The run of one part.

use super::Division;
use crate::input::gate::{Gate, in_order};
use crate::report::{ProgressSink, RunReport};
use crate::run::{self, Given};
use crate::{Control, RunError};
use flowpin_capture::{Shares, Source, mark_of};
use flowpin_config::{PipelineShape, Plan};
use flowpin_output::BatchSink;
use flowpin_packet::{SHARD_COUNT, Timestamp};
use std::net::IpAddr;

/// A part.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// How connections are divided.
    pub division: &'a Division,
    /// Which part.
    pub number: u16,
    /// Where the whole input ends.
    pub whole: Whole,
}

/// Where the input ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// The number of the last packet.
    pub packets: u64,
    /// Stream time at it.
    pub end: Timestamp,
}

/// What a part says beside its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartNote {
    /// What scans are decided from: for [`super::join`].
    Scans(super::Note),
    /// A connection between these hosts announces others: they belong together, in
    /// [`Division::hosts`].
    Hosts(IpAddr, IpAddr),
}

/// Who takes a part's notes.
pub(crate) type Notes = Box<dyn FnMut(PartNote) + Send>;

/// Runs a part over its shares, which come in the order of their numbers. Its records go to `sink`,
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
) -> Result<RunReport, RunError> {
    let plan = Plan {
        // Who dealt has left out what is not wanted.
        filter: String::new(),
        since: None,
        until: None,
        inputs: Vec::new(),
        pipeline: PipelineShape::Single,
        ..plan.clone()
    };
    let mut end = Some(part.whole).filter(|whole| whole.packets > 0);
    let source = Source::told(Box::new(move || {
        let share = shares();
        share.or_else(|| end.take().map(|whole| mark_of(whole.packets, whole.end)))
    }))?;
    let given = Given {
        source,
        gate: gate(part),
        notes,
    };
    run::run_given(&plan, given, sink, control, progress)
}

fn gate(part: Part<'_>) -> Gate {
    let Part {
        division, number, ..
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
    }
}
