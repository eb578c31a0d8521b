//! From a parser's messages to records: who talks, and where in the output they belong.

use super::ParseStats;
use super::numbering::Numbering;
use super::places::Places;
use super::shed::Shed;
use crate::worker::context::{Cause, Context};
use crate::worker::limit::{Keys, Limit};
use flowpin_counters::{Loss, Losses};
use flowpin_detect::Tap;
use flowpin_output::ExtractedFiles;
use flowpin_packet::{Layer, Reason, SHARD_COUNT, Shard, Timestamp, bad};
use flowpin_record::{
    AnomalyRecord, AppEvent, DataChannel, FilePart, MessageSchema, MessageSink, RecordKey,
    RecordSink, Shown, Value, file_of_part,
};
use std::hint::black_box;

/// What all connections of a worker share.
#[derive(Debug)]
pub(super) struct Ledger {
    packets: Keys,
    /// Of ends that packets cause. Time-outs may be written between two of one packet, or before
    /// them: when depends on when records have to leave, and no key may depend on that.
    ends: Keys,
    time_outs: Keys,
    limits: Box<[Limit; SHARD_COUNT]>,
    of_end: EndLimit,
    of_time_out: EndLimit,
    pub(super) losses: Losses,
    pub(super) stats: ParseStats,
    /// Whether what a parser just got is of its protocol, where it said so.
    pub(super) fits: Option<bool>,
    /// Whether that is beyond doubt.
    pub(super) has_proved: bool,
    /// Files that connections carry, where they are kept.
    pub(super) files: Option<ExtractedFiles>,
    /// What rules read, where there are any.
    pub(super) tap: Option<Tap>,
    /// What is left out under overload, if anything may be.
    pub(super) shed: Option<Shed>,
}

impl Ledger {
    /// Where files go, if they are kept; what rules read, if there are any.
    pub(crate) fn new(files: Option<ExtractedFiles>, tap: Option<Tap>) -> Self {
        Self {
            packets: Keys::from(PACKET_ORDINAL),
            ends: Keys::from(END_ORDINAL),
            time_outs: Keys::from(END_ORDINAL),
            limits: Box::new([Limit::default(); SHARD_COUNT]),
            of_end: EndLimit::default(),
            of_time_out: EndLimit::default(),
            losses: Losses::default(),
            stats: ParseStats::default(),
            fits: None,
            has_proved: false,
            files,
            tap,
            shed: None,
        }
    }
}

impl Ledger {
    /// Whether a connection of this shard gets no parser now; counts it then.
    pub(super) fn sheds_parsing(&mut self, shard: Shard) -> bool {
        let sheds = self
            .shed
            .as_ref()
            .is_some_and(|shed| shed.sheds_parsing(shard));
        if sheds {
            self.losses.count(Loss::ShedParsing, 1);
        }
        sheds
    }

    fn key(&mut self, cause: &Cause) -> RecordKey {
        let keys = match (cause.is_end, cause.is_time_out) {
            (false, _) => &mut self.packets,
            (true, false) => &mut self.ends,
            (true, true) => &mut self.time_outs,
        };
        keys.next(cause.stream_time, cause.number)
    }

    /// Whether one more anomaly may be written: then, how many were left out since the last one.
    fn allow(&mut self, cause: &Cause, shard: Shard) -> Option<u64> {
        if cause.is_end {
            let limit = match cause.is_time_out {
                true => &mut self.of_time_out,
                false => &mut self.of_end,
            };
            return limit.allow(cause).then_some(0);
        }
        let limit = self.limits.get_mut(usize::from(shard.0))?;
        limit.allow(cause.stream_time, PER_SECOND_MAX)
    }
}

/// Takes the messages of one connection.
pub(super) struct Outlet<'a, 't, S> {
    pub(super) ledger: &'a mut Ledger,
    pub(super) places: Places<'a>,
    pub(super) numbering: &'a mut Numbering,
    pub(super) shard: Shard,
    /// Where the parser's input was sent; none at the connection's end.
    pub(super) to_server: Option<bool>,
    pub(super) context: &'a mut Context<'t, S>,
}

impl<S: RecordSink> MessageSink for Outlet<'_, '_, S> {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        let cause = self.context.cause;
        let key = self.ledger.key(&cause);
        // What only one format shows is counted as little as what the others leave out.
        if schema.shown != Shown::InZeek {
            self.ledger.stats.messages += 1;
        }
        let transaction = match schema.part_of {
            Some(column) => {
                let next = self.numbering.of(schema.shown);
                next.max(number(values.get(column)))
            }
            None => self.numbering.next(schema.shown),
        };
        if let Some(tap) = &mut self.ledger.tap {
            tap.message(schema, values, transaction);
        }
        if !self.context.sink.reads_messages(schema.shown) {
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
            || self
                .ledger
                .tap
                .as_ref()
                .is_some_and(|tap| tap.reads(schema))
    }

    fn fields(&mut self, of_request: bool, names: &[Value<'_>], values: &[Value<'_>]) {
        if let Some(tap) = &mut self.ledger.tap {
            tap.fields(of_request, names, values);
        }
    }

