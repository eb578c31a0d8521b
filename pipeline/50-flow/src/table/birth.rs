//! Distinguishes a new connection from earlier ones with the same key: see `entry/birth`.
//!
//! It is compared with the previous connection if that one's entry is certain to exist, however
//! seldom ticks come. A forgotten connection can be equal only if the packet comes late:
//!
//! ```text
//!  forgotten because of …    an equal one can begin only …
//!  ───────────────────────   ─────────────────────────────────────────────────────────
//!  a time-out                the shortest time-out or more behind stream time
//!  a cap                     at a time at which, or after which, an evicted one began
//!  one that began earlier    at a time at which, or after which, such a one's predecessor began
//! ```

use super::{Table, granule_before};
use crate::GRANULE_NS;
use crate::entry::Handle;
use crate::entry::birth::Birth;
use crate::time::timeouts::Rules;
use flowpin_packet::{PacketMeta, SHARD_COUNT, Shard, Timestamp};

/// Start times of connections that were forgotten.
#[derive(Debug)]
pub(super) struct Forgotten {
    /// The latest, except for those that a time-out ended; by shard.
    until: Box<[Timestamp; SHARD_COUNT]>,
    /// The shortest time-out.
    timeout_min_ns: u64,
}

impl Forgotten {
    pub(super) fn new(rules: &Rules) -> Self {
        Self {
            until: Box::new([Timestamp(0); SHARD_COUNT]),
            timeout_min_ns: rules.shortest_ns(),
        }
    }

    /// Forgets a connection that began at `start`.
    pub(super) fn note(&mut self, hash: u32, start: Timestamp) {
        let until = &mut self.until[usize::from(Shard::of_hash(hash).0)];
        *until = start.max(*until);
    }

    /// Whether a forgotten connection of the same key may have begun at this packet's time.
    fn may_equal(&self, meta: &PacketMeta) -> bool {
        meta.time <= self.until[usize::from(meta.shard().0)]
            || meta.time.plus_nanos(self.timeout_min_ns) <= meta.stream_time
    }
}

impl Table {
    /// The birth of a connection that begins with this packet. `before`: start and birth of the
    /// previous connection of the same key, if known.
    pub(super) fn birth(&mut self, meta: &PacketMeta, before: Option<(Timestamp, Birth)>) -> Birth {
        let own = Birth::of(meta);
        if let Some((start, _)) = before.filter(|(start, _)| *start > meta.time) {
            self.forgotten.note(meta.hash, start);
        }
        if self.forgotten.may_equal(meta) {
            return own.numbered(meta.number);
        }
        match before {
            Some((start, before)) if start == meta.time => own.after(before),
            _ => own,
        }
    }

    /// Start and birth of the ended connection that a packet with the same key finds; `None` if a
    /// tick could already have removed it.
    pub(super) fn known_before(
        &self,
        handle: Handle,
        meta: &PacketMeta,
    ) -> Option<(Timestamp, Birth)> {
        let collected = Timestamp(granule_before(meta.stream_time).saturating_mul(GRANULE_NS));
        if self.deadline(handle) <= collected {
            return None;
        }
        let parts = self.parts(handle);
        Some((parts.cold.start, parts.birth()))
    }
}
