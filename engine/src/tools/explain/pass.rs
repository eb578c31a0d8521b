//! One pass over the input, through the stages of a run.

use super::Explainer;
use super::account::{ConnectionAccount, ExplainReport};
use super::decided::Decided;
use super::lane::{ExplainSink, Watched};
use super::observer::Observer;
use super::records::Texts;
use crate::RunError;
use crate::aggregates::{News, Observers};
use crate::input::InputStage;
use crate::output::messages;
use crate::run::shape::Shape;
use crate::run::single::SingleLane;
use crate::run::stage_options;
use crate::run::{division, open, random};
use crate::tools::wanted::Wanted;
use crate::worker::stages::{AllStages, Planned};
use crate::worker::{Late, Worker};
use flowpin_flow::{ShardSet, Table};
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::{Piece, SHARD_COUNT};
use flowpin_record::{RecordKey, RecordType, Uid};
use std::collections::BTreeSet;

/// What one pass follows.
pub(super) struct Target {
    pub(super) numbers: BTreeSet<u64>,
    pub(super) wanted: Option<Wanted>,
    /// It ends once the numbers have been handled.
    pub(super) is_first: bool,
}

/// What one pass found.
pub(super) struct Passed {
    pub(super) numbers: BTreeSet<u64>,
    pub(super) uid: Option<Uid>,
    pub(super) report: ExplainReport,
}

impl Explainer<'_> {
    /// Sends the input through the stages of a run. `input_records` gets the records of the
    /// input stage.
    pub(super) fn pass<K: ExplainSink>(
        &self,
        target: Target,
        sink: &mut K,
        input_records: &mut dyn FnMut(&RecordBatch),
    ) -> Result<Passed, RunError> {
        let (plan, (control, _)) = (self.plan, self.hands);
        let source = open(plan, control)?;
        // A named pipe: the second pass would find it empty.
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
        self.read(
            &mut input,
            &mut lane,
            &mut end,
            (target.is_first, &mut *input_records),
        )?;
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

    /// Reads the input, up to what is asked for in a first pass.
    fn read<K: ExplainSink>(
        &self,
        input: &mut InputStage,
        lane: &mut Watched<'_, K>,
        end: &mut End,
        (is_first, input_records): (bool, &mut dyn FnMut(&RecordBatch)),
    ) -> Result<(), RunError> {
        let (control, progress) = self.hands;
        let mut piece = Piece::default();
        while !control.is_stopped() && input.fill(&mut piece)? {
            let tick = input.walk(&piece, lane);
            lane.inner.finish_piece(&piece);
            end.meet(lane.inner.worker.stages());
            let delivery = lane.inner.worker.tick(tick);
            let watermark = delivery.records.watermark();
            end.take(&delivery.records);
            lane.inner.worker.recycle(delivery.records);
            end.decided.take(delivery.news, watermark);
            let batch = input.tick(tick.time);
            input_records(&batch);
            end.take_input(&batch, lane);
            input.recycle(batch);
            end.account.records.append(&mut lane.others);
            if let Some(failed) = lane.failed.take() {
                return Err(failed);
            }
            progress.update(&input.progress());
            let last = lane.numbers.last().copied().unwrap_or(0);
            if is_first && lane.last_number >= last && !lane.waits {
                break;
            }
        }
        Ok(())
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
            stage_options::flow(plan),
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

    fn finish(mut self, news: News, explained: u64) -> Option<ConnectionAccount> {
        self.decided.take(news, RecordKey::LAST);
        self.account.uid = self.uid?;
        self.account.packets = explained;
        self.decided.finish(&self.texts, &mut self.account);
        Some(self.account)
    }
}
