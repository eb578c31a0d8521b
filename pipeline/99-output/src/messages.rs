//! Messages of a batch: how long their texts are, and their values for Parquet.
//!
//! ```text
//!  rows    │ schema, lengths of texts, where ─┐ │ …
//!  values  │ tag, bytes │ tag, bytes │ … ◄────┘         only for Parquet
//! ```

use crate::batch::TextFormat;
use core::net::IpAddr;
use flowpin_packet::Timestamp;
use flowpin_record::{CommunityId, FileId, Uid, Value};

/// The messages of a batch.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    rows: Vec<MessageRow>,
    values: Vec<u8>,
}

/// One message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MessageRow {
    pub(crate) schema: u16,
    pub(crate) lens: [u32; TextFormat::COUNT],
    start: usize,
    len: usize,
}

impl Messages {
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
    }

    /// How much memory they take.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.rows.as_slice()) + self.values.len()
    }

    /// How long a message's texts are.
    pub(crate) fn lens(&self, row: u32) -> [u32; TextFormat::COUNT] {
        self.row(row).lens
    }

    pub(crate) fn row(&self, row: u32) -> MessageRow {
        self.rows.get(row as usize).copied().unwrap_or_default()
    }

    /// Appends a message and returns its place.
    pub(crate) fn push<'a>(
        &mut self,
        schema: u16,
        lens: [u32; TextFormat::COUNT],
        values: impl Iterator<Item = Value<'a>>,
    ) -> u32 {
        let start = self.values.len();
        values.for_each(|value| store(&mut self.values, value));
        self.push_row(MessageRow {
            schema,
            lens,
            start,
            len: self.values.len() - start,
        })
    }

    /// Copies a message of another batch and returns its new place.
    pub(crate) fn adopt(&mut self, from: &Self, row: u32) -> u32 {
        let row = from.row(row);
        let start = self.values.len();
        self.values.extend_from_slice(from.stored(&row));
        self.push_row(MessageRow { start, ..row })
    }

    fn push_row(&mut self, row: MessageRow) -> u32 {
        let place = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.push(row);
        place
    }

    fn stored(&self, row: &MessageRow) -> &[u8] {
        let end = row.start + row.len;
        self.values.get(row.start..end).unwrap_or_default()
    }

    /// The values of a message, in order.
    pub(crate) fn values(&self, row: u32) -> StoredValues<'_> {
        StoredValues(self.stored(&self.row(row)))
    }
}

/// A value as it was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored<'a> {
    Value(Value<'a>),
    List(StoredValues<'a>),
}

/// Values that were stored one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredValues<'a>(&'a [u8]);

impl<'a> StoredValues<'a> {
    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u64> {
        let bytes = self.take(8)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.word()?).ok()?;
        self.take(len)
    }
}

impl<'a> Iterator for StoredValues<'a> {
    type Item = Stored<'a>;

    fn next(&mut self) -> Option<Stored<'a>> {
        let &[tag] = self.take(1)?.first_chunk::<1>()?;
        Some(Stored::Value(match tag {
            TIME => Value::Time(Timestamp(self.word()?)),
            INTERVAL => Value::Interval(self.word()?),
            TEXT => Value::Bytes(self.bytes()?),
            UID => Value::Uid(Uid(self.word()?)),
            FILE => Value::File(FileId(self.word()?)),
            COMMUNITY_ID => {
                let digest = *self.take(20)?.first_chunk()?;
                Value::CommunityId(CommunityId::from_digest(digest))
            }
            ADDRESS_4 => Value::Address(IpAddr::from(*self.take(4)?.first_chunk::<4>()?)),
            ADDRESS_6 => Value::Address(IpAddr::from(*self.take(16)?.first_chunk::<16>()?)),
            PORT => Value::Port(u16::try_from(self.word()?).ok()?),
            COUNT => Value::Count(self.word()?),
            INT => Value::Int(self.word()?.cast_signed()),
            BOOL => Value::Bool(self.word()? != 0),
            LIST => return Some(Stored::List(StoredValues(self.bytes()?))),
            _ => Value::Unset,
        }))
    }
}

