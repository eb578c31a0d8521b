//! Where FTP's data connections are named: what control connections announce on one worker, others
//! carry on another.
//!
//! ```text
//!  worker: announcements, records that may be meant ──► in order of keys ──► recognised
//!  worker's record of it ───────────────────────────────────────────────► ✗ (superseded)
//!                                                        record with its name ──► merger
//! ```
//!
//! Owns what no worker knows. A record that is recognised takes the place of the worker's, whose
//! text is in the worker's batch already; all others stay as they are. So what is not FTP costs a
//! copy of few records, and no formatting.

mod names;
mod news;
mod renamed;

pub(crate) use names::DataNames;
pub(crate) use news::DataNews;
pub(crate) use renamed::Renamed;

use crate::output::messages;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_ftp::{DataConnection, DataConnections, FTP_DATA};
use flowpin_output::{Formatter, RecordBatch};
use flowpin_record::{
    App, Confidence, ConnRecord, MessagePlace, RecordKey, RecordSink, ToolNames, Value,
};
use news::Told;

/// Recognises data connections, and formats their records.
#[derive(Debug)]
pub(crate) struct DataOutput {
    connections: DataConnections,
    formatter: Formatter,
    /// Until something is recognised: what the formatter of events is made of, for which most runs
    /// have no need.
    plan: Option<Box<Plan>>,
    /// By worker: up to where it has delivered everything.
    workers: Vec<RecordKey>,
    /// What waits until no worker can deliver anything before it.
    waiting: DataNews,
    /// Its number among the merger's sources.
    source: usize,
    renamed: Renamed,
    in_tools: &'static ToolNames,
}

impl DataOutput {
    /// For so many workers; none if nobody reads what control connections say.
    pub(crate) fn new(workers: usize, source: usize, plan: &Plan) -> Option<Self> {
        is_wanted(plan).then(|| Self {
            connections: DataConnections::default(),
            formatter: Formatter::new(&plan.output),
            plan: Some(Box::new(plan.clone())),
            workers: vec![RecordKey::default(); workers],
            waiting: DataNews::default(),
            source,
            renamed: Renamed::default(),
            in_tools: ToolNames::of(NAME),
        })
    }

    /// Its number among the sources.
    pub(crate) const fn source(&self) -> usize {
        self.source
    }

    /// Takes what a source delivers besides its records, of which it has delivered all up to
    /// `watermark`.
    pub(crate) fn push(&mut self, source: usize, watermark: RecordKey, news: Option<DataNews>) {
        if let Some(delivered) = self.workers.get_mut(source) {
            *delivered = watermark;
            if let Some(news) = news {
                self.waiting.add(news);
            }
        }
    }

    /// The records that no other will come before. `supersede` hears the key of each record of a
    /// worker's that one of these takes the place of, in order.
    pub(crate) fn take_batch(&mut self, supersede: impl FnMut(RecordKey)) -> RecordBatch {
        let watermark = self.workers.iter().min().copied().unwrap_or_default();
        self.decide(watermark, supersede);
        let mut batch = self.formatter.take_batch_up_to(watermark);
        batch.forget_built_connections();
        batch
    }

    /// Takes a written batch home.
    pub(crate) fn recycle(&mut self, batch: RecordBatch) {
        self.formatter.recycle(batch);
    }

    /// What the summary has to count under another name.
    pub(crate) fn take_renamed(&mut self) -> Renamed {
        core::mem::take(&mut self.renamed)
    }

    /// What did not fit.
    pub(crate) const fn losses(&self) -> &Losses {
        self.connections.losses()
    }

    fn decide(&mut self, watermark: RecordKey, mut supersede: impl FnMut(RecordKey)) {
        let mut waiting = core::mem::take(&mut self.waiting);
        if self.connections.is_idle() && !waiting.has_told() {
            // Nothing was announced: nothing is recognised.
            waiting.forget(watermark);
        } else {
            let told = |own: &mut Self, told: &Told| told.tell(&mut own.connections);
            waiting.replay(watermark, self, told, |own, key, record| {
                own.recognise(key, record, &mut supersede);
            });
        }
        self.waiting = waiting;
    }

    fn recognise(
        &mut self,
        key: RecordKey,
        record: &ConnRecord,
        supersede: &mut impl FnMut(RecordKey),
    ) {
        let Some((data, is_first)) = self.connections.recognise(record) else {
            return;
        };
        if let Some(plan) = self.plan.take() {
            self.formatter = Formatter::with_messages(&plan.output, &messages::schemas(&plan));
        }
        if is_first {
            self.tell(key, record, &data);
        }
        if record.app.is_some_and(|app| app.name == NAME) {
            return;
        }
        if record.interim == 0 {
            self.renamed.count(record);
        }
        supersede(key);
        self.formatter.conn(key, &named(record, &data));
    }

    /// The event of what was transferred.
    fn tell(&mut self, key: RecordKey, record: &ConnRecord, data: &DataConnection) {
        let place = MessagePlace {
            time: record.start,
            uid: record.uid,
            protocol: record.protocol,
            client: record.client,
            server: record.server,
            app: NAME,
            in_tools: self.in_tools,
            transaction: 0,
            packet_number: None,
        };
        let key = RecordKey {
            ordinal: key.ordinal | EVENT_ORDINAL,
            ..key
        };
        let values = [
            Value::bytes(&data.command),
            Value::bytes(&data.file),
            Value::Uid(data.control),
        ];
        self.formatter.message(key, &place, &FTP_DATA, &values);
    }
}

/// The record of a data connection.
fn named(record: &ConnRecord, data: &DataConnection) -> ConnRecord {
    let was = record.app;
    ConnRecord {
        app: Some(App {
            name: NAME,
            in_tools: ToolNames::of(NAME),
            // What its bytes looked like is a fact, too: a file may be anything.
            original: was.map(|app| app.name),
            original_in_tools: was.map_or(ToolNames::NONE, |app| app.in_tools),
            rule: RULE,
            confidence: Confidence::Sure,
            by_client: data.by_client,
            number: 0,
        }),
        ..*record
    }
}

/// Whether data connections are named: only where control connections are read.
pub(crate) fn is_wanted(plan: &Plan) -> bool {
    let protocols = &plan.parse.protocols;
    let is_parsed = plan.identify.enabled && plan.parse.enabled;
    is_parsed && (protocols.is_empty() || protocols.iter().any(|one| one == "ftp"))
}

const NAME: &str = "ftp-data";
const RULE: &str = "ftp-announced";

/// Above all ordinals that workers use, so that keys stay unique.
const EVENT_ORDINAL: u32 = 1 << 30;
