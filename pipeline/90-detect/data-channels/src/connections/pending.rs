//! Announcements that wait for their connection.

use super::{DataConnection, number};
use core::net::IpAddr;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, Uid};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Two hosts, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pair(u128, u128);

impl Pair {
    pub(super) fn of(one: IpAddr, other: IpAddr) -> Self {
        let (one, other) = (number(one), number(other));
        Self(one.min(other), one.max(other))
    }
}

/// An announcement.
#[derive(Clone, Debug)]
pub(super) struct Waited {
    pub(super) opener: IpAddr,
    /// Where the other host waits.
    pub(super) port: u16,
    pub(super) at: Timestamp,
    /// Of the packet that announced it.
    pub(super) number: u64,
    /// Its place among all announcements.
    pub(super) place: u64,
    pub(super) connection: DataConnection,
}

/// All of them, by pair of hosts, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Pending {
    by_pair: HashMap<Pair, VecDeque<Waited>>,
    /// Which pair has the announcement of a place.
    places: BTreeMap<u64, Pair>,
    /// The pair that a control connection announced something for last.
    last: HashMap<Uid, Pair>,
    next_place: u64,
    losses: Losses,
}

impl Pending {
    pub(super) fn add(&mut self, pair: Pair, mut waited: Waited) {
        self.forget_old(waited.at);
        let of_pair = self.by_pair.get(&pair).map_or(0, VecDeque::len);
        if of_pair >= OF_PAIR_MAX {
            self.losses.count(Loss::FtpDataForgotten, 1);
            self.forget(pair, 0);
        } else if self.places.len() >= WAITING_MAX
            && let Some((_, &oldest)) = self.places.first_key_value()
        {
            self.losses.count(Loss::FtpDataForgotten, 1);
            self.forget(oldest, 0);
        }
        waited.place = self.next_place;
        self.next_place = self.next_place.wrapping_add(1);
        self.places.insert(waited.place, pair);
        self.last.insert(waited.connection.control, pair);
        self.by_pair.entry(pair).or_default().push_back(waited);
    }

    /// The last announcement of a control connection is of this.
    pub(super) fn carries(&mut self, control: Uid, command: &[u8], file: &[u8]) {
        let pair = self.last.get(&control);
        let Some(waiting) = pair.and_then(|pair| self.by_pair.get_mut(pair)) else {
            return;
        };
        let mut latest = waiting.iter_mut().rev();
        if let Some(waited) = latest.find(|waited| waited.connection.control == control) {
            waited.connection.command = command.into();
            waited.connection.file = file.get(..FILE_MAX).unwrap_or(file).into();
        }
    }

    /// The announcement of a connection: the last one before it began.
    pub(super) fn take(&mut self, record: &ConnRecord) -> Option<DataConnection> {
        let (client, server) = (record.client, record.server);
        let pair = Pair::of(client.address, server.address);
        let waiting = self.by_pair.get(&pair)?;
        // Where no handshake was seen, who opened it is a guess.
        let fits = |waited: &Waited| {
            (waited.opener == client.address && waited.port == server.port)
                || (record.midstream || record.flipped)
                    && waited.opener == server.address
                    && waited.port == client.port
        };
        let is_before = |waited: &Waited| {
            waited.number < record.first_packet && record.start.nanos_since(waited.at) <= LIFE_NANOS
        };
        // A reply that was captured twice, or late, is heard behind the connection's first packet.
        let is_close = |waited: &Waited| {
            waited.number > record.first_packet && waited.at.nanos_since(record.start) <= LATE_NANOS
        };
        let before = waiting.iter().rposition(|one| fits(one) && is_before(one));
        let at = before.or_else(|| waiting.iter().position(|one| fits(one) && is_close(one)))?;
        Some(self.forget(pair, at)?.connection)
    }

    /// Something about one is not kept.
    pub(super) fn count_forgotten(&mut self) {
        self.losses.count(Loss::FtpDataForgotten, 1);
    }

    /// Rules that name the protocol were not compared with one.
    pub(super) fn count_unseen(&mut self) {
        self.losses.count(Loss::RuleAnnounced, 1);
    }

    pub(super) const fn losses(&self) -> &Losses {
        &self.losses
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Takes one of a pair's announcements away.
    fn forget(&mut self, pair: Pair, at: usize) -> Option<Waited> {
        let waiting = self.by_pair.get_mut(&pair)?;
        let waited = waiting.remove(at)?;
        self.places.remove(&waited.place);
        let control = waited.connection.control;
        if !waiting.iter().any(|one| one.connection.control == control) {
            self.last.remove(&control);
        }
        if waiting.is_empty() {
            self.by_pair.remove(&pair);
        }
        Some(waited)
    }

    /// Announcements of which no connection can come any more: also a transfer that began at once
    /// is over by now.
    fn forget_old(&mut self, now: Timestamp) {
        while let Some((_, &pair)) = self.places.first_key_value() {
            let oldest = self.by_pair.get(&pair).and_then(VecDeque::front);
            if oldest.is_none_or(|oldest| now.nanos_since(oldest.at) <= KEPT_NANOS) {
                return;
            }
            self.forget(pair, 0);
        }
    }
}

/// A connection begins within five minutes of its announcement, as Zeek has it.
const LIFE_NANOS: u64 = 300 * SECOND;
/// How late an announcement may be heard.
const LATE_NANOS: u64 = SECOND;
/// How long a transfer may take that is named at its end.
const KEPT_NANOS: u64 = 24 * 3600 * SECOND;
const SECOND: u64 = 1_000_000_000;

/// Announcements that wait at once: of two hosts, and of all.
const OF_PAIR_MAX: usize = 1024;
const WAITING_MAX: usize = 1 << 14;
/// Of a file's name.
const FILE_MAX: usize = 1024;
