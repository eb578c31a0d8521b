//! Slices of time: a long input analysed one stretch of stream time after the other, so that only
//! one of them is moved between machines at a time.
//!
//! ```text
//!       slice 1      │      slice 2      │      slice 3
//!   ──a─────a        │                   │
//!         ──b────────┼──────b            │       b's packets of slice 1 are
//!                    ▼                   ▼       replayed before slice 2
//!            open: b's key, its first packet
//! ```
//!
//! What is carried over is packets, not state: those of the connections that are open where a slice
//! ends, from their first ones on. The next slice's part gets them first, and so has the state that
//! one run would have. What it then says of the time before its slice was said already, and is
//! dropped; likewise what the end of a slice's packets causes, as their input goes on.

use super::frames::{Limits, Seen, bytes_of, dispatcher, each};
use crate::aggregates::News;
use crate::{Control, RunError};
use flowpin_aggregate::Travel;
use flowpin_capture::{Shares, Source, add_to_share};
use flowpin_config::Plan;
use flowpin_dispatch::{Clock, Dispatched};
use flowpin_output::RecordBatch;
use flowpin_packet::{FlowKey, PacketMeta, Timestamp};
use flowpin_portscan::{INTERVAL_NS, ScanNews};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// A slice of the input: what happens from one moment of stream time up to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// It begins here, as [`Slice::border`] gives it.
    pub from: Timestamp,
    /// The next one begins here; none of the last.
    pub until: Option<Timestamp>,
    /// What is open where it begins.
    pub open: Vec<OpenConnection>,
}

impl Slice {
    /// The last moment up to `time` at which a slice may begin: attempts to connect are counted by
    /// the interval.
    pub const fn border(time: Timestamp) -> Timestamp {
        Timestamp(time.0 - time.0 % INTERVAL_NS)
    }

    /// Whether a packet of this time is one of its own.
    pub(super) fn has(&self, time: Timestamp) -> bool {
        self.from <= time && self.until.is_none_or(|until| time < until)
    }
}

/// A connection that goes on behind a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConnection {
    key: FlowKey,
    first: u64,
}

impl OpenConnection {
    /// Connections as they travel: three numbers each, little-endian.
    pub fn to_bytes(all: &[Self]) -> Vec<u8> {
        let words = all
            .iter()
            .flat_map(|one| [one.key.low, one.key.high, one.first]);
        words.flat_map(u64::to_le_bytes).collect()
    }

    /// What [`OpenConnection::to_bytes`] has made; none of other bytes.
    pub fn of_bytes(bytes: &[u8]) -> Option<Vec<Self>> {
        let (words, rest) = bytes.as_chunks::<8>();
        let (threes, more) = words.as_chunks::<3>();
        let of_three = |three: &[[u8; 8]; 3]| {
            let [low, high, first] = three.map(u64::from_le_bytes);
            let key = FlowKey { low, high };
            Self { key, first }
        };
        let is_whole = rest.is_empty() && more.is_empty();
        is_whole.then(|| threes.iter().map(of_three).collect())
    }
}

/// The open connections of a border, to be looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    from: Timestamp,
    first_by_key: HashMap<FlowKey, u64>,
}

impl Carried {
    pub(super) fn new(from: Timestamp, open: &[OpenConnection]) -> Self {
        Self {
            from,
            first_by_key: open.iter().map(|one| (one.key, one.first)).collect(),
        }
    }

    /// Whether a packet matters: it is behind the border, or one of a connection that is open
    /// there.
    #[inline]
    pub(crate) fn has(&self, meta: &PacketMeta) -> bool {
        meta.stream_time >= self.from || self.is_open(meta)
    }

    fn is_open(&self, meta: &PacketMeta) -> bool {
        let first = self.first_by_key.get(&meta.key);
        first.is_some_and(|&first| meta.number >= first)
    }
}

/// Between a slice's part and the next slice's.
#[derive(Debug)]
pub(crate) struct Seam {
    from: Timestamp,
    until: Option<Timestamp>,
    open: Mutex<Vec<OpenConnection>>,
}

impl Seam {
    pub(super) fn new(slice: &Slice) -> Self {
        Self {
            from: slice.from,
            until: slice.until,
            open: Mutex::default(),
        }
    }

    /// The slice is over: these connections are open.
    pub(crate) fn leave(&self, open: impl Iterator<Item = (FlowKey, u64)>) {
        if self.until.is_some() {
            let open = open.map(|(key, first)| OpenConnection { key, first });
            *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open.collect();
        }
    }

