//! Which protocol each connection speaks: feeds first bytes until there is a verdict.
//!
//! ```text
//!  Looking ──verdict──► Done
//!     ▲        └─────► Watching ──► Done        of protocols that may turn into TLS
//!     └─ a turn of the client's that begins as TLS does ─┘
//! ```
//!
//! Sixteen bytes a connection, in step with the connection table's handles. What is over costs a
//! packet one load and one branch.

use crate::identification::{Identification, Names};
use flowpin_counters::{Loss, Losses};
use flowpin_flow::Sighting;
use flowpin_identify::{
    Confidence, GaveUp, On, ProtocolId, RuleId, Search, SearchOptions, Searches, Step, Verdict,
    Whose,
};
use flowpin_memory::Slab;
use flowpin_packet::{PacketFlags, PacketKind, Shard};
use flowpin_reassembly::{Closed, Span, StreamConsumer};
use flowpin_record::{App, ConnRecord};
use std::io;
use std::sync::Arc;

/// The connections of one worker.
#[derive(Debug)]
pub(super) struct Identify {
    states: Slab<State>,
    searches: Searches,
    names: Arc<Names>,
    losses: Losses,
    stats: IdentifyStats,
}

/// What identification did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentifyStats {
    /// Connections of which bytes were looked at.
    pub searched: u64,
    /// Packets whose bytes were looked at: segments in order, and datagrams.
    pub inspected: u64,
}

impl IdentifyStats {
    pub(crate) fn add(&mut self, other: &Self) {
        self.searched += other.searched;
        self.inspected += other.inspected;
    }
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Done,
    Looking,
    Watching,
}

/// What is known of a connection.
#[derive(Clone, Copy, Debug)]
struct State {
    search: Search,
    /// Of client and server.
    ports: (u16, u16),
    /// The verdict.
    rule: RuleId,
    /// What it was before.
    original: ProtocolId,
    /// Packets that were looked at.
    inspected: u16,
    shard: Shard,
    bits: u8,
}

const _: () = assert!(size_of::<State>() == 16);

const NONE: ProtocolId = ProtocolId(u16::MAX);
const NO_RULE: RuleId = RuleId(u16::MAX);

impl State {
    const PHASE: u8 = 3;
    /// The verdict is only likely.
    const LIKELY: u8 = 1 << 2;
    /// The verdict came from the server's bytes.
    const BY_SERVER: u8 = 1 << 3;
    /// The server spoke last.
    const SERVERS_TURN: u8 = 1 << 4;
    /// Nothing more comes from the client; the bit above: from the server.
    const OVER: u8 = 1 << 5;

    fn new(phase: Phase) -> Self {
        Self {
            search: Search::default(),
            ports: (0, 0),
            rule: NO_RULE,
            original: NONE,
            inspected: 0,
            shard: Shard(0),
            bits: phase as u8,
        }
    }

    #[inline]
    const fn is_done(&self) -> bool {
        self.bits & Self::PHASE == Phase::Done as u8
    }

    const fn is(&self, phase: Phase) -> bool {
        self.bits & Self::PHASE == phase as u8
    }

    const fn go_to(&mut self, phase: Phase) {
        self.bits = self.bits & !Self::PHASE | phase as u8;
    }

    const fn has(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    const fn set(&mut self, bit: u8, on: bool) {
        self.bits = if on {
            self.bits | bit
        } else {
            self.bits & !bit
        };
    }

    const fn over(to_server: bool) -> u8 {
        if to_server {
            Self::OVER
        } else {
            Self::OVER << 1
        }
    }

    const fn whose(&self, on: On, to_server: bool) -> Whose {
        Whose {
            shard: self.shard,
            ports: self.ports,
            on,
            to_server,
            offset: 0,
        }
    }

    fn app(&self, names: &Names) -> Option<App> {
        if self.rule == NO_RULE {
            return None;
        }
        let protocol = names.protocol_of(self.rule);
        Some(App {
            name: names.protocol(protocol),
            original: (self.original != NONE).then(|| names.protocol(self.original)),
            rule: names.rule(self.rule),
            confidence: if self.has(Self::LIKELY) {
                flowpin_record::Confidence::Likely
            } else {
                flowpin_record::Confidence::Sure
            },
            by_client: !self.has(Self::BY_SERVER),
            number: names.number(protocol),
        })
    }
}

impl Identify {
    /// For connections whose handles are below `connections_max`.
    pub(super) fn new(
        known: &Identification,
        options: SearchOptions,
        connections_max: u32,
    ) -> io::Result<Self> {
        Ok(Self {
            states: Slab::with_capacity(connections_max)?,
            searches: Searches::new(Arc::clone(&known.identifier), options)?,
            names: Arc::clone(&known.names),
            losses: Losses::default(),
            stats: IdentifyStats::default(),
        })
    }

    #[inline]
    pub(super) fn prefetch(&self, handle: u32) {
        self.states.prefetch(handle);
    }

    /// Whether no more bytes of a connection are looked at.
    #[inline]
    pub(super) fn is_done(&self, handle: u32) -> bool {
        self.states.get(handle).is_none_or(State::is_done)
    }

    /// A connection's first packet.
    pub(super) fn begin(&mut self, sighting: &Sighting<'_>) {
        let phase = match sighting.meta.kind {
            PacketKind::Tcp | PacketKind::Udp | PacketKind::Sctp => Phase::Looking,
            _ => Phase::Done,
        };
        while self.states.high_water() <= sighting.handle {
            if self.states.insert(State::new(Phase::Done)).is_none() {
                return;
            }
        }
        if let Some(state) = self.states.get_mut(sighting.handle) {
            *state = State {
                ports: sighting.ports(),
                shard: sighting.meta.shard(),
                ..State::new(phase)
            };
        }
    }

