//! The Parquet logs of all record types, and of all kinds of messages.

use super::FileInfo;
use super::parquet_log::ParquetLog;
use super::rotation::Rotation;
use super::storage::Storage;
use super::tables::{TakeRow, tables, write_row};
use crate::OutputError;
use crate::batch::RecordRef;
use crate::format::MessageSchemas;
use crate::messages::Stored;
use flowpin_config::OutputPlan;
use flowpin_packet::Timestamp;

/// One log for each type, in table order; then one for each kind of messages.
pub(super) struct ParquetLogs {
    logs: Vec<ParquetLog>,
    /// The most that rows take in all of them that are not written yet.
    bytes_max: usize,
}

impl ParquetLogs {
    pub(super) fn new(plan: &OutputPlan, schemas: &MessageSchemas) -> Result<Self, OutputError> {
        let bytes_max = usize::try_from(plan.parquet_bytes).unwrap_or(usize::MAX);
        let logs = tables(schemas).into_iter().map(|table| {
            let rotation = Rotation::new(plan, &table.name, "parquet");
            let (times, batch_bytes) = (plan.parquet_time, bytes_max / BATCHES);
            ParquetLog::new(rotation, &table.columns, times, batch_bytes)
        });
        let logs = logs.collect::<Result<_, _>>()?;
        Ok(Self { logs, bytes_max })
    }

    /// Creates the main file now; the others when their first record comes.
    pub(super) fn create_early(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        self.logs
            .first_mut()
            .map_or(Ok(()), |conn| conn.create_early(storage))
    }

    /// The files of all types.
    pub(super) fn files(&self) -> impl Iterator<Item = FileInfo> {
        self.logs.iter().flat_map(ParquetLog::files)
    }

    pub(super) fn write(
        &mut self,
        storage: &mut dyn Storage,
        record: &RecordRef<'_>,
    ) -> Result<(), OutputError> {
        let logs = self.logs.as_mut_slice();
        let is_weighed = write_row(&mut OnDisk { logs, storage }, record)?;
        if is_weighed {
            self.make_room()?;
        }
        Ok(())
    }

    /// Writes the row groups that take most, until all take no more than they may.
    fn make_room(&mut self) -> Result<(), OutputError> {
        loop {
            let bytes = self.logs.iter().map(ParquetLog::memory_bytes);
            if bytes.sum::<usize>() <= self.bytes_max {
                return Ok(());
            }
            let largest = self.logs.iter_mut().max_by_key(|log| log.memory_bytes());
            let Some(log) = largest else {
                return Ok(());
            };
            let before = log.memory_bytes();
            log.finish_group()?;
            if log.memory_bytes() >= before {
                return Ok(());
            }
        }
    }

    /// The files that have ended since the last call.
    pub(super) fn take_ended(&mut self) -> impl Iterator<Item = &FileInfo> {
        self.logs.iter_mut().flat_map(ParquetLog::take_ended)
    }

    pub(super) fn bytes_expected(&self) -> u64 {
        self.logs.iter().map(ParquetLog::bytes_expected).sum()
    }

    /// Makes files anew that were moved away.
    pub(super) fn reopen(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        self.logs.iter_mut().try_for_each(|log| log.reopen(storage))
    }

    /// Ends all files; returns the first failure.
    pub(super) fn close(&mut self) -> Result<(), OutputError> {
        self.logs
            .iter_mut()
            .map(ParquetLog::close)
            .fold(Ok(()), Result::and)
    }
}

/// The logs, and where their files are made.
struct OnDisk<'a> {
    logs: &'a mut [ParquetLog],
    storage: &'a mut dyn Storage,
}

impl TakeRow for OnDisk<'_> {
    fn take<'a>(
        &mut self,
        table: usize,
        time: Timestamp,
        values: impl Iterator<Item = Stored<'a>>,
    ) -> Result<bool, OutputError> {
        let log = self.logs.get_mut(table);
        log.map_or(Ok(false), |log| log.write(self.storage, time, values))
    }
}

/// Rows that were not turned into columns yet take at most this part of the memory in each log.
const BATCHES: usize = 32;
