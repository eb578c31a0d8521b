//! Executes the actions of a grammar: runs the operations of each rule that matched.

mod message;
mod operations;

use crate::feed::Feeding;
use crate::fields::{CaptureContext, Fields};
use crate::mails::Mails;
use crate::memory::Memory;
use crate::options::TextOptions;
use crate::questions::{Questions, Queue};
use flowpin_lexer::{
    Condition, FieldId, FieldKind, Grammar, Op, Saved, Scanner, Sink, Texts, Then, Token,
};
use flowpin_packet::Timestamp;
use flowpin_record::MessageSink;
pub(crate) use message::emit_message;
use operations::ActionState;

/// One direction of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) saved: Saved,
    pub(crate) extra: Extra,
}

/// The state of a direction, except for its scanner's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extra {
    pub(crate) fields: Fields,
    /// The direction's unanswered questions.
    pub(crate) asked: Queue,
    /// The field that captures the skipped bytes.
    pub(crate) taking: Option<FieldId>,
    /// The inner stream to which the skipped bytes belong.
    pub(crate) fed: Option<Saved>,
    pub(crate) feeding: Feeding,
    /// Bytes of the direction before the current token.
    pub(crate) offset: u64,
    /// The current message expects no answer.
    pub(crate) has_no_reply: bool,
    /// The current message may go unanswered.
    pub(crate) is_quiet: bool,
    pub(crate) has_unmatched: bool,
    pub(crate) has_shortened: bool,
    /// Bytes of the current token have passed by: it is longer than tokens may be.
    pub(crate) has_overflowed: bool,
    /// The end of the current mail is not the one that its sender meant.
    pub(crate) is_cut: bool,
    /// There was no memory for the parts of the current mail.
    pub(crate) is_unread: bool,
    /// The mail whose lines the tokens are.
    pub(crate) content: Option<u32>,
    /// Messages with these fields so far.
    pub(crate) told: u32,
    /// Files that they carried.
    pub(crate) files: u64,
    /// Entities of mails that are over.
    pub(crate) entities: u64,
}

/// State shared by all connections of a worker.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: TextOptions,
    pub(crate) memory: Memory,
    pub(crate) questions: Questions,
    pub(crate) texts: Texts,
    /// Incomplete tokens of inner streams.
    pub(crate) fed_texts: Texts,
    pub(crate) questions_lost: u64,
    pub(crate) mails: Mails,
}

/// Runs actions for the direction being scanned.
pub(crate) struct Actor<'a, S> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) scanner: &'a Scanner,
    /// By rule: whether its action does nothing but capture texts.
    pub(crate) only_captures: &'a [bool],
    /// The captured texts are needed; otherwise none are made.
    pub(crate) is_read: bool,
    pub(crate) extra: &'a mut Extra,
    pub(crate) peer: &'a mut Side,
    pub(crate) memory: &'a mut Memory,
    pub(crate) questions: &'a mut Questions,
    pub(crate) questions_lost: &'a mut u64,
    pub(crate) options: &'a TextOptions,
    pub(crate) mails: &'a mut Mails,
    /// Columns of files that events have of this grammar's mails.
    pub(crate) shared_columns: &'a [(usize, FieldId, FieldKind)],
    /// `None` while an inner stream is scanned.
    pub(crate) fed_texts: Option<&'a mut Texts>,
    pub(crate) shard: u8,
    pub(crate) at: Timestamp,
    pub(crate) to_server: bool,
    /// The start condition of the direction.
    pub(crate) condition: Condition,
    pub(crate) sink: &'a mut S,
    /// Scanning of the other direction is to stop.
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
            self.emit_token(message, &token);
        }
        let Some(rule) = token.rule.and_then(|rule| rules.get(usize::from(rule))) else {
            self.sink.fits(false);
            if !core::mem::replace(&mut self.extra.has_unmatched, true) {
                self.sink.anomaly("text_unmatched");
            }
            return Then::Go;
        };
        let before = self.condition;
        if let Some(begun) = rule.begin.checked_sub(1) {
            self.condition = begun;
        }
        let index = usize::from(token.rule.unwrap_or_default());
        if !self.is_read && self.only_captures.get(index) == Some(&true) {
            self.sink.fits(true);
            if self.mails.are_wanted() {
                self.content(&token, before);
            }
            return Then::Go;
        }
        let (from, to) = rule.operations;
        let operations = grammar
            .program
            .operations
            .get(usize::from(from)..usize::from(to));
        let mut state = ActionState {
            window: token.text,
            skip: 0,
            begin: None,
            is_over: false,
            stops: false,
            before,
            ends_content: false,
        };
        for &operation in operations.unwrap_or_default() {
            // A matched rule confirms the protocol, unless its action reports an anomaly.
            self.sink.fits(!matches!(operation, Op::Anomaly(_)));
            self.act(operation, token.text, &mut state);
            if state.is_over {
                break;
            }
        }
        if self.mails.are_wanted() && !state.ends_content {
            self.content(&token, before);
        }
        if state.skip == 0 && self.extra.feeding != Feeding::No {
            self.feed_ended();
        }
        if let Some(begun) = state.begin {
            self.condition = begun;
        }
        if grammar.answers == Some(self.condition) && state.skip == 0 {
            state.begin = Some(self.answer_condition());
        }
        match state {
            ActionState { stops: true, .. } => Then::Stop,
            ActionState {
                skip: 0,
                begin: None,
                ..
            } => Then::Go,
            ActionState {
                skip: 0,
                begin: Some(condition),
                ..
            } => Then::Begin(condition),
            ActionState { skip, begin, .. } => Then::Skip(skip, begin),
        }
    }

    fn overflow(&mut self, before: Option<&[u8]>, bytes: &[u8]) {
        if self.mails.are_wanted() {
            self.content_overflow(before, bytes);
        }
    }

    fn skipped(&mut self, bytes: &[u8]) {
        if self.fed_texts.is_some() {
            self.extra.offset = self.extra.offset.wrapping_add(bytes.len() as u64);
        }
        if let Some(field) = self.extra.taking {
            let mut context = capture_context(self.at, self.shard, self.options, self.memory);
            self.extra
                .fields
                .extend_text(field, &[], bytes, &mut context);
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
            true => Then::Begin(self.answer_condition()),
            false => Then::Go,
        }
    }
}

pub(crate) fn capture_context<'a>(
    at: Timestamp,
    shard: u8,
    options: &'a TextOptions,
    memory: &'a mut Memory,
) -> CaptureContext<'a> {
    CaptureContext {
        at,
        shard,
        options,
        memory,
    }
}
