//! Making room: who goes when a cap is reached, and under which name it is counted.
//!
//! | cap | what goes | counted as |
//! | --- | --- | --- |
//! | all memory | the oldest datagram | `fragment_memory` |
//! | likewise, and the source has over an eighth | its oldest datagram | `fragment_host_memory` |
//! | one source's memory | its oldest datagram | `fragment_host_memory` |
//! | one datagram's memory | its fragments; the rest goes on alone | `fragment_datagram_memory` |
//! | one datagram's fragments | its fragments; the rest goes on alone | `fragment_count` |
//! | time | its fragments | `fragment_timeout` |

use crate::defragmenter::{Defragmenter, Inserted};
use crate::stats::add;
use crate::store::{Key, Need};
use flowpin_counters::Loss;
use flowpin_packet::{Layer, Reason, bad};

impl Defragmenter {
    /// Gives up the oldest datagrams but `spared` until there is room for what the one of `key`
    /// needs.
    ///
    /// # Errors
    /// There cannot be room; the cap that stands against it.
    pub(crate) fn make_room(&mut self, need: Need, key: &Key, spared: u32) -> Result<(), Loss> {
        let cost = need.cost();
        if cost == 0 {
            return Ok(());
        }
        if self.options.host_bytes != u64::MAX {
            while self.store.host_cost(key).saturating_add(cost) > self.options.host_bytes {
                let Some(oldest) = self.store.oldest_of_host_but(spared, key) else {
                    return Err(Loss::FragmentHostMemory);
                };
                self.remove(oldest, Loss::FragmentHostMemory);
            }
        }
        while !self.store.has_room(need, self.options.memory_bytes) {
            let share = self.options.memory_bytes.wrapping_div(HOST_SHARE);
            let is_greedy = self.store.host_cost(key) > share;
            let own = is_greedy.then(|| self.store.oldest_of_host_but(spared, key));
            if let Some(oldest) = own.flatten() {
                self.remove(oldest, Loss::FragmentHostMemory);
            } else if let Some(oldest) = self.oldest_but(spared) {
                self.remove(oldest, Loss::FragmentMemory);
            } else {
                return Err(Loss::FragmentMemory);
            }
        }
        Ok(())
    }

    /// The datagram that was started first, of all but `spared`.
    fn oldest_but(&self, spared: u32) -> Option<u32> {
        let of = |ipv6, timeout_ns| {
            let (deadline, number) = self.store.oldest_but(spared, ipv6)?;
            Some((deadline.0.saturating_sub(timeout_ns), number))
        };
        let ipv4 = of(false, self.options.ipv4_timeout_ns);
        let ipv6 = of(true, self.options.ipv6_timeout_ns);
        match (ipv4, ipv6) {
            (Some(four), Some(six)) if six.0 < four.0 => Some(six.1),
            (Some((_, number)), _) | (None, Some((_, number))) => Some(number),
            (None, None) => None,
        }
    }

    /// Forgets a datagram; its fragments are lost.
    pub(crate) fn remove(&mut self, number: u32, loss: Loss) {
        let count = self
            .store
            .get(number)
            .map_or(0, |slot| u64::from(slot.count));
        self.store.unlink(number);
        self.store.release(number);
        self.stats.held = self.stats.held.saturating_sub(count);
        self.stats.losses.count(loss, count);
    }

    /// Loses the fragments of a datagram that is over a cap but remembers its key until it would
    /// have timed out, so that the rest of it does not start over. The fragment at hand goes on
    /// alone.
    pub(crate) fn cap(&mut self, number: u32, loss: Loss) -> Inserted {
        self.store.free_body(number);
        if let Some(slot) = self.store.get_mut(number) {
            let count = u64::from(core::mem::take(&mut slot.count));
            slot.is_capped = true;
            self.stats.held = self.stats.held.saturating_sub(count);
            self.stats.losses.count(loss, count);
        }
        self.go_alone()
    }

    pub(crate) fn go_alone(&mut self) -> Inserted {
        add(&mut self.stats.lone, 1);
        Inserted::Lone
    }

    pub(crate) fn overlap(&mut self, reason: Reason) -> Inserted {
        self.stats.losses.count(Loss::FragmentOverlap, 1);
        Inserted::Refused(bad(Layer::Fragment, reason, 0))
    }
}

/// A source that holds more than one part in so many pays for what it adds while memory is full.
const HOST_SHARE: u64 = 8;
