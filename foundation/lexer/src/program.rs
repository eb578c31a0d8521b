//! A whole grammar: its scanner, and what its actions say, as data.

use crate::{Condition, Table};
use flowpin_record::MessageSchema;
use std::borrow::Cow;

/// A protocol's grammar, loaded or generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    /// The protocol's name, as identification knows it.
    pub protocol: Cow<'static, str>,
    /// How the protocol is recognised, if the grammar says so itself.
    pub identify: Cow<'static, [Identify]>,
    /// The scanner.
    pub table: Table,
    /// Names of the tokens, by number less 1.
    pub tokens: Cow<'static, [Cow<'static, str>]>,
    /// Names of the start conditions.
    pub conditions: Cow<'static, [Cow<'static, str>]>,
    /// Where each direction begins: the client's, the server's.
    pub begin: [Condition; 2],
    /// Where a direction stands between two answers: there it goes on as the oldest question says.
    pub answers: Option<Condition>,
    /// Where a direction goes on after missing bytes, by where it was, and keeps what it captured;
    /// elsewhere it begins anew ([`crate::Parts::resync`]).
    pub resync: Cow<'static, [(Condition, Condition)]>,
    /// Where the tokens of a direction are parts of a mail.
    pub content: Cow<'static, [ContentIn]>,
    /// What the actions do.
    pub program: Program,
}

/// A start condition whose tokens are lines of a mail (RFC 5322), or of any text of that form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentIn {
    /// The condition.
    pub condition: Condition,
    /// A mail begins there: in the others it goes on only.
    pub begins: bool,
    /// Lines that begin with this byte have it once more than the mail has (RFC 5321 §4.5.2).
    pub stuffed: Option<u8>,
}

impl Grammar {
    /// The name of a token, as [`crate::Token::token`] numbers it.
    pub fn token_name(&self, token: u16) -> Option<&str> {
        let index = usize::from(token).checked_sub(1)?;
        self.tokens.get(index).map(|name| &**name)
    }

    /// The start condition of a name.
    pub fn condition(&self, name: &str) -> Option<Condition> {
        let at = self.conditions.iter().position(|known| known == name)?;
        Condition::try_from(at).ok()
    }
}

/// What a grammar's actions do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// All actions' operations, one after the other; rules say from where to where is theirs.
    pub operations: Cow<'static, [Op]>,
    /// What can be captured.
    pub fields: Cow<'static, [GrammarField]>,
    /// What can be told.
    pub messages: Cow<'static, [GrammarMessage]>,
    /// The message that tells each token that a rule returns, if the grammar has no other.
    pub tokens: Option<u16>,
    /// Words of anomalies.
    pub anomalies: Cow<'static, [&'static str]>,
    /// Constant texts.
    pub texts: Cow<'static, [Cow<'static, str>]>,
}

/// An index into [`Program::fields`].
pub type FieldId = u16;

/// A named field, of which each direction of a connection has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarField {
    /// Its name in the grammar.
    pub name: Cow<'static, str>,
    /// What it holds.
    pub kind: FieldKind,
    /// It stays when a message is told.
    pub is_kept: bool,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Bytes off the wire.
    Text,
    /// A number.
    Count,
    /// Whether something is so: a number that is 0 if not.
    Flag,
    /// Texts, in order.
    List,
    /// The files that the message carries.
    Files,
}

/// A kind of message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarMessage {
    /// Its record.
    pub schema: MessageSchema,
    /// The field of each column.
    pub fields: Cow<'static, [FieldId]>,
}

/// How a protocol is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identify {
    /// Who sends it.
    pub direction: Direction,
    /// A regular expression over the first bytes of the direction.
    pub pattern: Cow<'static, str>,
}

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Who opened the connection.
    Client,
    /// The other side.
    Server,
    /// Both do.
    Both,
}

