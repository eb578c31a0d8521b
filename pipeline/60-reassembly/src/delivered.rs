//! The bytes that each shard delivered last, to compare retransmissions with them.
//!
//! ```text
//!  shard ──► bytes │ …older │ newest ┊ oldest │ …   a ring; new bytes overwrite the oldest
//!            runs  │ stream, first number, length, place │ …   likewise; a run grows while its
//!                                                              stream continues
//! ```
//!
//! Off by default ([`crate::ReassemblyOptions::compared_bytes`]): every byte is copied once.
//! Depends on the shard's packets only, so the result does not depend on the number of workers. A
//! comparison costs one pass over [`RUNS`] short entries.

use flowpin_memory::Reserved;
use flowpin_packet::{SHARD_COUNT, Seq};
use std::io;

/// A stream. Which handles are reused depends on the number of workers, so the earlier streams of a
/// handle must be removed ([`Delivered::forget`]) before it gets others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StreamId {
    pub(crate) handle: u32,
    pub(crate) first: Seq,
    pub(crate) to_server: bool,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    /// Bytes that were still stored.
    pub(crate) bytes: u32,
    /// Whether some of them were different.
    pub(crate) differs: bool,
}

/// Contiguous bytes of one stream.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    handle: u32,
    first: u32,
    start: u32,
    len: u32,
    /// Bytes of the shard before it; the low half.
    at: u32,
    to_server: u32,
}

/// As stored in reserved memory, which holds plain numbers only.
type StoredRun = [u32; 6];

impl Run {
    const fn stored(self) -> StoredRun {
        [
            self.handle,
            self.first,
            self.start,
            self.len,
            self.at,
            self.to_server,
        ]
    }

    const fn read(stored: StoredRun) -> Self {
        let [handle, first, start, len, at, to_server] = stored;
        Self {
            handle,
            first,
            start,
            len,
            at,
            to_server,
        }
    }

    fn is_of(&self, stream: StreamId) -> bool {
        self.handle == stream.handle
            && self.first == stream.first.0
            && self.to_server == u32::from(stream.to_server)
    }
}

/// Runs per shard.
const RUNS: u32 = 256;

/// Most bytes of a run. All runs together never reach back further than 32 bits count.
const RUN_BYTES_MAX: u32 = 1 << 16;

/// Memory for the runs of a shard.
const RUNS_BYTES: u64 = RUNS as u64 * size_of::<StoredRun>() as u64;

/// A smaller ring is useless; a larger one exceeds all runs.
const RING_BYTES_MIN: u64 = 1 << 11;
const RING_BYTES_MAX: u64 = RUNS as u64 * RUN_BYTES_MAX as u64;

#[derive(Debug)]
pub(crate) struct Delivered {
    /// Rings of `ring_bytes`, by shard.
    bytes: Reserved<u8>,
    /// Rings of [`RUNS`], by shard.
    runs: Reserved<StoredRun>,
    /// Bytes and runs written so far, wrapping; by shard.
    ends: Reserved<[u32; 2]>,
    /// A power of two, or 0 if nothing is stored.
    ring_bytes: u32,
}

impl Delivered {
    /// Reserves this many bytes for each shard; nothing if they are too few.
    pub(crate) fn new(shard_bytes: u64) -> io::Result<Self> {
        let room = shard_bytes.saturating_sub(RUNS_BYTES);
        let ring_bytes = if room < RING_BYTES_MIN {
            0
        } else {
            // The greatest power of two that fits.
            1u32 << room.min(RING_BYTES_MAX).ilog2()
        };
        let on = usize::from(ring_bytes > 0);
        let count = |each: u32| SHARD_COUNT.saturating_mul(each as usize);
        Ok(Self {
            bytes: Reserved::new(count(ring_bytes))?,
            runs: Reserved::new(count(RUNS).saturating_mul(on))?,
            ends: Reserved::new(SHARD_COUNT)?,
            ring_bytes,
        })
    }

    #[inline]
    pub(crate) const fn is_on(&self) -> bool {
        self.ring_bytes > 0
    }

