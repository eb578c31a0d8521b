//! What a grammar's actions do: its operations, one after the other.

use crate::feed::Feeding;
use crate::fields::{Budget, Fields, Place};
use crate::options::TextOptions;
use crate::questions::{NO_CONDITION, Questions, Queue};
use crate::window;
use flowpin_lexer::{
    Condition, FieldId, FieldKind, Grammar, GrammarMessage, Op, Saved, Scanner, Sink, Texts, Then,
    Token,
};
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSink, Value};

/// One direction of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) saved: Saved,
    pub(crate) extra: Extra,
}

/// All of a direction but its scanner's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    pub(crate) fields: Fields,
    /// What it has asked.
    pub(crate) asked: Queue,
    /// The field that takes the bytes which are skipped.
    pub(crate) taking: Option<FieldId>,
    /// The stream of which the bytes that are skipped are a part.
    pub(crate) fed: Option<Saved>,
    pub(crate) feeding: Feeding,
    /// Bytes of the direction before the token at hand.
    pub(crate) offset: u64,
    /// What is captured expects no answer.
    pub(crate) has_no_reply: bool,
    /// Its answer may be left out.
    pub(crate) is_quiet: bool,
    pub(crate) has_unmatched: bool,
    pub(crate) has_shortened: bool,
}

/// What is the same for all connections of a worker.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: TextOptions,
    pub(crate) budget: Budget,
    pub(crate) questions: Questions,
    pub(crate) texts: Texts,
    /// Of streams within streams.
    pub(crate) fed_texts: Texts,
    pub(crate) questions_lost: u64,
}

/// A direction being scanned.
pub(crate) struct Actor<'a, S> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) scanner: &'a Scanner,
    /// By rule: it does nothing but capture texts.
    pub(crate) only_shows: &'a [bool],
    /// Somebody reads the messages; where nobody does, no texts are made for them.
    pub(crate) is_read: bool,
    pub(crate) extra: &'a mut Extra,
    pub(crate) peer: &'a mut Side,
    pub(crate) budget: &'a mut Budget,
    pub(crate) questions: &'a mut Questions,
    pub(crate) questions_lost: &'a mut u64,
    pub(crate) options: &'a TextOptions,
    /// None within a stream within the direction's.
    pub(crate) fed_texts: Option<&'a mut Texts>,
    pub(crate) shard: u8,
    pub(crate) at: Timestamp,
    pub(crate) to_server: bool,
    /// Where the direction stands.
    pub(crate) condition: Condition,
    pub(crate) sink: &'a mut S,
    /// The other direction is to be stopped.
    pub(crate) stops_peer: bool,
}

impl<S: MessageSink> Sink for Actor<'_, S> {
    fn token(&mut self, token: Token<'_>) -> Then {
        if token.is_shortened() && !core::mem::replace(&mut self.extra.has_shortened, true) {
            self.sink.anomaly("text_token_too_long");
        }
        let grammar = self.grammar;
        let rules = &grammar.table.parts().rules;
        if let Some(message) = grammar.program.tokens {
            self.tell_token(message, &token);
        }
        let Some(rule) = token.rule.and_then(|rule| rules.get(usize::from(rule))) else {
            self.sink.fits(false);
            if !core::mem::replace(&mut self.extra.has_unmatched, true) {
                self.sink.anomaly("text_unmatched");
            }
            return Then::Go;
        };
        if let Some(begun) = rule.begin.checked_sub(1) {
            self.condition = begun;
        }
        let index = usize::from(token.rule.unwrap_or_default());
        if !self.is_read && self.only_shows.get(index) == Some(&true) {
            self.sink.fits(true);
            return Then::Go;
        }
        let (from, to) = rule.operations;
        let operations = grammar
            .program
            .operations
            .get(usize::from(from)..usize::from(to));
        let mut turn = Turn {
            window: token.text,
            skip: 0,
            begin: None,
            is_over: false,
            stops: false,
        };
        for &operation in operations.unwrap_or_default() {
            // What a grammar has words for is its own, unless the word is that something is wrong.
            self.sink.fits(!matches!(operation, Op::Anomaly(_)));
            self.act(operation, token.text, &mut turn);
            if turn.is_over {
                break;
            }
        }
        if turn.skip == 0 && self.extra.feeding != Feeding::No {
            self.feed_ended();
        }
        if let Some(begun) = turn.begin {
            self.condition = begun;
        }
        if grammar.answers == Some(self.condition) && turn.skip == 0 {
            turn.begin = Some(self.onward());
        }
        match turn {
            Turn { stops: true, .. } => Then::Stop,
            Turn {
                skip: 0,
                begin: None,
                ..
            } => Then::Go,
            Turn {
                skip: 0,
                begin: Some(condition),
                ..
            } => Then::Begin(condition),
            Turn { skip, begin, .. } => Then::Skip(skip, begin),
        }
    }

    fn skipped(&mut self, bytes: &[u8]) {
        if self.fed_texts.is_some() {
            self.extra.offset = self.extra.offset.wrapping_add(bytes.len() as u64);
        }
        if let Some(field) = self.extra.taking {
            let mut place = place(self.at, self.shard, self.options, self.budget);
            self.extra.fields.extend_text(field, &[], bytes, &mut place);
        }
        if self.extra.feeding != Feeding::No {
            self.feed(bytes);
        }
    }

    fn skip_ended(&mut self) -> Then {
        self.extra.taking = None;
        if self.extra.feeding != Feeding::No {
            self.feed_ended();
        }
        match self.grammar.answers == Some(self.condition) {
            true => Then::Begin(self.onward()),
            false => Then::Go,
        }
    }
}

