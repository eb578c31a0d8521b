//! One Parquet file that is readable at any time.
//!
//! ```text
//!  │PAR1│ row group │ row group │ footer │
//!                               ▲ the next row group is written over the footer, then a new
//!                                 footer behind it; if that fails, the old one goes back there
//! ```
//!
//! The old footer needs no space that the file does not have already, so that a full disk (or
//! the end of the process) leaves all finished row groups readable.

use super::storage::{Target, write_all};
use super::text_log::{intact, is_short};
use crate::OutputError;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, compute_leaves, get_column_writers};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::{ColumnPath, SchemaDescPtr};
use std::io::{self, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// How a record type is laid out in Parquet; the same for all its files.
#[derive(Clone)]
pub(super) struct Layout {
    arrow: SchemaRef,
    parquet: SchemaDescPtr,
    properties: WriterPropertiesPtr,
}

impl Layout {
    pub(super) fn new(arrow: SchemaRef) -> Result<Self, ParquetError> {
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("flowpin version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            // Footers are written again and again: keep them small.
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        for field in arrow.fields().iter().filter(|field| is_ever_new(field)) {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties.set_column_dictionary_enabled(column, false);
        }
        let mut properties = properties.build();
        add_encoded_arrow_schema_to_metadata(&arrow, &mut properties);
        Ok(Self {
            parquet: Arc::new(ArrowSchemaConverter::new().convert(&arrow)?),
            arrow,
            properties: Arc::new(properties),
        })
    }

    fn columns(&self) -> Result<Vec<ArrowColumnWriter>, ParquetError> {
        get_column_writers(&self.parquet, &self.properties, &self.arrow)
    }

    fn footer(&self, groups: &[RowGroupMetaData]) -> Result<Vec<u8>, ParquetError> {
        let metadata = FileMetaData::new(
            self.properties.writer_version().as_num(),
            groups.iter().map(RowGroupMetaData::num_rows).sum(),
            Some(self.properties.created_by().to_owned()),
            self.properties.key_value_metadata().cloned(),
            Arc::clone(&self.parquet),
            None,
        );
        let metadata = ParquetMetaData::new(metadata, groups.to_vec());
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &metadata).finish()?;
        Ok(footer)
    }
}

/// Whether hardly two rows have the same value: then a dictionary of them is work for nothing.
fn is_ever_new(field: &Field) -> bool {
    matches!(
        field.data_type(),
        DataType::Timestamp(..) | DataType::Float64
    ) || matches!(field.name().as_str(), "uid" | "fuid" | "community_id")
}

/// An open file.
pub(super) struct ParquetFile {
    path: PathBuf,
    target: Box<dyn Target>,
    layout: Layout,
    /// The row group being gathered, encoded.
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
    /// Counts positions in the file; its bytes are taken out after each row group.
    encoded: TrackedWrite<Vec<u8>>,
    groups: Vec<RowGroupMetaData>,
    /// How many of them are in the file.
    stored: usize,
    /// Where the last finished row group ends and the footer starts.
    data_end: u64,
    footer: Vec<u8>,
    /// Whether the file was shorter once than what had been written.
    was_short: bool,
}

impl ParquetFile {
    /// Begins a file: it is a readable one without rows from here on.
    pub(super) fn begin(
        path: PathBuf,
        target: Box<dyn Target>,
        layout: Layout,
    ) -> Result<Self, OutputError> {
        let encode = |error| encode_error(&path, &error);
        let (columns, footer) = (
            layout.columns().map_err(encode)?,
            layout.footer(&[]).map_err(encode)?,
        );
        let mut file = Self {
            path,
            target,
            layout,
            columns,
            rows: 0,
            encoded: TrackedWrite::new(Vec::new()),
            groups: Vec::new(),
            stored: 0,
            data_end: 0,
            footer: Vec::new(),
            was_short: false,
        };
        let magic = file
            .encoded
            .write_all(MAGIC)
            .and_then(|()| file.encoded.flush());
        magic.map_err(|error| encode_error(&file.path, &error.into()))?;
        file.store(footer)?;
        Ok(file)
    }

    /// Whether its path still leads to it.
    pub(super) fn is_at_its_path(&self) -> bool {
        self.target.is_at(&self.path)
    }

    /// An error if it has no name any more, or was cut.
    pub(super) fn check_intact(&self) -> Result<(), OutputError> {
        let is_short = self.was_short || is_short(self.target.as_ref(), self.len());
        intact(self.target.as_ref(), &self.path, is_short)
    }

    /// Rows in finished row groups: those that a reader sees.
    pub(super) fn rows_stored(&self) -> u64 {
        let stored = self.groups.iter().take(self.stored);
        let rows: i64 = stored.map(RowGroupMetaData::num_rows).sum();
        u64::try_from(rows).unwrap_or(0)
    }

    /// Rows of the row group being gathered.
    pub(super) fn rows_gathered(&self) -> usize {
        self.rows
    }

    /// How long the file is.
    pub(super) fn len(&self) -> u64 {
        self.data_end + self.footer.len() as u64
    }

    /// How long the file would about be if it ended here.
    pub(super) fn len_expected(&self) -> u64 {
        let gathered = self
            .columns
            .iter()
            .map(ArrowColumnWriter::get_estimated_total_bytes);
        let waiting = self.encoded.inner().len();
        self.len() + (waiting + gathered.sum::<usize>()) as u64
    }

    /// About how many bytes its row groups take that are not in the file yet.
    pub(super) fn memory_bytes(&self) -> usize {
        let columns = self.columns.iter().map(ArrowColumnWriter::memory_size);
        self.encoded.inner().len() + columns.sum::<usize>()
    }

    /// Adds rows to the row group being gathered.
    pub(super) fn gather(&mut self, batch: &RecordBatch) -> Result<(), OutputError> {
        self.rows += batch.num_rows();
        self.encode(batch)
            .map_err(|error| encode_error(&self.path, &error))
    }

    fn encode(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        let mut columns = self.columns.iter_mut();
        for (field, array) in self.layout.arrow.fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field, array)? {
                columns
                    .next()
                    .map_or(Ok(()), |column| column.write(&leaf))?;
            }
        }
        Ok(())
    }

    /// Encodes the gathered rows as a row group. It is written at once, unless the footer is
    /// longer than it: then with those that follow, so that no more footers are written than data.
    pub(super) fn finish_group(&mut self) -> Result<(), OutputError> {
        if self.rows > 0 {
            let done = self.encode_group();
            done.map_err(|error| encode_error(&self.path, &error))?;
        }
        if self.encoded.inner().len() < self.footer.len() {
            return Ok(());
        }
        self.store_groups()
    }

    /// Writes everything that was gathered.
    pub(super) fn finish(&mut self) -> Result<(), OutputError> {
        self.finish_group()?;
        self.store_groups()
    }

    /// Writes the row groups that are not in the file yet.
    fn store_groups(&mut self) -> Result<(), OutputError> {
        if self.stored == self.groups.len() {
            return Ok(());
        }
        let footer = self.layout.footer(&self.groups);
        let footer = footer.map_err(|error| encode_error(&self.path, &error))?;
        let done = self.store(footer);
        match done {
            Ok(()) => self.stored = self.groups.len(),
            Err(_) => self.groups.truncate(self.stored),
        }
        done
    }

    /// Encodes the gathered rows.
    fn encode_group(&mut self) -> Result<(), ParquetError> {
        let columns = core::mem::replace(&mut self.columns, self.layout.columns()?);
        self.rows = 0;
        // The ordinal is informative; readers go by position.
        let ordinal = i16::try_from(self.groups.len()).unwrap_or(i16::MAX);
        let mut group = SerializedRowGroupWriter::new(
            Arc::clone(&self.layout.parquet),
            Arc::clone(&self.layout.properties),
            &mut self.encoded,
            ordinal,
            None,
        );
        for column in columns {
            column.close()?.append_to_row_group(&mut group)?;
        }
        let metadata = group.close()?;
        self.encoded.flush()?;
        self.groups.push(metadata.as_ref().clone());
        Ok(())
    }

    /// Writes what was encoded and a new footer; if that fails, the old footer again.
    fn store(&mut self, footer: Vec<u8>) -> Result<(), OutputError> {
        self.was_short = self.was_short || is_short(self.target.as_ref(), self.len());
        let bytes = core::mem::take(self.encoded.inner_mut());
        if let Err(source) = self.overwrite(&[&bytes, &footer]) {
            let old = core::mem::take(&mut self.footer);
            // Over blocks that the file has already; if even that fails, nothing more can be done.
            let restored = self.overwrite(&[&old]);
            self.footer = old;
            if restored.is_ok() {
                let _ = self.target.cut(self.len());
            }
            return Err(OutputError::Write {
                path: self.path.clone(),
                kept_bytes: self.len(),
                source,
            });
        }
        self.data_end += bytes.len() as u64;
        self.footer = footer;
        Ok(())
    }

    /// Writes behind the finished row groups.
    fn overwrite(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        self.target.seek(SeekFrom::Start(self.data_end))?;
        for part in parts {
            write_all(self.target.as_mut(), part).map_err(|(_, error)| error)?;
        }
        Ok(())
    }
}

fn encode_error(path: &std::path::Path, error: &ParquetError) -> OutputError {
    OutputError::Encode {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

const MAGIC: &[u8; 4] = b"PAR1";
