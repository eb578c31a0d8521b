//! The tables of a run: a name and columns for each kind of records, and the rows that records are
//! in them. The same for Parquet files and for record batches.

use super::arrow_rows::Described;
use crate::OutputError;
use crate::batch::RecordRef;
use crate::format::{MessageSchemas, flat_name};
use crate::messages::Stored;
use flowpin_packet::Timestamp;
use flowpin_record::{
    AnomalyRecord, ConnRow, FloodRecord, HostPairRecord, RecordType, Row, ScanRecord, Shown,
    TunnelRecord,
};

/// A table: the stem of its files' names, and its columns.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Described>,
    /// It may have rows: some kinds of messages are for other formats only.
    pub(super) has_rows: bool,
}

/// All tables: one for each type of records, then one for each kind of messages.
pub(super) fn tables(schemas: &MessageSchemas) -> Vec<Table> {
    let mut tables = Vec::new();
    for record_type in RecordType::TABLES {
        let columns = match record_type {
            RecordType::Conn | RecordType::ConnLong => described::<ConnRow>(),
            RecordType::Anomaly => described::<AnomalyRecord>(),
            RecordType::Tunnel => described::<TunnelRecord>(),
            RecordType::Scan => described::<ScanRecord>(),
            RecordType::Flood => described::<FloodRecord>(),
            RecordType::HostPair => described::<HostPairRecord>(),
            RecordType::Message => continue,
        };
        tables.push(Table {
            name: record_type.file_stem().to_owned(),
            columns,
            has_rows: true,
        });
    }
    for ready in schemas.iter() {
        let fields = ready.fields.iter().filter(|field| field.logs.in_tables());
        tables.push(Table {
            name: ready.schema.file_stem.to_string(),
            columns: fields
                .map(|field| (field.flat_name(), field.in_parquet, field.doc.clone()))
                .collect(),
            has_rows: matches!(ready.schema.shown, Shown::Everywhere | Shown::InColumns),
        });
    }
    tables
}

/// The columns of a record type.
pub(super) fn described<R: Row>() -> Vec<Described> {
    let columns = R::COLUMNS.iter();
    columns
        .filter(|column| column.logs.in_tables())
        .map(|column| (flat_name(column), column.kind, column.doc.to_owned()))
        .collect()
}

/// The values of a record, column by column.
pub(super) fn stored<R: Row>(row: &R) -> impl Iterator<Item = Stored<'_>> {
    R::COLUMNS
        .iter()
        .filter(|column| column.logs.in_tables())
        .map(|column| Stored::Value((column.value)(row)))
}

/// What takes rows.
pub(super) trait TakeRow {
    /// Appends a row to the table with this number among [`tables`]: its values, column by column.
    /// Returns whether the rows before were turned into columns.
    fn take<'a>(
        &mut self,
        table: usize,
        time: Timestamp,
        values: impl Iterator<Item = Stored<'a>>,
    ) -> Result<bool, OutputError>;
}

/// Appends a record to its table. Returns what `to` does.
pub(super) fn write_row(
    to: &mut impl TakeRow,
    record: &RecordRef<'_>,
) -> Result<bool, OutputError> {
    let (rows, row, time) = (record.rows, record.entry.row, record.time());
    let record_type = record.entry.record_type;
    let (table, index) = (record_type as usize, row as usize);
    let done = match record_type {
        RecordType::Conn | RecordType::ConnLong => {
            let row = rows.conns.get(index);
            row.map(|row| to.take(table, time, stored(row)))
        }
        RecordType::Anomaly => {
            let row = rows.anomalies.get(index);
            row.map(|row| to.take(table, time, stored(row)))
        }
        RecordType::Tunnel => {
            let row = rows.tunnels.get(index);
            row.map(|row| to.take(table, time, stored(row)))
        }
        RecordType::Scan => {
            let row = rows.scans.get(index);
            row.map(|row| to.take(table, time, stored(row)))
        }
        RecordType::Flood => {
            let row = rows.floods.get(index);
            row.map(|row| to.take(table, time, stored(row)))
        }
        RecordType::HostPair => {
            let row = rows.host_pairs.get(index);
            row.map(|row| to.take(table, time, stored(row)))
        }
        RecordType::Message => {
            let table = table + usize::from(rows.messages.row(row).schema);
            let values = rows.messages.values(row);
            // Some kinds of messages are events only.
            (!values.is_empty()).then(|| to.take(table, time, values))
        }
    };
    done.unwrap_or(Ok(false))
}
