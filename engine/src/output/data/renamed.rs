//! Connections that workers have counted under another name than their records have.

use crate::sums::{ConnectionSums, Traffic};
use flowpin_record::ConnRecord;
use std::collections::HashMap;

/// What data connections were counted as: by what they were taken for, and by server's port.
#[derive(Debug, Default)]
pub(crate) struct Renamed {
    by_name: HashMap<&'static str, Traffic>,
    /// Of those whose protocol was not identified.
    by_port: HashMap<u16, Traffic>,
    /// Likewise, with payload.
    unknown: Traffic,
    all: Traffic,
}

impl Renamed {
    /// A connection that has ended, as its worker knows it.
    pub(super) fn count(&mut self, record: &ConnRecord) {
        let traffic = Traffic::of(record);
        self.all.add(&traffic);
        if let Some(app) = record.app {
            self.by_name.entry(app.name).or_default().add(&traffic);
            return;
        }
        let of_port = self.by_port.entry(record.server.port).or_default();
        of_port.add(&traffic);
        if (record.to_server.payload_bytes | record.to_client.payload_bytes) != 0 {
            self.unknown.add(&traffic);
        }
    }

    /// Puts the sums right.
    pub(crate) fn correct(&self, sums: &mut ConnectionSums) {
        if self.all.connections == 0 {
            return;
        }
        for (&name, traffic) in &self.by_name {
            take(&mut sums.by_app, name, traffic);
        }
        for (&port, traffic) in &self.by_port {
            take(&mut sums.by_unknown_port, (TCP, port), traffic);
        }
        sums.unknown.subtract(&self.unknown);
        sums.by_app.entry(super::NAME).or_default().add(&self.all);
    }
}

fn take<K: core::hash::Hash + Eq, S: core::hash::BuildHasher>(
    table: &mut HashMap<K, Traffic, S>,
    key: K,
    traffic: &Traffic,
) {
    if let Some(sums) = table.get_mut(&key) {
        sums.subtract(traffic);
        if sums.connections == 0 {
            table.remove(&key);
        }
    }
}

const TCP: u8 = 6;
