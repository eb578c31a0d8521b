//! A piece on its way through the input's steps, and where those wait that were overtaken.

use crate::input::{Listed, Odd};
use flowpin_capture::Fetched;
use flowpin_handoff::Parcel;
use flowpin_packet::Tick;
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
pub(super) struct Shelf {
    places: Mutex<Places>,
    /// Whether the next one is there: threads without work look at this all the time.
    is_ready: AtomicBool,
}

struct Places {
    /// By number, in a circle.
    places: Vec<Option<Portion>>,
    /// The number of the portion to be taken next.
    next: u64,
}

impl Shelf {
    /// A shelf for so many portions that may be out at once.
    pub(super) fn new(count: usize) -> Self {
        let places = Places {
            places: (0..count).map(|_| None).collect(),
            next: 0,
        };
        Self {
            places: Mutex::new(places),
            is_ready: AtomicBool::new(false),
        }
    }

    pub(super) fn put(&self, portion: Portion) {
        let mut places = self.places();
        let number = portion.number;
        if let Some(place) = places.place(number) {
            debug_assert!(place.is_none(), "more portions than places");
            *place = Some(portion);
        }
        self.tell(&mut places);
    }

    /// The next one in order, if it is there.
    pub(super) fn take_next(&self) -> Option<Portion> {
        let mut places = self.places();
        let next = places.next;
        let portion = places.place(next)?.take()?;
        places.next += 1;
        self.tell(&mut places);
        Some(portion)
    }

    /// Whether the next one is there.
    pub(super) fn is_ready(&self) -> bool {
        // Acquire: who sees that it is there finds it.
        self.is_ready.load(Ordering::Acquire)
    }

    fn tell(&self, places: &mut Places) {
        let next = places.next;
        let is_ready = places.place(next).is_some_and(|place| place.is_some());
        // Within the lock, so that the last word is true.
        self.is_ready.store(is_ready, Ordering::Release);
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        // Nothing panics while it holds this.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    fn place(&mut self, number: u64) -> Option<&mut Option<Portion>> {
        let count = self.places.len() as u64;
        let index = usize::try_from(number % count.max(1)).ok()?;
        self.places.get_mut(index)
    }
}
