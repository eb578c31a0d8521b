//! Which protocol a connection speaks: bytes in, verdict out. Searches know no parser.
//!
//! ```text
//!  Searching ──verdict──► Done
//!     ▲          ├─────► Doubting ──► Done      no parser reads it: does the other side fit?
//!     │          └─────► Watching ──► Done      of protocols that may turn into TLS or DTLS
//!     └─ what begins as these do ───┘           (TLS: in a turn of the client's)
//! ```
//!
//! Owns the searches of one worker. The state of a connection is its [`Identity`], which the caller
//! keeps; a verdict that may still be taken back is *doubted*, and `trust` counts what supports it.
//! `rules` are compiled once a run, with the signatures that parsers bring.

mod doubt;
mod identity;
pub(crate) mod patterns;
mod rules;
mod trust;
mod verdict;
mod view;

pub(crate) use identity::{Identity, Phase, again};
pub(crate) use rules::{IdentifyRules, database, left_out};
pub use view::CandidatesView;

use flowpin_counters::{Loss, Losses};
use flowpin_identify::{Datagram, GaveUp, Names, Search, SearchOptions, Searches, Step, Whose};
use flowpin_memory::{Budget, Pool};
use flowpin_record::App;
use std::io;
use std::sync::Arc;

/// The searches of one worker.
#[derive(Debug)]
pub(crate) struct Identify {
    searches: Searches,
    pub(crate) names: Arc<Names>,
    pub(crate) losses: Losses,
    pub(crate) stats: IdentifyStats,
    /// Bytes on their way from a parser back to a search.
    pub(crate) held: Vec<u8>,
}

/// What identification did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentifyStats {
    /// Connections of which bytes were searched.
    pub searched: u64,
    /// Packets whose bytes were searched: segments in order, and datagrams.
    pub inspected: u64,
    /// Verdicts that were taken back.
    pub taken_back: u64,
}

impl IdentifyStats {
    pub(crate) fn add(&mut self, other: &Self) {
        self.searched += other.searched;
        self.inspected += other.inspected;
        self.taken_back += other.taken_back;
    }

    fn count(&mut self, identity: &mut Identity) {
        self.inspected += 1;
        self.searched += u64::from(identity.inspected == 0);
        identity.inspected = identity.inspected.saturating_add(1);
    }
}

/// What is replayed after a verdict, in the order in which it came.
pub(crate) enum Kept<'a> {
    /// Bytes before those of the protocol, that no parser should see: how many.
    Junk {
        to_server: bool,
        len: u64,
    },
    /// Bytes of one direction, and where in its stream they begin.
    Bytes {
        to_server: bool,
        offset: u64,
        bytes: &'a [u8],
    },
    Datagram(Datagram<'a>),
}

impl Identify {
    pub(crate) fn new(
        budget: &Budget,
        known: &IdentifyRules,
        options: SearchOptions,
    ) -> io::Result<Self> {
        let identifier = Arc::clone(&known.identifier);
        Ok(Self {
            searches: Searches::within(budget.clone(), identifier, options)?,
            names: Arc::clone(&known.names),
            losses: Losses::default(),
            stats: IdentifyStats::default(),
            held: Vec::new(),
        })
    }

    /// The pools of everything that searches keep.
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        self.searches.pools(visit);
    }

    /// Searches the next bytes of a stream.
    pub(crate) fn search_bytes(
        &mut self,
        identity: &mut Identity,
        whose: Whose<'_>,
        bytes: &[u8],
    ) -> Step {
        self.stats.count(identity);
        self.searches
            .stream_bytes(&mut identity.search, whose, bytes)
    }

    /// One direction of a stream carries no more bytes: what its search comes to.
    pub(crate) fn end_stream(&mut self, identity: &mut Identity, whose: Whose<'_>) -> Step {
        self.searches.stream_ended(&mut identity.search, whose)
    }

    /// Searches a datagram: its captured bytes, and its length on the wire.
    pub(crate) fn search_datagram(
        &mut self,
        identity: &mut Identity,
        whose: Whose<'_>,
        (bytes, wire_len): (&[u8], usize),
    ) -> Step {
        self.stats.count(identity);
        let search = &mut identity.search;
        self.searches.datagram(search, whose, bytes, wire_len)
    }

    /// The connection has ended: what its search comes to.
    pub(crate) fn end_search(&self, identity: &Identity) -> Step {
        match self.searches.held(identity.search) {
            Some(verdict) => Step::Verdict(verdict),
            None => Step::GaveUp(GaveUp::NothingFits),
        }
    }

    /// Hands out what is kept of a search, and counts what could not be kept.
    pub(crate) fn replay(&mut self, search: Search, mut to: impl FnMut(Kept<'_>)) {
        for (to_server, len) in [true, false].into_iter().zip(self.searches.junk(search)) {
            if len > 0 {
                let len = len.into();
                to(Kept::Junk { to_server, len });
            }
        }
        self.searches.replay(search, |to_server, offset, bytes| {
            to(Kept::Bytes {
                to_server,
                offset,
                bytes,
            });
        });
        let cut = self.searches.cut(search);
        self.losses.count(Loss::IdentifyFirstBytes, cut.into());
        let unkept = self
            .searches
            .replay_datagrams(search, |one| to(Kept::Datagram(one)));
        self.losses.count(Loss::IdentifyDatagrams, unkept.into());
    }

    /// Frees the search of a connection.
    pub(crate) fn release(&mut self, identity: &mut Identity) {
        self.searches.release(&mut identity.search);
    }

    /// What a record says of a connection's protocol.
    // PERF: written where it stays: copied there right after its parts were written it would wait
    // for them (75 cycles).
    pub(crate) fn write(&self, identity: &Identity, app: &mut Option<App>) {
        // No rule has the number that stands for none.
        let Some(verdict) = self.names.app(identity.rule) else {
            return *app = None;
        };
        let app = app.insert(*verdict);
        if identity.original != identity::NO_PROTOCOL {
            app.original = Some(self.names.protocol(identity.original));
            app.original_in_tools = self.names.in_tools(identity.original);
        }
        if identity.has(Identity::LIKELY) {
            app.confidence = flowpin_record::Confidence::Likely;
        }
        app.by_client = !identity.has(Identity::BY_SERVER);
    }
}
