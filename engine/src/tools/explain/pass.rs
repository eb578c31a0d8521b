//! One pass over the input, through the stages of a run.

use super::Explainer;
use super::account::{Completion, ConnectionAccount, ExplainReport, RecordText};
use super::decided::Decided;
use super::lane::{ExplainSink, Watched};
use super::observer::{Followed, Observer};
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
use flowpin_packet::Piece;
use flowpin_record::{RecordKey, RecordType, Uid};
use std::collections::{BTreeMap, BTreeSet};

/// What one pass follows.
pub(super) struct Target {
    pub(super) numbers: BTreeSet<u64>,
    pub(super) wanted: Option<Wanted>,
    /// It ends once the numbers have been handled.
    pub(super) is_first: bool,
}

/// Gets the number of the packet that a record of the input stage is about, and the record.
pub(super) type InputRecords<'a> = &'a mut dyn FnMut(u64, RecordText);

/// What one pass found.
pub(super) struct Passed {
    pub(super) numbers: BTreeSet<u64>,
    pub(super) uid: Option<Uid>,
    /// When the message of the last number was complete.
    pub(super) completion: Option<Completion>,
    pub(super) report: ExplainReport,
}

impl Explainer<'_> {
    /// Sends the input through the stages of a run. `input_records` gets the records of the
    /// input stage, with the number of the packet that each is about.
    pub(super) fn pass<K: ExplainSink>(
        &self,
        target: Target,
        sink: &mut K,
        input_records: InputRecords<'_>,
    ) -> Result<Passed, RunError> {
        let (plan, (control, _)) = (self.plan, self.hands);
        let source = open(plan, control)?;
        // A named pipe: the second pass would find it empty.
        if source.progress().bytes_total.is_none() {
            return Err(RunError::ExplainFromPipe("a pipe"));
        }
        let follows = target.wanted.is_some();
        let names = source.interfaces().clone();
        let (mut input, worker) = self.stages(source, target.wanted)?;
        let mut lane = Watched::new(
            plan,
            SingleLane::new(worker),
            (target.numbers, follows),
            sink,
        );
        let mut end = End {
            decided: Decided::new(plan, &names),
            texts: Texts::new(plan),
            records: BTreeMap::new(),
        };
        self.read(
            &mut input,
            &mut lane,
            &mut end,
            (target.is_first, &mut *input_records),
        )?;
        let (batch, summary) = input.finish();
        lane.keep_input(&batch);
        end.take_input(&mut lane, input_records);
        end.meet(lane.inner.worker.stages());
        while let Some(delivery) = lane.inner.worker.end_some() {
            let watermark = delivery.records.watermark();
            end.take(&delivery.records);
            lane.inner.worker.recycle(delivery.records);
            end.decided.take(delivery.news, watermark);
        }
        let stages = lane.inner.worker.stages();
        let (left_out, met) = (stages.left_out, core::mem::take(&mut stages.connections));
        let asked = lane.uid.and_then(|uid| met.get(&uid.0));
        let completion = asked.and_then(|one| one.later.completion());
        let report = ExplainReport {
            packets: lane.last_number.max(summary.packets + summary.filtered),
            filtered: summary.filtered,
            is_filtered: false,
            explained: lane.explained,
            connections: Vec::new(),
            connections_left_out: left_out,
            inputs: summary.inputs,
            stopped_early: control.is_stopped(),
        };
        let (numbers, uid) = (lane.numbers, lane.uid);
        let (delivery, _) = lane.inner.worker.finish();
        end.take(&delivery.records);
        Ok(Passed {
            numbers,
            uid,
            completion,
            report: ExplainReport {
                connections: end.finish(delivery.news, met),
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
        (is_first, input_records): (bool, InputRecords<'_>),
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
            let batch = input.tick(tick);
            lane.keep_input(&batch);
            end.take_input(lane, input_records);
            input.recycle(batch);
            for (uid, record) in lane.others.drain(..) {
                end.records.entry(uid).or_default().push(record);
            }
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
        let mut formatter = Formatter::with_messages(&plan.output, &messages::schemas(plan));
        formatter.name_interfaces(source.interfaces());
        let observers = Observers::new(plan, secret).map_err(RunError::Memory)?;
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
                let mut all = AllStages::new(plan, self.known, table)?;
                all.write_no_files();
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
    /// Records that no packet caused, of the connections that were met, by uid.
    records: BTreeMap<u64, Vec<RecordText>>,
}

impl End {
    /// Takes note of connections, once they are known.
    fn meet(&mut self, observer: &Observer) {
        for (&uid, one) in &observer.connections {
            if let Some(record) = &one.record
                && !self.records.contains_key(&uid)
            {
                self.records.insert(uid, Vec::new());
                self.decided.concern(record);
            }
        }
    }

    /// Takes the connections' records that no packet of theirs caused.
    fn take(&mut self, batch: &RecordBatch) {
        for line in batch.lines() {
            if line.record_type != RecordType::Anomaly
                && let Some(records) = self.records.get_mut(&line.uid)
            {
                records.push(self.texts.of(&line));
            }
        }
    }

    /// Takes records of the input stage: of tunnels, and of what was odd about packets. Of a packet
    /// that was asked for by its number they stand in its account.
    fn take_input<K: ExplainSink>(
        &mut self,
        lane: &mut Watched<'_, K>,
        input_records: InputRecords<'_>,
    ) {
        for (number, record) in lane.input.drain(..) {
            if !lane.numbers.is_empty() {
                input_records(number, record);
            } else if let Some(&uid) = lane.slow_numbers.get(&number) {
                self.records.entry(uid).or_default().push(record);
            }
        }
    }

    /// The accounts of all connections, in the order in which they began.
    fn finish(mut self, news: News, met: BTreeMap<u64, Followed>) -> Vec<ConnectionAccount> {
        self.decided.take(news, RecordKey::LAST);
        let findings = self.decided.finish(&self.texts, &mut self.records);
        let mut all: Vec<(u64, Followed)> = met.into_iter().collect();
        all.sort_by_key(|(_, one)| one.record.map(|record| record.first_packet));
        let accounts = all.into_iter().map(|(uid, one)| {
            let (held, held_left_out) = one.later.into_fates();
            let mut records = self.records.remove(&uid).unwrap_or_default();
            records.sort_by_key(|one| one.key);
            ConnectionAccount {
                uid: Uid(uid),
                packets: one.packets,
                end: one.end,
                held,
                held_left_out,
                streams_end: one.streams_end,
                records,
                findings: Vec::new(),
            }
        });
        let mut accounts: Vec<ConnectionAccount> = accounts.collect();
        if let Some(last) = accounts.last_mut() {
            last.findings = findings;
        }
        accounts
    }
}
