//! Questions and their answers: which answer is whose.
//!
//! ```text
//!  one direction                         the other
//!  ask ────────► question ─┐             answer            the oldest
//!  ask(…, IN) ─► question ─┤ in order ─► answer(M, FIELD)  the oldest that is the same
//!  await(IN) ──► (nothing) ┘             answer_in_order   the oldest that agrees, or an anomaly
//! ```

use crate::actions::{Actor, tell};
use crate::fields::{Fields, Place};
use crate::questions::{Asked, NO_CONDITION, NO_MESSAGE};
use flowpin_lexer::{Condition, FieldId, FieldKind, Grammar, Op};
use flowpin_record::MessageSink;

impl<S: MessageSink> Actor<'_, S> {
    /// Where this direction goes on between two answers: where the oldest question says.
    pub(crate) fn onward(&self) -> Condition {
        let question = self.questions.first(&self.peer.extra.asked);
        let asked = question.map(|question| question.asked.condition);
        asked
            .filter(|&condition| condition != NO_CONDITION)
            .unwrap_or(self.condition)
    }

    pub(crate) fn ask(&mut self, message: u16, condition: Condition, times: u64) {
        if self.extra.has_no_reply || times == 0 {
            return self.emit(message);
        }
        let asked = Asked {
            message,
            at: self.extra.fields.begun.unwrap_or(self.at),
            condition,
            times,
            is_quiet: self.extra.is_quiet,
        };
        if self.waits(asked) {
            return self.clear();
        }
        *self.questions_lost = self.questions_lost.saturating_add(1);
        // Where answers name their questions, the oldest is the one that nobody will answer.
        if !is_named(self.grammar, message) {
            self.extra.asked.leave_out();
        } else if self.tell_oldest() && self.waits(asked) {
            return self.clear();
        }
        self.emit(message);
    }

    /// An answer will come of which nothing is told.
    pub(crate) fn wait_for(&mut self, condition: Condition) {
        let asked = Asked {
            message: NO_MESSAGE,
            at: self.at,
            condition,
            times: 1,
            is_quiet: false,
        };
        let queue = &mut self.extra.asked;
        let nothing = Fields::default();
        if !self
            .questions
            .push(queue, self.shard, asked, &nothing, self.budget)
        {
            *self.questions_lost = self.questions_lost.saturating_add(1);
            queue.leave_out();
        }
    }

    /// Whether there is room for the direction's fields to wait for their answer.
    fn waits(&mut self, asked: Asked) -> bool {
        let (queue, fields) = (&mut self.extra.asked, &self.extra.fields);
        self.questions
            .push(queue, self.shard, asked, fields, self.budget)
    }

    /// Tells this direction's oldest question without an answer. False if there is none.
    fn tell_oldest(&mut self) -> bool {
        let asked = &mut self.extra.asked;
        let Some(question) = self.questions.first(asked) else {
            return false;
        };
        let (fields, how) = ([&question.fields; 2], question.asked);
        tell(self.grammar, how.message, how.at, fields, self.sink);
        self.questions.pop(asked, self.shard, self.budget);
        true
    }

    /// Tells the other direction's oldest question without an answer. False if there is none.
    fn tell_oldest_of_peer(&mut self) -> bool {
        core::mem::swap(&mut self.extra.asked, &mut self.peer.extra.asked);
        let is_told = self.tell_oldest();
        core::mem::swap(&mut self.extra.asked, &mut self.peer.extra.asked);
        is_told
    }

    pub(crate) fn answer(&mut self, message: u16) {
        let asked = &mut self.peer.extra.asked;
        match self.questions.first(asked) {
            Some(question) => {
                let fields = [&self.extra.fields, &question.fields];
                tell(self.grammar, message, question.asked.at, fields, self.sink);
                self.questions.take_answer(asked, self.shard, self.budget);
                self.clear();
            }
            None => {
                asked.answer_left_out();
                self.emit(message);
            }
        }
    }

    /// One of several answers, of which nobody knows how many will come.
    pub(crate) fn answer_more(&mut self, message: u16) {
        match self.questions.first(&self.peer.extra.asked) {
            Some(question) => {
                let fields = [&self.extra.fields, &question.fields];
                tell(self.grammar, message, question.asked.at, fields, self.sink);
                self.clear();
            }
            None => self.emit(message),
        }
    }

    /// The oldest question's answer has come, of which nothing is told.
    pub(crate) fn answered(&mut self) {
        let asked = &mut self.peer.extra.asked;
        match self.questions.first(asked) {
            Some(_) => self.questions.take_answer(asked, self.shard, self.budget),
            None => {
                asked.answer_left_out();
            }
        }
    }

    /// What the other direction has captured is answered, though it has not asked.
    pub(crate) fn answer_begun(&mut self, message: u16) {
        let peer = &mut self.peer.extra;
        let time = peer.fields.begun.unwrap_or(self.at);
        let fields = [&self.extra.fields, &peer.fields];
        tell(self.grammar, message, time, fields, self.sink);
        let known = &self.grammar.program.fields;
        peer.fields.clear(known, self.shard, self.budget);
        self.clear();
    }

    /// The oldest question is none: its fields are those of the next one of its kind, or of what
    /// the other direction captures now.
    pub(crate) fn take_back(&mut self, message: u16) {
        let peer = &mut self.peer.extra;
        let Some(mut fields) = self.questions.take_first(&mut peer.asked, self.shard) else {
            peer.asked.answer_left_out();
            return;
        };
        let target = match self.questions.find(&peer.asked, message) {
            Some(next) => {
                next.asked.at = fields.begun.unwrap_or(next.asked.at);
                &mut next.fields
            }
            None => &mut peer.fields,
        };
        core::mem::swap(target, &mut fields);
        let mut place = Place {
            at: self.at,
            shard: self.shard,
            options: self.options,
            budget: self.budget,
        };
        target.add_from(&fields, &self.grammar.program.fields, &mut place);
        fields.forget(self.shard, self.budget);
    }

    /// Only the first question that waits in a start condition can have such an answer.
    pub(crate) fn pass(&mut self, condition: Condition) {
        let before = {
            let mut all = self.questions.all(&self.peer.extra.asked);
            all.position(|question| question.asked.condition == condition)
        };
        for _ in 0..before.unwrap_or(0) {
            self.tell_oldest_of_peer();
        }
    }

    pub(crate) fn answer_same(&mut self, message: u16, same: [FieldId; 2]) {
        let own = &self.extra.fields;
        // What the answer does not say differs from nothing.
        let is_it = |question: &Fields| {
            let mut same = same.iter().filter(|&&field| own.has(field));
            same.all(|&field| own.texts(field).eq(question.texts(field)))
        };
        if self
            .questions
            .bring_first(&mut self.peer.extra.asked, is_it)
        {
            self.answer(message);
        } else {
            self.emit(message);
        }
    }

    pub(crate) fn answer_in_order(&mut self, message: u16, same: [FieldId; 4], anomaly: u16) {
        let agrees = |question: &Fields| same.iter().all(|&field| self.agrees(question, field));
        let mut before = 0usize;
        let mut is_left_out = false;
        let mut is_found = false;
        for question in self.questions.all(&self.peer.extra.asked) {
            is_found = agrees(&question.fields);
            if is_found {
                break;
            }
            is_left_out |= !question.asked.is_quiet;
            before = before.saturating_add(1);
        }
        if !is_found {
            let was_left_out = before == 0 && self.peer.extra.asked.answer_left_out();
            if !was_left_out {
                self.anomaly(anomaly);
            }
            return self.emit(message);
        }
        if is_left_out {
            self.anomaly(anomaly);
        }
        for _ in 0..before {
            self.tell_oldest_of_peer();
        }
        self.answer(message);
    }

    /// Whether a question may have this direction's answer, by one field. What the answer does not
    /// say agrees with all.
    fn agrees(&self, question: &Fields, field: FieldId) -> bool {
        let own = &self.extra.fields;
        if !own.has(field) {
            return true;
        }
        let known = self.grammar.program.fields.get(usize::from(field));
        if known.is_none_or(|known| known.kind != FieldKind::List) {
            return own.texts(field).eq(question.texts(field));
        }
        // Of a full list not all members are known.
        let is_full = question.texts(field).count() >= self.options.list_len_max;
        let mut texts = own.texts(field);
        is_full || texts.all(|text| question.texts(field).any(|other| other == text))
    }

    /// Bytes of this direction are missing; `keeps`: it goes on with what was captured.
    pub(crate) fn gap(&mut self, keeps: bool) {
        if !keeps {
            self.clear();
        }
        self.forget_questions();
        self.sink.anomaly("text_gap");
    }

    /// Answers may be missing: nobody knows whose those behind are, unless they say so.
    fn forget_questions(&mut self) {
        let mut all = self.grammar.program.operations.iter();
        let says = |one: &Op| matches!(one, Op::AnswerSame { .. } | Op::AnswerInOrder { .. });
        if !all.any(says) {
            while self.tell_oldest_of_peer() {}
        }
    }
}

/// Whether answers name the questions of a message.
#[cold]
fn is_named(grammar: &Grammar, asked: u16) -> bool {
    let mut all = grammar.program.operations.iter();
    all.any(|one| matches!(one, Op::AnswerSame { message, .. } if *message == asked))
}
