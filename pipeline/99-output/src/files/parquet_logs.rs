//! The Parquet logs of all record types, and of all kinds of messages.

use super::FileInfo;
use super::parquet_log::{ParquetLog, described, stored};
use super::rotation::Rotation;
use super::storage::Storage;
use crate::OutputError;
use crate::batch::RecordRef;
use crate::format::MessageSchemas;
use flowpin_config::OutputPlan;
use flowpin_record::{
    AnomalyRecord, ConnRow, FloodRecord, HostPairRecord, RecordType, ScanRecord, TunnelRecord,
};

/// One log for each type, in table order; then one for each kind of messages.
pub(super) struct ParquetLogs {
    logs: Vec<ParquetLog>,
    /// The most that rows take in all of them that are not written yet.
    bytes_max: usize,
}

impl ParquetLogs {
    pub(super) fn new(plan: &OutputPlan, schemas: &MessageSchemas) -> Result<Self, OutputError> {
        let rotation = |stem: &str| Rotation::new(plan, stem, "parquet");
        let bytes_max = usize::try_from(plan.parquet_bytes).unwrap_or(usize::MAX);
        let batch_bytes = bytes_max / BATCHES;
        let mut logs = Vec::new();
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
            logs.push(ParquetLog::new(
                rotation(record_type.file_stem()),
                &columns,
                plan.parquet_time,
                batch_bytes,
            )?);
        }
        for ready in schemas.iter() {
            let columns: Vec<_> = ready
                .fields
                .iter()
                .filter(|field| field.logs.in_tables())
                .map(|field| (field.flat_name(), field.in_parquet, field.doc.clone()))
                .collect();
            logs.push(ParquetLog::new(
                rotation(&ready.schema.file_stem),
                &columns,
                plan.parquet_time,
                batch_bytes,
            )?);
        }
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
        let (rows, row, time) = (record.rows, record.entry.row, record.time());
        let record_type = record.entry.record_type;
        let mut place = record_type as usize;
        if record_type == RecordType::Message {
            place += usize::from(rows.messages.row(row).schema);
        }
        let Some(log) = self.logs.get_mut(place) else {
            return Ok(());
        };
        let index = row as usize;
        let is_weighed = match record_type {
            RecordType::Conn | RecordType::ConnLong => {
                let row = rows.conns.get(index);
                row.map_or(Ok(false), |row| log.write(storage, time, stored(row)))
            }
            RecordType::Anomaly => {
                let row = rows.anomalies.get(index);
                row.map_or(Ok(false), |row| log.write(storage, time, stored(row)))
            }
            RecordType::Tunnel => {
                let row = rows.tunnels.get(index);
                row.map_or(Ok(false), |row| log.write(storage, time, stored(row)))
            }
            RecordType::Scan => {
                let row = rows.scans.get(index);
                row.map_or(Ok(false), |row| log.write(storage, time, stored(row)))
            }
            RecordType::Flood => {
                let row = rows.floods.get(index);
                row.map_or(Ok(false), |row| log.write(storage, time, stored(row)))
            }
            RecordType::HostPair => {
                let row = rows.host_pairs.get(index);
                row.map_or(Ok(false), |row| log.write(storage, time, stored(row)))
            }
            RecordType::Message => {
                let values = rows.messages.values(row);
                // Some kinds of messages are events only.
                if values.is_empty() {
                    return Ok(());
                }
                log.write(storage, time, values)
            }
        }?;
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

/// Rows that were not turned into columns yet take at most this part of the memory in each log.
const BATCHES: usize = 32;
