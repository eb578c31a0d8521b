//! Actions to operations.

use crate::diagnostic::Failure;
use crate::lower::condition;
use crate::read::{Argument, Call, FieldDeclaration, GrammarSource};
use crate::usage::not_one;
use flowpin_lexer::{FieldId, FieldKind, Op, Rule};

/// The operations of all rules, and the names that they use.
pub(crate) struct Statements<'a> {
    read: &'a GrammarSource,
    pub(crate) fields: Vec<FieldDeclaration>,
    pub(crate) operations: Vec<Op>,
    pub(crate) tokens: Vec<String>,
    pub(crate) anomalies: Vec<String>,
    pub(crate) texts: Vec<String>,
}

impl<'a> Statements<'a> {
    pub(crate) fn new(
        read: &'a GrammarSource,
        fields: Vec<FieldDeclaration>,
    ) -> Result<Self, Failure> {
        for message in &read.declarations.messages {
            if message.fields.is_empty() && message.like.is_none() {
                return Err(Failure::new(
                    message.at,
                    "a message needs at least one field",
                ));
            }
        }
        Ok(Self {
            read,
            fields,
            operations: Vec::new(),
            tokens: Vec::new(),
            anomalies: Vec::new(),
            texts: Vec::new(),
        })
    }

    /// A rule's statements; only what the run-time needs to know of the rule is set.
    pub(crate) fn rule(&mut self, calls: &[Call]) -> Result<Rule, Failure> {
        let from = self.position()?;
        let mut rule = Rule::default();
        let mut is_returned = false;
        for call in calls {
            if is_returned {
                return Err(Failure::new(call.at, "nothing is done behind return"));
            }
            let at = call.at;
            match (call.name.as_str(), call.arguments.as_slice()) {
                ("return", [token]) => {
                    rule.token = self.token(token)?;
                    is_returned = true;
                }
                ("BEGIN", [Argument::Name(name, at)]) => {
                    rule.begin = condition(self.read, name, *at)?.saturating_add(1);
                }
                ("BEGIN", [Argument::Number(0, false, _)]) => rule.begin = 1,
                ("BEGIN" | "return", _) => {
                    return Err(Failure::new(at, format!("{} takes one name", call.name)));
                }
                _ => {
                    let operation = self.operation(call)?;
                    self.operations.push(operation);
                }
            }
        }
        rule.operations = (from, self.position()?);
        Ok(rule)
    }

    fn position(&self) -> Result<u16, Failure> {
        let len = u16::try_from(self.operations.len());
        len.map_err(|_| Failure::new(0, "at most 65535 statements in all actions"))
    }

    /// `return NAME` or `return -1`: the name is the number's text.
    fn token(&mut self, token: &Argument) -> Result<u16, Failure> {
        let name = match token {
            Argument::Name(name, _) => name.clone(),
            Argument::Number(value, is_negative, _) => {
                format!("{}{value}", if *is_negative { "-" } else { "" })
            }
            Argument::Byte(byte, _) => format!("'{}'", char::from(*byte).escape_default()),
            Argument::Text(_, at) => return Err(Failure::new(*at, "a token's name is expected")),
        };
        number(&mut self.tokens, name, token.at()).map(|index| index.saturating_add(1))
    }

