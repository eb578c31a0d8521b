//! The ring against a queue behind a lock, Lamport's queue, FastForward, MCRingBuffer, B-Queue,
//! `rtrb` and `crossbeam`.
//!
//! A crate of its own, so that nothing else depends on the peers. All queues in turn in each
//! round: a side that loses its processor stops the other, so the least of the rounds says what a
//! queue costs, and their average how busy the machine was.

mod measure;
mod queues;
mod waiting;

pub use queues::{Item, Receiver, Sender};
pub use waiting::shown_after;

use measure::{Work, latency, throughput};
use queues::{
    BQueue, CrossbeamArray, FastForward, Flowpin, FlowpinSlices, Lamport, Lock, McRing, Queue, Rtrb,
};

/// What one queue takes.
#[derive(Clone, Debug)]
pub struct Row {
    /// Whose it is.
    pub name: &'static str,
    /// Nanoseconds an item of 32 bytes in the best round: with no work on either side, with both
    /// spinning, with both looking up a table larger than the second-level cache.
    pub item_ns: [f64; 3],
    /// Nanoseconds from one side to the other, in the best round.
    pub latency_ns: f64,
}

/// One kind of queue: its name, and how to measure it.
struct Contender {
    name: &'static str,
    throughput: fn(Work, u64) -> f64,
    latency: fn(u64) -> f64,
    ends: fn(usize) -> Ends,
}

/// Both ends of a queue of some kind.
pub type Ends = (Box<dyn Sender + Send>, Box<dyn Receiver + Send>);

fn ends<Q: Queue>(capacity: usize) -> Ends {
    let (sender, receiver) = Q::pair(capacity);
    (Box::new(sender), Box::new(receiver))
}

/// How to make queues of a name, with so many places.
pub fn queue(name: &str) -> Option<fn(usize) -> Ends> {
    let found = CONTENDERS.iter().find(|queue| queue.name == name)?;
    Some(found.ends)
}

const fn contender<Q: Queue>(name: &'static str) -> Contender {
    Contender {
        name,
        throughput: throughput::<Q>,
        latency: latency::<Q>,
        ends: ends::<Q>,
    }
}

const CONTENDERS: [Contender; 9] = [
    contender::<Flowpin>("flowpin"),
    contender::<FlowpinSlices>("flowpin, 16 at once"),
    contender::<Lock>("lock"),
    contender::<Lamport>("Lamport"),
    contender::<FastForward>("FastForward"),
    contender::<McRing>("MCRingBuffer"),
    contender::<BQueue>("B-Queue"),
    contender::<Rtrb>("rtrb"),
    contender::<CrossbeamArray>("crossbeam"),
];

/// Sends `items` through each queue under each kind of work, `rounds` times.
pub fn measured(items: u64, rounds: u32) -> Vec<Row> {
    let mut rows: Vec<Row> = CONTENDERS
        .iter()
        .map(|queue| Row::new(queue.name))
        .collect();
    for _ in 0..rounds.max(1) {
        for (queue, row) in CONTENDERS.iter().zip(&mut rows) {
            for (work, least) in Work::ALL.iter().zip(&mut row.item_ns) {
                *least = least.min((queue.throughput)(*work, items));
            }
            row.latency_ns = row.latency_ns.min((queue.latency)((items / 50).max(10)));
        }
    }
    rows
}

impl Row {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            item_ns: [f64::MAX; 3],
            latency_ns: f64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CONTENDERS, measured, shown_after};

    /// The short form: it finishes, and every field is a time.
    #[test]
    fn the_short_form_measures_every_queue() {
        let rows = measured(500, 1);
        assert_eq!(rows.len(), CONTENDERS.len());
        for row in &rows {
            let is_time = |ns: &f64| ns.is_finite() && *ns > 0.0;
            assert!(row.item_ns.iter().all(is_time), "{row:?}");
            assert!(is_time(&row.latency_ns), "{row:?}");
        }
    }

    /// What waits in a part of a chunk is not seen before its age, and is seen.
    #[test]
    fn an_item_alone_is_shown_once_it_is_old() {
        let median = shown_after(2_000.0, 9);
        assert!(median >= 2_000.0 && median.is_finite(), "{median}");
    }
}
