//! Rows as Arrow record batches, for programs that take them where others write Parquet files.

use super::arrow_rows::{ArrowRows, arrow_schema};
use super::tables::{TakeRow, tables, write_row};
use crate::OutputError;
use crate::batch::RecordRef;
use crate::format::MessageSchemas;
use crate::messages::Stored;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use flowpin_config::ParquetTime;
use flowpin_packet::Timestamp;

/// The table of one kind of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// Its number, by which a [`BatchSink`] knows it.
    pub number: usize,
    /// Its name, that of its Parquet file without the ending: `conn`, `http`.
    pub name: String,
    /// Its columns, those of the Parquet file.
    pub schema: SchemaRef,
}

impl TableSchema {
    /// All tables of a run that may have rows, in the order of their numbers.
    ///
    /// ```
    /// use flowpin_config::ParquetTime;
    /// use flowpin_output::{MessageSchemas, TableSchema};
    ///
    /// let tables = TableSchema::all(&MessageSchemas::default(), ParquetTime::Micros);
    /// assert_eq!(tables[0].name, "conn");
    /// assert!(tables[0].schema.field_with_name("uid").is_ok());
    /// ```
    pub fn all(schemas: &MessageSchemas, times: ParquetTime) -> Vec<Self> {
        let all = tables(schemas).into_iter().enumerate();
        let with_rows = all.filter(|(_, table)| table.has_rows);
        let described = with_rows.map(|(number, table)| Self {
            number,
            schema: arrow_schema(&table.columns, times),
            name: table.name,
        });
        described.collect()
    }
}

/// Who takes the record batches of a run.
pub trait BatchSink: Send {
    /// Whether rows of this table are wanted: the others are not made into columns.
    fn wants(&self, table: usize) -> bool;

    /// Takes the next rows of a table; may wait, and the run waits with it. `false`: no more are
    /// wanted of any table, and the run ends.
    fn take(&mut self, table: usize, batch: RecordBatch) -> bool;
}

/// The rows of all tables, on their way to a sink.
pub(super) struct Batches {
    tables: Vec<Gathered>,
    sink: Box<dyn BatchSink>,
    /// The sink wants no more.
    is_closed: bool,
}

/// The rows of a table that wait for others; none if they are not wanted.
struct Gathered {
    name: String,
    rows: Option<ArrowRows>,
}

impl Batches {
    pub(super) fn new(
        schemas: &MessageSchemas,
        times: ParquetTime,
        sink: Box<dyn BatchSink>,
    ) -> Self {
        let tables = tables(schemas).into_iter().enumerate();
        let tables = tables.map(|(number, table)| Gathered {
            name: table.name,
            rows: sink
                .wants(number)
                .then(|| ArrowRows::new(&table.columns, times)),
        });
        Self {
            tables: tables.collect(),
            sink,
            is_closed: false,
        }
    }

    pub(super) fn write(&mut self, record: &RecordRef<'_>) -> Result<(), OutputError> {
        write_row(self, record).map(drop)
    }

    /// Whether the sink wants no more.
    pub(super) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Hands over the rows that wait, of all tables.
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        (0..self.tables.len()).try_for_each(|table| self.hand_over(table))
    }

    fn hand_over(&mut self, number: usize) -> Result<(), OutputError> {
        let Some(table) = self.tables.get_mut(number) else {
            return Ok(());
        };
        let Some(rows) = table.rows.as_mut().filter(|rows| rows.len() > 0) else {
            return Ok(());
        };
        let batch = rows.take().map_err(|error| OutputError::Encode {
            path: table.name.clone().into(),
            reason: error.to_string(),
        })?;
        if !self.is_closed {
            self.is_closed = !self.sink.take(number, batch);
        }
        Ok(())
    }
}

impl TakeRow for Batches {
    fn take<'a>(
        &mut self,
        table: usize,
        _: Timestamp,
        values: impl Iterator<Item = Stored<'a>>,
    ) -> Result<bool, OutputError> {
        let gathered = self.tables.get_mut(table);
        let Some(rows) = gathered.and_then(|table| table.rows.as_mut()) else {
            return Ok(false);
        };
        rows.push(values);
        if rows.len() < BATCH_ROWS && rows.bytes() < BATCH_BYTES {
            return Ok(false);
        }
        self.hand_over(table)?;
        Ok(true)
    }
}

/// Rows of a batch: so many that handing it over costs nothing beside making it.
const BATCH_ROWS: usize = 16 * 1024;

/// About the most bytes of a batch.
const BATCH_BYTES: usize = 4 << 20;
