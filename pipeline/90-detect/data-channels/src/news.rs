//! What a worker sees of connections that may be FTP's data connections.

use crate::connections::{DataConnections, may_carry_data};
use core::net::IpAddr;
use flowpin_aggregate::Observer;
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, DataChannel, MessagePlace, RecordEndpoint, RecordKey, Uid};

/// The side on a worker.
#[derive(Debug, Default)]
pub struct DataObserver(DataNews);

impl Observer for DataObserver {
    type News = DataNews;

    #[inline]
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        if may_carry_data(record) {
            self.keep(key, record);
        }
    }

    fn data_channel(&mut self, key: RecordKey, place: &MessagePlace, told: DataChannel<'_>) {
        self.0.told.push(Told {
            key,
            control: place.uid,
            at: place.time,
            what: What::of(told),
        });
    }

    fn tick(&mut self, _: Timestamp) -> Option<DataNews> {
        (!self.0.is_empty()).then(|| core::mem::take(&mut self.0))
    }

    fn finish(mut self) -> Option<DataNews> {
        self.tick(Timestamp::MAX)
    }
}

impl DataObserver {
    #[inline(never)]
    fn keep(&mut self, key: RecordKey, record: &ConnRecord) {
        self.0.ended.push((key, *record));
    }
}

/// What one worker has seen since its last tick.
#[derive(Debug, Default)]
pub struct DataNews {
    told: Vec<Told>,
    ended: Vec<(RecordKey, ConnRecord)>,
}

impl DataNews {
    /// Takes what another worker has seen.
    pub(crate) fn add(&mut self, mut other: Self) {
        self.told.append(&mut other.told);
        self.ended.append(&mut other.ended);
    }

    const fn is_empty(&self) -> bool {
        self.told.is_empty() && self.ended.is_empty()
    }

    /// Whether a control connection said something.
    pub(crate) const fn has_told(&self) -> bool {
        !self.told.is_empty()
    }

    /// Forgets the connections whose records are written.
    pub(crate) fn forget(&mut self, written: RecordKey) {
        self.ended.retain(|(key, _)| *key > written);
    }

    /// Goes through all up to a key, in order of keys, and forgets it. `told` gets what control
    /// connections say, `ended` the connections.
    pub(crate) fn replay<T>(
        &mut self,
        until: RecordKey,
        to: &mut T,
        told: impl Fn(&mut T, &Told),
        mut ended: impl FnMut(&mut T, RecordKey, &ConnRecord),
    ) {
        self.told.sort_unstable_by_key(|one| one.key);
        self.ended.sort_unstable_by_key(|(key, _)| *key);
        let told_count = self.told.partition_point(|one| one.key <= until);
        let ended_count = self.ended.partition_point(|(key, _)| *key <= until);
        let mut saying = self.told.drain(..told_count).peekable();
        for (key, record) in self.ended.drain(..ended_count) {
            while let Some(one) = saying.next_if(|one| one.key < key) {
                told(to, &one);
            }
            ended(to, key, &record);
        }
        saying.for_each(|one| told(to, &one));
    }
}

/// What a control connection says of its data connections, on its way to where all are seen.
#[derive(Debug)]
pub(crate) struct Told {
    key: RecordKey,
    control: Uid,
    at: Timestamp,
    what: What,
}

#[derive(Debug)]
enum What {
    Announced {
        by_client: bool,
        opener: IpAddr,
        listener: RecordEndpoint,
    },
    Carries {
        command: Box<[u8]>,
        file: Box<[u8]>,
    },
}

impl What {
    fn of(told: DataChannel<'_>) -> Self {
        match told {
            DataChannel::Announced {
                by_client,
                opener,
                listener,
            } => Self::Announced {
                by_client,
                opener,
                listener,
            },
            DataChannel::Carries { command, file } => Self::Carries {
                command: command.into(),
                file: file.into(),
            },
        }
    }
}

impl Told {
    pub(crate) fn tell(&self, connections: &mut DataConnections) {
        let told = match &self.what {
            &What::Announced {
                by_client,
                opener,
                listener,
            } => DataChannel::Announced {
                by_client,
                opener,
                listener,
            },
            What::Carries { command, file } => DataChannel::Carries { command, file },
        };
        connections.told(self.control, self.at, self.key.number, told);
    }
}
