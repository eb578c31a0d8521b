//! In what order records are written, for any number of workers.

use crate::{
    Alert, AnomalyRecord, ConnRecord, DataChannel, FloodRecord, HostPairRecord, MessagePlace,
    MessageSchema, ScanRecord, Shown, TunnelRecord, Value,
};
use flowpin_packet::Timestamp;

/// The place of a record in the output. Unique, so that the order is total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// Stream time of emission: that of the packet that caused the record, or the exact moment
    /// at which a time-out fell due.
    pub time: Timestamp,
    /// Number of the packet that caused the record; of the connection's first packet where a
    /// time-out did.
    pub number: u64,
    /// Tells records apart that share time and number.
    pub ordinal: u32,
}

impl RecordKey {
    /// Behind all keys.
    pub const LAST: Self = Self {
        time: Timestamp::MAX,
        number: u64::MAX,
        ordinal: u32::MAX,
    };

    /// The last key before this one; the first of all has none before it.
    #[must_use]
    pub const fn previous(self) -> Self {
        let Self {
            time,
            number,
            ordinal,
        } = self;
        match (time.0, number, ordinal) {
            (0, 0, 0) => self,
            (before, 0, 0) => Self::last_at(Timestamp(before - 1)),
            (_, _, 0) => Self {
                time,
                number: number - 1,
                ordinal: u32::MAX,
            },
            _ => Self {
                time,
                number,
                ordinal: ordinal - 1,
            },
        }
    }

    /// The last key of a moment. Up to before time 0 there is nothing: its last key is the first
    /// of all, behind which the records of time 0 lie.
    pub const fn last_at(time: Timestamp) -> Self {
        match time.0 {
            0 => Self {
                time,
                number: 0,
                ordinal: 0,
            },
            _ => Self { time, ..Self::LAST },
        }
    }
}

/// Where a stage puts its records. Records need not come in order: whoever merges sorts them
/// once the watermark (the time up to which all was delivered) has passed.
pub trait RecordSink {
    /// A connection ended, or an interim record of one that goes on is due.
    fn conn(&mut self, key: RecordKey, record: &ConnRecord);
    /// A connection around a tunnel ended: what carried the packets inside. Only formats whose
    /// tools have a record of it write it, so that other sinks need not take it.
    fn carrier(&mut self, key: RecordKey, record: &ConnRecord) {
        let _ = (key, record);
    }
    /// Something odd was seen.
    fn anomaly(&mut self, key: RecordKey, record: &AnomalyRecord);
    /// A tunnel's sums over one interval.
    fn tunnel(&mut self, key: RecordKey, record: &TunnelRecord);
    /// A scan begins, goes on or is over. Only the output stage knows, so that other sinks need
    /// not take it.
    fn scan(&mut self, key: RecordKey, record: &ScanRecord) {
        let _ = (key, record);
    }
    /// A flood begins, goes on or is over; likewise.
    fn flood(&mut self, key: RecordKey, record: &FloodRecord) {
        let _ = (key, record);
    }
    /// What all connections of two hosts come to; likewise.
    fn host_pair(&mut self, key: RecordKey, record: &HostPairRecord) {
        let _ = (key, record);
    }
    /// A message of an application protocol; who takes none need not.
    fn message(
        &mut self,
        key: RecordKey,
        place: &MessagePlace,
        schema: &MessageSchema,
        values: &[Value<'_>],
    ) {
        let _ = (key, place, schema, values);
    }
    /// A message that [`reads_messages`](Self::reads_messages) refuses: it is counted.
    fn unread_message(&mut self, schema: &MessageSchema) {
        let _ = schema;
    }
    /// A connection says something of another one. No record: whoever decides which connection is
    /// meant hears it in the order of keys.
    fn data_channel(&mut self, key: RecordKey, place: &MessagePlace, told: DataChannel<'_>) {
        let _ = (key, place, told);
    }
    /// A rule fits something of a connection. No record: whether it becomes one is decided in the
    /// order of keys.
    fn alert(&mut self, key: RecordKey, place: &MessagePlace, alert: Alert<'_>) {
        let _ = (key, place, alert);
    }
    /// Whether so many records wait that the next ones should wait until those that are
    /// [complete](Self::complete) have gone. A sink without a bound never is.
    #[inline]
    fn is_full(&self) -> bool {
        false
    }
    /// Every record with a smaller key has been given.
    #[inline]
    fn complete(&mut self, before: RecordKey) {
        let _ = before;
    }
    /// Every record that time-outs cause up to and including `time` has been given: up to there
    /// only packets cause records.
    #[inline]
    fn complete_time_outs(&mut self, time: Timestamp) {
        let _ = time;
    }
    /// From now on, records of this packet come in the order of their keys, and before those of any
    /// later packet.
    #[inline]
    fn enter_packet(&mut self, number: u64) {
        let _ = number;
    }
    /// Whether all records are given that time-outs cause up to and including `time`.
    #[inline]
    fn knows_time_outs(&self, time: Timestamp) -> bool {
        let _ = time;
        true
    }
    /// Whether anybody reads the values of messages that are shown so: see
    /// [`MessageSink::reads`](crate::MessageSink::reads).
    fn reads_messages(&self, shown: Shown) -> bool {
        let _ = shown;
        true
    }
}
