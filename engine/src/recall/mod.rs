//! Conditional recording (`--record-if`): packets of connections in which something was found.
//!
//! ```text
//!  reading ──frames──────────────► Hold: waits ──► line of recent packets ──► written, or not
//!  workers ──whose packet it is──►        up to what is known      │
//!          ──what was found──────►  marks: connections, hosts ─────┘ asked when it leaves the line
//!  deciders ─scans, alerts───────►
//! ```
//!
//! A packet leaves the line when so many bytes have come after it, and is written if its connection
//! is marked by then. So the recording is in the order of the capture, and has what a connection
//! had before something was found in it, as far as that was in the line.
//!
//! Guarantees the same recording for every shape: packets and findings meet in the order of
//! [`RecordKey`]s, only up to where all records are known. What would wait longer than there is
//! memory for is decided by what is known, and counted.

mod hold;

use crate::RunError;
use crate::tools::fragments::Fragments;
use flowpin_capture::ChosenPackets;
use flowpin_config::{Plan, RecordIf};
use flowpin_counters::Losses;
use flowpin_flow::Sighting;
use flowpin_packet::{Endpoints, FragmentRef, Frame, Piece, Timestamp};
use flowpin_record::{
    AnomalyRecord, ConnRecord, EpisodeState, MessagePlace, MessageSchema, RecordKey, ScanRecord,
    Uid,
};
use hold::{Hold, Whose};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A conditional recording, as all threads of a run share it.
#[derive(Clone, Debug)]
pub(crate) struct Recall {
    wanted: Arc<RecordIf>,
    hold: Arc<Mutex<Hold>>,
}

impl Recall {
    /// A recording to files, of a run with so many workers.
    pub(crate) fn new(wanted: &RecordIf, plan: &Plan, workers: usize, to: ChosenPackets) -> Self {
        let hold = Hold::new(plan.live.record_before_bytes, workers, to);
        Self {
            wanted: Arc::new(wanted.clone()),
            hold: Arc::new(Mutex::new(hold)),
        }
    }

    fn hold(&self) -> MutexGuard<'_, Hold> {
        // Who panicked ends the run.
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an observer of worker `number` notes packets with.
    pub(crate) fn observer(&self, number: usize) -> Packets {
        Packets {
            recall: self.clone(),
            worker: number,
            seen: Vec::new(),
        }
    }

    /// What notes findings.
    pub(crate) fn findings(&self) -> Findings {
        Findings {
            recall: self.clone(),
            found: Vec::new(),
        }
    }

    /// What notes the fragments of datagrams.
    pub(crate) fn parts(&self) -> Parts {
        Parts {
            recall: self.clone(),
            fragments: Fragments::default(),
        }
    }

    /// The frames of a piece, each with its number and its stream time.
    pub(crate) fn take_frames(&self, piece: &Piece, frames: &[(Frame, u64, Timestamp)]) {
        let mut hold = self.hold();
        for (frame, number, time) in frames {
            let start = frame.start as usize;
            let bytes = piece.bytes.get(start..start + frame.captured_len as usize);
            hold.push(frame, *number, *time, bytes.unwrap_or_default());
        }
    }

    /// All records up to `known` are merged.
    pub(crate) fn advance(&self, known: RecordKey) -> Result<(), RunError> {
        let mut hold = self.hold();
        hold.advance(known);
        hold.failure().map_or(Ok(()), |error| Err(error.into()))
    }

    /// Hands over what waits to be written.
    pub(crate) fn flush(&self) {
        self.hold().flush();
    }

    /// Everything is known: writes the rest.
    pub(crate) fn end(&self) -> Result<(), RunError> {
        let mut hold = self.hold();
        hold.end();
        hold.failure().map_or(Ok(()), |error| Err(error.into()))
    }

    /// What the recording lacks.
    pub(crate) fn losses(&self) -> Losses {
        self.hold().losses()
    }
}

/// What was found, and where.
// Of several with one key the first here comes first: a connection is wanted, then it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Finding {
    /// A connection is wanted.
    Wanted(Uid),
    /// A connection of so many packets has ended.
    Ended(Uid, u64),
    /// All that a host begins is wanted, because of this scan.
    Host(IpAddr, Uid),
    /// The scan is over.
    HostDone(IpAddr, Uid),
}

