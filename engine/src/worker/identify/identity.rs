//! What identification knows of one connection, in twelve bytes.

use super::trust::Trust;
use flowpin_identify::{Again, ProtocolId, RuleId, Search, Whose, may_follow_stun};
use flowpin_packet::Shard;

/// How far the identification of a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Done,
    /// Its bytes are searched.
    Searching,
    /// Its protocol may turn into TLS or DTLS.
    Watching,
    /// It has a verdict that only its first bytes support.
    Doubting,
}

/// What identification knows of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) search: Search,
    /// The verdict.
    pub(crate) rule: RuleId,
    /// The protocol of the verdict before.
    pub(crate) original: ProtocolId,
    /// Packets that were searched; 255: or more.
    pub(crate) inspected: u8,
    /// Datagrams seen while it was watched; of a stream, how often it turned into something else.
    watched: u8,
    pub(crate) shard: Shard,
    /// How much supports the verdict.
    pub(crate) trust: Trust,
    bits: u8,
}

pub(super) const NO_PROTOCOL: ProtocolId = ProtocolId(u16::MAX);
pub(super) const NO_RULE: RuleId = RuleId(u16::MAX);

impl Identity {
    const PHASE: u8 = 3;
    /// The verdict is only likely.
    pub(super) const LIKELY: u8 = 1 << 2;
    /// The verdict came from the server's bytes.
    pub(super) const BY_SERVER: u8 = 1 << 3;
    /// The server spoke last.
    const SERVERS_TURN: u8 = 1 << 4;
    /// Nothing more comes from the client; the bit above: from the server.
    const OVER: u8 = 1 << 5;
    const BOTH_OVER: u8 = Self::OVER | Self::OVER << 1;
    /// What follows may be any protocol.
    pub(super) const TUNNEL: u8 = 1 << 7;

    pub(crate) fn new(phase: Phase, shard: Shard) -> Self {
        Self {
            search: Search::default(),
            rule: NO_RULE,
            original: NO_PROTOCOL,
            inspected: 0,
            watched: 0,
            shard,
            trust: Trust::default(),
            bits: phase as u8,
        }
    }

    /// Whether it has a verdict.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.rule != NO_RULE
    }

    /// Whether it has a verdict that may still be taken back.
    #[inline]
    pub(crate) fn is_doubted(&self) -> bool {
        self.is_known() && !self.trust.is_settled()
    }

    #[inline]
    pub(crate) const fn is_done(&self) -> bool {
        self.is(Phase::Done)
    }

    #[inline]
    pub(crate) const fn is(&self, phase: Phase) -> bool {
        self.bits & Self::PHASE == phase as u8
    }

    pub(crate) const fn go_to(&mut self, phase: Phase) {
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

    /// Whether one side's bytes led to the verdict.
    pub(crate) const fn is_decided_by(&self, to_server: bool) -> bool {
        self.has(Self::BY_SERVER) != to_server
    }

    /// Whether one direction carries no more bytes that could be searched.
    pub(crate) const fn is_over(&self, to_server: bool) -> bool {
        self.has(over(to_server))
    }

    pub(crate) const fn set_over(&mut self, to_server: bool, is_over: bool) {
        self.set(over(to_server), is_over);
    }

    /// Whether both directions are over.
    #[inline]
    pub(crate) const fn are_both_over(&self) -> bool {
        self.bits & Self::BOTH_OVER == Self::BOTH_OVER
    }

    /// Both directions are over, and so is identification.
    pub(crate) const fn close(&mut self) {
        self.go_to(Phase::Done);
        self.set(Self::BOTH_OVER, true);
    }

    /// Notes whose bytes come; returns whether that begins a turn.
    pub(super) const fn take_turn(&mut self, to_server: bool) -> bool {
        let begins = self.has(Self::SERVERS_TURN) == to_server;
        self.set(Self::SERVERS_TURN, !to_server);
        begins
    }

    /// The stream turns into something else: whether that is to be searched. No more often than
    /// tunnels are nested: one segment with many responses that switch would fill the stack.
    pub(super) const fn turn_into_another(&mut self) -> bool {
        self.watched = self.watched.saturating_add(1);
        self.watched <= CHANGES_MAX
    }

    /// A datagram of a connection that may turn into something else: whether it may be part of
    /// that.
    pub(crate) fn watch_datagram(&mut self, bytes: &[u8]) -> bool {
        let is_other = may_follow_stun(bytes);
        self.watched = self.watched.saturating_add(1);
        if is_other && self.is(Phase::Watching) {
            self.go_to(Phase::Searching);
        } else if self.watched >= WATCHED_DATAGRAMS {
            self.go_to(Phase::Done);
        }
        is_other
    }

    /// A search found nothing: datagrams stay watched if they were.
    pub(super) fn give_up(&mut self) {
        let is_watched = (1..WATCHED_DATAGRAMS).contains(&self.watched) && !self.has(Self::TUNNEL);
        self.go_to(if is_watched {
            Phase::Watching
        } else {
            Phase::Done
        });
    }
}

/// For a search that looks for protocols other than `but`.
pub(crate) const fn again(whose: Whose<'_>, but: Option<ProtocolId>) -> Whose<'_> {
    Whose {
        again: Some(Again { but }),
        ..whose
    }
}

const fn over(to_server: bool) -> u8 {
    if to_server {
        Identity::OVER
    } else {
        Identity::OVER << 1
    }
}

/// How often a stream is searched after it turned into something else.
const CHANGES_MAX: u8 = 8;

/// Datagrams watched for a change to DTLS or RTP: some seconds of a call.
const WATCHED_DATAGRAMS: u8 = 200;
