//! Pairs answers with the questions that they name. Such a question may be asked again, and be
//! answered in parts.
//!
//! ```text
//!  one direction                              the other
//!  ask(M) ──────────────► question ─┐         answer(M, FIELD)        the oldest with equal fields
//!  ask_once(M, FIELD) ──► question ─┼ waits   answer_more(M, FIELD)   it goes on waiting
//!         again: the same question ─┘
//!  ask_last(M) ─────────► question, until another takes its place
//! ```

use crate::actions::{Actor, capture_context, emit_message};
use crate::fields::Values;
use crate::memory::Memory;
use crate::questions::{Asked, NO_CONDITION, Question};
use flowpin_lexer::FieldId;
use flowpin_record::MessageSink;

impl<S: MessageSink> Actor<'_, S> {
    /// Asks, unless the question waits already: then its lists go on with this direction's.
    pub(crate) fn ask_once(&mut self, message: u16, same: [FieldId; 2]) {
        self.withdraw_last();
        let own = self.extra.fields.values(self.memory);
        let is_it = |question: &Question| {
            let known = question.fields.values(self.memory);
            let mut same = same.iter();
            same.all(|&field| own.has(field) && own.texts(field).eq(known.texts(field)))
        };
        let Some(waiting) = self.questions.find(&self.extra.asked, is_it) else {
            return self.ask(message, NO_CONDITION, 1);
        };
        let mut context = capture_context(self.at, self.shard, self.options, self.memory);
        let known = &self.grammar.program.fields;
        let fields = &mut waiting.fields;
        fields.add_from(&self.extra.fields, known, &mut context);
        self.clear();
    }

    /// Asks what nothing answers.
    pub(crate) fn ask_last(&mut self, message: u16) {
        self.withdraw_last();
        let asked = Asked {
            message,
            at: self.extra.fields.begun.unwrap_or(self.at),
            is_last: true,
            ..Asked::default()
        };
        if self.queue_question(asked) {
            self.clear();
        } else {
            self.emit(message);
        }
    }

    fn withdraw_last(&mut self) {
        let asked = &mut self.extra.asked;
        self.questions.withdraw_last(asked, self.shard, self.memory);
    }

    /// The last answer to a question.
    pub(crate) fn answer_same(&mut self, message: u16, same: [FieldId; 2]) {
        let own = self.extra.fields.values(self.memory);
        let is_it = |question: &Question| is_named(question, own, self.memory, same);
        let asked = &mut self.peer.extra.asked;
        if !self.questions.bring_first(asked, is_it) {
            return self.emit(message);
        }
        let first = self.questions.find(asked, |_| true);
        if first.is_none_or(|first| first.asked.parts == 0) {
            return self.answer(message);
        }
        self.tell_part(message, same, u8::MAX);
        let asked = &mut self.peer.extra.asked;
        self.questions.take_answer(asked, self.shard, self.memory);
    }

    /// An answer to a question that goes on waiting. Beyond [`PARTS_MAX`] it is emitted alone:
    /// short answers do not repeat a long question without end.
    pub(crate) fn answer_more_same(&mut self, message: u16, same: [FieldId; 2]) {
        if !self.tell_part(message, same, PARTS_MAX) {
            self.emit(message);
        }
    }

    /// Emits a question with this answer, which becomes part of it; false if none has these fields,
    /// or it has so many parts already.
    fn tell_part(&mut self, message: u16, same: [FieldId; 2], parts_max: u8) -> bool {
        let own = self.extra.fields.values(self.memory);
        let is_it = |question: &Question| is_named(question, own, self.memory, same);
        let Some(question) = self.questions.find(&self.peer.extra.asked, is_it) else {
            return false;
        };
        if question.asked.parts >= parts_max {
            return false;
        }
        question.asked.parts = question.asked.parts.saturating_add(1);
        let mut context = capture_context(self.at, self.shard, self.options, self.memory);
        let (known, fields) = (&self.grammar.program.fields, &mut question.fields);
        fields.replace_from(&self.extra.fields, known, &mut context);
        let (fields, at) = ([fields.values(self.memory); 2], question.asked.at);
        let message = (message, self.to_server);
        emit_message(self.grammar, message, at, fields, self.sink);
        self.clear();
        true
    }
}

/// Answers that one question is emitted with, besides the last one.
const PARTS_MAX: u8 = 16;

/// Whether an answer with these fields names the question. A field that it lacks fits every one.
fn is_named(question: &Question, own: Values<'_>, memory: &Memory, same: [FieldId; 2]) -> bool {
    let known = question.fields.values(memory);
    let mut same = same.iter().filter(|&&field| own.has(field));
    !question.asked.is_last && same.all(|&field| own.texts(field).eq(known.texts(field)))
}
