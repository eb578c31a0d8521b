//! The single-producer single-consumer ring between two cores.
//!
//! ```text
//!        producer's core                               consumer's core
//!   push ──► slots[ published … tail ) ─┐
//!            written, not yet shown     │ flush, or a chunk is full
//!                                       ▼
//!            slots[ released … published ) ──► pop
//!   owns `tail`; keeps a stale `head`         owns `head`; keeps a stale `tail`
//! ```
//!
//! As in the ICS'09 paper, the unit that moves between the cores is a chunk of whole cache lines,
//! not an item: the producer writes items straight into their slots but tells the consumer only
//! when a chunk is full, and the consumer gives slots back chunk by chunk. So a cache line
//! crosses once, full, and the two index lines change hands once per chunk. What waits in a part
//! of a chunk is shown by [`Producer::flush`], or after a while by
//! [`Producer::flush_if_older_than`].
//!
//! `head` and `tail` only grow (wrapping); slot = position & mask. Each side writes one index,
//! reads the other, and reads it again only when its stale copy says full or empty.
//!
//! Guarantees: items arrive once, in order; those pushed before the producer was dropped arrive
//! before [`Consumer::is_finished`] says so; each item is dropped exactly once. Does not block or
//! wait: who waits how is the stage's choice. The orderings are checked by loom
//! (`loom_tests.rs`); `docs/decisions/0004-the-ring.md` has the reasons and the figures.

mod consumer;
mod producer;
mod shared;
mod slots;
mod sync;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

pub use consumer::{Consumer, Popped};
pub use producer::{Producer, Reservation};

use shared::Shared;
use sync::Arc;

/// A ring of at least `capacity` slots, shown and given back in chunks of a few cache lines.
///
/// ```
/// let (mut producer, mut consumer) = flowpin_ring::ring(64);
/// producer.push("first").unwrap();
/// assert_eq!(consumer.pop(), None); // waits for its chunk to fill
/// producer.flush();
/// assert_eq!(consumer.pop(), Some("first"));
/// drop(producer);
/// assert!(consumer.is_finished());
/// ```
///
/// Items change threads, so they must be `Send`:
///
/// ```compile_fail
/// let ends = flowpin_ring::ring::<std::rc::Rc<u8>>(64);
/// ```
///
/// # Panics
///
/// If so many slots do not fit the address space.
pub fn ring<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let per_chunk = CHUNK_BYTES / size_of::<T>().max(1);
    // A ring of a few chunks only would let one side wait for the other all the time.
    ring_with_chunk(capacity, per_chunk.clamp(1, (capacity / 4).max(1)))
}

/// A ring of at least `capacity` slots with a chunk of `chunk` items. Both are rounded up to
/// powers of two, the chunk down to the capacity at most. With a chunk of 1 every item is shown,
/// and every slot given back, at once.
///
/// # Panics
///
/// If so many slots do not fit the address space.
pub fn ring_with_chunk<T: Send>(capacity: usize, chunk: usize) -> (Producer<T>, Consumer<T>) {
    let shared = Arc::new(Shared::new(capacity, chunk));
    (Producer::new(Arc::clone(&shared)), Consumer::new(shared))
}

/// The default chunk.
// PERF: 32-byte items pushed and popped one by one, 1024 slots, two cores far apart (2-core
// virtual EPYC): 11.4 ns an item with 512 bytes, 7.5 with 2 KiB or 4 KiB; bench `ring_bench`.
const CHUNK_BYTES: usize = 2048;
