//! The composition root: joins the stages into a run, on one thread or many.
//!
//! ```text
//!  1x1   source ► dispatch ► worker ► merge ► writers            all on one thread
//!  1xN   as 2xN, but N threads in all: who has nothing else to do reads, merges or writes
//!  2xN   source ► dispatch ─rings─► N workers ─rings─► merge ► writers (on the input thread)
//!  3xN   source ► dispatch ─rings─► N workers ─rings─► merge ► writers (on its own thread)
//! ```
//!
//! Owns the order of things: numbering, ticks, watermarks, shutdown. Knows no protocol and no
//! file format. Records are byte-identical for every shape, because each decision is taken either
//! in the in-order step (which is sequential) or per shard (which no shape changes).

mod aggregates;
mod control;
mod error;
mod exchange;
mod input;
mod ledger;
mod output;
pub mod parts;
mod profile;
mod recall;
mod report;
mod run;
mod tools;
mod worker;

pub use aggregates::Findings;
pub use control::{Control, StopFlag};
pub use error::RunError;
pub use flowpin_aggregate::Traffic;
pub use flowpin_capture::{Splitter, Walked};
pub use flowpin_config::Plan;
pub use flowpin_detect::{AlertCounts, Counted, Database as RuleDatabase, Explained};
pub use flowpin_dispatch::{
    ChecksumVerdict, Clock, ClockWords, Header, Headers, SlowReason, TimesSeen,
};
pub use flowpin_flow::{Event, Lifetime};
pub use flowpin_identify::{Protocol, Rule as ProtocolRule};
pub use flowpin_output::{
    AssembleError, Assembled, BatchSink, Earlier, GAP_FILL_MAX, Gaps, MessageCount, OutputError,
    StreamFiles, StreamFilesOptions, TableSchema, assemble, divided_logs, gap_note,
};
pub use flowpin_portscan::ScanFindings;
pub use flowpin_reassembly::{Anomaly, ReassemblyStats, StreamView};
pub use flowpin_totals::{ConnectionSums, HostPair, Ranked, Ranking, VlanTags};
pub use output::RecordLatency;
pub use output::messages::records_page;
pub use profile::{
    Cost, Demand, Handover, Inside, Mapping, Memory, Need, Profile, Rule, Side, StageCost, profile,
};
pub use report::{
    CaptureQuality, Conservation, InputReport, OutputReport, Progress, ProgressSink, RunReport,
    StepReport, WorkerReport,
};
pub use tools::explain::{
    Completion, ConnectionAccount, ConnectionView, EndView, ExplainReport, ExplainSink, Fate,
    HeldFate, HeldOutcome, HeldReason, HeldView, InspectChange, PacketAccount, PacketView,
    Question, RecordFileLine, RecordText, StreamsEnd, StreamsView,
};
pub use tools::packets::{CapturedPacket, PacketSink, PacketsReport};
pub use tools::slice::SliceReport;
pub use tools::streams::{Conversation, StreamEnd, StreamPlace, StreamSink, StreamsReport};
pub use tools::trial::{Found, PatternTrial, PatternsReport, RefusedPattern, Together};
pub use tools::verdicts::{ListSink, Listed};
pub use tools::wanted::{NamesNoConnection, Wanted};
pub use worker::stages::{
    CandidatesView, IdentifyStats, InspectView, ParseStats, ScanView, Unread,
};

use flowpin_parser::Buffer;
use flowpin_rule::RuleSet;
use output::messages;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use worker::parse::registry;

/// Processor time of the whole process so far.
pub fn cpu_time() -> core::time::Duration {
    flowpin_cpu::process_cpu_time().total()
}

/// Memory of the whole process that is resident now, in bytes.
pub fn resident_bytes() -> u64 {
    flowpin_cpu::resident_bytes()
}

