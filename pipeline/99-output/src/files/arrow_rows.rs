//! Records as Arrow columns, by the schema's table.

use crate::format::{comma_parts, plain_text};
use crate::messages::Stored;
use crate::text::{TextBuffer, second_of};
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMicrosecondBuilder, TimestampNanosecondBuilder, UInt16Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use core::fmt::Write;
use flowpin_config::ParquetTime;
use flowpin_record::{Kind, Value};
use std::sync::Arc;

/// A column: its name, what it holds, what it means.
pub(super) type Described = (String, Kind, String);

/// The columns as Arrow describes them.
pub(super) fn arrow_schema(columns: &[Described], times: ParquetTime) -> SchemaRef {
    let fields = columns.iter().map(|(name, kind, doc)| {
        let comment = [("comment".to_owned(), doc.clone())];
        Field::new(name, data_type(*kind, times), true).with_metadata(comment.into())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn data_type(kind: Kind, times: ParquetTime) -> DataType {
    match kind {
        Kind::Time => {
            let unit = match times {
                ParquetTime::Micros => TimeUnit::Microsecond,
                ParquetTime::Nanos => TimeUnit::Nanosecond,
            };
            DataType::Timestamp(unit, Some(UTC.into()))
        }
        Kind::Interval => DataType::Float64,
        Kind::Text | Kind::Enum | Kind::Address | Kind::Uri | Kind::HostName | Kind::FileId => {
            DataType::Utf8
        }
        Kind::Int => DataType::Int64,
        Kind::TextList
        | Kind::TextSet
        | Kind::AddressList
        | Kind::UidSet
        | Kind::FileIds
        | Kind::AddressSet => list_of(DataType::Utf8),
        Kind::PortSet => list_of(DataType::UInt16),
        Kind::CountList => list_of(DataType::UInt64),
        Kind::IntervalList => list_of(DataType::Float64),
        Kind::Port => DataType::UInt16,
        Kind::Count => DataType::UInt64,
        Kind::Bool => DataType::Boolean,
    }
}

fn list_of(member: DataType) -> DataType {
    DataType::List(Arc::new(list_member(member)))
}

/// By the name that Parquet's specification has for it; Arrow's own is another.
fn list_member(member: DataType) -> Field {
    Field::new("element", member, true)
}

const UTC: &str = "UTC";

/// Rows being gathered.
// PERF: most columns of most rows are unset. A row does not touch those: their nulls are appended
// many at a time, before the next value or at the end.
pub(super) struct ArrowRows {
    schema: SchemaRef,
    columns: Vec<Column>,
    len: usize,
    /// About how many bytes they take.
    bytes: usize,
    scratch: Scratch,
}

/// A column, and how many rows it has: those up to its last value.
struct Column {
    builder: Builder,
    len: usize,
}

impl Column {
    /// The builder, to which the value of the row behind the first `len` is appended next.
    #[inline]
    fn after(&mut self, len: usize) -> &mut Builder {
        let unset = len - self.len;
        if unset > 0 {
            self.builder.push_unset(unset);
        }
        self.len = len + 1;
        &mut self.builder
    }

    fn finish(&mut self, len: usize) -> ArrayRef {
        let unset = len - self.len;
        self.builder.push_unset(unset);
        self.len = 0;
        self.builder.finish()
    }
}

/// Text being made.
#[derive(Default)]
struct Scratch {
    /// Bytes made valid.
    valid: String,
    /// An address.
    line: TextBuffer,
}

impl ArrowRows {
    pub(super) fn new(columns: &[Described], times: ParquetTime) -> Self {
        let empty = columns.iter().map(|(_, kind, _)| Column {
            builder: Builder::new(*kind, times),
            len: 0,
        });
        Self {
            schema: arrow_schema(columns, times),
            columns: empty.collect(),
            len: 0,
            bytes: 0,
            scratch: Scratch::default(),
        }
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Appends a row: a value for each column; missing ones are null.
    pub(super) fn push<'a>(&mut self, values: impl Iterator<Item = Stored<'a>>) {
        let mut bytes = WORD * self.columns.len();
        for (column, stored) in self.columns.iter_mut().zip(values) {
            match stored {
                Stored::Value(Value::Unset) => {}
                Stored::Value(value) => {
                    bytes += beyond_word(&value);
                    column.after(self.len).push(&value, &mut self.scratch);
                }
                Stored::List(list) => {
                    let list = list.inspect(|one| {
                        if let Stored::Value(value) = one {
                            bytes += WORD + beyond_word(value);
                        }
                    });
                    column.after(self.len).push_list(list, &mut self.scratch);
                }
            }
        }
        self.bytes += bytes;
        self.len += 1;
    }

    /// About how many bytes the rows take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Takes the rows; the builders are empty again.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let len = core::mem::take(&mut self.len);
        self.bytes = 0;
        let arrays = self.columns.iter_mut().map(|column| column.finish(len));
        let arrays = arrays.collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

enum Builder {
    Micros(TimestampMicrosecondBuilder),
    Nanos(TimestampNanosecondBuilder),
    Interval(Float64Builder),
    Text(StringBuilder),
    Port(UInt16Builder),
    Count(UInt64Builder),
    Bool(BooleanBuilder),
    Int(Int64Builder),
    Texts(ListBuilder<StringBuilder>),
    Ports(ListBuilder<UInt16Builder>),
    Counts(ListBuilder<UInt64Builder>),
    Intervals(ListBuilder<Float64Builder>),
}

impl Builder {
    fn new(kind: Kind, times: ParquetTime) -> Self {
        let utc = || Arc::from(UTC);
        match (kind, times) {
            (Kind::Time, ParquetTime::Micros) => {
                Self::Micros(TimestampMicrosecondBuilder::new().with_timezone(utc()))
            }
            (Kind::Time, ParquetTime::Nanos) => {
                Self::Nanos(TimestampNanosecondBuilder::new().with_timezone(utc()))
            }
            (kind, _) => Self::untimed(kind),
        }
    }

    /// Of any kind but a time.
    fn untimed(kind: Kind) -> Self {
        match kind {
            Kind::Time
            | Kind::Text
            | Kind::Enum
            | Kind::Address
            | Kind::Uri
            | Kind::HostName
            | Kind::FileId => Self::Text(StringBuilder::new()),
            Kind::Interval => Self::Interval(Float64Builder::new()),
            Kind::Int => Self::Int(Int64Builder::new()),
            Kind::TextList
            | Kind::TextSet
            | Kind::AddressList
            | Kind::UidSet
            | Kind::FileIds
            | Kind::AddressSet => Self::Texts(list(StringBuilder::new(), DataType::Utf8)),
            Kind::PortSet => Self::Ports(list(UInt16Builder::new(), DataType::UInt16)),
            Kind::CountList => Self::Counts(list(UInt64Builder::new(), DataType::UInt64)),
            Kind::IntervalList => Self::Intervals(list(Float64Builder::new(), DataType::Float64)),
            Kind::Port => Self::Port(UInt16Builder::new()),
            Kind::Count => Self::Count(UInt64Builder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
        }
    }

    /// Appends a value; one that is not of the column's kind is a defect and written as none, as
    /// is a time after the year 2262 in nanoseconds, which Arrow cannot hold.
    fn push(&mut self, value: &Value<'_>, scratch: &mut Scratch) {
        match (self, value) {
            (Self::Micros(to), Value::Time(time)) => {
                to.append_option(i64::try_from(time.0 / 1000).ok());
            }
            (Self::Nanos(to), Value::Time(time)) => to.append_option(i64::try_from(time.0).ok()),
            (Self::Micros(to), Value::Bytes(text)) => {
                to.append_option(second_of(text).map(|second| second * 1_000_000));
            }
            (Self::Nanos(to), Value::Bytes(text)) => {
                let second = second_of(text);
                to.append_option(second.and_then(|second| second.checked_mul(1_000_000_000)));
            }
            (Self::Interval(to), Value::Interval(nanos)) => to.append_value(seconds(*nanos)),
            (
                Self::Text(to),
                value @ (Value::Text(_)
                | Value::Bytes(_)
                | Value::Uid(_)
                | Value::File(_)
                | Value::CommunityId(_)
                | Value::Address(_)),
            ) => put_text(to, value, scratch),
            (Self::Int(to), Value::Int(number)) => to.append_value(*number),
            (Self::Text(to), Value::Words(words)) => {
                for (index, word) in words.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "," };
                    // Writing to an Arrow builder cannot fail.
                    let _ = write!(to, "{separator}{word}");
                }
                to.append_value("");
            }
            (Self::Texts(to), Value::Addresses(addresses)) => {
                for &address in *addresses {
                    put_text(to.values(), &Value::Address(address), scratch);
                }
                to.append(true);
            }
            (Self::Texts(to), Value::Names(names)) => {
                names.iter().for_each(|name| to.values().append_value(name));
                to.append(true);
            }
            (Self::Texts(to), Value::Bytes(text)) => {
                let mut parts = comma_parts(text).peekable();
                let is_set = parts.peek().is_some();
                parts.for_each(|part| put_text(to.values(), &Value::Bytes(part), scratch));
                to.append(is_set);
            }
            (Self::Texts(to), value @ (Value::Uid(_) | Value::File(_))) => {
                put_text(to.values(), value, scratch);
                to.append(true);
            }
            (Self::Ports(to), Value::Ports(ports)) => {
                to.append_value(ports.iter().map(|&port| Some(port)));
            }
            (Self::Port(to), Value::Port(port)) => to.append_value(*port),
            (Self::Count(to), Value::Count(count)) => to.append_value(*count),
            (Self::Bool(to), Value::Bool(value)) => to.append_value(*value),
            (builder, value) => {
                debug_assert_eq!(*value, Value::Unset, "a value of another kind");
                builder.push_unset(1);
            }
        }
    }

    /// Appends a list of values.
    fn push_list<'a>(&mut self, list: impl Iterator<Item = Stored<'a>>, scratch: &mut Scratch) {
        let values = list.map(|member| match member {
            Stored::Value(value) => value,
            Stored::List(_) => Value::Unset,
        });
        match self {
            Self::Texts(to) => {
                values.for_each(|value| put_text(to.values(), &value, scratch));
                to.append(true);
            }
            Self::Counts(to) => {
                to.append_value(values.map(|value| match value {
                    Value::Count(count) => Some(count),
                    _ => None,
                }));
            }
            Self::Intervals(to) => {
                to.append_value(values.map(|value| match value {
                    Value::Interval(nanos) => Some(seconds(nanos)),
                    _ => None,
                }));
            }
            _ => {
                debug_assert!(false, "a list in a column of another kind");
                self.push_unset(1);
            }
        }
    }

    fn push_unset(&mut self, count: usize) {
        match self {
            Self::Micros(to) => to.append_nulls(count),
            Self::Nanos(to) => to.append_nulls(count),
            Self::Interval(to) => to.append_nulls(count),
            Self::Text(to) => to.append_nulls(count),
            Self::Port(to) => to.append_nulls(count),
            Self::Count(to) => to.append_nulls(count),
            Self::Bool(to) => to.append_nulls(count),
            Self::Int(to) => to.append_nulls(count),
            Self::Texts(to) => to.append_nulls(count),
            Self::Ports(to) => to.append_nulls(count),
            Self::Counts(to) => to.append_nulls(count),
            Self::Intervals(to) => to.append_nulls(count),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Micros(from) => Arc::new(from.finish()),
            Self::Nanos(from) => Arc::new(from.finish()),
            Self::Interval(from) => Arc::new(from.finish()),
            Self::Text(from) => Arc::new(from.finish()),
            Self::Port(from) => Arc::new(from.finish()),
            Self::Count(from) => Arc::new(from.finish()),
            Self::Bool(from) => Arc::new(from.finish()),
            Self::Int(from) => Arc::new(from.finish()),
            Self::Texts(from) => Arc::new(from.finish()),
            Self::Ports(from) => Arc::new(from.finish()),
            Self::Counts(from) => Arc::new(from.finish()),
            Self::Intervals(from) => Arc::new(from.finish()),
        }
    }
}

/// About how many bytes a value takes in its column beyond [`WORD`], which an unset one takes, too.
fn beyond_word(value: &Value<'_>) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Addresses(all) => all.len() * ADDRESS,
        Value::Address(_) | Value::Uid(_) | Value::CommunityId(_) => ADDRESS,
        _ => 0,
    }
}

/// A number, or the place of a text.
const WORD: usize = 8;
/// An address, or another short text.
const ADDRESS: usize = 24;

/// A value as text; null if it is none.
fn put_text(to: &mut StringBuilder, value: &Value<'_>, scratch: &mut Scratch) {
    match value {
        Value::Text(text) => to.append_value(text),
        Value::Bytes(bytes) => match core::str::from_utf8(bytes) {
            Ok(text) => to.append_value(text),
            Err(_) => {
                plain_text(bytes, &mut scratch.valid);
                to.append_value(&scratch.valid);
            }
        },
        Value::Uid(uid) => {
            to.append_value(core::str::from_utf8(&uid.text()).unwrap_or_default());
        }
        Value::File(file) => {
            to.append_value(core::str::from_utf8(&file.text()).unwrap_or_default());
        }
        Value::CommunityId(id) => {
            to.append_value(core::str::from_utf8(&id.text()).unwrap_or_default());
        }
        Value::Address(address) => {
            scratch.line.clear();
            scratch.line.line(|line| line.put_address(*address));
            to.append_value(core::str::from_utf8(scratch.line.as_slice()).unwrap_or_default());
        }
        _ => to.append_null(),
    }
}

fn list<B: ArrayBuilder>(members: B, of: DataType) -> ListBuilder<B> {
    ListBuilder::new(members).with_field(list_member(of))
}

/// Seconds as a double: exact to the nanosecond up to 104 days.
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::ArrowRows;
    use crate::files::tables::{described, stored};
    use arrow_array::Array;
    use core::net::IpAddr;
    use flowpin_config::ParquetTime;
    use flowpin_packet::{Timestamp, TunnelKind};
    use flowpin_record::{Row, TunnelRecord, Uid};

    /// A time that does not fit must not wrap to one before 1970.
    #[test]
    fn a_time_behind_arrows_range_is_null() {
        let record = TunnelRecord {
            uid: Uid(1),
            parent: Uid(7),
            kind: TunnelKind::Ip,
            id: 0,
            addresses: (IpAddr::from([0; 4]), IpAddr::from([0; 4])),
            first: Timestamp(0),
            last: Timestamp::MAX,
            packets: [0; 2],
            bytes: [0; 2],
        };
        // In microseconds all of our times fit.
        for (times, null) in [(ParquetTime::Nanos, 1), (ParquetTime::Micros, 0)] {
            let mut rows = ArrowRows::new(&described::<TunnelRecord>(), times);
            rows.push(stored(&record));
            let batch = rows.take().unwrap();
            let nulls = |name| batch.column_by_name(name).unwrap().null_count();
            assert_eq!((nulls("ts"), nulls("end_ts")), (0, null));
            assert_eq!(nulls("tunnel_parents"), 0);
            assert_eq!(batch.num_columns(), TunnelRecord::COLUMNS.len());
        }
    }
}
