//! Records as Arrow columns, by the schema's table.

use crate::format::flat_name;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, StringBuilder, TimestampNanosecondBuilder, UInt16Builder,
    UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use core::fmt::Write;
use core::marker::PhantomData;
use flowpin_record::{Kind, Row, Value};
use std::sync::Arc;

/// The Arrow schema of a record type.
pub(super) fn arrow_schema<R: Row>() -> SchemaRef {
    let fields = R::COLUMNS.iter().map(|column| {
        let comment = [("comment".to_owned(), column.doc.to_owned())];
        Field::new(flat_name(column), data_type(column.kind), true).with_metadata(comment.into())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into())),
        Kind::Interval => DataType::Float64,
        Kind::Text
        | Kind::Enum
        | Kind::Address
        | Kind::UidSet
        | Kind::AddressSet
        | Kind::PortSet
        | Kind::Int
        | Kind::TextList
        | Kind::TextSet
        | Kind::CountList
        | Kind::IntervalList
        | Kind::AddressList => DataType::Utf8,
        Kind::Port => DataType::UInt16,
        Kind::Count => DataType::UInt64,
        Kind::Bool => DataType::Boolean,
    }
}

const UTC: &str = "UTC";

/// Rows being gathered.
pub(super) struct ArrowRows<R> {
    schema: SchemaRef,
    builders: Vec<Builder>,
    len: usize,
    row: PhantomData<fn(&R)>,
}

impl<R: Row> ArrowRows<R> {
    pub(super) fn new(schema: SchemaRef) -> Self {
        Self {
            schema,
            builders: R::COLUMNS
                .iter()
                .map(|column| Builder::new(column.kind))
                .collect(),
            len: 0,
            row: PhantomData,
        }
    }

    pub(super) fn push(&mut self, row: &R) {
        for (builder, column) in self.builders.iter_mut().zip(R::COLUMNS) {
            builder.push((column.value)(row));
        }
        self.len += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Takes the rows; the builders are empty again.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.len = 0;
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}

enum Builder {
    Time(TimestampNanosecondBuilder),
    Interval(Float64Builder),
    Text(StringBuilder),
    Port(UInt16Builder),
    Count(UInt64Builder),
    Bool(BooleanBuilder),
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Time => {
                Self::Time(TimestampNanosecondBuilder::new().with_timezone(Arc::from(UTC)))
            }
            Kind::Interval => Self::Interval(Float64Builder::new()),
            Kind::Text
            | Kind::Enum
            | Kind::Address
            | Kind::UidSet
            | Kind::AddressSet
            | Kind::PortSet
            | Kind::Int
            | Kind::TextList
            | Kind::TextSet
            | Kind::CountList
            | Kind::IntervalList
            | Kind::AddressList => Self::Text(StringBuilder::new()),
            Kind::Port => Self::Port(UInt16Builder::new()),
            Kind::Count => Self::Count(UInt64Builder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
        }
    }

    /// Appends a value; one that is not of the column's kind is a defect and written as none, as
    /// is a time after the year 2262, which Arrow cannot hold.
    fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Self::Time(to), Value::Time(time)) => to.append_option(i64::try_from(time.0).ok()),
            (Self::Interval(to), Value::Interval(nanos)) => to.append_value(seconds(nanos)),
            (Self::Text(to), Value::Text(text)) => to.append_value(text),
            (Self::Text(to), Value::Uid(uid)) => {
                to.append_value(core::str::from_utf8(&uid.text()).unwrap_or_default());
            }
            (Self::Text(to), Value::Address(address)) => {
                // Writing to an Arrow builder cannot fail.
                let _ = write!(to, "{address}");
                to.append_value("");
            }
            (Self::Text(to), Value::Addresses(addresses)) => put_set(to, addresses),
            (Self::Text(to), Value::Ports(ports)) => put_set(to, ports),
            (Self::Port(to), Value::Port(port)) => to.append_value(port),
            (Self::Count(to), Value::Count(count)) => to.append_value(count),
            (Self::Bool(to), Value::Bool(value)) => to.append_value(value),
            (builder, value) => {
                debug_assert_eq!(value, Value::Unset, "a value of another kind");
                builder.push_unset();
            }
        }
    }

    fn push_unset(&mut self) {
        match self {
            Self::Time(to) => to.append_null(),
            Self::Interval(to) => to.append_null(),
            Self::Text(to) => to.append_null(),
            Self::Port(to) => to.append_null(),
            Self::Count(to) => to.append_null(),
            Self::Bool(to) => to.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Time(from) => Arc::new(from.finish()),
            Self::Interval(from) => Arc::new(from.finish()),
            Self::Text(from) => Arc::new(from.finish()),
            Self::Port(from) => Arc::new(from.finish()),
            Self::Count(from) => Arc::new(from.finish()),
            Self::Bool(from) => Arc::new(from.finish()),
        }
    }
}

/// A set as text, separated by spaces.
fn put_set<T: core::fmt::Display>(to: &mut StringBuilder, items: &[T]) {
    for (index, item) in items.iter().enumerate() {
        let separator = if index == 0 { "" } else { " " };
        // Writing to an Arrow builder cannot fail.
        let _ = write!(to, "{separator}{item}");
    }
    to.append_value("");
}

/// Seconds as a double: exact to the nanosecond up to 104 days.
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::{ArrowRows, arrow_schema};
    use arrow_array::Array;
    use core::net::IpAddr;
    use flowpin_packet::Timestamp;
    use flowpin_record::{Row, TunnelKind, TunnelRecord, Uid};

    /// A time that does not fit must not wrap to one before 1970.
    #[test]
    fn a_time_behind_arrows_range_is_null() {
        let mut rows = ArrowRows::new(arrow_schema::<TunnelRecord>());
        rows.push(&TunnelRecord {
            uid: Uid(1),
            parent: Uid(0),
            kind: TunnelKind::Ip,
            id: 0,
            addresses: (IpAddr::from([0; 4]), IpAddr::from([0; 4])),
            first: Timestamp(0),
            last: Timestamp::MAX,
            packets: [0; 2],
            bytes: [0; 2],
        });
        let batch = rows.take().unwrap();
        let nulls = |name| batch.column_by_name(name).unwrap().null_count();
        assert_eq!((nulls("ts"), nulls("end_ts")), (0, 1));
        assert_eq!(batch.num_columns(), TunnelRecord::COLUMNS.len());
    }
}