    /// A packet of a connection without streams.
    #[inline]
    pub(super) fn datagram(&mut self, sighting: &Sighting<'_>) {
        let on = match sighting.meta.kind {
            PacketKind::Udp => On::Udp,
            PacketKind::Sctp => On::Sctp,
            _ => return,
        };
        if !self.is_done(sighting.handle) {
            self.look_at_datagram(sighting, on);
        }
    }

    fn look_at_datagram(&mut self, sighting: &Sighting<'_>, on: On) {
        let (meta, bytes) = (sighting.meta, sighting.frames.payload(sighting.meta));
        if bytes.is_empty() || meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return;
        }
        let Some(state) = self.states.get_mut(sighting.handle) else {
            return;
        };
        self.stats.count(state);
        let whose = state.whose(on, sighting.to_server);
        let len = meta.payload_len as usize;
        let step = self.searches.datagram(&mut state.search, whose, bytes, len);
        self.settle(sighting.handle, step);
    }

    /// The next bytes of a stream.
    #[inline]
    pub(super) fn bytes(&mut self, at: Span, bytes: &[u8]) {
        if !self.is_done(at.handle) {
            self.look_at_bytes(at, bytes);
        }
    }

    #[inline(never)]
    fn look_at_bytes(&mut self, at: Span, bytes: &[u8]) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let begins_turn = state.has(State::SERVERS_TURN) == at.to_server;
        state.set(State::SERVERS_TURN, !at.to_server);
        if state.is(Phase::Watching) {
            let is_tls = begins_turn && at.to_server && bytes.first() == Some(&TLS_HANDSHAKE);
            if !is_tls {
                if at.offset > WATCHED_BYTES {
                    state.go_to(Phase::Done);
                }
                return;
            }
            state.go_to(Phase::Looking);
        }
        if state.has(State::over(at.to_server)) {
            return;
        }
        self.stats.count(state);
        let whose = state.whose(On::Tcp, at.to_server);
        let step = self.searches.stream_bytes(&mut state.search, whose, bytes);
        self.settle(at.handle, step);
    }

    /// Nothing more comes from one side of a stream, or nothing that can be understood.
    pub(super) fn side_over(&mut self, at: Span) {
        let Some(state) = self.states.get_mut(at.handle) else {
            return;
        };
        let side = State::over(at.to_server);
        if state.is_done() || state.has(side) {
            return;
        }
        state.set(side, true);
        if state.is(Phase::Watching) {
            return;
        }
        let whose = state.whose(On::Tcp, at.to_server);
        let step = self.searches.stream_ended(&mut state.search, whose);
        self.settle(at.handle, step);
    }

    fn settle(&mut self, handle: u32, step: Step) {
        let Some(state) = self.states.get_mut(handle) else {
            return;
        };
        match step {
            Step::Undecided => return,
            Step::Verdict(verdict) => take(state, verdict, &self.names),
            Step::GaveUp(why) => {
                if why == GaveUp::Memory {
                    self.losses.count(Loss::IdentifyMemory, 1);
                }
                state.go_to(Phase::Done);
            }
        }
        self.searches.release(&mut state.search);
    }

    /// Packets of a connection that were looked at.
    pub(super) fn inspected(&self, handle: u32) -> u16 {
        self.states.get(handle).map_or(0, |state| state.inspected)
    }

    /// What is known of a connection goes into its record.
    pub(super) fn tell(&self, handle: u32, record: &mut ConnRecord) {
        if let Some(state) = self.states.get(handle) {
            record.app = state.app(&self.names);
        }
    }

    /// The connection has ended.
    pub(super) fn end(&mut self, handle: u32, record: &mut ConnRecord) {
        let Some(state) = self.states.get_mut(handle) else {
            return;
        };
        if !state.is_done() {
            if let Some(verdict) = self.searches.held(state.search) {
                take(state, verdict, &self.names);
            }
            self.searches.release(&mut state.search);
            state.go_to(Phase::Done);
        }
        record.app = state.app(&self.names);
    }

    pub(super) const fn losses(&self) -> &Losses {
        &self.losses
    }

    pub(super) const fn stats(&self) -> IdentifyStats {
        self.stats
    }
}

impl IdentifyStats {
    fn count(&mut self, state: &mut State) {
        self.inspected += 1;
        self.searched += u64::from(state.inspected == 0);
        state.inspected = state.inspected.saturating_add(1);
    }
}

/// A verdict: the first, or that it has become TLS.
fn take(state: &mut State, verdict: Verdict, names: &Names) {
    let is_first = state.rule == NO_RULE;
    let watched = is_first && names.may_become_tls(verdict.protocol);
    state.go_to(if watched {
        Phase::Watching
    } else {
        Phase::Done
    });
    if !is_first {
        if !names.is_tls(verdict.protocol) {
            return;
        }
        state.original = names.protocol_of(state.rule);
    }
    state.rule = verdict.rule;
    state.set(State::LIKELY, verdict.confidence == Confidence::Likely);
    state.set(State::BY_SERVER, !verdict.to_server);
}

/// What a connection's end says about its streams.
pub(super) struct Ending<'a>(pub(super) &'a mut Identify);

impl StreamConsumer for Ending<'_> {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        self.0.bytes(at, bytes);
    }

    fn gap(&mut self, at: Span, _: u64) {
        self.0.side_over(at);
    }

    fn closed(&mut self, at: Span, _: Closed) {
        self.0.side_over(at);
    }
}

/// Content type of a TLS record with a handshake message (RFC 8446 §5.1).
const TLS_HANDSHAKE: u8 = 22;

/// So many bytes of each side are watched for a change to TLS.
const WATCHED_BYTES: u64 = 64 << 10;
