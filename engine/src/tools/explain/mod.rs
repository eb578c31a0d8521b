//! What each stage saw of a packet, and decided: the pipeline of a run, looked at on the way.
//!
//! ```text
//!  pass 1   packet N ─► its connection (or where it ended)
//!  pass 2   the input stage ─► connection table ─► stages of a run ─► records
//!              │ Lane's hooks      │ Observer: before and after each       │ by their keys
//!              └───────────────────┴────────► PacketAccount ◄──────────────┘
//! ```
//!
//! One thread, one packet at a time. Everything that decides is what a run uses; this module only
//! observes. Two passes, as the state before a packet is known only to who has followed its
//! connection from the first packet on.

mod account;
mod decided;
mod hooks;
mod lane;
mod later;
mod look;
mod observer;
mod packet;
mod pass;
mod records;

pub use account::{
    Completion, ConnectionAccount, ConnectionView, EndView, ExplainReport, Fate, HeldFate,
    HeldOutcome, HeldReason, HeldView, InspectChange, PacketAccount, PacketView, RecordFileLine,
    RecordText, StreamsEnd, StreamsView,
};
pub use lane::ExplainSink;

use crate::report::ProgressSink;
use crate::tools;
use crate::tools::wanted::Wanted;
use crate::worker::identify::IdentifyRules;
use crate::{Control, RunError};
use flowpin_config::{Format, Input, Plan};
use pass::Target;
use std::collections::BTreeSet;

/// What is to be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// One packet, by its position in the merged input.
    Packet(u64),
    /// All packets of a connection, or of all that have this Community ID.
    Connection(Wanted),
}

pub(crate) fn explain<K: ExplainSink>(
    plan: &Plan,
    question: Question,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<ExplainReport, RunError> {
    if plan.inputs.contains(&Input::Stdin) {
        return Err(RunError::ExplainFromPipe("standard input"));
    }
    let plan = with_text(plan)?;
    let known = IdentifyRules::of(&plan)?;
    if let Some(known) = &known {
        known.report_refused(progress);
    }
    let explainer = Explainer {
        plan: &plan,
        known: known.as_ref(),
        hands: (control, progress),
    };
    explainer.answer(question, sink)
}

/// The plan, with the formats whose records can be shown.
fn with_text(plan: &Plan) -> Result<Plan, RunError> {
    let mut plan = plan.clone();
    let is_text = |format: &Format| !matches!(format, Format::None | Format::Parquet);
    plan.output.formats.retain(is_text);
    if plan.output.formats.is_empty() {
        return Err(RunError::ExplainWithoutText);
    }
    (plan.output.to_stdout, plan.output.stream) = (false, None);
    Ok(plan)
}

/// What both passes need.
struct Explainer<'a> {
    plan: &'a Plan,
    known: Option<&'a IdentifyRules>,
    hands: (&'a Control, &'a dyn ProgressSink),
}

/// Discards accounts.
struct Discard;

impl ExplainSink for Discard {
    fn packet(&mut self, _: PacketAccount) -> Result<(), RunError> {
        Ok(())
    }
}

/// Keeps accounts until all records are known.
#[derive(Default)]
struct Kept(Vec<PacketAccount>);

impl ExplainSink for Kept {
    fn packet(&mut self, account: PacketAccount) -> Result<(), RunError> {
        self.0.push(account);
        Ok(())
    }
}

impl Explainer<'_> {
    fn answer<K: ExplainSink>(
        &self,
        question: Question,
        sink: &mut K,
    ) -> Result<ExplainReport, RunError> {
        let number = match question {
            Question::Connection(wanted) => {
                let target = Target {
                    numbers: BTreeSet::new(),
                    wanted: Some(wanted),
                    is_first: false,
                };
                return Ok(self.pass(target, sink, &mut |_, _| ())?.report);
            }
            Question::Packet(number) => number,
        };
        // The records of the first pass have no reader.
        let silent = tools::silent(self.plan);
        let target = Target {
            numbers: BTreeSet::from([number]),
            wanted: None,
            is_first: true,
        };
        let explainer = Explainer {
            plan: &silent,
            known: self.known,
            hands: self.hands,
        };
        let first = explainer.pass(target, &mut Discard, &mut |_, _| ())?;
        if first.report.explained == 0 {
            return Ok(ExplainReport {
                is_filtered: number <= first.report.packets,
                ..first.report
            });
        }
        let (mut kept, mut later) = (Kept::default(), Vec::new());
        let target = Target {
            numbers: first.numbers.clone(),
            wanted: first.uid.map(Wanted::Uid),
            is_first: false,
        };
        let second = self.pass(target, &mut kept, &mut |number, record| {
            if first.numbers.contains(&number) {
                later.push((number, record));
            }
        })?;
        let completed = first.numbers.last().copied();
        for mut account in kept.0 {
            if completed == Some(account.number) {
                account.completion = second.completion;
            }
            if let Some(Fate::FragmentHeld { .. }) = account.fates.last() {
                let later = completed.filter(|&last| last != account.number);
                let fate = later.map_or(Fate::NeverCompleted, Fate::CompletedBy);
                account.fates.push(fate);
            }
            let own = later.iter().filter(|one| one.0 == account.number);
            account.records.extend(own.map(|one| one.1.clone()));
            sink.packet(account)?;
        }
        Ok(second.report)
    }
}
