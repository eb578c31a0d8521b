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

    fn data_channel(&mut self, key: RecordKey, place: &MessagePlace, said: DataChannel<'_>) {
        let what = What::of(said);
        self.0.text_bytes += what.text_bytes();
        self.0.statements.push(Statement {
            key,
            control: place.uid,
            at: place.time,
            what,
        });
    }

    #[inline]
    fn held_bytes(&self) -> usize {
        self.0.bytes()
    }

    fn tick(&mut self, _: Timestamp) -> Option<DataNews> {
        (!self.0.is_empty()).then(|| core::mem::take(&mut self.0))
    }

    fn finish(mut self, _: Timestamp) -> Option<DataNews> {
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
    statements: Vec<Statement>,
    ended: Vec<(RecordKey, ConnRecord)>,
    /// Of the statements since the last tick.
    text_bytes: usize,
}

impl DataNews {
    #[inline]
    fn bytes(&self) -> usize {
        size_of_val(self.statements.as_slice())
            + size_of_val(self.ended.as_slice())
            + self.text_bytes
    }

    /// The hosts between which control connections have announced others.
    pub fn announced(&self) -> impl Iterator<Item = (IpAddr, IpAddr)> {
        self.statements.iter().filter_map(|one| match &one.what {
            What::Announced {
                opener, listener, ..
            } => Some((*opener, listener.address)),
            What::Carries { .. } => None,
        })
    }

    /// Takes what another worker has seen.
    pub(crate) fn add(&mut self, mut other: Self) {
        self.statements.append(&mut other.statements);
        self.ended.append(&mut other.ended);
    }

    const fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.ended.is_empty()
    }

    /// Whether a control connection has announced something.
    pub(crate) const fn has_statements(&self) -> bool {
        !self.statements.is_empty()
    }

    /// Forgets the connections whose records are written.
    pub(crate) fn forget(&mut self, written: RecordKey) {
        self.ended.retain(|(key, _)| *key > written);
    }

    /// Takes out all up to a key, in order of keys: `stated` gets the statements of control
    /// connections, `ended` the records of connections.
    pub(crate) fn replay<T>(
        &mut self,
        until: RecordKey,
        to: &mut T,
        stated: impl Fn(&mut T, &Statement),
        mut ended: impl FnMut(&mut T, RecordKey, &ConnRecord),
    ) {
        self.statements.sort_unstable_by_key(|one| one.key);
        self.ended.sort_unstable_by_key(|(key, _)| *key);
        let stated_count = self.statements.partition_point(|one| one.key <= until);
        let ended_count = self.ended.partition_point(|(key, _)| *key <= until);
        let mut statements = self.statements.drain(..stated_count).peekable();
        for (key, record) in self.ended.drain(..ended_count) {
            while let Some(one) = statements.next_if(|one| one.key < key) {
                stated(to, &one);
            }
            ended(to, key, &record);
        }
        statements.for_each(|one| stated(to, &one));
    }
}

/// A statement of a control connection about its data connections, on its way to the decider.
#[derive(Debug)]
pub(crate) struct Statement {
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
    const fn text_bytes(&self) -> usize {
        match self {
            Self::Announced { .. } => 0,
            Self::Carries { command, file } => command.len() + file.len(),
        }
    }

    fn of(said: DataChannel<'_>) -> Self {
        match said {
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

impl Statement {
    pub(crate) fn apply(&self, connections: &mut DataConnections) {
        let said = match &self.what {
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
        connections.stated(self.control, self.at, self.key.number, said);
    }
}