    /// Stores bytes of a stream, the first of which has number `start`.
    pub(crate) fn keep(&mut self, shard: u8, stream: StreamId, start: Seq, bytes: &[u8]) {
        if !self.is_on() || bytes.is_empty() {
            return;
        }
        // If there are too many, the last ones.
        let most = (self.ring_bytes >> 1).min(RUN_BYTES_MAX);
        let skip = bytes.len().saturating_sub(most as usize);
        let bytes = bytes.get(skip..).unwrap_or_default();
        let start = start.plus(u32::try_from(skip).unwrap_or(0));
        let len = u32::try_from(bytes.len()).unwrap_or(0);
        let [at, count] = self.end(shard);
        self.write(shard, at, bytes);
        let last = self.run(shard, count.wrapping_sub(1));
        let goes_on = last.is_of(stream)
            && last.start.wrapping_add(last.len) == start.0
            && last.at.wrapping_add(last.len) == at
            && last.len.saturating_add(len) <= most;
        let (place, run) = if goes_on {
            let len = last.len.saturating_add(len);
            (count.wrapping_sub(1), Run { len, ..last })
        } else {
            let run = Run {
                handle: stream.handle,
                first: stream.first.0,
                start: start.0,
                len,
                at,
                to_server: stream.to_server.into(),
            };
            (count, run)
        };
        if let Some(slot) = self.runs.get_mut(slot_of(shard, place)) {
            *slot = run.stored();
        }
        if let Some(end) = self.ends.get_mut(usize::from(shard)) {
            *end = [at.wrapping_add(len), place.wrapping_add(1)];
        }
    }

    /// A new connection uses this handle: forgets the bytes of an earlier one.
    pub(crate) fn forget(&mut self, shard: u8, handle: u32) {
        let runs = slot_of(shard, 0)..slot_of(shard, 0).saturating_add(RUNS as usize);
        for stored in self.runs.get_mut(runs).unwrap_or_default() {
            if Run::read(*stored).handle == handle {
                *stored = StoredRun::default();
            }
        }
    }

    /// Compares bytes that a stream sends again, from number `start` on, with the delivered ones.
    pub(crate) fn compare(
        &self,
        shard: u8,
        stream: StreamId,
        start: Seq,
        bytes: &[u8],
    ) -> Compared {
        let mut done = Compared::default();
        if !self.is_on() {
            return done;
        }
        let len = i64::try_from(bytes.len()).unwrap_or(0);
        let [end, _] = self.end(shard);
        for nth in 0..RUNS {
            let run = self.run(shard, nth);
            // How far back its bytes begin; they exist while that is within the ring.
            let back = end.wrapping_sub(run.at);
            if !run.is_of(stream) || run.len == 0 || back < run.len {
                continue;
            }
            let gone = i64::from(back.saturating_sub(self.ring_bytes));
            let ahead = i64::from(Seq(run.start).distance_from(start));
            let from = ahead.saturating_add(gone).max(0);
            let to = ahead.saturating_add(run.len.into()).min(len);
            let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to)) else {
                continue;
            };
            let Some(part) = bytes.get(from..to).filter(|part| !part.is_empty()) else {
                continue;
            };
            let skipped = i64::try_from(from).unwrap_or(0).saturating_sub(ahead);
            let at = run.at.wrapping_add(u32::try_from(skipped).unwrap_or(0));
            done.bytes = done
                .bytes
                .saturating_add(u32::try_from(part.len()).unwrap_or(0));
            done.differs |= !self.agrees(shard, at, part);
        }
        done
    }

    fn end(&self, shard: u8) -> [u32; 2] {
        self.ends.get(usize::from(shard)).copied().unwrap_or([0; 2])
    }

    fn run(&self, shard: u8, nth: u32) -> Run {
        let stored = self.runs.get(slot_of(shard, nth)).copied();
        Run::read(stored.unwrap_or_default())
    }

    /// The index of a shard's byte in all rings, and the number of bytes from there to the end of
    /// the ring.
    fn place(&self, shard: u8, at: u32) -> (usize, usize) {
        let offset = (at & self.ring_bytes.wrapping_sub(1)) as usize;
        let start = usize::from(shard).saturating_mul(self.ring_bytes as usize);
        let left = (self.ring_bytes as usize).saturating_sub(offset);
        (start.saturating_add(offset), left)
    }

    fn write(&mut self, shard: u8, at: u32, bytes: &[u8]) {
        let (place, left) = self.place(shard, at);
        let (head, tail) = bytes.split_at_checked(left).unwrap_or((bytes, &[]));
        let (begin, _) = self.place(shard, 0);
        for (place, bytes) in [(place, head), (begin, tail)] {
            let end = place.saturating_add(bytes.len());
            if let Some(to) = self.bytes.get_mut(place..end) {
                to.copy_from_slice(bytes);
            }
        }
    }

    fn agrees(&self, shard: u8, at: u32, bytes: &[u8]) -> bool {
        let (place, left) = self.place(shard, at);
        let (head, tail) = bytes.split_at_checked(left).unwrap_or((bytes, &[]));
        let (begin, _) = self.place(shard, 0);
        [(place, head), (begin, tail)]
            .iter()
            .all(|&(place, bytes)| {
                let end = place.saturating_add(bytes.len());
                self.bytes.get(place..end) == Some(bytes)
            })
    }
}

