//! Records to a program that listens: EVE JSON lines over one connection.
//!
//! ```text
//!  Writers ─ whole lines ─► queue ─► sender (a thread) ─► peer
//!                             │        ▲   └ window: sent, perhaps not read; sent again
//!                             └► spool ┘              over the next connection
//! ```
//!
//! Owns the connection, what waits for it in memory, and the spool. Guarantees that lines arrive
//! whole and in order over each connection, at least once unless they are counted, and that memory
//! and disk stay below their caps. A peer of plain lines does not acknowledge: what it has read and
//! lost is lost. Kafka does (`kafka`).

#[cfg(feature = "kafka")]
mod kafka;
mod peer;
mod queue;
mod sender;
mod spool;
#[cfg(test)]
mod tests;

use crate::OutputError;
use crate::files::Target;
use flowpin_config::{OutputPlan, PeerAddress};
use flowpin_disk::Reads;
use flowpin_record::RecordKey;
use peer::{Connection, Peer};
use queue::Queue;
use sender::Sender;
use spool::Spool;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{Builder, JoinHandle};

/// Hears messages that the user should see at once, from any thread.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// What a stream shares with who runs it.
#[derive(Clone, Default)]
pub struct StreamHooks {
    /// Set when the run is to stop: records that cannot be held wait no longer.
    pub stop: Arc<AtomicBool>,
    /// Told what the user should see at once: that the peer went away or came back.
    pub tell: Option<Tell>,
}

impl core::fmt::Debug for StreamHooks {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("StreamHooks").finish_non_exhaustive()
    }
}

/// A stream that is open.
pub(crate) struct Stream {
    address: PeerAddress,
    spool: Option<PathBuf>,
    queue: Arc<Queue>,
    sender: Option<JoinHandle<()>>,
    /// Lost records that were counted already.
    counted: u64,
    line: Vec<u8>,
}

impl Stream {
    /// Connects to the program of a plan.
    pub(crate) fn open(
        plan: &OutputPlan,
        address: &PeerAddress,
        reads: &Reads,
        hooks: StreamHooks,
    ) -> Result<Self, OutputError> {
        let failed = |source| OutputError::Away {
            address: address.to_string(),
            source,
        };
        let spool = match &plan.spool {
            Some(dir) => Some(Spool::open(dir, plan.spool_bytes_max, reads)?),
            None => None,
        };
        let (means, away) = Means::reach(plan, address)?;
        let is_spooled = spool.is_some();
        let queue = Arc::new(Queue::new(spool, plan.may_wait, hooks, address));
        match away {
            Some(source) if !is_spooled => return Err(failed(source)),
            Some(source) => queue.away(&source),
            None => {}
        }
        let thread = Builder::new().name("stream".into());
        let shared = Arc::clone(&queue);
        let thread = thread.spawn(move || means.run(shared)).map_err(failed)?;
        Ok(Self {
            address: address.clone(),
            spool: plan.spool.clone(),
            queue,
            sender: Some(thread),
            counted: 0,
            line: Vec::new(),
        })
    }

    /// Where its lines are written to.
    pub(crate) fn target(&self) -> Box<dyn Target> {
        Box::new(Lines(Arc::clone(&self.queue)))
    }

    /// A line with its record's identifier: the same for the same capture, whatever the shape.
    pub(crate) fn identified(&mut self, key: RecordKey, text: &[u8]) -> &[u8] {
        self.line.clear();
        let (time, number, ordinal) = (key.time.0, key.number, key.ordinal);
        // A vector takes all that is written.
        let _ = write!(
            self.line,
            "{{\"record_id\":\"{time:016x}-{number:x}-{ordinal:x}\","
        );
        // Each event is an object with at least its time.
        self.line
            .extend_from_slice(text.get(1..).unwrap_or_default());
        &self.line
    }

    /// Records lost since the last call.
    pub(crate) fn newly_lost(&mut self) -> u64 {
        let lost = self.queue.lost();
        let new = lost - self.counted;
        self.counted = lost;
        new
    }

    /// All records are written: waits until they are sent, as long as that moves on.
    ///
    /// # Errors
    /// The peer stayed away; what waits in the spool is sent by the next run.
    pub(crate) fn end(&mut self) -> Result<(), OutputError> {
        let Some(sender) = self.sender.take() else {
            return Ok(());
        };
        self.queue.end();
        // A panic has reported itself.
        let _ = sender.join();
        let left = self.queue.left();
        if left.bytes == 0 && left.lost_at_end == 0 {
            return Ok(());
        }
        Err(OutputError::StayedAway {
            address: self.address.to_string(),
            spooled: self.spool.clone().filter(|_| left.bytes > 0),
            bytes: left.bytes,
            lost: left.lost_at_end,
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// How the other end is reached.
enum Means {
    Lines(Peer, Option<Connection>),
    #[cfg(feature = "kafka")]
    Kafka(kafka::Link),
}

impl Means {
    /// Tries to reach it, and says why it is away, if it is.
    fn reach(
        plan: &OutputPlan,
        address: &PeerAddress,
    ) -> Result<(Self, Option<io::Error>), OutputError> {
        if let PeerAddress::Kafka { brokers, topic } = address {
            return Self::cluster(plan, address, brokers, topic);
        }
        let mut peer = Peer::resolve(address).map_err(|source| OutputError::Away {
            address: address.to_string(),
            source,
        })?;
        Ok(match peer.connect() {
            Ok(connection) => (Self::Lines(peer, Some(connection)), None),
            Err(away) => (Self::Lines(peer, None), Some(away)),
        })
    }

    #[cfg(feature = "kafka")]
    fn cluster(
        plan: &OutputPlan,
        address: &PeerAddress,
        brokers: &str,
        topic: &str,
    ) -> Result<(Self, Option<io::Error>), OutputError> {
        let link = kafka::Link::open(brokers, topic, plan.kafka_config.as_deref());
        let (link, away) = link.map_err(|why| OutputError::Unusable {
            address: address.to_string(),
            why,
        })?;
        Ok((Self::Kafka(link), away))
    }

    #[cfg(not(feature = "kafka"))]
    fn cluster(
        _: &OutputPlan,
        address: &PeerAddress,
        _: &str,
        _: &str,
    ) -> Result<(Self, Option<io::Error>), OutputError> {
        Err(OutputError::Unusable {
            address: address.to_string(),
            why: "this flowpin was built without Kafka (cargo feature `kafka`)".to_owned(),
        })
    }

    fn run(self, queue: Arc<Queue>) {
        match self {
            Self::Lines(peer, connection) => Sender::new(peer, connection, queue).run(),
            #[cfg(feature = "kafka")]
            Self::Kafka(link) => link.run(queue),
        }
    }
}

/// The queue as what a log is written to: each write has whole lines, and takes all of them.
struct Lines(Arc<Queue>);

impl Write for Lines {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.0.push(lines);
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Lines {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::NotSeekable.into())
    }
}

impl Target for Lines {
    fn cut(&mut self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::NotSeekable.into())
    }
}