/// Runs a plan from the first packet to the last record.
///
/// # Errors
/// A [`RunError`]. Damaged input is not an error: see [`RunReport::is_damaged`].
pub fn run(
    plan: &Plan,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<RunReport, RunError> {
    run::run(plan, control, progress)
}

/// Runs a plan as [`run`] does, and hands its records to `sink` as Arrow record batches instead of
/// writing logs: the rows, and their order, of the Parquet files of such a run. The formats of the
/// plan do not count.
///
/// # Errors
/// As [`run`].
pub fn run_batches(
    plan: &Plan,
    sink: Box<dyn BatchSink>,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<RunReport, RunError> {
    run::run_batches(plan, sink, control, progress)
}

/// The tables that [`run_batches`] may have rows of, in the order of their numbers.
///
/// ```
/// let tables = flowpin_engine::tables(&flowpin_engine::Plan::default());
/// assert!(tables.iter().any(|table| table.name == "http"));
/// ```
pub fn tables(plan: &Plan) -> Vec<TableSchema> {
    messages::tables(plan)
}

/// Whether a built-in rule identifies a protocol of that name.
pub fn finds(protocol: &str) -> bool {
    let mut of_parsers = registry::protocols().into_iter();
    flowpin_identify::protocols::is_known(protocol) || of_parsers.any(|one| one.name == protocol)
}

/// The kinds of records that built-in parsers make: no grammar may have a message of that name.
pub fn record_names() -> BTreeSet<String> {
    messages::names_of_parsers()
}

/// The parts of messages that rules may refer to.
pub fn buffers() -> Vec<Buffer> {
    registry::buffers()
}

/// Prepares rules as a run does: for `flowpin rules`.
pub fn rule_database(set: Arc<RuleSet>) -> RuleDatabase {
    RuleDatabase::new(set)
}

/// Why an expression of `plan.identify.expressions` is refused, if it is.
pub fn refused_expression(name: &str, expression: &str) -> Option<String> {
    worker::identify::patterns::refused_expression(name, expression)
}

/// Opens the inputs, compiles the filter and the user's patterns, and does nothing else: for `-T`.
///
/// # Errors
/// The errors that keep [`run`] from beginning.
pub fn check(plan: &Plan) -> Result<(), RunError> {
    run::check_cpus(plan)?;
    run::ground::check_folders(plan)?;
    let known = worker::identify::IdentifyRules::of(plan)?;
    if let Some(refused) = known.and_then(|known| known.refused.into_iter().next()) {
        return Err(RunError::PatternRefused(refused));
    }
    run::open(plan, &Control::default()).map(drop)
}

/// Writes the packets of some connections, fragments included, to a capture file.
///
/// `wanted` names connections as records do; empty: all that `plan.filter` lets through, or with
/// `plan.rules.alerted` those that rules alert of.
///
/// # Errors
/// As [`run`].
pub fn slice(
    plan: &Plan,
    wanted: &[Wanted],
    out: &Path,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<SliceReport, RunError> {
    tools::slice::slice(plan, wanted, out, control, progress)
}

/// Reports to `sink` what each stage saw of a packet and decided, or of all packets of a
/// connection.
///
/// # Errors
/// As [`run`], and the errors of the sink.
pub fn explain<K: ExplainSink>(
    plan: &Plan,
    question: Question,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<ExplainReport, RunError> {
    tools::explain::explain(plan, question, sink, control, progress)
}

/// Reports to `sink` the protocol of each connection, in the order of a run's records.
///
/// # Errors
/// As [`run`], and the errors of the sink.
pub fn identify<K: ListSink>(
    plan: &Plan,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<RunReport, RunError> {
    tools::verdicts::identify(plan, sink, control, progress)
}

/// Compiles the patterns of `plan.identify`, and shows them the connections of its inputs, if there
/// are any.
///
/// # Errors
/// As [`run`]. A pattern that is refused is no error: see [`PatternsReport::refused`].
pub fn try_patterns(
    plan: &Plan,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<PatternsReport, RunError> {
    tools::trial::try_patterns(plan, control, progress)
}

/// The built-in protocols.
///
/// # Errors
/// A rule that does not compile: a defect.
pub fn protocols() -> Result<Vec<&'static Protocol>, RunError> {
    let identifier = flowpin_identify::Identifier::with(&registry::protocols());
    let identifier = identifier.map_err(RunError::Rule)?;
    Ok(identifier.protocols().to_vec())
}

/// Reports to `sink` the bytes of the wanted conversations, in the order of their packets.
///
/// # Errors
/// As [`run`], and the errors of the sink.
pub fn streams<K: StreamSink>(
    plan: &Plan,
    wanted: Wanted,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<StreamsReport, RunError> {
    tools::streams::streams(plan, wanted, sink, control, progress)
}

/// Reports to `sink` the packets that `plan.filter` lets through, as they were captured.
///
/// # Errors
/// As [`run`], and the errors of the sink.
pub fn packets<K: PacketSink>(
    plan: &Plan,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<PacketsReport, RunError> {
    tools::packets::packets(plan, sink, control, progress)
}
