//! A worker's records, on their way from the stages to the output.
//!
//! ```text
//!  stages ──record, key──► formatter: held ──► tick: all up to the watermark ──► output
//!                              └── too many ──► all up to a complete key ─────────► output
//! ```
//!
//! Owns what waits for its key to be complete: that no record with a smaller one can follow. Bounds
//! it, also within a batch and within one packet, by handing over as soon as [`HELD_BYTES`] are
//! there (decision 0030). When that is changes no record and no key.

use crate::aggregates::{News, Observers};
use crate::output::{Delivery, Exit};
use crate::recall::Findings;
use crate::worker::netflow;
use flowpin_aggregate::Traffic;
use flowpin_output::{Formatter, RecordBatch};
use flowpin_packet::{Tick, Timestamp};
use flowpin_record::{
    Alert, AnomalyRecord, ConnRecord, DataChannel, MessagePlace, MessageSchema, RecordKey,
    RecordSink, Shown, TunnelRecord, Value,
};

/// More than this is handed over as soon as its keys are complete.
const HELD_BYTES: usize = 1 << 19;

/// So many connections' records are not weighed one by one: 60 kB in all formats.
const UNWEIGHED_MAX: u32 = 16;

/// Formatter and observers of one worker, and the way to the output.
pub(super) struct Records {
    pub(super) formatter: Formatter,
    pub(super) observers: Observers,
    /// Tells a conditional recording of what is found.
    pub(super) findings: Option<Box<Findings>>,
    /// Whether `netflow` events are wanted.
    has_netflow: bool,
    exit: Exit,
    /// Up to where all records were delivered.
    delivered: RecordKey,
    /// All records of time-outs up to here are given.
    time_outs: Timestamp,
    /// The packet whose records come in the order of their keys.
    packet: Option<u64>,
    /// How much may be held before it is full.
    full_bytes: usize,
    // PERF: asked for each event of a packet, and changed by records only.
    is_full: bool,
    /// Connections since it was asked how much is held.
    unweighed: u32,
    /// The most that it held.
    held_bytes_max: usize,
    /// Packets of the heaviest connection.
    pub(super) heaviest_packets: u64,
}

impl Records {
    pub(super) fn new(formatter: Formatter, observers: Observers) -> Self {
        Self {
            has_netflow: formatter.takes(&netflow::NETFLOW),
            formatter,
            observers,
            findings: None,
            exit: Exit::Nowhere,
            delivered: NOTHING,
            time_outs: Timestamp(0),
            packet: None,
            full_bytes: usize::MAX,
            is_full: false,
            unweighed: 0,
            held_bytes_max: 0,
            heaviest_packets: 0,
        }
    }

    /// Opens the way to the output, for records that cannot wait until the end of a piece.
    pub(super) fn set_exit(&mut self, exit: Exit) {
        self.full_bytes = HELD_BYTES;
        self.weigh();
        self.exit = exit;
    }

    pub(super) const fn exit(&mut self) -> &mut Exit {
        &mut self.exit
    }

    /// Up to where all records were delivered.
    pub(super) const fn delivered(&self) -> RecordKey {
        self.delivered
    }

    /// The most that waited, in bytes.
    pub(super) const fn held_bytes_max(&self) -> usize {
        self.held_bytes_max
    }

    /// Whether records must not wait until the end of the granule in which a tick lies.
    pub(super) fn is_exact(&self, tick: Tick) -> bool {
        self.is_full() || self.exit.is_exact(tick.time)
    }

    /// Takes out what can be delivered: everything up to `until`. `news` are those of stages.
    pub(super) fn take(&mut self, until: RecordKey, news: News) -> Delivery {
        self.tell_findings();
        let news_bytes = self.observers.held_bytes();
        let held_bytes = self.formatter.held_bytes() + news_bytes;
        self.held_bytes_max = self.held_bytes_max.max(held_bytes);
        self.delivered = self.delivered.max(until);
        let mut records = self.formatter.take_batch_up_to(self.delivered);
        records.set_companion_bytes(news_bytes);
        let news = News {
            scans: news.scans,
            ..self.observers.tick(until.time)
        };
        if self.full_bytes != usize::MAX {
            let more = self.formatter.held_bytes() + HELD_BYTES;
            self.full_bytes = if self.is_full {
                // What cannot go yet must not be looked through again for every record.
                more
            } else {
                // A tick up to the granule's beginning takes nothing of the granule: it must not
                // put off the moment when that is too much.
                self.full_bytes.min(more)
            };
        }
        self.weigh();
        Delivery { records, news }
    }

