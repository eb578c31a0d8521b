//! What is known of a connection, in sixteen bytes.

use super::trust::Trust;
use crate::worker::identification::Names;
use crate::worker::parse::Binding;
use flowpin_identify::{
    Confidence, On, ProtocolId, RuleId, Search, Verdict, Whose, may_follow_stun,
};
use flowpin_packet::Shard;
use flowpin_record::App;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Done,
    Looking,
    Watching,
    /// It has a verdict that nothing but its first bytes speaks for.
    Doubting,
}

/// What is known of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) search: Search,
    /// Its parser, if it has one.
    pub(super) binding: Binding,
    /// The verdict.
    pub(super) rule: RuleId,
    /// What it was before.
    pub(super) original: ProtocolId,
    /// Packets that were looked at; 255: or more.
    pub(super) inspected: u8,
    /// Datagrams that passed while it was watched; of a stream, how often it went on as something
    /// else.
    pub(super) watched: u8,
    pub(super) shard: Shard,
    /// How sure the verdict is.
    pub(super) trust: Trust,
    bits: u8,
}

const _: () = assert!(size_of::<State>() == 16);

pub(super) const NONE: ProtocolId = ProtocolId(u16::MAX);
pub(super) const NO_RULE: RuleId = RuleId(u16::MAX);

impl State {
    const PHASE: u8 = 3;
    /// The verdict is only likely.
    pub(super) const LIKELY: u8 = 1 << 2;
    /// The verdict came from the server's bytes.
    pub(super) const BY_SERVER: u8 = 1 << 3;
    /// The server spoke last.
    pub(super) const SERVERS_TURN: u8 = 1 << 4;
    /// Nothing more comes from the client; the bit above: from the server.
    const OVER: u8 = 1 << 5;
    const BOTH_OVER: u8 = Self::OVER | Self::OVER << 1;
    /// Whatever comes may be another protocol.
    pub(super) const TUNNEL: u8 = 1 << 7;

    pub(super) fn new(phase: Phase) -> Self {
        Self {
            search: Search::default(),
            binding: Binding::default(),
            rule: NO_RULE,
            original: NONE,
            inspected: 0,
            watched: 0,
            shard: Shard(0),
            trust: Trust::default(),
            bits: phase as u8,
        }
    }

    /// Whether its bytes are neither looked at nor parsed.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.is_done() && self.binding.is_none() && !self.was_let_go()
    }

    /// Its parser lets go of it, because it is closed.
    pub(super) const fn let_go(&mut self) {
        self.go_to(Phase::Done);
        self.set(Self::BOTH_OVER, true);
    }

    /// Whether its parser has let go of it: should it go on, it gets another one.
    pub(super) fn was_let_go(&self) -> bool {
        let is_closed = self.bits & Self::BOTH_OVER == Self::BOTH_OVER;
        is_closed && self.is_done() && self.binding.is_none() && self.rule != NO_RULE
    }

    /// Whether it has a verdict that may still be taken back.
    #[inline]
    pub(super) fn is_doubted(&self) -> bool {
        self.rule != NO_RULE && !self.trust.is_settled()
    }

    #[inline]
    pub(super) const fn is_done(&self) -> bool {
        self.bits & Self::PHASE == Phase::Done as u8
    }

    pub(super) const fn is(&self, phase: Phase) -> bool {
        self.bits & Self::PHASE == phase as u8
    }

    pub(super) const fn go_to(&mut self, phase: Phase) {
        self.bits = self.bits & !Self::PHASE | phase as u8;
    }

    pub(super) const fn has(&self, bit: u8) -> bool {
        self.bits & bit != 0
    }

    pub(super) const fn set(&mut self, bit: u8, on: bool) {
        self.bits = if on {
            self.bits | bit
        } else {
            self.bits & !bit
        };
    }

    pub(super) const fn over(to_server: bool) -> u8 {
        if to_server {
            Self::OVER
        } else {
            Self::OVER << 1
        }
    }

    pub(super) const fn whose(
        &self,
        on: On,
        to_server: bool,
        ports: (u16, u16),
        offset: u64,
    ) -> Whose {
        Whose {
            shard: self.shard,
            ports,
            on,
            to_server,
            offset,
            again: None,
        }
    }

    /// A stream goes on as something else: whether it is to be looked at anew. No more often than
    /// tunnels stand in tunnels: responses that switch, one behind the other in one segment, would
    /// fill the stack.
    pub(super) fn turns_into_another(&mut self) -> bool {
        self.watched = self.watched.saturating_add(1);
        self.watched <= CHANGES_MAX
    }

    /// A datagram of a connection that may turn into something else: whether it may be of that.
    pub(super) fn watch_datagram(&mut self, bytes: &[u8]) -> bool {
        let is_other = may_follow_stun(bytes);
        self.watched = self.watched.saturating_add(1);
        if is_other && self.is(Phase::Watching) {
            self.go_to(Phase::Looking);
        } else if self.watched >= WATCHED_DATAGRAMS {
            self.go_to(Phase::Done);
        }
        is_other
    }

    /// A search found nothing: datagrams that are watched go on being watched.
    pub(super) fn give_up(&mut self) {
        let is_watched = (1..WATCHED_DATAGRAMS).contains(&self.watched) && !self.has(Self::TUNNEL);
        self.go_to(if is_watched {
            Phase::Watching
        } else {
            Phase::Done
        });
    }

    /// What a record says of it.
    // PERF: written where it stays: copied there right after its parts were written it would wait
    // for them (75 cycles).
    pub(super) fn write(&self, names: &Names, app: &mut Option<App>) {
        // No rule has the number that stands for none.
        let Some(verdict) = names.app(self.rule) else {
            return *app = None;
        };
        let app = app.insert(*verdict);
        if self.original != NONE {
            app.original = Some(names.protocol(self.original));
            app.original_in_tools = names.in_tools(self.original);
        }
        if self.has(Self::LIKELY) {
            app.confidence = flowpin_record::Confidence::Likely;
        }
        app.by_client = !self.has(Self::BY_SERVER);
    }
}

/// A verdict: the first, or on what it has become. Whether it counts.
pub(super) fn take(state: &mut State, verdict: Verdict, names: &Names) -> bool {
    let is_first = state.rule == NO_RULE;
    let watched = is_first && !names.becomes(verdict.protocol).is_empty();
    state.go_to(if watched {
        Phase::Watching
    } else {
        Phase::Done
    });
    if is_first {
        state.trust.begin();
    } else {
        let expected = names.becomes(names.protocol_of(state.rule));
        if !expected.contains(&verdict.protocol) && !state.has(State::TUNNEL) {
            return false;
        }
        state.original = names.protocol_of(state.rule);
    }
    state.set(State::TUNNEL, false);
    state.rule = verdict.rule;
    state.set(State::LIKELY, verdict.confidence == Confidence::Likely);
    state.set(State::BY_SERVER, !verdict.to_server);
    true
}

/// A verdict in the place of one that was taken back.
pub(super) fn take_again(state: &mut State, verdict: Verdict, names: &Names) {
    let is_watched = !names.becomes(verdict.protocol).is_empty();
    state.go_to(if is_watched {
        Phase::Watching
    } else {
        Phase::Done
    });
    state.rule = verdict.rule;
    state.set(State::LIKELY, verdict.confidence == Confidence::Likely);
    state.set(State::BY_SERVER, !verdict.to_server);
}

/// So often a stream is looked at anew.
const CHANGES_MAX: u8 = 8;

/// So many datagrams are watched for a change to DTLS or RTP: some seconds of a call.
const WATCHED_DATAGRAMS: u8 = 200;