    fn anomaly(&mut self, event: &'static str) {
        if let Some(tap) = &mut self.ledger.tap {
            tap.anomaly(event, self.to_server);
        }
        let cause = self.context.cause;
        let Some(suppressed) = self.ledger.allow(&cause, self.shard) else {
            self.ledger.losses.count(Loss::AnomaliesSuppressed, 1);
            return;
        };
        let Some(place) = self.places.get(self.context) else {
            return;
        };
        let record = AnomalyRecord {
            time: cause.time,
            packet_number: (!cause.is_end).then_some(cause.number),
            interface: place.interface,
            what: bad(Layer::Stream, Reason::Message, 0),
            app: Some(AppEvent {
                protocol: place.app,
                in_tools: place.in_tools,
                name: event,
                to_server: self.to_server,
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

    fn data_channel(&mut self, channel: DataChannel<'_>) {
        let cause = self.context.cause;
        let key = self.ledger.key(&cause);
        if let Some(place) = self.places.get(self.context) {
            place.time = cause.time;
            self.context.sink.data_channel(key, place, channel);
        }
    }

    fn certificate(&mut self, bytes: &[u8]) {
        if let Some(tap) = &mut self.ledger.tap {
            tap.certificate(bytes);
        }
    }

    fn said(&mut self, to_server: bool, name: &'static str, bytes: &[u8]) {
        if let Some(tap) = &mut self.ledger.tap {
            tap.said(to_server, name, bytes);
        }
    }

    fn stray(&mut self, number: u64, bytes: &[u8]) {
        if let Some(tap) = &mut self.ledger.tap {
            tap.file(FilePart::Data(number, bytes));
        }
    }

    fn named_file(&mut self, to_server: bool, name: &Value<'_>, size: u64) {
        if let Some(tap) = &mut self.ledger.tap {
            tap.named_file(to_server, name, size);
        }
    }

    fn carried_file(&mut self, to_server: bool, number: u64, name: &Value<'_>, size: u64) {
        if let Some(tap) = &mut self.ledger.tap {
            let transaction = self.numbering.of(Shown::InEvents);
            tap.carried_file(to_server, number, (name, size), transaction);
        }
    }

    fn file(&mut self, part: FilePart<'_>) {
        if let Some(shed) = &mut self.ledger.shed
            && let Some(place) = self.places.get(self.context)
            && shed.sheds_body(self.shard, place.uid, part, &mut self.ledger.losses)
        {
            return;
        }
        // Rules examine bodies whole.
        let (_, nth) = file_of_part(part.number());
        if let Some(tap) = self.ledger.tap.as_mut().filter(|_| nth == 0) {
            tap.file(part);
        }
        if let Some(files) = &mut self.ledger.files
            && let Some(place) = self.places.get(self.context)
        {
            files.part(place.uid, part);
        }
    }
}

/// Anomaly records of messages in one second, from one shard of 256.
const PER_SECOND_MAX: u32 = 8;

/// Anomaly records of messages that one connection's end may make, or one packet that ends several.
/// Not by shard and second: when a connection's end is looked at, before or after packets of the
/// same granule, depends on when records have to leave, and which of all are the first may not.
const PER_END_MAX: u32 = 8;

/// What the connection that ended last has used.
#[derive(Clone, Copy, Debug, Default)]
struct EndLimit {
    /// Of the key of its record.
    last: (Timestamp, u64),
    written: u32,
}

impl EndLimit {
    fn allow(&mut self, cause: &Cause) -> bool {
        let this = (cause.stream_time, cause.number);
        if self.last != this {
            (self.last, self.written) = (this, 0);
        }
        let allowed = self.written < PER_END_MAX;
        self.written += u32::from(allowed);
        allowed
    }
}

/// Behind every other record that a packet may cause.
const PACKET_ORDINAL: u32 = 1 << 28;
const END_ORDINAL: u32 = 1 << 29;

/// The transaction that carried a part, whose own record follows: its number is that of the next
/// record, or higher where requests were sent at once, whose bodies come before all their records.
fn number(value: Option<&Value<'_>>) -> u32 {
    match value {
        Some(&Value::Count(number)) => u32::try_from(number).unwrap_or(u32::MAX),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::Ledger;
    use crate::worker::context::Cause;
    use flowpin_packet::{InterfaceId, LinkType, Stretch, Timestamp};

    fn end(number: u64, is_time_out: bool) -> Cause {
        Cause {
            time: Timestamp(1),
            stream_time: Timestamp(1),
            number,
            frame_len: 0,
            frame: Stretch::EMPTY,
            link: LinkType::Unsupported,
            interface: InterfaceId::NONE,
            is_end: true,
            is_time_out,
        }
    }

    /// A packet ends two connections; whether a time-out between them was written before is no
    /// business of their keys, nor of what is left out.
    #[test]
    fn ends_by_packets_are_counted_apart_from_time_outs() {
        let by_packet = |with_time_out: bool| {
            let mut ledger = Ledger::new(None, None);
            let mut found = Vec::new();
            for _ in 0..5 {
                let cause = end(9, false);
                let is_allowed = ledger.allow(&cause, flowpin_packet::Shard(0)).is_some();
                found.push((ledger.key(&cause), is_allowed));
                ledger.allow(&cause, flowpin_packet::Shard(0));
                if with_time_out {
                    let cause = end(3, true);
                    ledger.allow(&cause, flowpin_packet::Shard(0));
                    ledger.key(&cause);
                }
            }
            found
        };
        assert_eq!(by_packet(true), by_packet(false));
        assert!(!by_packet(true).iter().all(|(_, is_allowed)| *is_allowed));
    }
}
