//! The end of the hand-off that a worker holds.

use crate::batch::Batch;
use crate::bell::{Bell, LastWord};
use flowpin_packet::Timestamp;
use flowpin_ring::{Consumer, Producer};
use std::sync::Arc;

/// Where a worker gets its batches and returns them.
///
/// Dropping it before the input ended is seen at the input as [`crate::HandoffError::WorkerGone`].
#[derive(Debug)]
pub struct WorkerEnd {
    worker: usize,
    batches: Consumer<Batch>,
    home: Producer<Batch>,
    /// Number and stream time of the batch received last: neither ever goes back.
    last: (u64, Timestamp),
    bell: Arc<Bell>,
    #[cfg(flowpin_bench)]
    tickets: Option<crate::one_by_one::Receiving>,
    // Behind the rings: they close first.
    input_bell: LastWord,
}

/// What [`WorkerEnd::recv_unless`] ended with.
#[derive(Debug)]
pub enum Received {
    /// The next batch.
    Batch(Batch),
    /// Somebody calls, and no batch is there.
    Called,
    /// The input has ended, and all batches were received.
    Ended,
}

impl WorkerEnd {
    pub(crate) fn new(
        worker: usize,
        batches: Consumer<Batch>,
        home: Producer<Batch>,
        bell: Arc<Bell>,
        input_bell: Arc<Bell>,
        #[cfg(flowpin_bench)] tickets: Option<crate::one_by_one::Receiving>,
    ) -> Self {
        Self {
            worker,
            batches,
            home,
            last: Default::default(),
            bell,
            #[cfg(flowpin_bench)]
            tickets,
            input_bell: LastWord(input_bell),
        }
    }

    /// Which worker this is, from 0.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// The next batch, in order; waits for it. `None` once the input has ended (or is gone) and
    /// all batches were received.
    ///
    /// Give each batch back before receiving the next: the input waits for those that are out.
    pub fn recv(&mut self) -> Option<Batch> {
        match self.recv_unless(|| false) {
            Received::Batch(batch) => Some(batch),
            Received::Called | Received::Ended => None,
        }
    }

    /// As [`WorkerEnd::recv`], but gives up waiting when `is_called` says so, which it asks each
    /// time that its [bell](WorkerEnd::bell) rings.
    pub fn recv_unless(&mut self, mut is_called: impl FnMut() -> bool) -> Received {
        let Self { batches, bell, .. } = self;
        #[cfg(flowpin_bench)]
        let tickets = &mut self.tickets;
        let received = bell.wait_for(|| {
            #[cfg(flowpin_bench)]
            if let Some(tickets) = tickets {
                tickets.poll();
            }
            match batches.pop() {
                Some(batch) => Some(Received::Batch(batch)),
                None if batches.is_finished() => Some(Received::Ended),
                None => is_called().then_some(Received::Called),
            }
        });
        if let Received::Batch(batch) = &received {
            self.check_order(batch);
        }
        received
    }

    /// Rung when a batch comes, and by whoever calls this worker.
    pub fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.bell)
    }

    /// Whether another batch is there.
    pub fn has_next(&mut self) -> bool {
        self.batches.ready() > 0
    }

    /// The next batch if one is there.
    pub fn try_recv(&mut self) -> Option<Batch> {
        let batch = self.batches.pop();
        batch.inspect(|batch| self.check_order(batch))
    }

    fn check_order(&mut self, batch: &Batch) {
        #[cfg(flowpin_bench)]
        if let Some(tickets) = &mut self.tickets {
            tickets.take(batch.metas.iter().map(|meta| meta.number));
        }
        let this = (batch.number, batch.tick.time);
        debug_assert!(
            this.0 >= self.last.0 && this.1 >= self.last.1,
            "{this:?} after {:?}",
            self.last
        );
        self.last = this;
    }

    /// Returns a batch, so that it and its piece can be used again. Never waits.
    pub fn give_back(&mut self, batch: Batch) {
        let refused = self.home.push(batch);
        // The way home has a place for every batch that can be out.
        debug_assert!(refused.is_ok(), "more batches came home than there are");
        self.input_bell.0.ring();
    }
}
