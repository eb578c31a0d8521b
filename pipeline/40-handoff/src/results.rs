//! From the workers to the output: results of any type, and their buffers' way home.
//!
//! A worker waits where its ring to the output is full, so the output must go on taking results
//! whatever else its thread does (see [`crate::InputEnd::take_piece_while`]). The output waits
//! for nobody on the way home: a buffer that finds no place there is freed.

use crate::bell::{Bell, LastWord};
use crate::hint::Hint;
use flowpin_ring::{Consumer, Producer, ring_with_chunk};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ends of `workers` rings with room for `capacity` results each. `bell` wakes the receiver.
///
/// ```
/// let (mut senders, mut receiver) = flowpin_handoff::results::<Vec<u8>>(1, 4, Default::default());
/// let mut sender = senders.remove(0);
/// let mut buffer = sender.empty(); // one that came home, or a new one
/// buffer.extend_from_slice(b"record");
/// sender.send(buffer).unwrap();
/// drop(sender);
/// let (worker, mut buffer) = receiver.recv().unwrap();
/// assert_eq!((worker, buffer.as_slice()), (0, &b"record"[..]));
/// buffer.clear();
/// receiver.give_back(worker, buffer);
/// assert_eq!(receiver.recv(), None);
/// ```
pub fn results<T: Send>(
    workers: usize,
    capacity: usize,
    bell: Arc<Bell>,
) -> (Vec<ResultSender<T>>, ResultReceiver<T>) {
    let hint = Arc::new(Hint::default());
    let (senders, lanes) = (0..workers)
        .map(|worker| {
            let (out, results) = ring_with_chunk(capacity, 1);
            // Those under way, those in the receiver's hands, and one in the sender's.
            let (returned, home) = ring_with_chunk(capacity.saturating_mul(2), 1);
            let room = Arc::new(Bell::default());
            let bytes_out = Arc::new(AtomicUsize::new(0));
            let receiver = LastWord(Arc::clone(&bell));
            let sender = ResultSender {
                worker,
                out,
                home,
                room: Arc::clone(&room),
                bytes_out: Arc::clone(&bytes_out),
                hint: Arc::clone(&hint),
                receiver,
            };
            (
                sender,
                Lane {
                    results,
                    returned,
                    bytes_out,
                    room: LastWord(room),
                },
            )
        })
        .unzip();
    (
        senders,
        ResultReceiver {
            lanes,
            next: 0,
            hint,
            bell,
        },
    )
}

/// The receiver is gone; the result that could not be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverGone<T>(pub T);

/// A worker's end: delivers results in order.
#[derive(Debug)]
pub struct ResultSender<T> {
    worker: usize,
    out: Producer<T>,
    home: Consumer<T>,
    /// Rung when there is room again.
    room: Arc<Bell>,
    /// Bytes that were sent and are not done.
    bytes_out: Arc<AtomicUsize>,
    /// Raised when something was sent.
    hint: Arc<Hint>,
    // Behind the rings: they close first.
    receiver: LastWord,
}

impl<T> ResultSender<T> {
    /// Which worker this is, from 0.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Whether the receiver is gone: nothing more can be delivered.
    pub fn is_closed(&self) -> bool {
        self.out.is_closed()
    }

    /// A buffer that came home, as the receiver left it, or a new one.
    pub fn empty(&mut self) -> T
    where
        T: Default,
    {
        self.home.pop().unwrap_or_default()
    }

    /// A buffer that came home, as the receiver left it, if there is one.
    pub fn returned(&mut self) -> Option<T> {
        self.home.pop()
    }

    /// Delivers a result; waits while the ring is full.
    ///
    /// # Errors
    ///
    /// If the receiver is gone.
    pub fn send(&mut self, result: T) -> Result<(), ReceiverGone<T>> {
        self.send_within(result, (0, 0), || {})
    }

    /// Delivers a result if the ring has room; else it comes back.
    ///
    /// # Errors
    ///
    /// If there is no room, or the receiver is gone.
    pub fn try_send(&mut self, result: T) -> Result<(), T> {
        self.out.push(result)?;
        self.hint.raise();
        self.receiver.0.ring();
        Ok(())
    }

    /// Delivers a result of `bytes` bytes; waits while the ring is full, and as long as with it
    /// more than `limit` would be sent that are not [done](ResultReceiver::done). A result alone
    /// is always sent. Calls `before_waiting` if it has to wait for that.
    ///
    /// # Errors
    ///
    /// If the receiver is gone.
    pub fn send_within(
        &mut self,
        result: T,
        (bytes, limit): (usize, usize),
        before_waiting: impl FnOnce(),
    ) -> Result<(), ReceiverGone<T>> {
        self.send_while(result, (bytes, limit), before_waiting, || {})
    }

