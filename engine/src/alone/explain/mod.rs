//! What each stage saw of a packet, and decided: the pipeline of a run, looked at on the way.
//!
//! ```text
//!  pass 1   packet N ─► its connection (or where it ended)
//!  pass 2   the input stage ─► connection table ─► stages of a run ─► records
//!              │ Lane's hooks      │ Observer: before and after each       │ by their keys
//!              └───────────────────┴────────► PacketAccount ◄──────────────┘
//! ```
//!
//! One thread, one packet at a time. Everything that decides is what a run uses; here is only who
//! looks. Two passes, as the state before a packet is known only to who has followed its
//! connection from the first packet on.

mod account;
mod decided;
mod lane;
mod observer;
mod records;
mod slow;

pub use account::{
    ConnectionAccount, ConnectionView, EndView, ExplainReport, Fate, InspectChange, PacketAccount,
    PacketView, RecordFileLine, RecordText, SlowReason, StreamsView,
};
pub use lane::ExplainSink;

use crate::aggregates::Observers;
use crate::alone;
use crate::alone::wanted::Wanted;
use crate::input::InputStage;
use crate::output::messages;
use crate::report::ProgressSink;
use crate::run::memory;
use crate::run::shape::Shape;
use crate::run::single::SingleLane;
use crate::run::{division, open, random};
use crate::worker::identification::Identification;
use crate::worker::stages::{AllStages, Planned};
use crate::worker::{Late, Worker};
use crate::{Control, RunError};
use decided::Decided;
use flowpin_config::{Format, Plan};
use flowpin_flow::{ShardSet, Table};
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::{Piece, SHARD_COUNT};
use flowpin_record::{RecordType, Uid};
use lane::Watched;
use observer::Observer;
use records::Texts;
use std::collections::BTreeSet;

/// What is to be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// One packet, by its position in the merged input.
    Packet(u64),
    /// All packets of a connection; of several with one Community ID the last one's end.
    Connection(Wanted),
}

pub(crate) fn explain<K: ExplainSink>(
    plan: &Plan,
    question: Question,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<ExplainReport, RunError> {
    let plan = with_text(plan);
    let known = Identification::of(&plan)?;
    if let Some(known) = &known {
        known.tell_refused(progress);
    }
    let explainer = Explainer {
        plan: &plan,
        known: known.as_ref(),
        hands: (control, progress),
    };
    explainer.answer(question, sink)
}

/// The plan, with records that can be shown: files are neither made nor extracted.
fn with_text(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let is_text = |format: &Format| !matches!(format, Format::None | Format::Parquet);
    plan.output.formats.retain(is_text);
    if plan.output.formats.is_empty() {
        plan.output.formats.push(Format::Eve);
    }
    plan.output.to_stdout = false;
    plan.files.extract = None;
    plan
}

/// What both passes need.
struct Explainer<'a> {
    plan: &'a Plan,
    known: Option<&'a Identification>,
    hands: (&'a Control, &'a dyn ProgressSink),
}

/// What one pass follows.
struct Target {
    numbers: BTreeSet<u64>,
    wanted: Option<Wanted>,
    /// Ends once the numbers are known to have been handled.
    is_first: bool,
}

/// What one pass found.
struct Passed {
    numbers: BTreeSet<u64>,
    uid: Option<Uid>,
    report: ExplainReport,
}

/// Wants no account.
struct Nobody;