/// Notes of one worker whose its packets are.
#[derive(Debug)]
pub(crate) struct Packets {
    recall: Recall,
    worker: usize,
    seen: Vec<(u64, Whose)>,
}

impl Packets {
    /// A packet of a connection.
    pub(crate) fn see(&mut self, sighting: &Sighting<'_>) {
        let (mine, theirs) = sighting.packets();
        let (client, _) = sighting.endpoints();
        let whose = Whose {
            uid: sighting.uid(),
            client: Endpoints::address(client, sighting.meta.key.is_ipv6()),
            nth: mine + theirs,
        };
        self.seen.push((sighting.meta.number, whose));
    }

    /// All packets up to the one with this number are noted.
    pub(crate) fn tick(&mut self, number: u64) {
        self.recall.hold().know(self.worker, number, &self.seen);
        self.seen.clear();
    }
}

/// Notes what records tell of.
#[derive(Debug)]
pub(crate) struct Findings {
    recall: Recall,
    found: Vec<(RecordKey, Finding)>,
}

impl Findings {
    fn put(&mut self, key: RecordKey, finding: Finding) {
        self.found.push((key, finding));
        if self.found.len() >= FOUND_MAX {
            self.hand_over();
        }
    }

    /// A connection's record.
    pub(crate) fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        let speaks = |name: &str| {
            let app = record.app.as_ref();
            app.is_some_and(|app| app.name == name || app.original == Some(name))
        };
        if self.recall.wanted.apps.iter().any(|name| speaks(name)) {
            self.put(key, Finding::Wanted(record.uid));
        }
        if record.interim == 0 {
            let packets = record.to_server.packets + record.to_client.packets;
            self.put(key, Finding::Ended(record.uid, packets));
        }
    }

    /// An anomaly, of a connection or of none.
    pub(crate) fn anomaly(&mut self, key: RecordKey, record: &AnomalyRecord) {
        if self.recall.wanted.anomaly
            && let Some((uid, ..)) = record.connection
        {
            self.put(key, Finding::Wanted(uid));
        }
    }

    /// A message.
    pub(crate) fn message(&mut self, key: RecordKey, place: &MessagePlace, schema: &MessageSchema) {
        let wanted = &self.recall.wanted;
        let is_alert = wanted.alert && schema.name == flowpin_detect::ALERT.name;
        if is_alert || wanted.apps.iter().any(|name| name == place.app) {
            self.put(key, Finding::Wanted(place.uid));
        }
    }

    /// A scan.
    pub(crate) fn scan(&mut self, key: RecordKey, record: &ScanRecord) {
        if self.recall.wanted.scan {
            for source in record.sources.as_slice() {
                self.put(key, Finding::Host(*source, record.uid));
                if record.state == EpisodeState::Over {
                    self.put(key, Finding::HostDone(*source, record.uid));
                }
            }
        }
    }

    /// Hands over what was noted: before the records up to there are.
    pub(crate) fn hand_over(&mut self) {
        if !self.found.is_empty() {
            self.recall.hold().find(&self.found);
            self.found.clear();
        }
    }
}

/// Notes which packets are parts of another.
#[derive(Debug)]
pub(crate) struct Parts {
    recall: Recall,
    fragments: Fragments,
}

impl Parts {
    /// A fragment comes.
    pub(crate) fn fragment(&mut self, fragment: &FragmentRef, bytes: &[u8]) {
        let whole = self.fragments.add(fragment, bytes);
        self.note(whole);
    }

    /// The last one has completed its datagram.
    pub(crate) fn datagram(&mut self) {
        let whole = self.fragments.complete();
        self.note(whole);
    }

    fn note(&mut self, whole: Option<Vec<u64>>) {
        let forgotten = self.fragments.take_forgotten();
        if forgotten > 0 {
            self.recall.hold().forget_parts(forgotten);
        }
        if let Some(numbers) = whole {
            self.recall.hold().join(&numbers);
        }
    }
}

/// So many findings are handed over together.
const FOUND_MAX: usize = 1 << 10;