const UNSET: u8 = 0;
const TIME: u8 = 1;
const INTERVAL: u8 = 2;
const TEXT: u8 = 3;
const UID: u8 = 4;
const ADDRESS_4: u8 = 5;
const ADDRESS_6: u8 = 6;
const PORT: u8 = 7;
const COUNT: u8 = 8;
const INT: u8 = 9;
const BOOL: u8 = 10;
const LIST: u8 = 11;
const COMMUNITY_ID: u8 = 12;
const FILE: u8 = 13;

/// Appends a value: its tag, then eight bytes or a length and so many.
fn store(to: &mut Vec<u8>, value: Value<'_>) {
    let (tag, word) = match value {
        Value::Unset => return to.push(UNSET),
        Value::Bytes(bytes) => return store_bytes(to, bytes),
        Value::Text(text) => return store_bytes(to, text.as_bytes()),
        Value::CommunityId(id) => {
            to.push(COMMUNITY_ID);
            return to.extend_from_slice(&id.digest());
        }
        Value::Address(IpAddr::V4(address)) => {
            to.push(ADDRESS_4);
            return to.extend_from_slice(&address.octets());
        }
        Value::Address(IpAddr::V6(address)) => {
            to.push(ADDRESS_6);
            return to.extend_from_slice(&address.octets());
        }
        Value::List(values) => return store_list(to, values.iter().copied()),
        Value::Words(_) | Value::Names(_) => {
            debug_assert!(false, "no message has such a value");
            return to.push(UNSET);
        }
        Value::Addresses(values) => {
            return store_list(to, values.iter().map(|&one| Value::Address(one)));
        }
        Value::Ports(values) => return store_list(to, values.iter().map(|&one| Value::Port(one))),
        Value::Time(time) => (TIME, time.0),
        Value::Interval(nanos) => (INTERVAL, nanos),
        Value::Uid(uid) => (UID, uid.0),
        Value::File(file) => (FILE, file.0),
        Value::Port(port) => (PORT, u64::from(port)),
        Value::Count(count) => (COUNT, count),
        Value::Int(number) => (INT, number.cast_unsigned()),
        Value::Bool(value) => (BOOL, u64::from(value)),
    };
    to.push(tag);
    to.extend_from_slice(&word.to_le_bytes());
}

fn store_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.push(TEXT);
    to.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    to.extend_from_slice(bytes);
}

fn store_list<'a>(to: &mut Vec<u8>, values: impl Iterator<Item = Value<'a>>) {
    to.push(LIST);
    let len_at = to.len();
    to.extend_from_slice(&[0; 8]);
    values.for_each(|value| store(to, value));
    let len = (to.len() - len_at - 8) as u64;
    if let Some(place) = to.get_mut(len_at..len_at + 8) {
        place.copy_from_slice(&len.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{Messages, Stored};
    use flowpin_packet::Timestamp;
    use flowpin_record::{CommunityId, FileId, Uid, Value};

    /// What was stored is what is read, through a move to another batch too.
    #[test]
    fn stored_values_come_back() {
        let values = [
            Value::Unset,
            Value::Time(Timestamp(7)),
            Value::Interval(8),
            Value::Bytes(b"\xff\0"),
            Value::Uid(Uid(9)),
            Value::File(FileId(9)),
            Value::CommunityId(CommunityId::from_digest([10; 20])),
            Value::Address([1, 2, 3, 4].into()),
            Value::Address([7_u16; 8].into()),
            Value::Port(53),
            Value::Count(u64::MAX),
            Value::Int(-1),
            Value::Bool(true),
        ];
        let list = [Value::List(&values), Value::List(&[]), Value::Count(1)];
        let mut first = Messages::default();
        first.push(0, [0; 4], [Value::Count(3)].into_iter());
        let row = first.push(3, [1, 2, 3, 4], list.into_iter());
        let mut second = Messages::default();
        let row = second.adopt(&first, row);
        assert_eq!(
            (second.row(row).schema, second.lens(row)),
            (3, [1, 2, 3, 4])
        );
        let all: Vec<_> = second.values(row).collect();
        let [
            Stored::List(one),
            Stored::List(none),
            Stored::Value(Value::Count(1)),
        ] = all[..]
        else {
            panic!("{all:?}");
        };
        assert_eq!(none.count(), 0);
        assert!(one.eq(values.map(Stored::Value)));
    }
}