    pub(super) fn take_open(&self) -> Vec<OpenConnection> {
        core::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leaves out the records of other slices.
    pub(crate) fn cut(&self, records: &mut RecordBatch) {
        records.keep_between(self.from, self.until.unwrap_or(Timestamp::MAX));
    }

    /// Leaves out what other slices tell.
    pub(crate) fn cut_news(&self, news: &mut News) {
        let until = self.until.unwrap_or(Timestamp::MAX);
        news.scans = news.scans.take().map(|scans| self.cut_scans(scans));
        if let Some(alerts) = &mut news.alerts {
            alerts.keep_between(self.from, until);
        }
        if let Some(pairs) = &mut news.host_pairs {
            pairs.keep_between(self.from, until);
        }
    }

    fn cut_scans(&self, news: ScanNews) -> ScanNews {
        match (news, self.until) {
            (ScanNews::Closed(summary), _) => ScanNews::Closed(summary.since(self.from)),
            (ScanNews::Last { summary, end }, None) => ScanNews::Last {
                summary: summary.since(self.from),
                end,
            },
            (ScanNews::Last { summary, .. }, Some(until)) => {
                let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                let open: BTreeSet<u64> = open.iter().map(|one| one.first).collect();
                let summary = summary.since(self.from);
                ScanNews::Closed(summary.handed_over(until, |first| open.contains(&first)))
            }
        }
    }
}

/// Finds the packets that a slice's part hands on to the next slice's: of the connections that are
/// `open` at `until`, and fragments that they may need. `give` gets shares, each with the number of
/// its first packet.
///
/// # Errors
/// As [`crate::run`], and those of `give`.
pub fn carry(
    plan: &Plan,
    shares: Shares,
    (until, open): (Timestamp, &[OpenConnection]),
    control: &Control,
    give: &mut dyn FnMut(u64, Vec<u8>) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let mut source = Source::told(shares)?;
    let fragments = &plan.defragmentation;
    let mut carrier = Carrier {
        carried: Carried::new(until, open),
        oldest: open.iter().map(|one| one.first).min().unwrap_or(u64::MAX),
        // A fragment's time may lie behind the stream's.
        keep_ns: 2 * fragments.ipv4_timeout_ns.max(fragments.ipv6_timeout_ns),
        recent: VecDeque::new(),
        recent_bytes: 0,
        share: (0, Vec::new()),
        give,
    };
    let mut dispatcher = dispatcher(plan);
    let mut slot = PacketMeta::default();
    let all = Limits::default();
    each(&mut source, &mut Clock::told(), all, control, |seen| {
        let &Seen {
            piece,
            frame,
            number,
            now,
            ..
        } = seen;
        let is_plain = dispatcher.dispatch_fast::<true>(piece, &frame, number, now, &mut slot);
        let what = match is_plain {
            true => Dispatched::Packet,
            false => dispatcher.dispatch_slow(piece, frame, number, now, &mut slot),
        };
        match what {
            Dispatched::Packet if carrier.carried.is_open(&slot) => carrier.keep(seen),
            Dispatched::Fragment(_) => carrier.fragment(seen),
            _ => Ok(()),
        }
    })?;
    carrier.finish(until)
}

/// Fragments that wait to be asked for take so many bytes at most; more than are asked for do no
/// harm.
const RECENT_BYTES: usize = 64 << 20;
/// A share has about so many bytes at most.
const SHARE_LEN: usize = 128 << 10;

struct Carrier<'a> {
    carried: Carried,
    /// The first packet of all connections that are open.
    oldest: u64,
    keep_ns: u64,
    /// Fragments before that packet, which may belong to it: number, time, and as a share.
    recent: VecDeque<(u64, Timestamp, Vec<u8>)>,
    recent_bytes: usize,
    share: (u64, Vec<u8>),
    give: &'a mut dyn FnMut(u64, Vec<u8>) -> Result<(), RunError>,
}

impl Carrier<'_> {
    /// Which datagram a fragment belongs to is not known here.
    fn fragment(&mut self, seen: &Seen<'_>) -> Result<(), RunError> {
        if seen.number >= self.oldest {
            return self.keep(seen);
        }
        self.forget_before(seen.now);
        let told = as_share(seen);
        self.recent_bytes += told.len();
        self.recent.push_back((seen.number, seen.now, told));
        if self.recent_bytes > RECENT_BYTES {
            self.keep_recent()?;
        }
        Ok(())
    }

    fn forget_before(&mut self, now: Timestamp) {
        while let Some((_, time, told)) = self.recent.front() {
            if time.plus_nanos(self.keep_ns) >= now {
                break;
            }
            self.recent_bytes -= told.len();
            self.recent.pop_front();
        }
    }

    fn keep_recent(&mut self) -> Result<(), RunError> {
        self.recent_bytes = 0;
        while let Some((number, _, told)) = self.recent.pop_front() {
            self.add(number, &told)?;
        }
        Ok(())
    }

    fn keep(&mut self, seen: &Seen<'_>) -> Result<(), RunError> {
        self.forget_before(seen.now);
        self.keep_recent()?;
        self.add(seen.number, &as_share(seen))
    }

    fn add(&mut self, number: u64, told: &[u8]) -> Result<(), RunError> {
        let (first, bytes) = &mut self.share;
        if bytes.is_empty() {
            *first = number;
        }
        bytes.extend_from_slice(told);
        if bytes.len() >= SHARE_LEN {
            return self.hand_over();
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<(), RunError> {
        let (number, bytes) = core::mem::take(&mut self.share);
        match bytes.is_empty() {
            true => Ok(()),
            false => (self.give)(number, bytes),
        }
    }

    fn finish(mut self, until: Timestamp) -> Result<(), RunError> {
        self.forget_before(until);
        self.keep_recent()?;
        self.hand_over()
    }
}

fn as_share(seen: &Seen<'_>) -> Vec<u8> {
    let mut share = Vec::new();
    let frame = bytes_of(seen.piece, &seen.frame);
    let at = (seen.number, seen.now);
    add_to_share(&mut share, at, &seen.frame, frame, seen.names);
    share
}
