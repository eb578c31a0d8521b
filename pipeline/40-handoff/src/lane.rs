//! The way to one worker and back.

use crate::batch::Batch;
use crate::bell::{Bell, LastWord};
use crate::worker::WorkerEnd;
use flowpin_ring::{Consumer, Producer, ring_with_chunk};
use std::sync::Arc;

/// The way to one worker and back.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) out: Producer<Batch>,
    pub(crate) home: Consumer<Batch>,
    /// Empty batches, the one that came home last on top.
    pub(crate) spare: Vec<Batch>,
    /// Collects what is dropped, as the worker has all its batches.
    pub(crate) scrap: Vec<Batch>,
    /// The worker does not know the latest stream time, as it had no batch left to carry it.
    pub(crate) owed_tick: bool,
    #[cfg(flowpin_bench)]
    pub(crate) tickets: Option<crate::one_by_one::Sending>,
    // Behind the rings: they close first.
    pub(crate) bell: LastWord,
}

impl Lane {
    /// An empty batch: one of the worker's own, or one whose packets will be dropped.
    pub(crate) fn open(&mut self) -> Batch {
        if let Some(own) = self.spare.pop() {
            return own;
        }
        let scrap = self.scrap.pop();
        scrap.unwrap_or_else(Batch::scrap)
    }

    /// Takes back what [`Lane::open`] gave.
    pub(crate) fn keep(&mut self, batch: Batch) {
        let place = if batch.is_scrap {
            &mut self.scrap
        } else {
            &mut self.spare
        };
        place.push(batch);
    }
}

pub(crate) fn lane(worker: usize, batches_out: usize, input_bell: &Arc<Bell>) -> (Lane, WorkerEnd) {
    // A chunk of 1: a batch is dozens of cache lines by itself, and a place must be free again
    // as soon as its batch was taken.
    let (out, batches) = ring_with_chunk(batches_out, 1);
    let (returned, home) = ring_with_chunk(batches_out, 1);
    let bell = Arc::new(Bell::default());
    #[cfg(flowpin_bench)]
    let (tickets, taken) = crate::one_by_one::queue();
    let end = WorkerEnd::new(
        worker,
        batches,
        returned,
        Arc::clone(&bell),
        Arc::clone(input_bell),
        #[cfg(flowpin_bench)]
        taken,
    );
    let spare = (0..batches_out).map(|_| Batch::default()).collect();
    (
        Lane {
            out,
            home,
            spare,
            scrap: Vec::new(),
            owed_tick: false,
            #[cfg(flowpin_bench)]
            tickets,
            bell: LastWord(bell),
        },
        end,
    )
}
