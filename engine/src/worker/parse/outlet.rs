//! From a parser's messages to records: who talks, and where in the output they belong.

use super::files::Files;
use super::{ParseStats, Places};
use crate::worker::context::{Cause, Context};
use crate::worker::limit::{Keys, Limit};
use flowpin_counters::{Loss, Losses};
use flowpin_http::FILES;
use flowpin_packet::{Layer, Reason, SHARD_COUNT, Shard, Timestamp, bad};
use flowpin_record::{
    AnomalyRecord, AppEvent, DataChannel, FilePart, MessageSchema, MessageSink, RecordKey,
    RecordSink, Shown, Value,
};
use std::hint::black_box;

/// What all connections of a worker share.
#[derive(Debug)]
pub(super) struct Ledger {
    packets: Keys,
    ends: Keys,
    limits: Box<[Limit; SHARD_COUNT]>,
    pub(super) losses: Losses,
    pub(super) stats: ParseStats,
    /// Whether what a parser was just told is of its protocol, where it said so.
    pub(super) fits: Option<bool>,
    /// Whether that is beyond doubt.
    pub(super) has_proved: bool,
    /// Files that connections carry, where they are kept.
    pub(super) files: Option<Files>,
}

impl Ledger {
    /// Where files go, if they are kept.
    pub(crate) fn new(files: Option<Files>) -> Self {
        Self {
            packets: Keys::from(PACKET_ORDINAL),
            ends: Keys::from(END_ORDINAL),
            limits: Box::new([Limit::default(); SHARD_COUNT]),
            losses: Losses::default(),
            stats: ParseStats::default(),
            fits: None,
            has_proved: false,
            files,
        }
    }
}

impl Ledger {
    fn key(&mut self, cause: &Cause) -> RecordKey {
        let keys = if cause.is_end {
            &mut self.ends
        } else {
            &mut self.packets
        };
        keys.next(cause.stream_time, cause.number)
    }
}

/// How many records a connection had so far.
///
/// Events and columns may tell of the same in different units; each kind counts its own, so that
/// the number of a record is the same whatever formats are chosen. Parsers tell of every event,
/// also where nobody reads them; of columns only where they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    events: u32,
    columns: u32,
}

impl Counted {
    /// The number of a record, and one more of its kind.
    const fn next(&mut self, shown: Shown) -> u32 {
        let number = self.of(shown);
        let next = number.wrapping_add(1);
        match shown {
            Shown::InEvents => self.events = next,
            Shown::InColumns => self.columns = next,
            // There are no more transactions than messages: what both have follows on both.
            Shown::Everywhere => (self.events, self.columns) = (next, next),
        }
        number
    }

    const fn of(self, shown: Shown) -> u32 {
        match shown {
            Shown::InColumns => self.columns,
            Shown::InEvents | Shown::Everywhere => self.events,
        }
    }
}

/// Takes the messages of one connection.
pub(super) struct Outlet<'a, 't, S> {
    pub(super) ledger: &'a mut Ledger,
    pub(super) places: Places<'a>,
    pub(super) counted: &'a mut Counted,
    pub(super) shard: Shard,
    pub(super) context: &'a mut Context<'t, S>,
}

impl<S: RecordSink> MessageSink for Outlet<'_, '_, S> {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        let cause = self.context.cause;
        let key = self.ledger.key(&cause);
        self.ledger.stats.messages += 1;
        // A file is a part of a transaction whose own record follows.
        let is_file = schema.file_stem == FILES.file_stem;
        let transaction = if is_file {
            self.counted.of(schema.shown).max(carrier(values))
        } else {
            self.counted.next(schema.shown)
        };
        if !self.reads(schema) {
            // What a parser made of the message, it made.
            black_box(values);
            return self.context.sink.unread_message(schema);
        }
        if let Some(place) = self.places.get(self.context) {
            place.time = time;
            place.packet_number = (!cause.is_end).then_some(cause.number);
            place.transaction = transaction;
            self.context.sink.message(key, place, schema, values);
        }
    }

    #[inline]
    fn reads(&self, schema: &MessageSchema) -> bool {
        self.context.sink.reads_messages(schema.shown)
    }

    fn anomaly(&mut self, event: &'static str) {
        let cause = self.context.cause;
        let limit = self.ledger.limits.get_mut(usize::from(self.shard.0));
        let allowed = limit.and_then(|limit| limit.allow(cause.stream_time, PER_SECOND_MAX));
        let Some(suppressed) = allowed else {
            self.ledger.losses.count(Loss::AnomaliesSuppressed, 1);
            return;
        };
        let Some(place) = self.places.get(self.context) else {
            return;
        };
        let record = AnomalyRecord {
            time: cause.time,
            packet_number: cause.number,
            what: bad(Layer::Stream, Reason::Message, 0),
            app: Some(AppEvent {
                protocol: place.app,
                in_tools: place.in_tools,
                name: event,
            }),
            addresses: Some((place.client.address, place.server.address)),
            connection: Some((place.uid, place.client.port, place.server.port)),
            suppressed,
        };
        let key = self.ledger.key(&cause);
        self.context.sink.anomaly(key, &record);
    }

    /// One message is enough, whatever stands around it.
    #[inline]
    fn fits(&mut self, is_mine: bool) {
        let fits = &mut self.ledger.fits;
        *fits = Some(is_mine || *fits == Some(true));
        self.ledger.has_proved = false;
    }

    #[inline]
    fn proves(&mut self) {
        self.ledger.has_proved = self.ledger.fits != Some(false);
        self.ledger.fits = Some(true);
    }

    fn data_channel(&mut self, told: DataChannel<'_>) {
        let cause = self.context.cause;
        let key = self.ledger.key(&cause);
        if let Some(place) = self.places.get(self.context) {
            place.time = cause.time;
            self.context.sink.data_channel(key, place, told);
        }
    }

    fn file(&mut self, part: FilePart<'_>) {
        if let Some(files) = &mut self.ledger.files
            && let Some(place) = self.places.get(self.context)
        {
            files.part(place.uid, part);
        }
    }
}

/// Anomaly records of messages in one second, from one shard of 256.
const PER_SECOND_MAX: u32 = 8;

/// Behind every other record that a packet may cause.
const PACKET_ORDINAL: u32 = 1 << 28;
const END_ORDINAL: u32 = 1 << 29;

/// Of the values of a file: which transaction carried it, from 0. Requests that were sent at once
/// are told one after the other, their bodies before.
fn carrier(values: &[Value<'_>]) -> u32 {
    match values.get(1) {
        Some(&Value::Count(depth)) => u32::try_from(depth).unwrap_or(u32::MAX).saturating_sub(1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Shown};

    /// What both formats have follows on both, by a number that does not depend on columns: they
    /// are not told where nobody writes them.
    #[test]
    fn what_all_formats_have_is_numbered_by_events() {
        for columns in 0..3 {
            let mut counted = Counted::default();
            for number in 0..3 {
                assert_eq!(counted.next(Shown::InEvents), number);
            }
            for number in 0..columns {
                assert_eq!(counted.next(Shown::InColumns), number);
            }
            assert_eq!(counted.next(Shown::Everywhere), 3);
            assert_eq!(counted.next(Shown::InColumns), 4);
            assert_eq!(counted.next(Shown::InEvents), 4);
        }
    }
}