    fn operation(&mut self, call: &Call) -> Result<Op, Failure> {
        use Argument::{Byte, Name, Number, Text};
        let at = call.at;
        Ok(match (call.name.as_str(), call.arguments.as_slice()) {
            ("trim", []) => Op::Blank,
            ("trim", [Number(front, false, _), Number(back, false, _)]) => {
                Op::Trim(small(*front, at)?, small(*back, at)?)
            }
            ("word", [Number(nth @ 1.., false, _)]) => Op::Word(small(*nth, at)?),
            ("rest", [Number(nth @ 1.., false, _)]) => Op::Rest(small(*nth, at)?),
            ("after", [Byte(byte, _)]) => Op::After(*byte),
            ("before", [Byte(byte, _)]) => Op::Before(*byte),
            ("before", [Text(text, at)]) => {
                Op::BeforeText(number(&mut self.texts, text.clone(), *at)?)
            }
            ("between", [Byte(begin, _), Byte(end, _)]) => Op::Between(*begin, *end),
            ("from_last", [Byte(byte, _)]) => Op::FromLast(*byte),
            ("content_over", []) => Op::ContentOver,
            ("capture", [field]) => {
                Op::Capture(self.field(field, &[FieldKind::Text, FieldKind::List])?)
            }
            ("between_with", [Byte(begin, _), Byte(end, _)]) => Op::BetweenWith(*begin, *end),
            ("unfold", [field]) => {
                Op::Unfold(self.field(field, &[FieldKind::Text, FieldKind::List])?)
            }
            ("append", [field]) => {
                Op::Append(self.field(field, &[FieldKind::Text, FieldKind::List])?)
            }
            ("parameter", [field, Text(name, at)]) => {
                let field = self.field(field, &[FieldKind::List])?;
                Op::Parameter(field, number(&mut self.texts, name.clone(), *at)?)
            }
            ("set", [field, Text(text, at)]) => {
                let field = self.field(field, &[FieldKind::Text])?;
                Op::Set(field, number(&mut self.texts, text.clone(), *at)?)
            }
            ("set", [field, Number(value, false, _)]) => {
                let kinds = &[FieldKind::Count, FieldKind::Flag];
                Op::SetNumber(self.field(field, kinds)?, *value)
            }
            ("copy", [to, from]) => Op::Copy(
                self.field(to, &[FieldKind::Text])?,
                self.field(from, &[FieldKind::Text])?,
            ),
            ("increment", [field]) => Op::Increment(self.field(field, &[FieldKind::Count])?),
            ("number", [field]) => self.number(field, 10, 0, u64::MAX)?,
            ("number", [field, Number(base @ 2..=36, false, _)]) => {
                self.number(field, *base, 0, u64::MAX)?
            }
            (
                "number",
                [
                    field,
                    Number(base @ 2..=36, false, _),
                    Number(min, false, _),
                    Number(max, false, max_at),
                ],
            ) => {
                if min > max {
                    return Err(Failure::new(
                        *max_at,
                        "the greatest value is below the least",
                    ));
                }
                self.number(field, *base, *min, *max)?
            }
            ("add", [field, other]) => Op::Add(
                self.field(field, &[FieldKind::Count])?,
                self.field(other, &[FieldKind::Count])?,
            ),
            ("repeat", [field, Name(name, at)]) => Op::Repeat(
                self.field(field, &[FieldKind::Count])?,
                condition(self.read, name, *at)?,
            ),
            ("take", [field, len]) => Op::Take(
                self.field(field, &[FieldKind::Text])?,
                self.field(len, &[FieldKind::Count])?,
            ),
            ("skip", [Number(count, false, _)]) => Op::SkipCount(*count),
            ("skip", [field @ Name(..)]) => Op::Skip(self.field(field, &[FieldKind::Count])?, 0),
            ("skip", [field @ Name(..), Number(more, false, at)]) => {
                let more = u32::try_from(*more);
                let more = more.map_err(|_| Failure::new(*at, "at most 4294967295"))?;
                Op::Skip(self.field(field, &[FieldKind::Count])?, more)
            }
            ("skip_all", []) => Op::SkipCount(u64::MAX),
            ("emit", [message]) => Op::Emit(self.message(message)?),
            ("show", [message]) => Op::Show(self.message(message)?),
            ("ask", [message]) => Op::Ask(self.message(message)?),
            ("ask", [message, how @ Name(name, at)]) => self.ask(message, how, (name, *at))?,
            ("ask_once", [message, fields @ ..]) if (1..=2).contains(&fields.len()) => {
                let (message, fields) = self.named(message, fields)?;
                Op::AskOnce { message, fields }
            }
            ("ask_last", [message]) => Op::AskLast(self.message(message)?),
            ("await", [Name(name, at)]) => Op::Await(condition(self.read, name, *at)?),
            ("noreply", []) => Op::NoReply,
            ("quiet", []) => Op::Quiet,
            ("answered", []) => Op::Answered,
            ("answer_begun", [message, Name(name, at), Name(from, from_at)]) => Op::AnswerBegun(
                self.message(message)?,
                condition(self.read, name, *at)?,
                condition(self.read, from, *from_at)?,
            ),
            ("take_back", [message]) => Op::TakeBack(self.message(message)?),
            ("pass", [Name(name, at)]) => Op::Pass(condition(self.read, name, *at)?),
            ("answer_more", [message]) => Op::AnswerMore(self.message(message)?),
            ("answer_more", [message, fields @ ..]) if (1..=2).contains(&fields.len()) => {
                let (message, fields) = self.named(message, fields)?;
                Op::AnswerMoreSame { message, fields }
            }
            ("answer_in_order", [message, fields @ ..]) if (1..=4).contains(&fields.len()) => {
                self.answer_in_order(message, fields, at)?
            }
            ("feed" | "feed_last", [len, Name(name, at)]) => Op::Feed {
                len: self.field(len, &[FieldKind::Count])?,
                condition: condition(self.read, name, *at)?,
                is_last: call.name == "feed_last",
            },
            ("answer", [message]) => Op::Answer(self.message(message)?),
            ("answer", [message, fields @ ..]) if (1..=2).contains(&fields.len()) => {
                let (message, fields) = self.named(message, fields)?;
                Op::AnswerSame { message, fields }
            }
            ("clear", []) => Op::ClearAll,
            ("clear", [field]) => Op::Clear(self.field(field, ANY_KIND)?),
            ("anomaly", [Name(name, at)]) => Op::Anomaly(self.anomaly(name, *at)?),
            ("peer", [Name(name, at)]) => Op::Peer(condition(self.read, name, *at)?),
            ("peer", [Name(name, at), Name(from, from_at)]) => Op::PeerFrom(
                condition(self.read, name, *at)?,
                condition(self.read, from, *from_at)?,
            ),
            ("stop", []) => Op::Stop,
            ("stop_both", []) => Op::StopBoth,
            (name, arguments) => return Err(not_one(name, arguments, at)),
        })
    }

