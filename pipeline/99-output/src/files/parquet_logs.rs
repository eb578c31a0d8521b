//! The Parquet logs of all record types.

use super::FileInfo;
use super::parquet_log::ParquetLog;
use super::rotation::Rotation;
use super::storage::Storage;
use crate::OutputError;
use crate::batch::RecordRef;
use flowpin_config::OutputPlan;
use flowpin_record::{AnomalyRecord, ConnRow, FloodRecord, RecordType, ScanRecord, TunnelRecord};

/// One log for each type.
pub(super) struct ParquetLogs {
    conn: ParquetLog<ConnRow>,
    conn_long: ParquetLog<ConnRow>,
    anomaly: ParquetLog<AnomalyRecord>,
    tunnel: ParquetLog<TunnelRecord>,
    scan: ParquetLog<ScanRecord>,
    flood: ParquetLog<FloodRecord>,
}

impl ParquetLogs {
    pub(super) fn new(plan: &OutputPlan) -> Result<Self, OutputError> {
        let rotation = |of: RecordType| Rotation::new(plan, of.file_stem(), "parquet");
        Ok(Self {
            conn: ParquetLog::new(rotation(RecordType::Conn))?,
            conn_long: ParquetLog::new(rotation(RecordType::ConnLong))?,
            anomaly: ParquetLog::new(rotation(RecordType::Anomaly))?,
            tunnel: ParquetLog::new(rotation(RecordType::Tunnel))?,
            scan: ParquetLog::new(rotation(RecordType::Scan))?,
            flood: ParquetLog::new(rotation(RecordType::Flood))?,
        })
    }

    /// Creates the main file now; the others when their first record comes.
    pub(super) fn create_early(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        self.conn.create_early(storage)
    }

    /// The files of all types.
    pub(super) fn files(&self) -> impl Iterator<Item = FileInfo> {
        let conns = self.conn.files().chain(self.conn_long.files());
        let others = self.anomaly.files().chain(self.tunnel.files());
        conns
            .chain(others)
            .chain(self.scan.files())
            .chain(self.flood.files())
    }

    pub(super) fn write(
        &mut self,
        storage: &mut dyn Storage,
        record: &RecordRef<'_>,
    ) -> Result<(), OutputError> {
        let (rows, index, time) = (record.rows, record.entry.row as usize, record.time());
        match record.entry.record_type {
            RecordType::Conn => match rows.conns.get(index) {
                Some(row) => self.conn.write(storage, time, row),
                None => Ok(()),
            },
            RecordType::ConnLong => match rows.conns.get(index) {
                Some(row) => self.conn_long.write(storage, time, row),
                None => Ok(()),
            },
            RecordType::Anomaly => match rows.anomalies.get(index) {
                Some(row) => self.anomaly.write(storage, time, row),
                None => Ok(()),
            },
            RecordType::Tunnel => match rows.tunnels.get(index) {
                Some(row) => self.tunnel.write(storage, time, row),
                None => Ok(()),
            },
            RecordType::Scan => match rows.scans.get(index) {
                Some(row) => self.scan.write(storage, time, row),
                None => Ok(()),
            },
            RecordType::Flood => match rows.floods.get(index) {
                Some(row) => self.flood.write(storage, time, row),
                None => Ok(()),
            },
        }
    }

    pub(super) fn bytes_expected(&self) -> u64 {
        self.conn.bytes_expected()
            + self.conn_long.bytes_expected()
            + self.anomaly.bytes_expected()
            + self.tunnel.bytes_expected()
            + self.scan.bytes_expected()
            + self.flood.bytes_expected()
    }

    /// Makes files anew that were moved away.
    pub(super) fn reopen(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        self.conn.reopen(storage)?;
        self.conn_long.reopen(storage)?;
        self.anomaly.reopen(storage)?;
        self.tunnel.reopen(storage)?;
        self.scan.reopen(storage)?;
        self.flood.reopen(storage)
    }

    pub(super) fn close(&mut self) -> Result<(), OutputError> {
        let (conn, conn_long) = (self.conn.close(), self.conn_long.close());
        let (anomaly, tunnel) = (self.anomaly.close(), self.tunnel.close());
        let (scan, flood) = (self.scan.close(), self.flood.close());
        conn.and(conn_long)
            .and(anomaly)
            .and(tunnel)
            .and(scan)
            .and(flood)
    }
}
