//! Recognises data connections, and emits their records.

use crate::connections::{DataConnection, DataConnections};
use crate::news::{DataNews, Statement};
use crate::{FTP_DATA, NAME};
use flowpin_aggregate::{CountedAs, Decider, Emit, Traffic};
use flowpin_counters::Losses;
use flowpin_record::{App, Confidence, ConnRecord, MessagePlace, RecordKey, ToolNames, Value};
use std::collections::BTreeMap;

/// The side in the output stage.
#[derive(Debug)]
pub struct DataDecider {
    connections: DataConnections,
    /// Waits until no worker can deliver anything before it.
    waiting: DataNews,
    renamed: Renamed,
    in_tools: &'static ToolNames,
    /// Whether rules ask for the protocol: workers know it of the connections alone whose content
    /// shows it, and have compared the others when they are recognised here.
    is_asked_for: bool,
}

impl DataDecider {
    /// For a run of which rules ask for the protocol, or do not.
    pub fn new(is_asked_for: bool) -> Self {
        Self {
            is_asked_for,
            ..Self::default()
        }
    }
}

impl Default for DataDecider {
    fn default() -> Self {
        Self {
            connections: DataConnections::default(),
            waiting: DataNews::default(),
            renamed: Renamed::default(),
            in_tools: ToolNames::of(NAME),
            is_asked_for: false,
        }
    }
}

impl Decider for DataDecider {
    type News = DataNews;
    type Findings = Renamed;
    const EMITS: bool = true;

    fn add(&mut self, _: usize, news: DataNews) {
        self.waiting.add(news);
    }

    fn decide(&mut self, delivered: RecordKey, out: &mut impl Emit) -> RecordKey {
        let mut waiting = core::mem::take(&mut self.waiting);
        if self.connections.is_idle() && !waiting.has_statements() {
            // Nothing was announced: nothing is recognised.
            waiting.forget(delivered);
        } else {
            let stated = |own: &mut Self, one: &Statement| one.apply(&mut own.connections);
            waiting.replay(delivered, self, stated, |own, key, record| {
                own.recognise(key, record, out);
            });
        }
        self.waiting = waiting;
        delivered
    }

    fn losses(&self) -> Losses {
        *self.connections.losses()
    }

    fn take_findings(&mut self) -> Renamed {
        core::mem::take(&mut self.renamed)
    }
}

impl DataDecider {
    fn recognise(&mut self, key: RecordKey, record: &ConnRecord, out: &mut impl Emit) {
        let Some((data, is_first)) = self.connections.recognise(record) else {
            return;
        };
        if is_first {
            self.emit_event(key, record, &data, out);
        }
        if record.app.is_some_and(|app| app.name == NAME) {
            return;
        }
        if is_first && self.is_asked_for {
            self.connections.count_unseen();
        }
        self.renamed.count(record);
        out.supersede(key);
        out.conn(key, &named(record, &data));
    }

    /// The event of the transfer.
    fn emit_event(
        &self,
        key: RecordKey,
        record: &ConnRecord,
        data: &DataConnection,
        out: &mut impl Emit,
    ) {
        let place = MessagePlace {
            time: record.start,
            uid: record.uid,
            protocol: record.protocol,
            client: record.client,
            server: record.server,
            vlans: record.vlans,
            interface: record.interface,
            app: NAME,
            in_tools: self.in_tools,
            transaction: 0,
            packet_number: None,
            shown_client: None,
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
        out.message(key, &place, &FTP_DATA, &values);
    }
}

/// Connections that workers have counted under another name than their records have.
#[derive(Debug, Default)]
pub struct Renamed(BTreeMap<CountedAs, Traffic>);

impl Renamed {
    /// What they were counted as, and that they carry FTP's data.
    pub fn iter(&self) -> impl Iterator<Item = (CountedAs, &'static str, &Traffic)> {
        self.0.iter().map(|(&was, traffic)| (was, NAME, traffic))
    }

    /// A connection as its worker knows it; one that has not ended will be counted then.
    pub(crate) fn count(&mut self, record: &ConnRecord) {
        if record.interim > 0 {
            return;
        }
        let was = match record.app {
            Some(app) => CountedAs::Protocol(app.name),
            None => CountedAs::Unknown {
                port: (record.protocol, record.server.port),
                has_payload: (record.to_server.payload_bytes | record.to_client.payload_bytes) != 0,
            },
        };
        self.0.entry(was).or_default().add(&Traffic::of(record));
    }
}

/// The record of a data connection.
pub(crate) fn named(record: &ConnRecord, data: &DataConnection) -> ConnRecord {
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

const RULE: &str = "ftp-announced";

/// Above all ordinals that workers use, so that keys stay unique.
const EVENT_ORDINAL: u32 = 1 << 30;