    fn number(&mut self, field: &Argument, base: u64, min: u64, max: u64) -> Result<Op, Failure> {
        let id = self.field(field, &[FieldKind::Count])?;
        let Argument::Name(name, at) = field else {
            return Err(Failure::new(field.at(), "a field's name is expected"));
        };
        let anomaly = self.anomaly(&format!("{name}_invalid"), *at)?;
        Ok(Op::Number {
            field: id,
            base: u8::try_from(base).unwrap_or(10),
            min,
            max,
            anomaly,
        })
    }

    /// `ask(MESSAGE, CONDITION)` or `ask(MESSAGE, COUNT)`.
    fn ask(
        &self,
        message: &Argument,
        how: &Argument,
        (name, at): (&str, usize),
    ) -> Result<Op, Failure> {
        let message = self.message(message)?;
        if self.fields.iter().any(|known| known.name == name) {
            return Ok(Op::AskTimes(message, self.field(how, &[FieldKind::Count])?));
        }
        Ok(Op::AskIn(message, condition(self.read, name, at)?))
    }

    fn answer_in_order(
        &mut self,
        message: &Argument,
        fields: &[Argument],
        at: usize,
    ) -> Result<Op, Failure> {
        let mut ids = [0; 4];
        // One that stands for several is compared several times.
        for (id, field) in ids.iter_mut().zip(fields.iter().cycle()) {
            *id = self.field(field, &[FieldKind::Text, FieldKind::List])?;
        }
        Ok(Op::AnswerInOrder {
            message: self.message(message)?,
            fields: ids,
            anomaly: self.anomaly("unpaired", at)?,
        })
    }

    /// A message, and the texts in which its question and its answers are the same.
    fn named(
        &self,
        message: &Argument,
        fields: &[Argument],
    ) -> Result<(u16, [FieldId; 2]), Failure> {
        let mut ids = [0; 2];
        // One that stands alone is compared twice.
        for (id, field) in ids.iter_mut().zip(fields.iter().cycle()) {
            *id = self.field(field, &[FieldKind::Text])?;
        }
        Ok((self.message(message)?, ids))
    }

    fn anomaly(&mut self, name: &str, at: usize) -> Result<u16, Failure> {
        let protocol = self.read.declarations.protocol.as_deref();
        let word = match protocol {
            Some(protocol) => format!("{protocol}_{name}"),
            None => name.to_owned(),
        };
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !word.chars().all(is_word) {
            return Err(Failure::new(
                at,
                "lower-case letters, digits and _ are expected",
            ));
        }
        number(&mut self.anomalies, word, at)
    }

    fn field(&self, field: &Argument, kinds: &[FieldKind]) -> Result<FieldId, Failure> {
        let Argument::Name(name, at) = field else {
            return Err(Failure::new(field.at(), "a field's name is expected"));
        };
        let found = self.fields.iter().position(|known| known.name == *name);
        let Some((index, known)) = found.and_then(|index| Some((index, self.fields.get(index)?)))
        else {
            let text = format!("no message has a field {name}, and no %local line names it");
            return Err(Failure::new(*at, text));
        };
        if !kinds.contains(&known.kind) {
            let text = format!(
                "{name} is a {:?}, which this statement does not take",
                known.kind
            );
            return Err(Failure::new(*at, text.to_lowercase()));
        }
        FieldId::try_from(index).map_err(|_| Failure::new(*at, "too many fields"))
    }

    fn message(&self, message: &Argument) -> Result<u16, Failure> {
        let messages = &self.read.declarations.messages;
        let at = message.at();
        let found = match message {
            Argument::Name(name, _) => messages.iter().position(|known| known.name == *name),
            _ => None,
        };
        let found = found.and_then(|index| u16::try_from(index).ok());
        found.ok_or_else(|| Failure::new(at, "the name of a %message is expected"))
    }
}

/// The number of a name in a list, which it joins if it is new.
fn number(names: &mut Vec<String>, name: String, at: usize) -> Result<u16, Failure> {
    let found = names.iter().position(|known| *known == name);
    let index = found.unwrap_or(names.len());
    if found.is_none() {
        names.push(name);
    }
    match u16::try_from(index) {
        Ok(index) if index < NAMES_MAX => Ok(index),
        _ => Err(Failure::new(
            at,
            format!("at most {NAMES_MAX} names of a kind"),
        )),
    }
}

fn small(value: u64, at: usize) -> Result<u16, Failure> {
    u16::try_from(value).map_err(|_| Failure::new(at, "a number of at most 65535 is expected"))
}

const ANY_KIND: &[FieldKind] = &[
    FieldKind::Text,
    FieldKind::Count,
    FieldKind::Flag,
    FieldKind::List,
    FieldKind::Files,
];
const NAMES_MAX: u16 = 8192;
