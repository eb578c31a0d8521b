//! The operations of an action, run in order.

use super::{Actor, capture_context};
use crate::questions::NO_CONDITION;
use crate::window;
use flowpin_lexer::{Condition, FieldId, FieldKind, Op};
use flowpin_mime::{parameter, unfolded};
use flowpin_record::MessageSink;

/// The state of one action while its operations run.
pub(super) struct ActionState<'t> {
    pub(super) window: &'t [u8],
    pub(super) skip: u64,
    pub(super) begin: Option<Condition>,
    pub(super) is_over: bool,
    pub(super) stops: bool,
    /// The condition in which the token was read.
    pub(super) before: Condition,
    /// The token ends a mail.
    pub(super) ends_content: bool,
}

impl<S: MessageSink> Actor<'_, S> {
    pub(super) fn act<'t>(&mut self, operation: Op, text: &'t [u8], state: &mut ActionState<'t>) {
        match operation {
            Op::Trim(front, back) => state.window = window::trimmed(state.window, front, back),
            Op::Blank => state.window = state.window.trim_ascii(),
            Op::Word(nth) => state.window = window::word(text, nth),
            Op::Rest(nth) => state.window = window::rest(text, nth),
            Op::After(byte) => state.window = window::after(state.window, byte),
            Op::Before(byte) => state.window = window::before(state.window, byte),
            Op::BeforeText(text) => {
                let texts = &self.grammar.program.texts;
                if let Some(text) = texts.get(usize::from(text)) {
                    state.window = window::before_text(state.window, text.as_bytes());
                }
            }
            Op::Between(begin, end) => state.window = window::between(state.window, begin, end),
            Op::BetweenWith(begin, end) => {
                state.window = window::between_with(state.window, begin, end);
            }
            Op::FromLast(byte) => state.window = window::from_last(state.window, byte),
            Op::ContentOver => {
                state.ends_content = true;
                self.content_over(text, state.window, state.before);
            }
            // An empty text unsets the field.
            Op::Capture(field) if state.window.is_empty() => self.clear_field(field),
            Op::Unfold(field) => self.unfold(field, state.window),
            Op::Append(_) if state.window.is_empty() => {}
            Op::Capture(field) => self.capture(field, state.window),
            Op::Append(field) => self.append(field, state.window),
            Op::Parameter(field, name) => self.parameter(field, name, state.window),
            Op::Set(field, text) => {
                let texts = &self.grammar.program.texts;
                if let Some(text) = texts.get(usize::from(text)) {
                    self.capture(field, text.as_bytes());
                }
            }
            Op::SetNumber(field, count) => self.set_count(field, count),
            Op::Copy(to, from) => self.copy(to, from),
            Op::Increment(field) => {
                let count = self.count(field).unwrap_or(0);
                self.set_count(field, count.saturating_add(1));
            }
            Op::Add(field, other) => {
                let count = self.count(field).unwrap_or(0);
                let more = self.count(other).unwrap_or(0);
                self.set_count(field, count.saturating_add(more));
            }
            Op::Repeat(field, condition) => {
                let left = self.count(field).unwrap_or(0).saturating_sub(1);
                self.set_count(field, left);
                if left > 0 {
                    state.begin = Some(condition);
                    state.is_over = true;
                }
            }
            Op::Number {
                field,
                base,
                min,
                max,
                anomaly,
            } => match window::number(state.window, base) {
                Some(count) if (min..=max).contains(&count) => {
                    self.set_count(field, count);
                }
                _ => {
                    self.anomaly(anomaly);
                    state.is_over = true;
                }
            },
            Op::Skip(field, more) => {
                let len = self.count(field).unwrap_or(0);
                state.skip = len.saturating_add(u64::from(more));
            }
            Op::SkipCount(len) => state.skip = len,
            Op::Take(field, len) => {
                state.skip = self.count(len).unwrap_or(0);
                self.capture(field, &[]);
                self.extra.taking = (state.skip > 0 && self.is_read).then_some(field);
            }
            Op::Emit(message) => self.emit(message),
            Op::Show(message) => self.show(message),
            Op::Ask(message) => self.ask(message, NO_CONDITION, 1),
            Op::AskIn(message, condition) => self.ask(message, condition, 1),
            Op::AskTimes(message, times) => {
                let times = self.count(times).unwrap_or(0);
                self.ask(message, NO_CONDITION, times);
            }
            Op::AskOnce { message, fields } => self.ask_once(message, fields),
            Op::AskLast(message) => self.ask_last(message),
            Op::Await(condition) => self.await_answer(condition),
            Op::NoReply => self.extra.has_no_reply = true,
            Op::Quiet => self.extra.is_quiet = true,
            Op::Answer(message) => self.answer(message),
            Op::AnswerSame { message, fields } => self.answer_same(message, fields),
            Op::AnswerMore(message) => self.answer_more(message),
            Op::AnswerMoreSame { message, fields } => self.answer_more_same(message, fields),
            Op::AnswerInOrder {
                message,
                fields,
                anomaly,
            } => self.answer_in_order(message, fields, anomaly),
            Op::Answered => self.answered(),
            Op::TakeBack(message) => self.take_back(message),
            Op::AnswerBegun(message, condition, from) => {
                let is_answer = !self.peer.extra.asked.has_left_out();
                if is_answer && self.peer.saved.condition() == from {
                    self.answer_begun(message);
                    self.peer.saved.begin(condition);
                    state.is_over = true;
                }
            }
            Op::Pass(condition) => self.pass(condition),
            Op::Feed {
                len,
                condition,
                is_last,
            } => {
                state.skip = self.count(len).unwrap_or(0);
                self.begin_feed(condition, is_last);
            }
            Op::Clear(field) => self.clear_field(field),
            Op::ClearAll => self.clear(),
            Op::Anomaly(anomaly) => self.anomaly(anomaly),
            Op::Peer(condition) => self.peer.saved.begin(condition),
            Op::PeerFrom(condition, from) => {
                if self.peer.saved.condition() == from {
                    self.peer.saved.begin(condition);
                }
            }
            Op::Stop => state.stops = true,
            Op::StopBoth => {
                state.stops = true;
                self.stops_peer = true;
            }
        }
    }

    fn count(&self, field: FieldId) -> Option<u64> {
        self.extra.fields.values(self.memory).count(field)
    }

    fn set_count(&mut self, field: FieldId, count: u64) {
        let mut context = capture_context(self.at, self.shard, self.options, self.memory);
        self.extra.fields.set_count(field, count, &mut context);
    }

    fn clear_field(&mut self, field: FieldId) {
        let fields = &mut self.extra.fields;
        fields.clear_field(field, self.shard, self.memory);
    }

    fn capture(&mut self, field: FieldId, text: &[u8]) {
        if !self.is_read {
            return;
        }
        let mut context = capture_context(self.at, self.shard, self.options, self.memory);
        self.extra.fields.set_text(field, text, false, &mut context);
    }

    /// RFC 5322 §2.2.3, RFC 3261 §7.3.1: a line that begins with a blank continues the line before
    /// it.
    fn unfold(&mut self, field: FieldId, text: &[u8]) {
        if !self.is_read {
            return;
        }
        let is_list = self.is_list(field);
        let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let mut context = capture_context(self.at, self.shard, self.options, self.memory);
        let mut is_first = true;
        let fields = &mut self.extra.fields;
        if !is_list {
            fields.clear_field(field, context.shard, context.memory);
        }
        for line in lines.filter(|line| !line.is_empty()) {
            if is_first {
                let lost = context.memory.lost;
                fields.set_text(field, line, is_list, &mut context);
                // Without room in a list, what follows must not become part of an earlier member.
                if is_list && context.memory.lost > lost {
                    return;
                }
            } else {
                fields.extend_text(field, b" ", line, &mut context);
            }
            is_first = false;
        }
    }

    fn is_list(&self, field: FieldId) -> bool {
        let known = self.grammar.program.fields.get(usize::from(field));
        known.is_some_and(|known| known.kind == FieldKind::List)
    }

    /// The parameter's plain value if there is one, else the one in parts or with a character set.
    fn parameter(&mut self, field: FieldId, name: u16, text: &[u8]) {
        let names = &self.grammar.program.texts;
        let Some(name) = names.get(usize::from(name)).filter(|_| self.is_read) else {
            return;
        };
        let value = unfolded(text);
        let found = parameter(&value, name.as_bytes()).plain_first();
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            self.append(field, &found);
        }
    }

    fn copy(&mut self, to: FieldId, from: FieldId) {
        let mut moved = core::mem::take(&mut self.memory.moved);
        moved.clear();
        let text = self.extra.fields.values(self.memory).texts(from).next();
        moved.extend_from_slice(text.unwrap_or_default());
        match moved.is_empty() {
            true => self.clear_field(to),
            false => self.capture(to, &moved),
        }
        self.memory.moved = moved;
    }

    fn append(&mut self, field: FieldId, text: &[u8]) {
        if !self.is_read {
            return;
        }
        let is_list = self.is_list(field);
        let mut context = capture_context(self.at, self.shard, self.options, self.memory);
        let fields = &mut self.extra.fields;
        match is_list {
            true => fields.set_text(field, text, true, &mut context),
            false => fields.extend_text(field, b" ", text, &mut context),
        }
    }
}
