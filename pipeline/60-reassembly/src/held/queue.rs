//! The bytes that one stream holds, and its place among its shard's streams with holes.

use super::Held;
use super::fins::Fins;
use crate::connection::NIL;
use flowpin_packet::Seq;

/// One stream with a hole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// Root of its tree of pieces, or [`NIL`].
    pub(crate) root: u32,
    /// No piece is longer; valid only while there is one.
    pub(super) end: Seq,
    /// Bytes held.
    pub(crate) bytes: u32,
    /// Memory that they use.
    pub(crate) cost: u32,
    /// The streams of the shard with the next older and the next newer hole, plus one; 0: none.
    older: u32,
    newer: u32,
    /// The owner.
    pub(crate) handle: u32,
    pub(crate) to_server: bool,
    pub(crate) shard: u8,
    /// Whether it is among the streams of its shard that may be given up.
    is_listed: bool,
    /// Where the stream may end.
    pub(super) fins: Fins,
    /// A byte that is read out of band.
    pub(crate) urgent: Option<Seq>,
}

/// Memory for a queue without pieces.
pub(crate) const QUEUE_BYTES: u64 = size_of::<Queue>() as u64 + 4;

impl Queue {
    pub(super) const EMPTY: Self = Self {
        root: NIL,
        end: Seq(0),
        bytes: 0,
        cost: 0,
        older: 0,
        newer: 0,
        handle: NIL,
        to_server: false,
        shard: 0,
        is_listed: false,
        fins: Fins::NONE,
        urgent: None,
    };
}

impl Held {
    /// Opens a queue for a stream; `None` if its shard is full.
    pub(crate) fn open(&mut self, handle: u32, to_server: bool, shard: u8) -> Option<u32> {
        if !self.usage.take(shard, QUEUE_BYTES) {
            return None;
        }
        let queue = self.queues.insert(Queue {
            handle,
            to_server,
            shard,
            ..Queue::EMPTY
        });
        match queue {
            Some(queue) => {
                self.charge(QUEUE_BYTES);
                self.enlist(queue, shard);
            }
            None => self.usage.give_back(shard, QUEUE_BYTES),
        }
        queue
    }

    /// Frees a queue and everything that it holds; returns the number of bytes.
    pub(crate) fn close(&mut self, queue: u32) -> u32 {
        if queue == NIL {
            return 0;
        }
        let old = self.queue(queue);
        while let Some((first, _)) = self.first(queue) {
            self.remove_piece(queue, first);
        }
        self.delist(queue, old.shard);
        self.queues.remove(queue);
        self.usage.give_back(old.shard, QUEUE_BYTES);
        self.discharge(QUEUE_BYTES);
        old.bytes
    }

    /// Records which byte is out of band.
    pub(crate) fn mark_urgent(&mut self, queue: u32, urgent: Seq) {
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.urgent = Some(urgent);
        }
    }

    /// A hole was closed, and another one precedes the rest: that is a new hole.
    pub(crate) fn renew(&mut self, queue: u32) {
        let shard = self.queue(queue).shard;
        self.delist(queue, shard);
        self.enlist(queue, shard);
    }

    /// Its hole is not given up for others any more.
    pub(crate) fn pass_over(&mut self, queue: u32) {
        let shard = self.queue(queue).shard;
        self.delist(queue, shard);
    }

    /// The queue of a shard with the oldest hole.
    pub(crate) fn oldest(&self, shard: u8) -> Option<u32> {
        let [oldest, _] = self.ends.get(usize::from(shard))?;
        oldest.checked_sub(1)
    }

    /// Makes a queue the newest of its shard.
    fn enlist(&mut self, queue: u32, shard: u8) {
        let Some([oldest, newest]) = self.ends.get_mut(usize::from(shard)) else {
            return;
        };
        let older = *newest;
        *newest = queue.saturating_add(1);
        if *oldest == 0 {
            *oldest = *newest;
        }
        if let Some(before) = older.checked_sub(1).and_then(|at| self.queues.get_mut(at)) {
            before.newer = queue.saturating_add(1);
        }
        if let Some(entry) = self.queues.get_mut(queue) {
            (entry.older, entry.newer) = (older, 0);
            entry.is_listed = true;
        }
    }

    fn delist(&mut self, queue: u32, shard: u8) {
        let entry = self.queues.get_mut(queue).filter(|one| one.is_listed);
        let Some(entry) = entry else {
            return;
        };
        entry.is_listed = false;
        let Queue { older, newer, .. } = *entry;
        let Some([oldest, newest]) = self.ends.get_mut(usize::from(shard)) else {
            return;
        };
        match older.checked_sub(1).and_then(|at| self.queues.get_mut(at)) {
            Some(before) => before.newer = newer,
            None => *oldest = newer,
        }
        match newer.checked_sub(1).and_then(|at| self.queues.get_mut(at)) {
            Some(behind) => behind.older = older,
            None => *newest = older,
        }
    }
}
