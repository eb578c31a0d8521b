//! Questions: messages that wait for their answers.

use crate::fields::Fields;
use crate::memory::Memory;
use flowpin_lexer::Condition;
use flowpin_memory::{Budget, Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::slot_bytes;
use std::io;

/// A message that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) fields: Fields,
    pub(crate) asked: Asked,
    /// The memory of the fields that the direction has kept besides.
    copied: u32,
    next: u32,
}

/// The properties of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// The message that is emitted; [`NO_MESSAGE`]: none.
    pub(crate) message: u16,
    pub(crate) at: Timestamp,
    /// The start condition in which the answer is read; [`NO_CONDITION`]: the grammar's default.
    pub(crate) condition: Condition,
    /// Number of answers still to come.
    pub(crate) times: u64,
    /// The question may go unanswered.
    pub(crate) is_quiet: bool,
    /// How many answers were emitted whose fields are among the question's.
    pub(crate) parts: u8,
    /// Nothing answers it: another question takes its place.
    pub(crate) is_last: bool,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            message: NO_MESSAGE,
            at: Timestamp(0),
            condition: NO_CONDITION,
            times: 1,
            is_quiet: false,
            parts: 0,
            is_last: false,
        }
    }
}

pub(crate) const NO_MESSAGE: u16 = u16::MAX;
pub(crate) const NO_CONDITION: Condition = Condition::MAX;

/// The questions of one direction, the oldest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    first: u32,
    last: u32,
    len: u32,
    /// The sum of what its questions have `copied`.
    copied: u32,
    /// Number of later questions for which there was no room.
    left_out: u32,
}

impl Queue {
    /// Leaves out a question whose answer does not name it, for lack of room. Later questions are
    /// left out too until all are answered: only the order pairs answers with questions.
    pub(crate) fn leave_out(&mut self) {
        self.left_out = self.left_out.saturating_add(1);
    }

    /// Whether the next answers belong to questions that were left out.
    pub(crate) const fn has_left_out(&self) -> bool {
        self.left_out > 0
    }

    /// Counts an answer that arrived while no question waits; returns whether it belongs to a
    /// question that was left out.
    pub(crate) fn answer_left_out(&mut self) -> bool {
        let was_left_out = self.left_out > 0;
        self.left_out = self.left_out.saturating_sub(1);
        was_left_out
    }
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
            len: 0,
            copied: 0,
            left_out: 0,
        }
    }
}

/// All questions of a worker.
#[derive(Debug)]
pub(crate) struct Questions {
    slots: Slab<Question>,
    budget: Budget,
    queue_max: u32,
}

const NONE: u32 = u32::MAX;

/// What a question takes of its shard's budget, besides its fields.
const QUESTION_BYTES: u64 = slot_bytes::<Question>() as u64;

/// Fields that a grammar keeps are in each question. A direction may have questions with as many
/// bytes of such copies, not counting short ones: a short command must not take much memory.
const COPIED_MAX: u32 = 24 << 10;
const SHORT_COPY: u64 = 136;

