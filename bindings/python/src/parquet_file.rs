//! A Parquet file of one table: whole, or not there.

use crate::error::Failure;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The file, under another name until it is whole.
pub(crate) struct ParquetFile {
    path: PathBuf,
    schema: SchemaRef,
    open: Option<ArrowWriter<NamedTempFile>>,
    rows: u64,
}

impl ParquetFile {
    /// A file that is made when it is opened, or gets its first rows.
    pub(crate) const fn new(path: PathBuf, schema: SchemaRef) -> Self {
        Self {
            path,
            schema,
            open: None,
            rows: 0,
        }
    }

    /// Makes the file.
    ///
    /// # Errors
    /// Its folder cannot be written.
    pub(crate) fn open(&mut self) -> Result<(), Failure> {
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let made = tempfile::Builder::new()
            .prefix(".flowpin-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
            .tempfile_in(folder);
        let made = made.map_err(|error| self.failed(&error))?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("flowpin version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_size(GROUP_ROWS)
            .build();
        let writer = ArrowWriter::try_new(made, self.schema.clone(), Some(properties));
        self.open = Some(writer.map_err(|error| self.failed(&error))?);
        Ok(())
    }

    /// Appends rows.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        if self.open.is_none() {
            self.open()?;
        }
        self.rows += batch.num_rows() as u64;
        let Some(writer) = &mut self.open else {
            return Ok(());
        };
        let done = writer.write(batch);
        done.map_err(|error| self.failed(&error))
    }

    /// Completes the file and gives it its name. Returns its rows.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn finish(mut self) -> Result<u64, Failure> {
        let Some(writer) = self.open.take() else {
            return Ok(self.rows);
        };
        let file = writer.into_inner().map_err(|error| self.failed(&error))?;
        let named = file.persist(&self.path);
        named.map_err(|error| self.failed(&error.error))?;
        Ok(self.rows)
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::output(&self.path, error)
    }
}

/// Rows of a row group, as the command writes them.
const GROUP_ROWS: usize = 128 * 1024;
