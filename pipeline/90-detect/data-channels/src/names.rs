//! Data connections named for a list of connections, which no merger writes.

use crate::NAME;
use crate::connections::DataConnections;
use crate::decider::named;
use crate::news::{DataNews, Told};
use flowpin_record::{App, RecordKey};
use std::collections::HashMap;

/// What connections turn out to be FTP's data connections, by their records' keys.
#[derive(Debug, Default)]
pub struct DataNames {
    connections: DataConnections,
    waiting: DataNews,
    found: HashMap<RecordKey, App>,
}

impl DataNames {
    /// Takes what the worker has seen, of which it has delivered all up to `watermark`.
    pub fn add(&mut self, news: Option<DataNews>, watermark: RecordKey) {
        if let Some(news) = news {
            self.waiting.add(news);
        }
        let mut waiting = core::mem::take(&mut self.waiting);
        let told = |own: &mut Self, told: &Told| told.tell(&mut own.connections);
        waiting.replay(watermark, self, told, |own, key, record| {
            if let Some((data, _)) = own.connections.recognise(record)
                && record.app.is_none_or(|app| app.name != NAME)
                && let Some(app) = named(record, &data).app
            {
                own.found.insert(key, app);
            }
        });
        self.waiting = waiting;
    }

    /// What the connection with this record is, if it is one. Asked once.
    pub fn take(&mut self, key: RecordKey) -> Option<App> {
        self.found.remove(&key)
    }
}
