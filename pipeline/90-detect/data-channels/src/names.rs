//! Data connections named for a list of connections, which no merger writes.

use crate::NAME;
use crate::connections::DataConnections;
use crate::decider::{Renamed, named};
use crate::news::{DataNews, Statement};
use flowpin_record::{App, RecordKey};
use std::collections::HashMap;

/// Connections that turn out to carry FTP's data, by their records' keys.
#[derive(Debug, Default)]
pub struct DataNames {
    connections: DataConnections,
    waiting: DataNews,
    found: HashMap<RecordKey, App>,
    renamed: Renamed,
}

impl DataNames {
    /// Takes the worker's news; it has delivered everything up to `watermark`.
    pub fn add(&mut self, news: Option<DataNews>, watermark: RecordKey) {
        if let Some(news) = news {
            self.waiting.add(news);
        }
        let mut waiting = core::mem::take(&mut self.waiting);
        let stated = |own: &mut Self, one: &Statement| one.apply(&mut own.connections);
        waiting.replay(watermark, self, stated, |own, key, record| {
            if let Some((data, _)) = own.connections.recognise(record)
                && record.app.is_none_or(|app| app.name != NAME)
                && let Some(app) = named(record, &data).app
            {
                own.renamed.count(record);
                own.found.insert(key, app);
            }
        });
        self.waiting = waiting;
    }

    /// Their totals, once all are found.
    pub fn take_renamed(&mut self) -> Renamed {
        core::mem::take(&mut self.renamed)
    }

    /// The name of the connection with this record, if it is one. Called once a record.
    pub fn take(&mut self, key: RecordKey) -> Option<App> {
        self.found.remove(&key)
    }
}
