//! Pieces, batches and ticks between stages, and their way home.
//!
//! ```text
//!                    one ring per worker              one ring per worker
//!  InputEnd ──Batch──► WorkerEnd 0 ──ResultSender<T>──► ResultReceiver<T>
//!     ▲  │             WorkerEnd 1        ▲                    │
//!     │  └──Batch───►  …                  └──── empty T ◄──────┘
//!     └── Batch home ◄─┘
//! ```
//!
//! The unit is a numbered batch: for each piece of input, each worker gets one, with the
//! descriptors of its packets and the stream time at the piece's end; a batch without packets is
//! a tick. Batches of one worker arrive in order. Pieces, batches and their vectors come home
//! and are used again, so nothing is allocated per piece once all have reached their size.
//!
//! Guarantees, with the reasons in `docs/decisions/0003-pieces-come-home.md`:
//!
//! - A ring is never full, on the way out or home: it has a place for every batch there is. So a
//!   push never waits, and what can wait (the input for a piece to come home, a worker for a
//!   batch) waits for somebody who can go on.
//! - An end that is gone ends the others' waiting: with an error at the input, with the end of
//!   the stream at a worker.
//! - Where the input must not wait (live), a worker that is too slow loses packets, counted as
//!   [`Loss::RingFull`], but never the stream time.
//!
//! Does not start threads, and knows neither what a packet nor what a result is.
//!
//! [`Loss::RingFull`]: flowpin_counters::Loss::RingFull

mod batch;
mod bell;
mod hint;
mod input;
mod lane;
#[cfg(flowpin_bench)]
mod one_by_one;
mod parcel;
mod pieces;
mod results;
mod worker;

pub use batch::Batch;
pub use bell::Bell;
pub use hint::Hint;
pub use input::{HandoffOptions, InputEnd, handoff};
#[cfg(flowpin_bench)]
pub use one_by_one::{MakeQueue, Pair, Ticket, TicketReceiver, TicketSender, hand_over_one_by_one};
pub use parcel::Parcel;
pub use results::{ReceiverGone, ResultReceiver, ResultSender, results};
pub use worker::{Received, WorkerEnd};

/// Why the input cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandoffError {
    /// A worker ended although the input has not.
    #[error("worker {worker} ended before the input did")]
    WorkerGone {
        /// Which one.
        worker: usize,
    },
}
