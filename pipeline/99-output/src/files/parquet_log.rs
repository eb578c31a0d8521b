//! A log in Parquet: rows gathered to row groups, files rotated like text logs.

use super::FileInfo;
use super::arrow_rows::{ArrowRows, Described};
use super::parquet_file::{Layout, ParquetFile};
use super::rotation::Rotation;
use super::storage::{Storage, Target};
use super::text_log::unless_removed;
use crate::OutputError;
use crate::messages::Stored;
use flowpin_config::ParquetTime;
use flowpin_packet::Timestamp;
use std::io;
use std::path::PathBuf;

/// One record type's log.
pub(super) struct ParquetLog {
    layout: Layout,
    rotation: Rotation,
    rows: ArrowRows,
    open: Option<(PathBuf, ParquetFile)>,
    /// How long the present file will about be, as of the last rows encoded.
    len: u64,
    /// About how many bytes its rows take that are not written yet, as of then.
    memory_bytes: usize,
    /// As many bytes of rows are turned into columns at a time.
    batch_bytes: usize,
    closed: Vec<FileInfo>,
    /// How many of them were asked for as whole files.
    taken: usize,
    closed_bytes: u64,
    /// The first thing that went wrong when files were made anew: told in the end.
    remade: Option<OutputError>,
}

impl ParquetLog {
    pub(super) fn new(
        rotation: Rotation,
        columns: &[Described],
        times: ParquetTime,
        batch_bytes: usize,
    ) -> Result<Self, OutputError> {
        let rows = ArrowRows::new(columns, times);
        let layout = Layout::new(rows.schema().clone()).map_err(|error| OutputError::Encode {
            path: rotation.clone().first(Timestamp::default()),
            reason: error.to_string(),
        })?;
        Ok(Self {
            layout,
            rotation,
            rows,
            open: None,
            len: 0,
            memory_bytes: 0,
            batch_bytes,
            closed: Vec::new(),
            taken: 0,
            closed_bytes: 0,
            remade: None,
        })
    }

    /// Creates the first file now, so that what is wrong with it is said at once.
    pub(super) fn create_early(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        if self.rotation.name_is_fixed() {
            let path = self.rotation.first(Timestamp::default());
            self.create(storage, path)?;
        }
        Ok(())
    }

    /// Appends a record: its values, column by column. Returns whether that changed what
    /// [`memory_bytes`](Self::memory_bytes) says.
    pub(super) fn write<'a>(
        &mut self,
        storage: &mut dyn Storage,
        time: Timestamp,
        values: impl Iterator<Item = Stored<'a>>,
    ) -> Result<bool, OutputError> {
        if self.open.is_none() {
            let path = self.rotation.first(time);
            self.create(storage, path)?;
        } else if let Some(path) = self.rotation.next(time, self.len) {
            self.end_file()?;
            self.create(storage, path)?;
        }
        self.rows.push(values);
        if self.rows.len() < BATCH_ROWS && self.rows.bytes() < self.batch_bytes {
            return Ok(false);
        }
        self.gather()?;
        self.weigh();
        Ok(true)
    }

    /// About how many bytes its rows take that are not written yet.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Writes the rows so far as a row group, to make room for others.
    pub(super) fn finish_group(&mut self) -> Result<(), OutputError> {
        if let Some((_, file)) = &mut self.open {
            file.finish_group()?;
        }
        self.weigh();
        Ok(())
    }

    fn weigh(&mut self) {
        let file = self.open.as_ref().map(|(_, file)| file);
        self.len = file.map_or(0, ParquetFile::len_expected);
        self.memory_bytes = file.map_or(0, ParquetFile::memory_bytes);
    }

    /// How many bytes all files would about have if the present one ended here.
    pub(super) fn bytes_expected(&self) -> u64 {
        self.closed_bytes + self.len
    }

    /// Makes the present file anew if it was moved away; the rows before stay in the old one, which
    /// goes on if no new one can be made.
    pub(super) fn reopen(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        let moved = self
            .open
            .as_ref()
            .filter(|(_, file)| !file.is_at_its_path())
            .map(|(path, _)| path.clone());
        let Some(path) = moved else {
            return Ok(());
        };
        match storage.remake(&path) {
            Ok(target) => {
                let ended = self.end_file();
                unless_removed(ended, &mut self.remade)?;
                self.begin(Ok(target), path)
            }
            Err(source) => {
                let error = OutputError::NotRemade { path, source };
                self.remade.get_or_insert(error);
                Ok(())
            }
        }
    }

    /// Ends the present file, and tells what went wrong when files were made anew.
    pub(super) fn close(&mut self) -> Result<(), OutputError> {
        let done = self.end_file();
        done.and(self.remade.take().map_or(Ok(()), Err))
    }

    fn end_file(&mut self) -> Result<(), OutputError> {
        let gathered = self.gather();
        let Some((path, mut file)) = self.open.take() else {
            return gathered;
        };
        let done = gathered.and_then(|()| file.finish());
        let done = done.and_then(|()| file.check_intact());
        self.closed.push(info(path, &file));
        self.closed_bytes += file.len();
        (self.len, self.memory_bytes) = (0, 0);
        done
    }

    /// The files that have ended since the last call.
    pub(super) fn take_ended(&mut self) -> &[FileInfo] {
        let from = core::mem::replace(&mut self.taken, self.closed.len());
        self.closed.get(from..).unwrap_or_default()
    }

    /// The files, in the order in which they were begun.
    pub(super) fn files(&self) -> impl Iterator<Item = FileInfo> {
        let open = self
            .open
            .iter()
            .map(|(path, file)| info(path.clone(), file));
        self.closed.iter().cloned().chain(open)
    }

    fn create(&mut self, storage: &mut dyn Storage, path: PathBuf) -> Result<(), OutputError> {
        self.begin(storage.create(&path), path)
    }

    fn begin(
        &mut self,
        made: io::Result<Box<dyn Target>>,
        path: PathBuf,
    ) -> Result<(), OutputError> {
        match made {
            Ok(target) => {
                let file = ParquetFile::begin(path.clone(), target, self.layout.clone())?;
                self.open = Some((path, file));
                self.len = 0;
                Ok(())
            }
            Err(source) => Err(OutputError::create(path, source)),
        }
    }

    /// Encodes the rows that wait, and writes a row group once it is large enough.
    fn gather(&mut self) -> Result<(), OutputError> {
        let Some((path, file)) = &mut self.open else {
            return Ok(());
        };
        let batch = self.rows.take().map_err(|error| OutputError::Encode {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        file.gather(&batch)?;
        if file.rows_gathered() >= GROUP_ROWS {
            file.finish_group()?;
        }
        Ok(())
    }
}

fn info(path: PathBuf, file: &ParquetFile) -> FileInfo {
    FileInfo {
        path,
        bytes: file.len(),
        records: file.rows_stored(),
    }
}

/// Rows that are turned into columns at a time.
const BATCH_ROWS: usize = 4096;

/// Rows of a row group, if there is memory for so many: some 55 MiB while it is gathered.
const GROUP_ROWS: usize = 32 * BATCH_ROWS;
