//! What a worker hands over of what may be FTP's data connections.

use flowpin_ftp::{DataConnections, may_carry_data};
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, DataChannel, MessagePlace, RecordEndpoint, RecordKey, Uid};

use core::net::IpAddr;

/// What one worker has seen since its last tick.
#[derive(Debug, Default)]
pub(crate) struct DataNews {
    told: Vec<Told>,
    ended: Vec<(RecordKey, ConnRecord)>,
}

impl DataNews {
    /// A control connection says something.
    pub(crate) fn tell(&mut self, key: RecordKey, place: &MessagePlace, told: DataChannel<'_>) {
        self.told.push(Told {
            key,
            control: place.uid,
            at: place.time,
            what: What::of(told),
        });
    }

    /// A connection's record is written.
    #[inline]
    pub(crate) fn see(&mut self, key: RecordKey, record: &ConnRecord) {
        if may_carry_data(record) {
            self.keep(key, record);
        }
    }

    #[inline(never)]
    fn keep(&mut self, key: RecordKey, record: &ConnRecord) {
        self.ended.push((key, *record));
    }

    /// All of it, if there is any.
    pub(crate) fn take(&mut self) -> Option<Self> {
        let is_empty = self.told.is_empty() && self.ended.is_empty();
        (!is_empty).then(|| core::mem::take(self))
    }

    pub(super) fn seen(self) -> impl Iterator<Item = Seen> {
        let ended = self.ended.into_iter();
        let told = self.told.into_iter().map(Seen::Told);
        told.chain(ended.map(|(key, record)| Seen::Ended(key, Box::new(record))))
    }
}

/// Something that a worker has seen.
#[derive(Debug)]
pub(super) enum Seen {
    /// What a control connection says.
    Told(Told),
    /// A connection that may carry data.
    Ended(RecordKey, Box<ConnRecord>),
}

impl Seen {
    pub(super) const fn key(&self) -> RecordKey {
        match self {
            Self::Told(told) => told.key,
            Self::Ended(key, _) => *key,
        }
    }
}

/// What a control connection says of its data connections, on its way to where all are seen.
#[derive(Debug)]
pub(super) struct Told {
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
    pub(super) fn tell(&self, connections: &mut DataConnections) {
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
