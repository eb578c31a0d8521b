//! Pairs answers with questions.
//!
//! ```text
//!  one direction                         the other
//!  ask ────────► question ─┐             answer            the oldest
//!  ask(…, IN) ─► question ─┤ in order ─► answer_in_order   the oldest that agrees, or an anomaly
//!  await(IN) ──► (nothing) ┘
//! ```
//!
//! Answers that name their questions, in any order, are in `named`.

use crate::actions::capture_context;
use crate::actions::{Actor, emit_message};
use crate::fields::Fields;
use crate::questions::{Asked, NO_CONDITION, NO_MESSAGE, Question};
use flowpin_lexer::{Condition, FieldId, FieldKind, Grammar, Op};
use flowpin_record::MessageSink;

impl<S: MessageSink> Actor<'_, S> {
    /// The start condition of this direction between two answers: that of the oldest question.
    pub(crate) fn answer_condition(&self) -> Condition {
        let question = self.questions.first(&self.peer.extra.asked);
        let asked = question.map(|question| question.asked.condition);
        asked
            .filter(|&condition| condition != NO_CONDITION)
            .unwrap_or(self.condition)
    }

    pub(crate) fn ask(&mut self, message: u16, condition: Condition, times: u64) {
        self.end_content(false);
        if self.extra.has_no_reply || times == 0 {
            return self.emit(message);
        }
        let asked = Asked {
            message,
            at: self.extra.fields.begun.unwrap_or(self.at),
            condition,
            times,
            is_quiet: self.extra.is_quiet,
            ..Asked::default()
        };
        if self.queue_question(asked) {
            self.extra.told = self.extra.told.saturating_add(1);
            return self.clear();
        }
        *self.questions_lost = self.questions_lost.saturating_add(1);
        // If answers name their questions, the oldest is the least likely to be answered.
        if !is_named(self.grammar, message) {
            self.extra.asked.leave_out();
        } else if self.emit_oldest() && self.queue_question(asked) {
            self.extra.told = self.extra.told.saturating_add(1);
            return self.clear();
        }
        self.emit(message);
    }

    /// Queues a question that is not emitted, so that its answer is paired with it.
    pub(crate) fn await_answer(&mut self, condition: Condition) {
        let asked = Asked {
            message: NO_MESSAGE,
            at: self.at,
            condition,
            ..Asked::default()
        };
        let queue = &mut self.extra.asked;
        let nothing = Fields::default();
        if !self.questions.has_room(queue, 0)
            || !self.questions.push(queue, self.shard, asked, nothing, 0)
        {
            *self.questions_lost = self.questions_lost.saturating_add(1);
            queue.leave_out();
        }
    }

    /// Queues the direction's fields as a question, but for those that the grammar keeps, of which
    /// the direction keeps a copy; false if there is no room.
    pub(crate) fn queue_question(&mut self, asked: Asked) -> bool {
        let fields = self.extra.fields;
        if !self.questions.has_room(&self.extra.asked, 0) {
            return false;
        }
        let mut context = capture_context(self.at, self.shard, self.options, self.memory);
        let known = &self.grammar.program.fields;
        let Some(mut kept) = fields.copy_of_kept(known, &mut context) else {
            return false;
        };
        let copied = kept.cost(self.memory);
        let queue = &mut self.extra.asked;
        let is_queued = self.questions.has_room(queue, copied)
            && self
                .questions
                .push(queue, self.shard, asked, fields, copied);
        if is_queued {
            self.extra.fields = kept;
        } else {
            kept.forget(self.shard, self.memory);
        }
        is_queued
    }

    /// Emits this direction's oldest question without an answer; false if there is none.
    fn emit_oldest(&mut self) -> bool {
        let asked = &mut self.extra.asked;
        let Some(question) = self.questions.first(asked) else {
            return false;
        };
        let (fields, how) = ([question.fields.values(self.memory); 2], question.asked);
        let message = (how.message, self.to_server);
        emit_message(self.grammar, message, how.at, fields, self.sink);
        self.questions.pop(asked, self.shard, self.memory);
        true
    }

    /// Emits the other direction's oldest question without an answer; false if there is none.
    fn emit_oldest_of_peer(&mut self) -> bool {
        core::mem::swap(&mut self.extra.asked, &mut self.peer.extra.asked);
        let is_emitted = self.emit_oldest();
        core::mem::swap(&mut self.extra.asked, &mut self.peer.extra.asked);
        is_emitted
    }

    pub(crate) fn answer(&mut self, message: u16) {
        let asked = &mut self.peer.extra.asked;
        match self.questions.first(asked) {
            Some(question) => {
                let fields = [self.extra.fields, question.fields];
                let fields = fields.map(|fields| fields.values(self.memory));
                let message = (message, self.to_server);
                emit_message(self.grammar, message, question.asked.at, fields, self.sink);
                self.questions.take_answer(asked, self.shard, self.memory);
                self.clear();
            }
            None => {
                asked.answer_left_out();
                self.emit(message);
            }
        }
    }

    /// Handles one of several answers, the number of which is unknown.
    pub(crate) fn answer_more(&mut self, message: u16) {
        match self.questions.first(&self.peer.extra.asked) {
            Some(question) => {
                let fields = [self.extra.fields, question.fields];
                let fields = fields.map(|fields| fields.values(self.memory));
                let message = (message, self.to_server);
                emit_message(self.grammar, message, question.asked.at, fields, self.sink);
                self.clear();
            }
            None => self.emit(message),
        }
    }

    /// Handles the answer to the oldest question without emitting it.
    pub(crate) fn answered(&mut self) {
        let asked = &mut self.peer.extra.asked;
        match self.questions.first(asked) {
            Some(_) => self.questions.take_answer(asked, self.shard, self.memory),
            None => {
                asked.answer_left_out();
            }
        }
    }

    /// Emits the fields of the other direction with an answer, although it has no question yet.
    pub(crate) fn answer_begun(&mut self, message: u16) {
        self.end_content_of_peer();
        let peer = &mut self.peer.extra;
        peer.told = peer.told.saturating_add(1);
        let time = peer.fields.begun.unwrap_or(self.at);
        let fields = [self.extra.fields, peer.fields];
        let fields = fields.map(|fields| fields.values(self.memory));
        emit_message(
            self.grammar,
            (message, self.to_server),
            time,
            fields,
            self.sink,
        );
        let known = &self.grammar.program.fields;
        peer.fields.clear(known, self.shard, self.memory);
        self.clear();
    }

    /// Withdraws the oldest question: its fields move to the next question with this message, or to
    /// the current fields of the other direction.
    pub(crate) fn take_back(&mut self, message: u16) {
        let peer = &mut self.peer.extra;
        let Some(mut fields) = self.questions.take_first(&mut peer.asked, self.shard) else {
            peer.asked.answer_left_out();
            return;
        };
        peer.told = peer.told.saturating_sub(1);
        let is_it = |next: &Question| next.asked.message == message;
        let target = match self.questions.find(&peer.asked, is_it) {
            Some(next) => {
                next.asked.at = fields.begun.unwrap_or(next.asked.at);
                &mut next.fields
            }
            None => &mut peer.fields,
        };
        core::mem::swap(target, &mut fields);
        let mut context = capture_context(self.at, self.shard, self.options, self.memory);
        target.add_from(&fields, &self.grammar.program.fields, &mut context);
        fields.forget(self.shard, self.memory);
    }

    /// Emits all questions before the first with this start condition: only that one can have the
    /// answer.
    pub(crate) fn pass(&mut self, condition: Condition) {
        let before = {
            let mut all = self.questions.all(&self.peer.extra.asked);
            all.position(|question| question.asked.condition == condition)
        };
        for _ in 0..before.unwrap_or(0) {
            self.emit_oldest_of_peer();
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
            self.emit_oldest_of_peer();
        }
        self.answer(message);
    }

    /// Whether a question agrees with this direction's answer in one field. A field that the answer
    /// lacks agrees with every question.
    fn agrees(&self, question: &Fields, field: FieldId) -> bool {
        let own = self.extra.fields.values(self.memory);
        let question = question.values(self.memory);
        if !own.has(field) {
            return true;
        }
        let known = self.grammar.program.fields.get(usize::from(field));
        if known.is_none_or(|known| known.kind != FieldKind::List) {
            return own.texts(field).eq(question.texts(field));
        }
        // A full list may have had more members.
        let is_full = question.texts(field).count() >= self.options.list_len_max;
        let mut texts = own.texts(field);
        is_full || texts.all(|text| question.texts(field).any(|other| other == text))
    }

    /// Handles missing bytes of this direction; `keeps`: the captured fields are kept.
    pub(crate) fn gap(&mut self, keeps: bool) {
        if !keeps {
            self.clear();
        }
        self.forget_questions();
        self.sink.anomaly("text_gap");
    }

    /// Answers may be missing: unless later answers name their questions, they cannot be paired
    /// with the waiting ones, which are emitted.
    fn forget_questions(&mut self) {
        let mut all = self.grammar.program.operations.iter();
        let says = |one: &Op| matches!(one, Op::AnswerSame { .. } | Op::AnswerInOrder { .. });
        if !all.any(says) {
            while self.emit_oldest_of_peer() {}
        }
    }
}

/// Whether answers name the questions with this message.
#[cold]
fn is_named(grammar: &Grammar, asked: u16) -> bool {
    let mut all = grammar.program.operations.iter();
    all.any(|one| matches!(one, Op::AnswerSame { message, .. } if *message == asked))
}