    /// What is found is told before the records up to there are delivered.
    fn tell_findings(&mut self) {
        if let Some(findings) = &mut self.findings {
            findings.hand_over();
        }
    }

    /// Whether as much is held as may be.
    #[inline]
    fn weigh(&mut self) {
        self.unweighed = 0;
        let held_bytes = self.formatter.held_bytes() + self.observers.held_bytes();
        self.is_full = held_bytes >= self.full_bytes;
    }

    /// Sends a delivery to the output; waits if too much is on its way there.
    pub(super) fn send(&mut self, delivery: Delivery) {
        let formatter = &mut self.formatter;
        self.exit.send(delivery, |batch| formatter.recycle(batch));
    }

    /// Hands over all records up to `until`.
    #[cold]
    #[inline(never)]
    fn hand_over(&mut self, until: RecordKey) {
        // Nobody may make the others wait for the end of the granule.
        self.exit.demand_exact(until.time);
        let delivery = self.take(until, News::default());
        self.send(delivery);
    }

    /// After a record of a message: hands over what is complete if there is no room for more.
    #[inline]
    fn relieve(&mut self, key: RecordKey) {
        if self.is_full() && key.time <= self.time_outs {
            let begin = RecordKey { ordinal: 0, ..key };
            let until = if self.packet == Some(key.number) {
                key
            } else {
                begin.previous()
            };
            self.hand_over(until);
        }
    }

    /// The last news; the input has ended at `end`.
    pub(super) fn into_news(self, end: Timestamp) -> News {
        self.observers.finish(end)
    }

    /// All records that no delivery has taken.
    pub(super) fn take_rest(&mut self) -> RecordBatch {
        self.tell_findings();
        self.formatter.take_batch(Timestamp::MAX)
    }
}

impl RecordSink for Records {
    #[inline]
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        let packets = Traffic::of(record).packets;
        self.heaviest_packets = self.heaviest_packets.max(packets);
        self.observers.conn(key, record);
        if let Some(findings) = &mut self.findings {
            findings.conn(key, record);
        }
        self.formatter.conn(key, record);
        if self.has_netflow && record.interim == 0 {
            netflow::put(&mut self.formatter, key, record);
        }
        // PERF: of some 40 instructions; a connection's texts are short.
        self.unweighed += 1;
        if self.unweighed == UNWEIGHED_MAX {
            self.weigh();
        }
    }

    fn anomaly(&mut self, key: RecordKey, record: &AnomalyRecord) {
        if let Some(findings) = &mut self.findings {
            findings.anomaly(key, record);
        }
        self.formatter.anomaly(key, record);
        self.weigh();
    }

    fn tunnel(&mut self, key: RecordKey, record: &TunnelRecord) {
        self.formatter.tunnel(key, record);
        self.weigh();
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
        self.formatter.message(key, place, schema, values);
        self.weigh();
        self.relieve(key);
    }

    fn unread_message(&mut self, schema: &MessageSchema) {
        self.formatter.unread_message(schema);
    }

    fn data_channel(&mut self, key: RecordKey, place: &MessagePlace, told: DataChannel<'_>) {
        self.observers.data_channel(key, place, told);
        self.weigh();
        self.relieve(key);
    }

    fn alert(&mut self, key: RecordKey, place: &MessagePlace, alert: Alert<'_>) {
        self.observers.alert(key, place, alert);
        self.weigh();
        // Its key lies behind those of messages that the same packet may still cause.
        if self.is_full() && key.time <= self.time_outs {
            self.hand_over(RecordKey { ordinal: 0, ..key }.previous());
        }
    }

    #[inline]
    fn reads_messages(&self, shown: Shown) -> bool {
        // A conditional recording is told of each message once.
        let is_told = matches!(shown, Shown::Everywhere | Shown::InEvents);
        is_told && self.findings.is_some() || self.formatter.reads_messages(shown)
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.is_full
    }

    fn complete(&mut self, before: RecordKey) {
        if self.is_full() {
            self.hand_over(before.previous());
        }
    }

    fn complete_time_outs(&mut self, time: Timestamp) {
        self.time_outs = time;
        self.packet = None;
    }

    #[inline]
    fn knows_time_outs(&self, time: Timestamp) -> bool {
        time <= self.time_outs || self.full_bytes == usize::MAX
    }

    #[inline]
    fn enter_packet(&mut self, number: u64) {
        self.packet = Some(number);
    }
}

/// Before all keys.
const NOTHING: RecordKey = RecordKey {
    time: Timestamp(0),
    number: 0,
    ordinal: 0,
};
