//! Pairing: responses are sent in the order of their requests (RFC 9112 §9.3.2).

use crate::parser::turn::Turn;
use crate::state::{NONE, Side, Transaction};
use flowpin_counters::Loss;
use flowpin_parser::slot_bytes;
use flowpin_record::MessageSink;

/// What a transaction takes of its shard's budget, besides its texts.
pub(crate) const TRANSACTION_BYTES: u64 = slot_bytes::<Transaction>() as u64;

/// Requests of a connection beyond these, which wait for their responses, have short blocks for
/// their texts: a segment may hold a request for every few of its bytes.
const LONG_TEXTS_MAX: u32 = 16;

impl<S: MessageSink> Turn<'_, S> {
    /// Opens a transaction; [`NONE`] if the shard has no memory for it.
    pub(crate) fn open(&mut self) -> u32 {
        self.queue.depth = self.queue.depth.wrapping_add(1);
        if self.pools.budget.take(self.queue.shard, TRANSACTION_BYTES) {
            let is_short = self.queue.len >= LONG_TEXTS_MAX;
            let new = Transaction::new(self.queue.depth, is_short);
            if let Some(handle) = self.pools.transactions.insert(new) {
                return handle;
            }
            self.pools
                .budget
                .give_back(self.queue.shard, TRANSACTION_BYTES);
        }
        self.pools.losses.count(Loss::HttpTransactions, 1);
        NONE
    }

    /// Queues a request until its response, if there is room.
    pub(crate) fn enqueue(&mut self, handle: u32) {
        let queue = &mut *self.queue;
        if handle == NONE || queue.unkept > 0 || queue.len >= self.options.pipelined_max {
            queue.unkept = queue.unkept.saturating_add(1);
            if handle != NONE {
                self.pools.losses.count(Loss::HttpPipelined, 1);
            }
            return;
        }
        let Some(transaction) = self.pools.transactions.get_mut(handle) else {
            return;
        };
        transaction.bits |= Transaction::QUEUED;
        if queue.first == NONE {
            queue.first = handle;
        } else if let Some(last) = self.pools.transactions.get_mut(queue.last) {
            last.next = handle;
        }
        queue.last = handle;
        queue.len = queue.len.wrapping_add(1);
    }

    /// Whether a response is to what was no request, before the request that is next: by its
    /// status, as some servers pass over that and answer the request.
    #[inline]
    pub(crate) fn answers_no_request(&mut self, status: u16) -> bool {
        let queue = &mut *self.queue;
        if queue.first == NONE {
            // It was alone.
            self.theirs.clear(Side::NO_REQUEST);
        }
        if queue.behind_none == NONE || queue.first != queue.behind_none || status < 200 {
            return false;
        }
        queue.behind_none = NONE;
        // Bad request, method not allowed, not implemented, version not supported.
        matches!(status, 400 | 405 | 501 | 505)
    }

    /// The transaction of the next response: the oldest without one, or a new one.
    pub(crate) fn next_answered(&mut self) -> u32 {
        let first = self.queue.first;
        if let Some(transaction) = self.pools.transactions.get(first)
            && !transaction.has(Transaction::RESPONSE_DONE)
        {
            return first;
        }
        self.queue.unkept = self.queue.unkept.saturating_sub(1);
        self.open()
    }

    /// Writes the oldest queued transaction and releases it.
    pub(crate) fn dequeue(&mut self) {
        let handle = self.queue.first;
        let Some(transaction) = self.pools.transactions.get(handle) else {
            self.queue.first = NONE;
            return;
        };
        self.queue.first = transaction.next;
        self.queue.len = self.queue.len.wrapping_sub(1);
        if self.queue.first == NONE {
            self.queue.last = NONE;
        }
        self.write_and_free(handle);
    }

    /// One side of a transaction is complete: writes the transaction if both are.
    pub(crate) fn settle(&mut self, handle: u32) {
        let Some(transaction) = self.pools.transactions.get(handle) else {
            return;
        };
        if !transaction.has(Transaction::QUEUED) {
            self.write_and_free(handle);
        } else if handle == self.queue.first
            && transaction.has(Transaction::REQUEST_DONE | Transaction::RESPONSE_DONE)
        {
            self.dequeue();
        }
    }

    fn write_and_free(&mut self, handle: u32) {
        for side in [&mut *self.mine, &mut *self.theirs] {
            if side.transaction == handle {
                side.transaction = NONE;
            }
        }
        self.write(handle);
        let shard = self.queue.shard;
        if let Some(transaction) = self.pools.transactions.get_mut(handle) {
            let [request, response] = &mut transaction.fields;
            for chain in [
                &mut transaction.texts,
                &mut transaction.proxied,
                &mut transaction.form_files,
                request,
                response,
            ] {
                self.pools.texts.release(chain, shard);
            }
        }
        self.pools.transactions.remove(handle);
        self.pools.budget.give_back(shard, TRANSACTION_BYTES);
    }

    /// Writes all open transactions, complete or not.
    pub(crate) fn write_all_open(&mut self) {
        while self.queue.first != NONE {
            self.dequeue();
        }
        // Transactions that were never queued: of one side only.
        if self.mine.transaction != NONE {
            self.write_and_free(self.mine.transaction);
        }
        if self.theirs.transaction != NONE {
            self.write_and_free(self.theirs.transaction);
        }
        let shard = self.queue.shard;
        for side in [&mut *self.mine, &mut *self.theirs] {
            self.pools.texts.release(&mut side.line, shard);
        }
    }

    /// Responses may have been lost with missing bytes: if the client always waited for the
    /// response to its last request, only the last queued request can still be answered.
    pub(crate) fn skip_unanswered(&mut self) {
        self.queue.behind_none = NONE;
        if self.queue.pipelined {
            return;
        }
        while self.queue.len > 1 {
            self.dequeue();
        }
    }
}
