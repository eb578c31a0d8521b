//! Questions: messages that wait for their answers.

use crate::budget::Budget;
use crate::fields::Fields;
use flowpin_lexer::Condition;
use flowpin_packet::Timestamp;

/// A message that waits for its answer.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) fields: Fields,
    pub(crate) asked: Asked,
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
}

pub(crate) const NO_MESSAGE: u16 = u16::MAX;
pub(crate) const NO_CONDITION: Condition = Condition::MAX;

/// The questions of one direction, the oldest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    first: u32,
    last: u32,
    len: u32,
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
            left_out: 0,
        }
    }
}

/// All questions of a worker.
#[derive(Debug)]
pub(crate) struct Questions {
    slots: Vec<Question>,
    free: Vec<u32>,
    shard_counts: Vec<u32>,
    shard_max: u32,
    queue_max: u32,
}

const NONE: u32 = u32::MAX;

impl Questions {
    pub(crate) fn new(shard_max: u32, queue_max: u32) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            shard_counts: vec![0; 256],
            shard_max,
            queue_max,
        }
    }

    /// Adds a question; false if there is no room.
    pub(crate) fn push(
        &mut self,
        queue: &mut Queue,
        shard: u8,
        asked: Asked,
        fields: &Fields,
        budget: &mut Budget,
    ) -> bool {
        let count = self
            .shard_counts
            .get(usize::from(shard))
            .copied()
            .unwrap_or(0);
        if queue.len >= self.queue_max || queue.left_out > 0 || count >= self.shard_max {
            return false;
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let Ok(slot) = u32::try_from(self.slots.len()) else {
                    return false;
                };
                self.slots.push(Question {
                    fields: Fields::default(),
                    asked,
                    next: NONE,
                });
                slot
            }
        };
        let Some(question) = self.slots.get_mut(slot as usize) else {
            return false;
        };
        if !question.fields.copy_from(fields, shard, budget) {
            self.free.push(slot);
            return false;
        }
        question.asked = asked;
        question.next = NONE;
        match self.slots.get_mut(queue.last as usize) {
            Some(last) => last.next = slot,
            None => queue.first = slot,
        }
        queue.last = slot;
        queue.len = queue.len.saturating_add(1);
        if let Some(count) = self.shard_counts.get_mut(usize::from(shard)) {
            *count = count.saturating_add(1);
        }
        true
    }

    /// Moves the oldest question that fits to the front; false if none fits.
    pub(crate) fn bring_first(
        &mut self,
        queue: &mut Queue,
        is_it: impl Fn(&Fields) -> bool,
    ) -> bool {
        let (mut before, mut slot) = (NONE, queue.first);
        let next = loop {
            let Some(question) = self.slots.get(slot as usize) else {
                return false;
            };
            if is_it(&question.fields) {
                break question.next;
            }
            (before, slot) = (slot, question.next);
        };
        let Some(before_it) = self.slots.get_mut(before as usize) else {
            return true;
        };
        before_it.next = next;
        if let Some(question) = self.slots.get_mut(slot as usize) {
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
            let question = self.slots.get(slot as usize)?;
            slot = question.next;
            Some(question)
        })
    }

    /// Counts an answer to the oldest question, and removes the question if it was the last one.
    pub(crate) fn take_answer(&mut self, queue: &mut Queue, shard: u8, budget: &mut Budget) {
        if let Some(question) = self.slots.get_mut(queue.first as usize)
            && question.asked.times > 1
        {
            question.asked.times = question.asked.times.saturating_sub(1);
            return;
        }
        self.pop(queue, shard, budget);
    }

    /// The oldest question.
    pub(crate) fn first(&self, queue: &Queue) -> Option<&Question> {
        self.slots.get(queue.first as usize)
    }

    /// The oldest question with this message.
    pub(crate) fn find(&mut self, queue: &Queue, message: u16) -> Option<&mut Question> {
        let mut slot = queue.first;
        while let Some(question) = self.slots.get(slot as usize) {
            if question.asked.message == message {
                return self.slots.get_mut(slot as usize);
            }
            slot = question.next;
        }
        None
    }

    /// Removes the oldest question.
    pub(crate) fn pop(&mut self, queue: &mut Queue, shard: u8, budget: &mut Budget) {
        if let Some(mut fields) = self.take_first(queue, shard) {
            fields.forget(shard, budget);
        }
    }

    /// Removes the oldest question and returns its fields, which the budget still counts.
    pub(crate) fn take_first(&mut self, queue: &mut Queue, shard: u8) -> Option<Fields> {
        let slot = queue.first;
        let question = self.slots.get_mut(slot as usize)?;
        let fields = core::mem::take(&mut question.fields);
        queue.first = question.next;
        queue.len = queue.len.saturating_sub(1);
        if queue.first == NONE {
            queue.last = NONE;
        }
        self.free.push(slot);
        if let Some(count) = self.shard_counts.get_mut(usize::from(shard)) {
            *count = count.saturating_sub(1);
        }
        Some(fields)
    }
}
