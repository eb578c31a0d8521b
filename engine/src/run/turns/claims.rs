//! Who reads which bytes: portions of the input get their numbers here.

use super::portion::Portion;
use flowpin_capture::{Ahead, Claim};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Gives portions their numbers, and the bytes to be fetched for them.
pub(super) struct Claims {
    list: Mutex<List>,
    /// Whether one may be had: threads without work look at this all the time.
    is_open: AtomicBool,
}

struct List {
    /// The number of the next portion.
    next: u64,
    /// How many of them were listed.
    listed: u64,
    /// What comes behind the last one's bytes, where they may be fetched.
    ahead: Option<Ahead>,
    /// How many threads are fetching, and at most do.
    fetching: usize,
    fetching_max: usize,
    is_over: bool,
}

impl Claims {
    pub(super) fn new(ahead: Option<Ahead>, threads: usize) -> Self {
        Self {
            list: Mutex::new(List {
                next: 0,
                listed: 0,
                ahead,
                fetching: 0,
                fetching_max: (threads / 2).max(1),
                is_over: false,
            }),
            is_open: AtomicBool::new(true),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        // Relaxed: a hint; the list is looked at under its lock.
        self.is_open.load(Ordering::Relaxed)
    }

    /// Numbers a portion, and tells which bytes are to be fetched into it, if any are. Without
    /// such, one at a time is under way. It comes back if there is no number for it now.
    pub(super) fn number(&self, portion: &mut Portion) -> Option<Option<Claim>> {
        let mut list = self.list();
        if list.is_over || list.fetching >= list.fetching_max {
            return None;
        }
        let claim = list.ahead.as_mut().and_then(Ahead::claim);
        if claim.is_none() && list.next > list.listed {
            return None;
        }
        portion.number = list.next;
        list.next += 1;
        list.fetching += usize::from(claim.is_some());
        self.tell(&list);
        Some(claim)
    }

    /// What was to be fetched is there.
    pub(super) fn fetched(&self) {
        let mut list = self.list();
        list.fetching -= 1;
        self.tell(&list);
    }

    /// One more was listed, and `ahead` is what comes behind it.
    pub(super) fn listed(&self, ahead: Option<Ahead>) {
        let mut list = self.list();
        list.listed += 1;
        list.ahead = ahead;
        // The portions in between are being read.
        for _ in list.listed..list.next {
            list.ahead.as_mut().map(Ahead::pass);
        }
        self.tell(&list);
    }

    /// There are no more.
    pub(super) fn close(&self) {
        let mut list = self.list();
        list.is_over = true;
        self.tell(&list);
    }

    fn tell(&self, list: &List) {
        let may_fetch = list.ahead.as_ref().is_some_and(|ahead| !ahead.is_over());
        let is_free = !list.is_over && list.fetching < list.fetching_max;
        let is_open = is_free && (may_fetch || list.next == list.listed);
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    fn list(&self) -> MutexGuard<'_, List> {
        // Nothing panics while it holds this.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