    /// As [`Self::send_within`], but calls `meanwhile` before each look after the first: for a
    /// thread that takes results, too, if nobody else does.
    ///
    /// # Errors
    ///
    /// If the receiver is gone.
    pub fn send_while(
        &mut self,
        result: T,
        (bytes, limit): (usize, usize),
        before_waiting: impl FnOnce(),
        mut meanwhile: impl FnMut(),
    ) -> Result<(), ReceiverGone<T>> {
        let Self {
            out,
            room,
            receiver,
            bytes_out,
            hint,
            ..
        } = self;
        // Acquire, paired with `done`: what was done is not written any more.
        let has_room = || match bytes_out.load(Ordering::Acquire) {
            0 => true,
            _ if bytes == 0 => true,
            sent => sent.saturating_add(bytes) <= limit,
        };
        if !has_room() {
            before_waiting();
        }
        let (mut unsent, mut is_first) = (Some(result), true);
        room.wait_for(|| {
            if !core::mem::replace(&mut is_first, false) {
                meanwhile();
            }
            if !has_room() && !out.is_closed() {
                return None;
            }
            let result = unsent.take()?;
            if out.is_closed() {
                return Some(Err(ReceiverGone(result)));
            }
            // Only this end adds; before the receiver can subtract.
            bytes_out.fetch_add(bytes, Ordering::Relaxed);
            match out.push(result) {
                Ok(()) => Some(Ok(())),
                Err(result) => {
                    bytes_out.fetch_sub(bytes, Ordering::Relaxed);
                    unsent = Some(result);
                    None
                }
            }
        })?;
        hint.raise();
        receiver.0.ring();
        Ok(())
    }
}

#[derive(Debug)]
struct Lane<T> {
    results: Consumer<T>,
    returned: Producer<T>,
    bytes_out: Arc<AtomicUsize>,
    // Behind the rings: they close first.
    room: LastWord,
}

/// The output's end: takes results from all workers in turn, those of one worker in order.
#[derive(Debug)]
pub struct ResultReceiver<T> {
    lanes: Vec<Lane<T>>,
    /// Whose turn it is.
    next: usize,
    /// Raised by the workers when they send.
    hint: Arc<Hint>,
    bell: Arc<Bell>,
}

impl<T> ResultReceiver<T> {
    /// The next result, with the number of its worker; waits for it. `None` once all senders are
    /// gone and all results were received.
    pub fn recv(&mut self) -> Option<(usize, T)> {
        let bell = Arc::clone(&self.bell);
        bell.wait_for(|| match self.try_recv() {
            Some(result) => Some(Some(result)),
            None => self.is_finished().then_some(None),
        })
    }

    /// Says when results may be there, to threads that take turns at receiving them.
    pub fn hint(&self) -> Arc<Hint> {
        Arc::clone(&self.hint)
    }

    /// The next result if one is there.
    pub fn try_recv(&mut self) -> Option<(usize, T)> {
        let count = self.lanes.len();
        for worker in (self.next..count).chain(0..self.next.min(count)) {
            if let Some(result) = self.try_recv_from(worker) {
                self.next = worker + 1;
                return Some((worker, result));
            }
        }
        None
    }

    /// The next result of one worker if one is there.
    pub fn try_recv_from(&mut self, worker: usize) -> Option<T> {
        let lane = self.lanes.get_mut(worker)?;
        let result = lane.results.pop()?;
        lane.room.0.ring();
        Some(result)
    }

    /// Whether one worker's sender is gone and all its results were received.
    pub fn is_finished_from(&mut self, worker: usize) -> bool {
        self.lanes
            .get_mut(worker)
            .is_none_or(|lane| lane.results.is_finished())
    }

    /// Whether all senders are gone and all results were received.
    pub fn is_finished(&mut self) -> bool {
        self.lanes.iter_mut().all(|lane| lane.results.is_finished())
    }

    /// So many bytes of a worker's results, as it sent them, need no memory any more.
    pub fn done(&mut self, worker: usize, bytes: usize) {
        if let Some(lane) = self.lanes.get_mut(worker).filter(|_| bytes > 0) {
            // Release, paired with `send_within`.
            lane.bytes_out.fetch_sub(bytes, Ordering::Release);
            lane.room.0.ring();
        }
    }

    /// Returns an emptied buffer to its worker. Never waits.
    pub fn give_back(&mut self, worker: usize, buffer: T) {
        if let Some(lane) = self.lanes.get_mut(worker) {
            // No place: there are buffers enough, this one is freed.
            let _freed = lane.returned.push(buffer);
        }
    }
}