impl Questions {
    pub(crate) fn new(budget: &Budget, queue_max: u32) -> io::Result<Self> {
        Ok(Self {
            slots: Slab::with_capacity(budget.capacity_of(QUESTION_BYTES, 256))?,
            budget: budget.clone(),
            queue_max,
        })
    }

    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.slots);
    }

    /// Whether a queue has room for a question, whose direction keeps `copied` bytes of its fields.
    pub(crate) fn has_room(&self, queue: &Queue, copied: u64) -> bool {
        let all = queue.copied.saturating_add(not_short(copied));
        queue.len < self.queue_max && queue.left_out == 0 && all <= COPIED_MAX
    }

    /// Adds a question, which owns the fields; false without memory.
    pub(crate) fn push(
        &mut self,
        queue: &mut Queue,
        shard: u8,
        asked: Asked,
        fields: Fields,
        copied: u64,
    ) -> bool {
        if !self.budget.take(shard, QUESTION_BYTES) {
            return false;
        }
        let copied = not_short(copied);
        let slot = self.slots.insert(Question {
            fields,
            asked,
            copied,
            next: NONE,
        });
        let Some(slot) = slot else {
            self.budget.give_back(shard, QUESTION_BYTES);
            return false;
        };
        match self
            .slots
            .get_mut(queue.last)
            .filter(|_| queue.last != NONE)
        {
            Some(last) => last.next = slot,
            None => queue.first = slot,
        }
        queue.last = slot;
        queue.len = queue.len.saturating_add(1);
        queue.copied = queue.copied.saturating_add(copied);
        true
    }

    /// Moves the oldest question that fits to the front; false if none fits.
    pub(crate) fn bring_first(
        &mut self,
        queue: &mut Queue,
        is_it: impl Fn(&Question) -> bool,
    ) -> bool {
        let (mut before, mut slot) = (NONE, queue.first);
        let next = loop {
            let Some(question) = self.slots.get(slot) else {
                return false;
            };
            if is_it(question) {
                break question.next;
            }
            (before, slot) = (slot, question.next);
        };
        let Some(before_it) = self.slots.get_mut(before) else {
            return true;
        };
        before_it.next = next;
        if let Some(question) = self.slots.get_mut(slot) {
            question.next = queue.first;
        }
        queue.first = slot;
        if queue.last == slot {
            queue.last = before;
        }
        true
    }

    /// The questions, the oldest first.
    pub(crate) fn all(&self, queue: &Queue) -> impl Iterator<Item = &Question> {
        let mut slot = queue.first;
        core::iter::from_fn(move || {
            let question = self.slots.get(slot)?;
            slot = question.next;
            Some(question)
        })
    }

    /// Counts an answer to the oldest question, and removes the question if it was the last one.
    pub(crate) fn take_answer(&mut self, queue: &mut Queue, shard: u8, memory: &mut Memory) {
        if let Some(question) = self.slots.get_mut(queue.first)
            && question.asked.times > 1
        {
            question.asked.times = question.asked.times.saturating_sub(1);
            return;
        }
        self.pop(queue, shard, memory);
    }

    /// The oldest question.
    pub(crate) fn first(&self, queue: &Queue) -> Option<&Question> {
        self.slots.get(queue.first)
    }

    /// The oldest question that fits.
    pub(crate) fn find(
        &mut self,
        queue: &Queue,
        is_it: impl Fn(&Question) -> bool,
    ) -> Option<&mut Question> {
        let mut slot = queue.first;
        while let Some(question) = self.slots.get(slot) {
            if is_it(question) {
                return self.slots.get_mut(slot);
            }
            slot = question.next;
        }
        None
    }

    /// Removes the youngest question if nothing answers it.
    pub(crate) fn withdraw_last(&mut self, queue: &mut Queue, shard: u8, memory: &mut Memory) {
        let last = self.slots.get(queue.last);
        if last.is_some_and(|last| last.asked.is_last)
            && self.bring_first(queue, |question| question.next == NONE)
        {
            self.pop(queue, shard, memory);
        }
    }

    /// Removes the oldest question.
    pub(crate) fn pop(&mut self, queue: &mut Queue, shard: u8, memory: &mut Memory) {
        if let Some(mut fields) = self.take_first(queue, shard) {
            fields.forget(shard, memory);
        }
    }

    /// Removes the oldest question and returns its fields, which still take their memory.
    pub(crate) fn take_first(&mut self, queue: &mut Queue, shard: u8) -> Option<Fields> {
        let slot = queue.first;
        let question = *self.slots.get(slot)?;
        queue.first = question.next;
        queue.len = queue.len.saturating_sub(1);
        queue.copied = queue.copied.saturating_sub(question.copied);
        if queue.first == NONE {
            queue.last = NONE;
        }
        self.slots.remove(slot);
        self.budget.give_back(shard, QUESTION_BYTES);
        Some(question.fields)
    }
}

fn not_short(copied: u64) -> u32 {
    match copied {
        0..=SHORT_COPY => 0,
        _ => u32::try_from(copied).unwrap_or(u32::MAX),
    }
}