/// One action.
struct Turn<'t> {
    window: &'t [u8],
    skip: u64,
    begin: Option<Condition>,
    is_over: bool,
    stops: bool,
}

fn place<'a>(
    at: Timestamp,
    shard: u8,
    options: &'a TextOptions,
    budget: &'a mut Budget,
) -> Place<'a> {
    Place {
        at,
        shard,
        options,
        budget,
    }
}

impl<S: MessageSink> Actor<'_, S> {
    fn act<'t>(&mut self, operation: Op, text: &'t [u8], turn: &mut Turn<'t>) {
        let fields = &mut self.extra.fields;
        match operation {
            Op::Trim(front, back) => turn.window = window::trimmed(turn.window, front, back),
            Op::Blank => turn.window = turn.window.trim_ascii(),
            Op::Word(nth) => turn.window = window::word(text, nth),
            Op::Rest(nth) => turn.window = window::rest(text, nth),
            Op::After(byte) => turn.window = window::after(turn.window, byte),
            Op::Before(byte) => turn.window = window::before(turn.window, byte),
            Op::Between(begin, end) => turn.window = window::between(turn.window, begin, end),
            // Nothing is no text: the field is unset.
            Op::Capture(field) if turn.window.is_empty() => fields.clear_field(field),
            Op::Unfold(field) => self.unfold(field, turn.window),
            Op::Append(_) if turn.window.is_empty() => {}
            Op::Capture(field) => self.capture(field, turn.window),
            Op::Append(field) => self.append(field, turn.window),
            Op::Set(field, text) => {
                let texts = &self.grammar.program.texts;
                if let Some(text) = texts.get(usize::from(text)) {
                    self.capture(field, text.as_bytes());
                }
            }
            Op::SetNumber(field, count) => fields.set_count(field, count, self.at, self.budget),
            Op::Increment(field) => {
                let count = fields.count(field).unwrap_or(0);
                fields.set_count(field, count.saturating_add(1), self.at, self.budget);
            }
            Op::Add(field, other) => {
                let count = fields.count(field).unwrap_or(0);
                let more = fields.count(other).unwrap_or(0);
                fields.set_count(field, count.saturating_add(more), self.at, self.budget);
            }
            Op::Repeat(field, condition) => {
                let left = fields.count(field).unwrap_or(0).saturating_sub(1);
                fields.set_count(field, left, self.at, self.budget);
                if left > 0 {
                    turn.begin = Some(condition);
                    turn.is_over = true;
                }
            }
            Op::Number {
                field,
                base,
                min,
                max,
                anomaly,
            } => match window::number(turn.window, base) {
                Some(count) if (min..=max).contains(&count) => {
                    fields.set_count(field, count, self.at, self.budget);
                }
                _ => {
                    self.anomaly(anomaly);
                    turn.is_over = true;
                }
            },
            Op::Skip(field, more) => {
                let len = fields.count(field).unwrap_or(0);
                turn.skip = len.saturating_add(u64::from(more));
            }
            Op::SkipCount(len) => turn.skip = len,
            Op::Take(field, len) => {
                turn.skip = fields.count(len).unwrap_or(0);
                self.capture(field, &[]);
                self.extra.taking = (turn.skip > 0 && self.is_read).then_some(field);
            }
            Op::Emit(message) => self.emit(message),
            Op::Ask(message) => self.ask(message, NO_CONDITION, 1),
            Op::AskIn(message, condition) => self.ask(message, condition, 1),
            Op::AskTimes(message, times) => {
                let times = fields.count(times).unwrap_or(0);
                self.ask(message, NO_CONDITION, times);
            }
            Op::Await(condition) => self.wait_for(condition),
            Op::NoReply => self.extra.has_no_reply = true,
            Op::Quiet => self.extra.is_quiet = true,
            Op::Answer(message) => self.answer(message),
            Op::AnswerSame { message, fields } => self.answer_same(message, fields),
            Op::AnswerMore(message) => self.answer_more(message),
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
                    turn.is_over = true;
                }
            }
            Op::Pass(condition) => self.pass(condition),
            Op::Feed {
                len,
                condition,
                is_last,
            } => {
                turn.skip = fields.count(len).unwrap_or(0);
                self.begin_feed(condition, is_last);
            }
            Op::Clear(field) => fields.clear_field(field),
            Op::Anomaly(anomaly) => self.anomaly(anomaly),
            Op::Peer(condition) => self.peer.saved.begin(condition),
            Op::PeerFrom(condition, from) => {
                if self.peer.saved.condition() == from {
                    self.peer.saved.begin(condition);
                }
            }
            Op::Stop => turn.stops = true,
            Op::StopBoth => {
                turn.stops = true;
                self.stops_peer = true;
            }
        }
    }

    /// What a grammar without messages tells: its tokens.
    fn tell_token(&mut self, message: u16, token: &Token<'_>) {
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
            self.budget.lost = self.budget.lost.saturating_add(1);
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

    fn capture(&mut self, field: FieldId, text: &[u8]) {
        if !self.is_read {
            return;
        }
        let mut place = place(self.at, self.shard, self.options, self.budget);
        self.extra.fields.set_text(field, text, false, &mut place);
    }

    /// RFC 5322 §2.2.3, RFC 3261 §7.3.1: a line that begins with a blank goes on with the one
    /// before.
    fn unfold(&mut self, field: FieldId, text: &[u8]) {
        if !self.is_read {
            return;
        }
        let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let mut place = place(self.at, self.shard, self.options, self.budget);
        let mut is_first = true;
        let fields = &mut self.extra.fields;
        fields.clear_field(field);
        for line in lines.filter(|line| !line.is_empty()) {
            if is_first {
                fields.set_text(field, line, false, &mut place);
            } else {
                fields.extend_text(field, b" ", line, &mut place);
            }
            is_first = false;
        }
    }

    fn append(&mut self, field: FieldId, text: &[u8]) {
        if !self.is_read {
            return;
        }
        let known = self.grammar.program.fields.get(usize::from(field));
        let is_list = known.is_some_and(|known| known.kind == FieldKind::List);
        let mut place = place(self.at, self.shard, self.options, self.budget);
        let fields = &mut self.extra.fields;
        match is_list {
            true => fields.set_text(field, text, true, &mut place),
            false => fields.extend_text(field, b" ", text, &mut place),
        }
    }

    pub(crate) fn anomaly(&mut self, anomaly: u16) {
        let words = &self.grammar.program.anomalies;
        if let Some(word) = words.get(usize::from(anomaly)) {
            self.sink.anomaly(word);
        }
    }

    pub(crate) fn emit(&mut self, message: u16) {
        let time = self.extra.fields.begun.unwrap_or(self.at);
        let fields = &self.extra.fields;
        tell(self.grammar, message, time, [fields, fields], self.sink);
        self.clear();
    }

    /// A message is over: what its direction has captured begins anew.
    pub(crate) fn clear(&mut self) {
        let known = &self.grammar.program.fields;
        self.extra.fields.clear(known, self.shard, self.budget);
        (self.extra.has_no_reply, self.extra.is_quiet) = (false, false);
        self.drop_fed();
    }
}

