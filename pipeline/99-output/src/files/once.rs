//! Records of what many connections show, such as certificates: the same one is written once a day.
//!
//! Owns the memory of what was written within a day. It sees records in the order of the output,
//! so that which of several equal ones is written does not depend on the number of workers.

use crate::batch::{RecordRef, TextFormat};
use crate::format::MessageSchemas;
use flowpin_packet::Timestamp;
use flowpin_record::RecordType;
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

/// What was written within the last day of stream time.
#[derive(Debug)]
pub(super) struct Once {
    /// By the number of each schema: whether the same record is written once a day.
    stands_alone: Box<[bool]>,
    known: HashSet<u128>,
    /// The same in the order in which they were written.
    order: VecDeque<(Timestamp, u128)>,
    /// Records are told apart by two hashes with keys of their own, which nobody can foresee.
    hashers: [RandomState; 2],
}

/// Whether a record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Write,
    /// It was written within the last day.
    Repeated,
    /// It is written, and the one that was written first is forgotten, for lack of room.
    WriteAndForget,
}

impl Once {
    /// The memory of a run; none if no kind of its records needs it.
    pub(super) fn of(schemas: &MessageSchemas) -> Option<Self> {
        let all = schemas.iter().map(|ready| ready.schema.stands_alone);
        let stands_alone: Box<[bool]> = all.collect();
        stands_alone.contains(&true).then(|| Self {
            stands_alone,
            known: HashSet::new(),
            order: VecDeque::new(),
            hashers: [RandomState::new(), RandomState::new()],
        })
    }

    /// Decides whether the next record is written.
    pub(super) fn decide(&mut self, record: &RecordRef<'_>) -> Decision {
        if record.entry.record_type != RecordType::Message {
            return Decision::Write;
        }
        let schema = usize::from(record.rows.messages.row(record.entry.row).schema);
        if self.stands_alone.get(schema) != Some(&true) {
            return Decision::Write;
        }
        let text = match record.text(TextFormat::ZeekTsv) {
            [] => record.text(TextFormat::ZeekJson),
            text => text,
        };
        // The time is the first column of both formats.
        let mut columns = text.splitn(2, |&byte| matches!(byte, b'\t' | b','));
        let own = columns.nth(1).unwrap_or_default();
        let [low, high] = self
            .hashers
            .each_ref()
            .map(|one| one.hash_one((schema, own)));
        self.remember(record.time(), u128::from(high) << 64 | u128::from(low))
    }

    fn remember(&mut self, now: Timestamp, identity: u128) -> Decision {
        while let Some(&(written, first)) = self.order.front()
            && now.0.saturating_sub(written.0) >= DAY
        {
            self.order.pop_front();
            self.known.remove(&first);
        }
        if !self.known.insert(identity) {
            return Decision::Repeated;
        }
        self.order.push_back((now, identity));
        if self.order.len() > KNOWN_MAX
            && let Some((_, first)) = self.order.pop_front()
        {
            self.known.remove(&first);
            return Decision::WriteAndForget;
        }
        Decision::Write
    }
}

/// In nanoseconds.
const DAY: u64 = 86_400_000_000_000;

/// The most records that are remembered: about 3 MiB.
const KNOWN_MAX: usize = 1 << 15;

#[cfg(test)]
mod tests {
    use super::{DAY, Decision, KNOWN_MAX, Once};
    use crate::format::MessageSchemas;
    use flowpin_packet::Timestamp;
    use flowpin_record::MessageSchema;

    static ALONE: MessageSchema = MessageSchema::new("alone", "A thing.", &[]).standing_alone();
    static OTHER: MessageSchema = MessageSchema::new("other", "A message.", &[]);

    /// Where no kind of record is written once a day, nothing is remembered.
    #[test]
    fn it_is_there_only_where_it_is_needed() {
        assert!(Once::of(&MessageSchemas::new([&OTHER])).is_none());
        assert!(Once::of(&MessageSchemas::new([&OTHER, &ALONE])).is_some());
    }

    /// A day begins when a record is written, and ends a day later.
    #[test]
    fn a_day_is_from_one_writing_to_the_next() {
        let mut once = Once::of(&MessageSchemas::new([&ALONE])).unwrap();
        let mut at = |time, identity| once.remember(Timestamp(time), identity);
        assert_eq!(at(5, 1), Decision::Write);
        assert_eq!(at(6, 2), Decision::Write);
        assert_eq!(at(DAY + 4, 1), Decision::Repeated);
        assert_eq!(at(DAY + 5, 1), Decision::Write);
        assert_eq!(at(DAY + 5, 2), Decision::Repeated);
        assert_eq!(at(2 * DAY + 4, 1), Decision::Repeated);
    }

    /// Beyond the cap the oldest is forgotten, which is told, and may be written again.
    #[test]
    fn no_more_are_remembered_than_the_cap() {
        let mut once = Once::of(&MessageSchemas::new([&ALONE])).unwrap();
        for identity in 0..KNOWN_MAX as u128 {
            assert_eq!(once.remember(Timestamp(1), identity), Decision::Write);
        }
        let next = KNOWN_MAX as u128;
        assert_eq!(once.remember(Timestamp(1), next), Decision::WriteAndForget);
        assert_eq!(once.remember(Timestamp(1), 1), Decision::Repeated);
        assert_eq!(once.remember(Timestamp(1), 0), Decision::WriteAndForget);
        assert_eq!((once.order.len(), once.known.len()), (KNOWN_MAX, KNOWN_MAX));
    }
}