/// The index of a shard's run.
fn slot_of(shard: u8, nth: u32) -> usize {
    let start = usize::from(shard).saturating_mul(RUNS as usize);
    start.saturating_add((nth & RUNS.wrapping_sub(1)) as usize)
}

#[cfg(test)]
mod tests {
    use super::{Compared, Delivered, StreamId};
    use flowpin_packet::Seq;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A connection with the handle and the first number of one that is over is a different one:
    /// which handles are reused depends on the number of workers; what is reported must not.
    #[test]
    fn an_earlier_connection_of_the_handle_is_forgotten() {
        let mut kept = Delivered::new(6144 + 4096).unwrap();
        let stream = StreamId {
            handle: 9,
            first: Seq(1),
            to_server: true,
        };
        kept.keep(5, stream, Seq(1), b"one");
        kept.keep(6, stream, Seq(1), b"other");
        kept.keep(
            5,
            StreamId {
                handle: 8,
                ..stream
            },
            Seq(1),
            b"two",
        );
        kept.forget(5, 9);
        let compared =
            |shard, handle| kept.compare(shard, StreamId { handle, ..stream }, Seq(1), b"two");
        assert_eq!(compared(5, 9), Compared::default());
        assert_eq!(
            compared(5, 8),
            Compared {
                bytes: 3,
                differs: false
            }
        );
        assert_eq!(
            compared(6, 9),
            Compared {
                bytes: 3,
                differs: true
            }
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Against a map of every byte delivered: compared bytes are found to differ exactly if
        /// they do, nothing is compared that was not delivered, and the bytes delivered last are
        /// compared.
        #[test]
        fn differences_are_those_of_the_bytes(
            base in prop_oneof![any::<u32>(), (u32::MAX - 3000)..=u32::MAX],
            steps in prop::collection::vec((0u8..3, 1usize..900, 0u32..3000, any::<bool>()), 1..99),
        ) {
            let mut kept = Delivered::new(6144 + 4096).unwrap();
            let mut model: BTreeMap<(u8, u32), u8> = BTreeMap::new();
            let mut next = [base; 3];
            for (nth, (who, len, back, change)) in steps.into_iter().enumerate() {
                let stream = StreamId { handle: who.into(), first: Seq(base), to_server: true };
                let place = &mut next[usize::from(who)];
                let bytes: Vec<u8> = (0..len).map(|at| (at + nth) as u8).collect();
                kept.keep(5, stream, Seq(*place), &bytes);
                for (at, &byte) in bytes.iter().enumerate() {
                    model.insert((who, place.wrapping_add(at as u32)), byte);
                }
                let newest = kept.compare(5, stream, Seq(*place), &bytes);
                prop_assert_eq!((newest.bytes as usize, newest.differs), (len, false));
                *place = place.wrapping_add(len as u32);
                let from = place.wrapping_sub(back.min(place.wrapping_sub(base)));
                let again: Vec<_> = (0..back.min(700)).map_while(|at| {
                    model.get(&(who, from.wrapping_add(at))).copied()
                }).collect();
                let same = kept.compare(5, stream, Seq(from), &again);
                prop_assert!(!same.differs && same.bytes as usize <= again.len());
                let mut other = again;
                if change && let Some(last) = other.last_mut() {
                    *last ^= 1;
                    let differs = kept.compare(5, stream, Seq(from), &other).differs;
                    let last = Seq(from).plus(other.len() as u32 - 1);
                    let there = kept.compare(5, stream, last, &other[other.len() - 1..]);
                    prop_assert_eq!(differs, there.differs);
                    prop_assert_eq!(there.differs, there.bytes == 1);
                }
                let stranger = StreamId { first: Seq(base).plus(1), ..stream };
                prop_assert_eq!(kept.compare(5, stranger, Seq(from), &other).bytes, 0);
                prop_assert_eq!(kept.compare(6, stream, Seq(from), &other).bytes, 0);
            }
        }
    }
}
