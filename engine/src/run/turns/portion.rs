//! A piece on its way through the input's steps, and where those wait that were overtaken.

use crate::input::{Listed, Odd};
use flowpin_capture::Fetched;
use flowpin_handoff::Parcel;
use flowpin_packet::Tick;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A piece of the input, from reading to the workers.
#[derive(Default)]
pub(super) struct Portion {
    /// Which one it is, from 0.
    pub(super) number: u64,
    /// The piece, and the batches that its packets are described into.
    pub(super) parcel: Parcel,
    /// What of the piece was fetched before it was read.
    pub(super) fetched: Option<Fetched>,
    /// Its frames.
    pub(super) listed: Vec<Listed>,
    /// What of it has to be looked at in order.
    pub(super) odd: Vec<Odd>,
    /// Where it ends.
    pub(super) tick: Tick,
}

/// Portions that are put in any order, and taken in theirs.
#[derive(Default)]
pub(super) struct Shelf {
    places: Mutex<Places>,
    /// Whether the next one is there: threads without work look at this all the time.
    is_ready: AtomicBool,
}

#[derive(Default)]
struct Places {
    /// From the next one on, in order; as long as the last one that is there needs.
    places: VecDeque<Option<Portion>>,
    /// The number of the portion to be taken next.
    next: u64,
}

impl Shelf {
    /// Keeps a portion until it is its turn.
    pub(super) fn put(&self, portion: Portion) {
        let mut places = self.places();
        let ahead = portion.number.checked_sub(places.next);
        let index = ahead.and_then(|ahead| usize::try_from(ahead).ok());
        debug_assert!(index.is_some(), "a portion that was taken before");
        let Some(index) = index else { return };
        if places.places.len() <= index {
            places.places.resize_with(index + 1, || None);
        }
        if let Some(place) = places.places.get_mut(index) {
            debug_assert!(place.is_none(), "two portions with one number");
            *place = Some(portion);
        }
        self.tell(&places);
    }

    /// The next one in order, if it is there.
    pub(super) fn take_next(&self) -> Option<Portion> {
        let mut places = self.places();
        let portion = places.places.front_mut()?.take()?;
        places.places.pop_front();
        places.next += 1;
        self.tell(&places);
        Some(portion)
    }

    /// Whether the next one is there.
    pub(super) fn is_ready(&self) -> bool {
        // Acquire: who sees that it is there finds it.
        self.is_ready.load(Ordering::Acquire)
    }

    fn tell(&self, places: &Places) {
        let is_ready = places.places.front().is_some_and(Option::is_some);
        // Within the lock, so that the last word is true.
        self.is_ready.store(is_ready, Ordering::Release);
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        // Nothing panics while it holds this.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
