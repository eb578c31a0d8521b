//! Hand-over as the papers had it, to measure what theirs costs; only in programs that are built
//! with `--cfg flowpin_bench`.
//!
//! ```text
//!  InputEnd ──a ticket for each packet──► queue ──► WorkerEnd     looks at each ticket
//!     └──────a batch for each piece────► ring ───►                then goes on with the batch
//! ```
//!
//! A ticket is what the papers' queues carried, a pointer-sized word and what travels with it. The
//! descriptors stay where they are in both ways of handing over; what differs is that a queue is
//! asked for every packet, at the moment when the packet is found, and not once for a piece.

use crate::bell::Bell;
use std::collections::VecDeque;
use std::sync::Mutex;

/// What goes through for one packet. The first word is its number, never 0.
pub type Ticket = [u64; 4];

/// The input's end of a queue.
pub trait TicketSender: Send {
    /// False if there is no room.
    fn push(&mut self, ticket: Ticket) -> bool;
    /// Shows what was pushed.
    fn flush(&mut self);
}

/// A worker's end of a queue.
pub trait TicketReceiver: Send {
    /// The oldest that is shown.
    fn pop(&mut self) -> Option<Ticket>;
    /// Gives back the places of what was taken.
    fn release(&mut self);
}

/// Both ends of a queue.
pub type Pair = (Box<dyn TicketSender>, Box<dyn TicketReceiver>);

/// Makes a queue.
pub type MakeQueue = Box<dyn Fn() -> Pair + Send>;

/// Makes the queues of the hand-offs to come.
static QUEUES: Mutex<Option<MakeQueue>> = Mutex::new(None);

/// In hand-offs that are made from here on, every packet goes through a queue. They must not drop.
pub fn hand_over_one_by_one(queues: MakeQueue) {
    if let Ok(mut made) = QUEUES.lock() {
        *made = Some(queues);
    }
}

/// The ends of a queue for one worker, if there are to be any.
pub(crate) fn queue() -> (Option<Sending>, Option<Receiving>) {
    let made = QUEUES.lock().ok();
    made.and_then(|made| Some(made.as_ref()?()))
        .map(|(sender, receiver)| (Sending(sender), Receiving::new(receiver)))
        .unzip()
}

pub(crate) struct Sending(Box<dyn TicketSender>);

impl Sending {
    /// Waits while the queue is full: the worker is behind, but takes what is there once it is
    /// awake.
    #[inline]
    pub(crate) fn push(&mut self, number: u64, worker: &Bell, gone: impl Fn() -> bool) {
        let mut tries = 0;
        while !self.0.push([number, 0, 0, 0]) {
            self.0.flush();
            worker.ring();
            if gone() {
                // Told where the piece is sent.
                return;
            }
            wait(&mut tries);
        }
    }

    pub(crate) fn flush(&mut self) {
        self.0.flush();
    }
}

pub(crate) struct Receiving {
    queue: Box<dyn TicketReceiver>,
    /// Packets whose batch has not come yet.
    early: VecDeque<u64>,
}

impl Receiving {
    fn new(queue: Box<dyn TicketReceiver>) -> Self {
        let early = VecDeque::with_capacity(EARLY);
        Self { queue, early }
    }

    /// Takes what is there.
    pub(crate) fn poll(&mut self) {
        while let Some([number, ..]) = self.queue.pop() {
            self.early.push_back(number);
        }
        self.queue.release();
    }

    /// Takes the tickets of a batch.
    ///
    /// # Panics
    ///
    /// If they are others: a queue that loses or mixes them would look fast.
    pub(crate) fn take(&mut self, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            let mut tries = 0;
            let found = loop {
                if let Some(found) = self.early.pop_front() {
                    break found;
                }
                self.poll();
                wait(&mut tries);
            };
            assert_eq!(found, number, "a queue mixed up its tickets");
        }
    }
}

fn wait(tries: &mut u32) {
    *tries = tries.wrapping_add(1);
    if (*tries).is_multiple_of(TRIES) {
        std::thread::yield_now();
    }
    core::hint::spin_loop();
}

/// Looks before the other side may have this core.
const TRIES: u32 = 2_000;
/// Packets of a piece, about.
const EARLY: usize = 1 << 13;

impl core::fmt::Debug for Sending {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Sending")
    }
}

impl core::fmt::Debug for Receiving {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Receiving")
    }
}
