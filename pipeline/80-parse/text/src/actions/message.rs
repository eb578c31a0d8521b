//! Emits messages from captured fields, or from single tokens.

use super::Actor;
use crate::fields::Values;
use flowpin_lexer::{FieldId, FieldKind, Grammar, GrammarMessage, Token};
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSink, Shown, Value};

impl<S: MessageSink> Actor<'_, S> {
    /// Emits a token as a message, for grammars that define no messages.
    pub(super) fn emit_token(&mut self, message: u16, token: &Token<'_>) {
        if self.fed_texts.is_none() {
            return;
        }
        let offset = self.extra.offset;
        self.extra.offset = offset.wrapping_add(token.len);
        let (Some(name), Some(message)) = (
            self.grammar.token_name(token.token),
            self.grammar.program.messages.get(usize::from(message)),
        ) else {
            return;
        };
        if !self.sink.reads(&message.schema) {
            return self.sink.message(&message.schema, self.at, &[]);
        }
        let text = token.text.get(..self.options.text_len_max);
        if text.is_some() {
            self.memory.lose();
        }
        let text = text.unwrap_or(token.text);
        let direction = if self.to_server { "client" } else { "server" };
        let values = [
            Value::Bytes(name.as_bytes()),
            if text.is_empty() {
                Value::Unset
            } else {
                Value::Bytes(text)
            },
            Value::Bytes(direction.as_bytes()),
            Value::Count(offset),
        ];
        self.sink.message(&message.schema, self.at, &values);
    }

    pub(crate) fn anomaly(&mut self, anomaly: u16) {
        let words = &self.grammar.program.anomalies;
        if let Some(word) = words.get(usize::from(anomaly)) {
            self.sink.anomaly(word);
        }
    }

    pub(crate) fn emit(&mut self, message: u16) {
        self.end_content(false);
        self.extra.told = self.extra.told.saturating_add(1);
        self.show(message);
        self.clear();
    }

    /// Emits a message of fields that are needed further on.
    pub(super) fn show(&mut self, message: u16) {
        let time = self.extra.fields.begun.unwrap_or(self.at);
        let fields = self.extra.fields.values(self.memory);
        let message = (message, self.to_server);
        emit_message(self.grammar, message, time, [fields, fields], self.sink);
    }

    /// Ends a message: clears the fields that the grammar does not keep.
    pub(crate) fn clear(&mut self) {
        self.end_content(false);
        self.extra.is_unread = false;
        let known = &self.grammar.program.fields;
        self.extra.fields.clear(known, self.shard, self.memory);
        (self.extra.has_no_reply, self.extra.is_quiet) = (false, false);
        self.drop_fed();
    }
}

/// Emits a message of one direction; fields missing in the first set come from the second.
pub(crate) fn emit_message<S: MessageSink>(
    grammar: &Grammar,
    (message, to_server): (u16, bool),
    time: Timestamp,
    fields: [Values<'_>; 2],
    sink: &mut S,
) {
    let Some(message) = grammar.program.messages.get(usize::from(message)) else {
        return;
    };
    if !sink.reads(&message.schema) {
        // What goes by columns is not reported where no format has it.
        if message.schema.shown != Shown::InColumns {
            sink.message(&message.schema, time, &[]);
        }
        return;
    }
    let mut members = [Value::Unset; MEMBERS_MAX];
    let mut member_count = 0;
    for (id, kind) in columns(grammar, message) {
        let from = chosen(fields, id);
        let mut add = |value| {
            if let Some(member) = members.get_mut(member_count) {
                *member = value;
                member_count = member_count.saturating_add(1);
            }
        };
        match kind {
            FieldKind::List => from.texts(id).for_each(|text| add(Value::Bytes(text))),
            FieldKind::Files => from.counts(id).for_each(|file| add(Value::Count(file))),
            FieldKind::Text | FieldKind::Count | FieldKind::Flag => {}
        }
    }
    let mut values = [Value::Unset; COLUMNS_MAX];
    let mut rest = members.get(..member_count).unwrap_or_default();
    let mut column_count = 0usize;
    for ((id, kind), value) in columns(grammar, message).zip(&mut values) {
        column_count = column_count.saturating_add(1);
        let from = chosen(fields, id);
        let len = match kind {
            FieldKind::List => from.texts(id).count(),
            FieldKind::Files => from.counts(id).count(),
            FieldKind::Text | FieldKind::Count | FieldKind::Flag => {
                *value = from.value(id, kind).unwrap_or(Value::Unset);
                continue;
            }
        };
        let len = len.min(rest.len());
        let (own, later) = rest.split_at(len);
        rest = later;
        if len > 0 {
            *value = Value::List(own);
        }
    }
    if let Some(value) = message.schema.client_sent.and_then(|at| values.get_mut(at)) {
        *value = Value::Bool(to_server);
        column_count = column_count.saturating_add(1);
    }
    let values = values.get(..column_count).unwrap_or_default();
    sink.message(&message.schema, time, values);
}

fn chosen(fields: [Values<'_>; 2], id: FieldId) -> Values<'_> {
    let [first, second] = fields;
    if first.has(id) { first } else { second }
}

fn columns<'a>(
    grammar: &'a Grammar,
    message: &'a GrammarMessage,
) -> impl Iterator<Item = (FieldId, FieldKind)> + 'a {
    message.fields.iter().filter_map(|&id| {
        let field = grammar.program.fields.get(usize::from(id))?;
        Some((id, field.kind))
    })
}

/// The compiler allows no more, and one that says who sent it.
const COLUMNS_MAX: usize = 65;
/// Members of all lists of a message.
const MEMBERS_MAX: usize = 192;
