//! A decider, and the formatter of the records that it emits.

use super::messages;
use crate::recall::Findings;
use flowpin_aggregate::{Decider, Emit};
use flowpin_config::Plan;
use flowpin_output::{Formatter, Merger};
use flowpin_record::{
    AnomalyRecord, ConnRecord, FloodRecord, HostPairRecord, MessagePlace, MessageSchema, RecordKey,
    RecordSink, ScanRecord, TunnelRecord, Value,
};

/// A decider as a source of the merger.
#[derive(Debug)]
pub(super) struct Source<D> {
    pub(super) decider: D,
    formatter: Formatter,
    /// For the formatter of messages, which is made for the first record; most runs need none.
    plan: Option<Box<Plan>>,
    /// Tells a conditional recording of what is found.
    pub(super) findings: Option<Box<Findings>>,
}

impl<D: Decider> Source<D> {
    pub(super) fn new(decider: D, plan: &Plan) -> Self {
        Self {
            decider,
            formatter: Formatter::new(&plan.output),
            plan: D::EMITS.then(|| Box::new(plan.clone())),
            findings: None,
        }
    }

    /// Whether the decider emits records.
    pub(super) const fn emits(&self) -> bool {
        D::EMITS
    }

    /// The formatter that reuses written batches.
    pub(super) fn formatter(&mut self) -> Option<&mut Formatter> {
        D::EMITS.then_some(&mut self.formatter)
    }

    /// Decides what can be decided up to `delivered`, and pushes the records to the merger as
    /// those of its source `number`.
    pub(super) fn decide(&mut self, delivered: RecordKey, number: usize, merger: &mut Merger) {
        let mut emitted = Emitted {
            formatter: &mut self.formatter,
            plan: &mut self.plan,
            findings: self.findings.as_deref_mut(),
            merger,
            source: number,
        };
        let decided = self.decider.decide(delivered, &mut emitted);
        if let Some(findings) = &mut self.findings {
            findings.hand_over();
        }
        if D::EMITS {
            let mut batch = self.formatter.take_batch_up_to(decided);
            // They replace records that were counted when they were made.
            batch.forget_built_connections();
            merger.push(number, batch);
        }
    }
}

/// Formats the records that a decider emits.
struct Emitted<'a> {
    formatter: &'a mut Formatter,
    plan: &'a mut Option<Box<Plan>>,
    findings: Option<&'a mut Findings>,
    merger: &'a mut Merger,
    source: usize,
}

impl Emitted<'_> {
    fn formatter(&mut self) -> &mut Formatter {
        if let Some(plan) = self.plan.take() {
            self.formatter.take_messages(&messages::schemas(&plan));
        }
        self.formatter
    }
}

impl Emit for Emitted<'_> {
    fn supersede(&mut self, key: RecordKey) {
        self.merger.supersede(key, self.source);
    }
}

impl RecordSink for Emitted<'_> {
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        if let Some(findings) = &mut self.findings {
            findings.conn(key, record);
        }
        self.formatter().conn(key, record);
    }

    fn anomaly(&mut self, key: RecordKey, record: &AnomalyRecord) {
        self.formatter().anomaly(key, record);
    }

    fn tunnel(&mut self, key: RecordKey, record: &TunnelRecord) {
        self.formatter().tunnel(key, record);
    }

    fn scan(&mut self, key: RecordKey, record: &ScanRecord) {
        if let Some(findings) = &mut self.findings {
            findings.scan(key, record);
        }
        self.formatter().scan(key, record);
    }

    fn flood(&mut self, key: RecordKey, record: &FloodRecord) {
        self.formatter().flood(key, record);
    }

    fn host_pair(&mut self, key: RecordKey, record: &HostPairRecord) {
        self.formatter().host_pair(key, record);
    }

    fn message(
        &mut self,
        key: RecordKey,
        place: &MessagePlace,
        schema: &MessageSchema,
        values: &[Value<'_>],
    ) {
        if let Some(findings) = &mut self.findings {
            findings.message(key, place, schema);
        }
        self.formatter().message(key, place, schema, values);
    }
}
