//! What the output stage decides about a connection: that it carries FTP's data, and which scans
//! and floods its ends are part of.

use super::account::RecordText;
use super::records::Texts;
use crate::aggregates::News;
use crate::output::messages;
use core::net::IpAddr;
use flowpin_aggregate::{Aggregate, Decider, Emit};
use flowpin_config::Plan;
use flowpin_data_channels::DataDecider;
use flowpin_output::Formatter;
use flowpin_packet::{InterfaceNames, Timestamp};
use flowpin_portscan::{ScanDecider, Scans};
use flowpin_record::{
    AnomalyRecord, ConnRecord, FloodRecord, MessagePlace, MessageSchema, RecordKey, RecordSink,
    RecordType, ScanRecord, TunnelRecord, Uid, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// The deciders of a run whose records may concern one connection.
pub(super) struct Decided {
    scans: Option<ScanDecider>,
    data: DataDecider,
    concerned: Concerned,
}

impl Decided {
    pub(super) fn new(plan: &Plan, names: &InterfaceNames) -> Self {
        let mut formatter = Formatter::with_messages(&plan.output, &messages::schemas(plan));
        formatter.name_interfaces(names);
        Self {
            scans: Scans::is_wanted(plan).then(|| Scans::decider(plan, 1)),
            data: DataDecider::default(),
            concerned: Concerned {
                formatter,
                uids: BTreeSet::new(),
                ends: BTreeSet::new(),
                superseded: Vec::new(),
            },
        }
    }

    /// A connection that is meant, once it is known.
    pub(super) fn concern(&mut self, record: &ConnRecord) {
        self.concerned.uids.insert(record.uid);
        let ends = [record.client.address, record.server.address];
        self.concerned.ends.extend(ends);
    }

    /// Takes what the worker hands over, and decides what can be decided up to `delivered`.
    pub(super) fn take(&mut self, news: News, delivered: RecordKey) {
        if let (Some(scans), Some(news)) = (&mut self.scans, news.scans) {
            scans.add(0, news);
        }
        if let Some(news) = news.data {
            self.data.add(0, news);
        }
        if let Some(scans) = &mut self.scans {
            scans.decide(delivered, &mut self.concerned);
        }
        self.data.decide(delivered, &mut self.concerned);
    }

    /// Adds what was decided about the connections to their `records`, by uid. Returns the scans
    /// and floods that their ends are part of.
    pub(super) fn finish(
        mut self,
        texts: &Texts,
        records: &mut BTreeMap<u64, Vec<RecordText>>,
    ) -> Vec<RecordText> {
        let batch = self.concerned.formatter.take_batch(Timestamp::MAX);
        let superseded = &self.concerned.superseded;
        let is_conn = |one: &RecordText| ["conn", "conn_long"].contains(&one.kind.as_str());
        for records in records.values_mut() {
            records.retain(|one| !is_conn(one) || !superseded.contains(&one.key));
        }
        let mut findings = Vec::new();
        for line in batch.lines() {
            let is_finding = matches!(line.record_type, RecordType::Scan | RecordType::Flood);
            let text = texts.of(&line);
            if is_finding {
                findings.push(text);
            } else {
                records.entry(line.uid).or_default().push(text);
            }
        }
        findings
    }
}

/// Takes the records that concern a connection.
struct Concerned {
    formatter: Formatter,
    uids: BTreeSet<Uid>,
    /// Clients and servers.
    ends: BTreeSet<IpAddr>,
    /// Records of the worker that others take the place of.
    superseded: Vec<RecordKey>,
}

impl Concerned {
    fn is_end(&self, address: IpAddr) -> bool {
        self.ends.contains(&address)
    }
}

impl Emit for Concerned {
    fn supersede(&mut self, key: RecordKey) {
        self.superseded.push(key);
    }
}

impl RecordSink for Concerned {
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        if self.uids.contains(&record.uid) {
            self.formatter.conn(key, record);
        }
    }

    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}

    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}

    fn scan(&mut self, key: RecordKey, record: &ScanRecord) {
        let sources = record.sources.as_slice().iter().chain([&record.source]);
        let mut hosts = sources.chain(record.host_samples.as_slice());
        if hosts.any(|&address| self.is_end(address)) {
            self.formatter.scan(key, record);
        }
    }

    fn flood(&mut self, key: RecordKey, record: &FloodRecord) {
        if self.is_end(record.target) {
            self.formatter.flood(key, record);
        }
    }

    fn message(
        &mut self,
        key: RecordKey,
        place: &MessagePlace,
        schema: &MessageSchema,
        values: &[Value<'_>],
    ) {
        if self.uids.contains(&place.uid) {
            self.formatter.message(key, place, schema, values);
        }
    }
}