/// Tells a message; a field that the first has not is the second's.
pub(crate) fn tell<S: MessageSink>(
    grammar: &Grammar,
    message: u16,
    time: Timestamp,
    fields: [&Fields; 2],
    sink: &mut S,
) {
    let Some(message) = grammar.program.messages.get(usize::from(message)) else {
        return;
    };
    if !sink.reads(&message.schema) {
        return sink.message(&message.schema, time, &[]);
    }
    let mut members = [Value::Unset; MEMBERS_MAX];
    let mut member_count = 0;
    for (id, kind) in columns(grammar, message) {
        let from = chosen(fields, id);
        if kind == FieldKind::List {
            for (text, member) in from.texts(id).zip(members.iter_mut().skip(member_count)) {
                *member = Value::Bytes(text);
                member_count = member_count.saturating_add(1);
            }
        }
    }
    let mut values = [Value::Unset; COLUMNS_MAX];
    let mut rest = members.get(..member_count).unwrap_or_default();
    let mut column_count = 0usize;
    for ((id, kind), value) in columns(grammar, message).zip(&mut values) {
        column_count = column_count.saturating_add(1);
        let from = chosen(fields, id);
        if kind != FieldKind::List {
            *value = from.value(id, kind).unwrap_or(Value::Unset);
            continue;
        }
        let len = from.texts(id).count().min(rest.len());
        let (own, later) = rest.split_at(len);
        rest = later;
        if len > 0 {
            *value = Value::List(own);
        }
    }
    let values = values.get(..column_count).unwrap_or_default();
    sink.message(&message.schema, time, values);
}

fn chosen(fields: [&Fields; 2], id: FieldId) -> &Fields {
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

/// As the compiler allows.
const COLUMNS_MAX: usize = 64;
/// Members of all lists of a message.
const MEMBERS_MAX: usize = 128;
