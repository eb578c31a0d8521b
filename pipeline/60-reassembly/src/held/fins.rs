//! Where a stream may end: the FINs that came before the bytes before them.
//!
//! A receiver treats a FIN as one more byte of its segment (RFC 9293 §3.4): it reads the first one
//! that it reaches and that no data has replaced. So all wait, up to a cap.

use super::insert::{earlier, later};
use super::{Held, Queue};
use crate::Extent;
use crate::policy::new_wins;
use flowpin_config::SegmentOverlap;
use flowpin_packet::Seq;

/// The numbers of a stream's FINs, in no order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fins([Option<Seq>; FINS_MAX]);

/// An honest sender has one. Above it, those that the receiver reaches first stay.
const FINS_MAX: usize = 4;

impl Fins {
    pub(super) const NONE: Self = Self([None; FINS_MAX]);

    fn all(&self) -> impl Iterator<Item = Seq> {
        self.0.into_iter().flatten()
    }

    fn add(&mut self, fin: Seq) {
        if self.all().any(|one| one == fin) {
            return;
        }
        let furthest = self.all().reduce(later);
        let place = match self.0.iter().position(Option::is_none) {
            Some(free) => self.0.get_mut(free),
            None => self
                .0
                .iter_mut()
                .find(|one| **one == furthest && furthest.is_some_and(|far| far.is_after(fin))),
        };
        if let Some(place) = place {
            *place = Some(fin);
        }
    }

    /// Returns whether any was not.
    fn keep(&mut self, wanted: impl Fn(Seq) -> bool) -> bool {
        let before = self.all().count();
        for one in &mut self.0 {
            *one = one.filter(|&fin| wanted(fin));
        }
        self.all().count() < before
    }
}

impl Queue {
    /// The FIN that the receiver reaches first.
    pub(crate) fn fin(&self) -> Option<Seq> {
        self.fins.all().reduce(earlier)
    }

    /// The FIN with the greatest number.
    pub(crate) fn last_fin(&self) -> Option<Seq> {
        self.fins.all().reduce(later)
    }

    /// Whether there is another FIN than this one.
    pub(crate) fn has_other_fin(&self, fin: Seq) -> bool {
        self.fins.all().any(|one| one != fin)
    }
}

impl Held {
    /// Records where a stream may end.
    pub(crate) fn add_fin(&mut self, queue: u32, fin: Seq) {
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.fins.add(fin);
        }
    }

    /// Forgets FINs that the receiver did not accept; returns whether there were any.
    pub(crate) fn forget_fins(&mut self, queue: u32, forgotten: impl Fn(Seq) -> bool) -> bool {
        let queue = self.queues.get_mut(queue);
        queue.is_some_and(|queue| queue.fins.keep(|fin| !forgotten(fin)))
    }

    /// Data replaces the FINs among it: all if it is the next data, and then those that it wins
    /// over. Returns whether there were any.
    pub(crate) fn replace_fins(
        &mut self,
        queue: u32,
        data: Extent,
        next: Seq,
        policy: SegmentOverlap,
    ) -> bool {
        self.forget_fins(queue, |fin| {
            let inside = data.start.distance_from(fin) <= 0 && data.end.is_after(fin);
            inside && (data.start == next || new_wins(policy, octet(fin, fin), data))
        })
    }

    /// Whether bytes that wait stand in the place of the FIN of a segment which begins at `start`.
    pub(crate) fn replaces_fin(
        &mut self,
        queue: u32,
        (start, fin): (Seq, Seq),
        policy: SegmentOverlap,
    ) -> bool {
        let Some(piece) = self.at(queue, fin) else {
            return false;
        };
        piece.standing == super::Standing::Expected
            && !new_wins(policy, piece.run, octet(start, fin))
    }
}

/// A segment as long as with its FIN.
const fn octet(start: Seq, fin: Seq) -> Extent {
    Extent {
        start,
        end: fin.plus(1),
    }
}