impl ExplainSink for Nobody {
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
                return Ok(self.pass(target, sink, &mut |_| ())?.report);
            }
            Question::Packet(number) => number,
        };
        // Nobody reads the records of the first pass.
        let silent = alone::silent(self.plan);
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
        let first = explainer.pass(target, &mut Nobody, &mut |_| ())?;
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
        let texts = Texts::new(self.plan);
        let second = self.pass(target, &mut kept, &mut |batch| {
            let lines = batch.lines();
            let own = lines.filter(|line| first.numbers.contains(&line.key.number));
            later.extend(own.map(|line| texts.of(&line)));
        })?;
        let completed = first.numbers.last().copied();
        for mut account in kept.0 {
            if !first.numbers.contains(&account.number) {
                continue;
            }
            if let Some(last) = completed.filter(|&last| last != account.number) {
                account.fates.push(Fate::CompletedBy(last));
            }
            let own = later.iter().filter(|one| one.key.number == account.number);
            account.records.extend(own.cloned());
            sink.packet(account)?;
        }
        Ok(second.report)
    }

    /// Sends the input through the stages of a run. `input_records`: told of the records of the
    /// input stage.
    fn pass<K: ExplainSink>(
        &self,
        target: Target,
        sink: &mut K,
        input_records: &mut dyn FnMut(&RecordBatch),
    ) -> Result<Passed, RunError> {
        let (plan, (control, progress)) = (self.plan, self.hands);
        let source = open(plan, control)?;
        // The second pass would find an empty pipe.
        if source.progress().bytes_total.is_none() {
            return Err(RunError::ExplainFromPipe);
        }
        let follows = target.wanted.is_some();
        let (mut input, worker) = self.stages(source, target.wanted)?;
        let mut lane = Watched::new(
            plan,
            SingleLane::new(worker),
            (target.numbers, follows),
            sink,
        );
        let mut end = End {
            decided: Decided::new(plan),
            texts: Texts::new(plan),
            account: ConnectionAccount::default(),
            uid: None,
        };
        let mut piece = Piece::default();
        while !control.is_stopped() && input.fill(&mut piece)? {
            let tick = input.walk(&piece, &mut lane);
            lane.inner.finish_piece(&piece);
            end.meet(lane.inner.worker.stages());
            let delivery = lane.inner.worker.tick(tick);
            let watermark = delivery.records.watermark();
            end.take(&delivery.records);
            lane.inner.worker.recycle(delivery.records);
            end.decided.take(delivery.news, watermark);
            let batch = input.tick(tick.time);
            input_records(&batch);
            end.take_input(&batch, &lane);
            input.recycle(batch);
            end.account.records.append(&mut lane.others);
            if let Some(failed) = lane.failed.take() {
                return Err(failed);
            }
            progress.update(&input.progress());
            let last = lane.numbers.last().copied().unwrap_or(0);
            if target.is_first && lane.last_number >= last && !lane.waits {
                break;
            }
        }
        let (batch, summary) = input.finish();
        input_records(&batch);
        end.take_input(&batch, &lane);
        end.meet(lane.inner.worker.stages());
        while let Some(delivery) = lane.inner.worker.end_some() {
            let watermark = delivery.records.watermark();
            end.take(&delivery.records);
            lane.inner.worker.recycle(delivery.records);
            end.decided.take(delivery.news, watermark);
        }
        end.account.end = lane.inner.worker.stages().end;
        let report = ExplainReport {
            packets: lane.last_number.max(summary.packets + summary.filtered),
            filtered: summary.filtered,
            is_filtered: false,
            explained: lane.explained,
            connection: None,
            inputs: summary.inputs,
            stopped_early: control.is_stopped(),
        };
        let (numbers, uid, explained) = (lane.numbers, lane.uid, lane.explained);
        let (delivery, _) = lane.inner.worker.finish();
        end.take(&delivery.records);
        Ok(Passed {
            numbers,
            uid,
            report: ExplainReport {
                connection: end.finish(delivery.news, explained),
                ..report
            },
        })
    }

    /// The input stage and the worker of a run on one thread.
    fn stages(
        &self,
        source: flowpin_capture::Source,
        wanted: Option<Wanted>,
    ) -> Result<(InputStage, Worker<Observer>), RunError> {
        let (plan, secret) = (self.plan, random());
        let (options, _) = division(plan, Shape::Single, secret);
        let formatter = Formatter::with_messages(&plan.output, &messages::schemas(plan));
        let observers = Observers::new(plan, secret).map_err(RunError::Memory)?;
        let shards = u32::try_from(SHARD_COUNT).unwrap_or(u32::MAX);
        let (flow, late, seed) = (
            memory::flow(plan),
            Late::default(),
            plan.output.community_seed,
        );
        let worker = Worker::new(
            &flow,
            ShardSet::ALL,
            formatter,
            late,
            observers,
            |table: &Table| {
                let all = AllStages::new(plan, self.known, shards, table.capacity())?;
                Ok(Observer::new(all, wanted, seed))
            },
        );
        let worker = worker.map_err(RunError::Memory)?;
        Ok((InputStage::new(plan, options, source), worker))
    }
}

/// What comes after the packets of the connection that is followed.
struct End {
    decided: Decided,
    texts: Texts,
    account: ConnectionAccount,
    uid: Option<Uid>,
}

impl End {
    /// Takes note of the connection, once it is known.
    fn meet(&mut self, observer: &Observer) {
        if let Some(record) = observer.record() {
            self.uid = Some(record.uid);
            self.decided.concern(&record);
        }
    }

    /// Takes the connection's records that no packet of it caused.
    fn take(&mut self, batch: &RecordBatch) {
        let Some(uid) = self.uid else {
            return;
        };
        for line in batch.lines() {
            let is_own = line.record_type != RecordType::Anomaly && line.uid == uid.0;
            if is_own {
                self.account.records.push(self.texts.of(&line));
            }
        }
    }

    /// Takes records of the input stage: of tunnels, and of what was odd about packets. Of a packet
    /// that was asked for by its number they stand in its account.
    fn take_input<K: ExplainSink>(&mut self, batch: &RecordBatch, lane: &Watched<'_, K>) {
        if !lane.numbers.is_empty() {
            return;
        }
        let lines = batch.lines();
        let own = lines.filter(|line| lane.slow_numbers.contains(&line.key.number));
        let own = own.map(|line| self.texts.of(&line));
        self.account.records.extend(own);
    }

    fn finish(
        mut self,
        news: crate::aggregates::News,
        explained: u64,
    ) -> Option<ConnectionAccount> {
        self.decided.take(news, flowpin_record::RecordKey::LAST);
        self.account.uid = self.uid?;
        self.account.packets = explained;
        self.decided.finish(&self.texts, &mut self.account);
        Some(self.account)
    }
}