/// One operation of an action. They work on a *window*: the token's text, or what an operation
/// before left of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// The window is the text without so many bytes at its beginning and end.
    Trim(u16, u16),
    /// The window, without blanks at its ends.
    Blank,
    /// The window is the so manieth word of the text, from 1.
    Word(u16),
    /// The window is the text from its so manieth word on, from 1, without blanks at its end.
    Rest(u16),
    /// The window is what stands behind the first such byte of it; all if there is none.
    After(u8),
    /// The window ends before the first such byte.
    Before(u8),
    /// The window ends before the first such text, whatever its letters' case.
    BeforeText(u16),
    /// The window is what stands between the first such byte and the next second one, neither of
    /// them within a quoted string; all if there are none.
    Between(u8, u8),
    /// The same with these two bytes.
    BetweenWith(u8, u8),
    /// The window begins with the last such byte of it; empty if there is none.
    FromLast(u8),
    /// The field is the window.
    Capture(FieldId),
    /// The field is the window's lines, each without blanks at its ends, joined by one blank; of a
    /// list one more member.
    Unfold(FieldId),
    /// The window is added: to a text behind a blank, to a list as one more.
    Append(FieldId),
    /// One more member of the list is the value of the parameter of that name (RFC 2045 §5.1,
    /// RFC 2231) in the window, which is a field's value.
    Parameter(FieldId, u16),
    /// The field is a constant text.
    Set(FieldId, u16),
    /// The field is a constant number.
    SetNumber(FieldId, u64),
    /// The first field, a text, is what the second one is.
    Copy(FieldId, FieldId),
    /// The field is one more.
    Increment(FieldId),
    /// The field is as much more as another says.
    Add(FieldId, FieldId),
    /// The field is one less; unless it is 0 then, a start condition is begun, and the rest of the
    /// action is left out.
    Repeat(FieldId, Condition),
    /// The field is the window read as a number: its base, least and greatest value. What is no
    /// number or out of bounds is the anomaly of that index, and ends the action.
    Number {
        /// Where it goes.
        field: FieldId,
        /// 2 to 36.
        base: u8,
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
        /// What it is if it is none.
        anomaly: u16,
    },
    /// As many bytes as the field says and some more are skipped; none if it is unset.
    Skip(FieldId, u32),
    /// So many bytes are skipped.
    SkipCount(u64),
    /// As many bytes as the second field says are skipped, and become the first.
    Take(FieldId, FieldId),
    /// A message is told, of the direction's fields.
    Emit(u16),
    /// The same; the direction keeps its fields.
    Show(u16),
    /// The direction's fields become a question, which waits for its answer.
    Ask(u16),
    /// The same; its answer is read in that start condition.
    AskIn(u16, Condition),
    /// The same, unless a question waits whose texts in some fields are the direction's: then it
    /// was asked again, and its lists go on with the direction's.
    AskOnce {
        /// What is told.
        message: u16,
        /// The fields; one twice if it is the only one.
        fields: [FieldId; 2],
    },
    /// The direction's fields become a question that nothing answers: it is told at the end, unless
    /// the direction asks something else before.
    AskLast(u16),
    /// The same; it has as many answers as the field says.
    AskTimes(u16, FieldId),
    /// Something is asked of which nothing is told: only that an answer comes, and in which start
    /// condition it is read.
    Await(Condition),
    /// What the direction's fields will become expects no answer.
    NoReply,
    /// The answer to what they will become may be left out.
    Quiet,
    /// The oldest question is answered by the direction's fields, and told.
    Answer(u16),
    /// The same of the oldest question whose texts in some fields are the direction's; if there is
    /// none, the direction's fields are told alone.
    AnswerSame {
        /// What is told.
        message: u16,
        /// The fields; one twice if it is the only one.
        fields: [FieldId; 2],
    },
    /// The oldest question is answered by the direction's fields, and told; it goes on waiting.
    AnswerMore(u16),
    /// The same of the oldest question whose texts in some fields are the direction's, which keeps
    /// what the answer says; if there is none, the direction's fields are told alone.
    AnswerMoreSame {
        /// What is told.
        message: u16,
        /// The fields; one twice if it is the only one.
        fields: [FieldId; 2],
    },
    /// Answers come in order: the oldest question that agrees with the direction's fields is
    /// answered. Those before it stay without; that none agrees, or one that had to be answered was
    /// not, is an anomaly.
    AnswerInOrder {
        /// What is told.
        message: u16,
        /// Texts must be the same, lists of the answer part of those of the question.
        fields: [FieldId; 4],
        /// The anomaly.
        anomaly: u16,
    },
    /// The oldest question is answered, and nothing is told.
    Answered,
    /// The oldest question was refused: its fields are the asker's again, in the message that it
    /// has begun since.
    TakeBack(u16),
    /// If the other direction stands in the last condition, its message ended where bytes are
    /// missing: it is told with this direction's fields, the other direction goes on in the
    /// condition before, and the rest of the action is left out.
    AnswerBegun(u16, Condition, Condition),
    /// Questions before the first whose answer is read in that start condition stay without; none
    /// if there is no such question.
    Pass(Condition),
    /// As many bytes as the field says are a part of a stream of its own, which begins in a start
    /// condition; `is_last`: and ends with them.
    Feed {
        /// How many.
        len: FieldId,
        /// Where the stream begins.
        condition: Condition,
        /// It ends.
        is_last: bool,
    },
    /// The mail whose lines the direction's tokens are is over: the window is none of it.
    ContentOver,
    /// The direction's field is unset.
    Clear(FieldId),
    /// All that the grammar does not keep are.
    ClearAll,
    /// An anomaly.
    Anomaly(u16),
    /// The other direction goes on in a start condition, from its next token on.
    Peer(Condition),
    /// The same, if it stands in the second.
    PeerFrom(Condition, Condition),
    /// This direction is not scanned any more.
    Stop,
    /// Neither direction is.
    StopBoth,
}
