//! How long items take through a queue, between two threads.

use crate::queues::{Item, Queue, Receiver, Sender};
use flowpin_cpu::{choose_cpus, pin_current_thread};
use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::time::Instant;

/// What both sides do for each item besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing: "dummy" in the papers.
    Nothing,
    /// A loop of fixed length.
    Spinning,
    /// A look-up in a table larger than the second-level cache, and a change of what is found.
    Real,
}

impl Work {
    pub(crate) const ALL: [Self; 3] = [Self::Nothing, Self::Spinning, Self::Real];
}

const CAPACITY: usize = 1024;
const SPINS: u32 = 25;
const TABLE: usize = 1 << 19;
/// Turns without success before the processor is given away: the other side may need it.
const PATIENCE: u32 = 2000;

/// What one side works on.
struct Worker {
    work: Work,
    table: Vec<u64>,
}

impl Worker {
    fn new(work: Work) -> Self {
        let len = if work == Work::Real { TABLE } else { 1 };
        Self {
            work,
            table: vec![1; len],
        }
    }

    #[inline]
    fn work(&mut self, item: &Item) {
        match self.work {
            Work::Nothing => {}
            Work::Spinning => spin(),
            Work::Real => {
                let hash = item[0].wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 45;
                if let Some(entry) = self.table.get_mut(hash as usize % TABLE) {
                    *entry = entry.wrapping_add(item[1]);
                }
            }
        }
    }
}

/// The same code for every queue: inlined, compilers unroll it for some and not for others.
#[inline(never)]
fn spin() {
    for turn in 0..SPINS {
        black_box(turn);
    }
}

/// Waits a little.
struct Patience(u32);

impl Patience {
    #[inline]
    fn wait(&mut self) {
        self.0 += 1;
        if self.0 >= PATIENCE {
            self.0 = 0;
            std::thread::yield_now();
        }
        spin_loop();
    }
}

/// Puts this thread on a processor of its own, if there are two: on one and the same, items would
/// never leave its cache.
fn settle(cpus: &[usize], side: usize) {
    if let [_, _, ..] = cpus
        && let Some(&cpu) = cpus.get(side)
    {
        // A refusal makes figures worse, not wrong.
        let _unpinned = pin_current_thread(cpu);
    }
}

/// Nanoseconds an item, for `count` items.
pub(crate) fn throughput<Q: Queue>(work: Work, count: u64) -> f64 {
    let (mut sender, mut receiver) = Q::pair(CAPACITY);
    let both = Barrier::new(2);
    let both = &both;
    let cpus = &choose_cpus(2);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            settle(cpus, 1);
            let mut worker = Worker::new(work);
            let mut patience = Patience(0);
            both.wait();
            for number in 1..=count {
                let item = [number, number, 0, 0];
                worker.work(&item);
                while !sender.push(item) {
                    patience.wait();
                }
            }
            sender.flush();
        });
        let received = scope.spawn(move || {
            settle(cpus, 0);
            let mut worker = Worker::new(work);
            let mut patience = Patience(0);
            both.wait();
            let start = Instant::now();
            let mut left = count;
            while left > 0 {
                match receiver.pop() {
                    Some(item) => {
                        worker.work(&item);
                        left -= 1;
                    }
                    None => {
                        receiver.release();
                        patience.wait();
                    }
                }
            }
            black_box(&worker.table);
            nanos_each(start, count)
        });
        // A side that panicked has told why, and has no time.
        received.join().unwrap_or(f64::NAN)
    })
}

/// Nanoseconds from one side to the other: half of a round trip.
pub(crate) fn latency<Q: Queue>(count: u64) -> f64 {
    let (mut there, mut arrived) = Q::pair(CAPACITY);
    let (mut back, mut returned) = Q::pair(CAPACITY);
    let cpus = &choose_cpus(2);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            settle(cpus, 1);
            for _ in 0..count {
                let item = take(&mut arrived);
                while !back.push(item) {}
                back.flush();
            }
        });
        let returned = scope.spawn(move || {
            settle(cpus, 0);
            let start = Instant::now();
            for number in 1..=count {
                while !there.push([number, 0, 0, 0]) {}
                there.flush();
                black_box(take(&mut returned));
            }
            nanos_each(start, count) / 2.0
        });
        returned.join().unwrap_or(f64::NAN)
    })
}

fn take<R: Receiver>(receiver: &mut R) -> Item {
    let mut patience = Patience(0);
    loop {
        if let Some(item) = receiver.pop() {
            receiver.release();
            return item;
        }
        patience.wait();
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn nanos_each(start: Instant, count: u64) -> f64 {
    start.elapsed().as_nanos() as f64 / count as f64
}
