//! Our own lines of the first section: what a protocol needs beyond a scanner.
//!
//! ```text
//!  %protocol memcached
//!  %identify client "^(get|set) [!-~]+"
//!  %client COMMAND            where the client's direction begins; %server alike
//!  %answers REPLY             where a direction stands between two answers
//!  %resync LOST               where a direction goes on after missing bytes
//!  %resync CUT BODY           the same of those that are missing in BODY
//!  %content '.' FIELD BODY    tokens there are a mail's lines, in which dots are doubled
//!  %limit token 4096          longer tokens are told shortened
//!  %local length count        a field of no message
//!  %message memcached "One command and its answer." {
//!    command text "What is asked for."
//!    size    count eve "memcached.bytes" "How long the value is."
//!  }
//!  %message line events either "A line."  { … }    in EVE alone, of what either side sends
//!  %message sums columns file "line" "…"  { … }    in formats of columns alone
//!  %message cut events as line                     records like those of line
//! ```

use super::cursor::{Cursor, as_text};
use crate::diagnostic::Failure;
use flowpin_lexer::{Direction, FieldKind};
use flowpin_record::Shown;

/// What a grammar says about its protocol.
#[derive(Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) protocol: Option<String>,
    pub(crate) protocol_at: usize,
    pub(crate) identify: Vec<(Direction, String, usize)>,
    pub(crate) client: Option<(String, usize)>,
    pub(crate) server: Option<(String, usize)>,
    pub(crate) answers: Option<(String, usize)>,
    pub(crate) resync: Option<(String, usize)>,
    /// Where to, from where.
    pub(crate) resync_in: Vec<[(String, usize); 2]>,
    pub(crate) content: Vec<ContentDeclaration>,
    pub(crate) token_len_max: Option<u32>,
    pub(crate) locals: Vec<FieldDeclaration>,
    pub(crate) messages: Vec<MessageDeclaration>,
}

/// Where tokens are lines of a mail.
#[derive(Debug)]
pub(crate) struct ContentDeclaration {
    /// The byte that is doubled where it begins a line.
    pub(crate) stuffed: Option<u8>,
    /// The start conditions: a mail begins in the first.
    pub(crate) conditions: Vec<(String, usize)>,
}

/// A field.
#[derive(Clone, Debug)]
pub(crate) struct FieldDeclaration {
    pub(crate) name: String,
    pub(crate) kind: FieldKind,
    pub(crate) is_kept: bool,
    /// The name in Zeek's logs, if it is another.
    pub(crate) zeek: Option<String>,
    /// Only EVE has it.
    pub(crate) is_in_events: bool,
    /// Where EVE has it, if not in the message's object under its name.
    pub(crate) eve: Option<String>,
    pub(crate) doc: String,
    pub(crate) at: usize,
}

/// A kind of message.
#[derive(Debug)]
pub(crate) struct MessageDeclaration {
    pub(crate) name: String,
    pub(crate) shown: Shown,
    /// Its events have the sender as their source.
    pub(crate) is_of_either: bool,
    /// The stem of its files and where it stands, if not its name.
    pub(crate) file: Option<(String, usize)>,
    /// The message whose records it has.
    pub(crate) like: Option<(String, usize)>,
    pub(crate) doc: String,
    pub(crate) fields: Vec<FieldDeclaration>,
    pub(crate) at: usize,
}

/// Reads the line of a name behind `%`; a message's lines, too.
pub(super) fn read(
    name: &[u8],
    place: usize,
    cursor: &mut Cursor<'_>,
    into: &mut Declarations,
) -> Result<(), Failure> {
    cursor.skip_blanks();
    match name {
        b"protocol" => {
            if into.protocol.is_some() {
                return Err(Failure::new(place, "a grammar is of one protocol"));
            }
            let (name, at) = named(cursor, "the protocol's name")?;
            (into.protocol, into.protocol_at) = (Some(name), at);
        }
        b"identify" => identify(cursor, into)?,
        b"client" => into.client = Some(named(cursor, "a start condition's name")?),
        b"server" => into.server = Some(named(cursor, "a start condition's name")?),
        b"answers" => into.answers = Some(named(cursor, "a start condition's name")?),
        b"resync" => resync(cursor, into)?,
        b"content" => content(cursor, into)?,
        b"limit" => limit(cursor, into)?,
        b"local" => {
            if into.locals.len() >= FIELDS_MAX {
                return Err(Failure::new(
                    place,
                    format!("at most {FIELDS_MAX} local fields"),
                ));
            }
            into.locals.push(field(cursor)?);
        }
        b"message" => return message(cursor, into),
        _ => {
            let text = format!("no line begins with %{}", as_text(name));
            return Err(Failure::new(place, text));
        }
    }
    cursor.end_line()
}

fn named(cursor: &mut Cursor<'_>, what: &str) -> Result<(String, usize), Failure> {
    let at = cursor.at;
    let name = cursor.word(true);
    if name.is_empty() || name.len() > NAME_LEN_MAX {
        return Err(Failure::new(at, format!("{what} is expected")));
    }
    Ok((as_text(name), at))
}

/// Where to; from where, if not from everywhere.
fn resync(cursor: &mut Cursor<'_>, into: &mut Declarations) -> Result<(), Failure> {
    let to = named(cursor, "a start condition's name")?;
    cursor.skip_blanks();
    if cursor.is_at_line_end() {
        into.resync = Some(to);
        return Ok(());
    }
    while cursor.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
        let from = named(cursor, "a start condition's name")?;
        into.resync_in.push([to.clone(), from]);
        cursor.skip_blanks();
    }
    Ok(())
}

/// `'c' CONDITION …`: the byte may be missing.
fn content(cursor: &mut Cursor<'_>, into: &mut Declarations) -> Result<(), Failure> {
    let mut stuffed = None;
    if cursor.eat(b"'") {
        let at = cursor.at;
        stuffed = cursor.peek().filter(|byte| byte.is_ascii_graphic());
        cursor.at += 1;
        if stuffed.is_none() || !cursor.eat(b"'") {
            return Err(Failure::new(at, "one byte between ' is expected"));
        }
        cursor.skip_blanks();
    }
    let mut conditions = vec![named(cursor, "a start condition's name")?];
    cursor.skip_blanks();
    while !cursor.is_at_line_end() {
        conditions.push(named(cursor, "a start condition's name")?);
        cursor.skip_blanks();
    }
    into.content.push(ContentDeclaration {
        stuffed,
        conditions,
    });
    Ok(())
}

fn identify(cursor: &mut Cursor<'_>, into: &mut Declarations) -> Result<(), Failure> {
    let at = cursor.at;
    let direction = match cursor.word(false) {
        b"client" => Direction::Client,
        b"server" => Direction::Server,
        b"both" => Direction::Both,
        _ => return Err(Failure::new(at, "client, server or both is expected")),
    };
    cursor.skip_blanks();
    let at = cursor.at;
    let line = cursor.line();
    let pattern = line
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""))
        .filter(|pattern| !pattern.is_empty());
    let Some(pattern) = pattern else {
        return Err(Failure::new(at, "a regular expression in \" is expected"));
    };
    cursor.at += line.len();
    into.identify.push((direction, as_text(pattern), at));
    Ok(())
}

fn limit(cursor: &mut Cursor<'_>, into: &mut Declarations) -> Result<(), Failure> {
    let at = cursor.at;
    if cursor.word(false) != b"token" {
        return Err(Failure::new(at, "token is expected"));
    }
    cursor.skip_blanks();
    let at = cursor.at;
    let value = as_text(cursor.word(false)).parse().ok();
    let value = value.filter(|value| (16..=TOKEN_LEN_MAX).contains(value));
    let Some(value) = value else {
        let text = format!("a number of bytes from 16 to {TOKEN_LEN_MAX} is expected");
        return Err(Failure::new(at, text));
    };
    into.token_len_max = Some(value);
    Ok(())
}

fn message(cursor: &mut Cursor<'_>, into: &mut Declarations) -> Result<(), Failure> {
    let (name, at) = named(cursor, "the message's name")?;
    let mut message = MessageDeclaration {
        name,
        shown: Shown::Everywhere,
        is_of_either: false,
        file: None,
        like: None,
        doc: String::new(),
        fields: Vec::new(),
        at,
    };
    cursor.skip_blanks();
    if cursor.eat(b"events") {
        message.shown = Shown::InEvents;
    } else if cursor.eat(b"columns") {
        message.shown = Shown::InColumns;
    }
    cursor.skip_blanks();
    message.is_of_either = cursor.eat(b"either");
    cursor.skip_blanks();
    if cursor.eat(b"file") {
        cursor.skip_blanks();
        let at = cursor.at;
        let Some(stem) = string(cursor)? else {
            return Err(Failure::new(at, "the files' name in \" is expected"));
        };
        message.file = Some((stem, at));
        cursor.skip_blanks();
    }
    if cursor.eat(b"as") {
        cursor.skip_blanks();
        message.like = Some(named(cursor, "a message's name")?);
    } else {
        message.doc = string(cursor)?.unwrap_or_default();
        cursor.skip_blanks();
        message.fields = fields(cursor, at)?;
    }
    if into.messages.len() >= MESSAGES_MAX {
        return Err(Failure::new(at, format!("at most {MESSAGES_MAX} messages")));
    }
    into.messages.push(message);
    cursor.end_line()
}

/// The fields of a message in braces.
fn fields(cursor: &mut Cursor<'_>, at: usize) -> Result<Vec<FieldDeclaration>, Failure> {
    if !cursor.eat(b"{") {
        return Err(Failure::new(
            cursor.at,
            "{ and the message's fields are expected",
        ));
    }
    let mut fields = Vec::new();
    loop {
        cursor.skip_space()?;
        if cursor.eat(b"}") {
            return Ok(fields);
        }
        if cursor.peek().is_none() {
            return Err(Failure::new(at, "a message without its }"));
        }
        if fields.len() >= FIELDS_MAX {
            return Err(Failure::new(
                cursor.at,
                format!("at most {FIELDS_MAX} fields"),
            ));
        }
        fields.push(field(cursor)?);
        cursor.skip_blanks();
        if !cursor.eat(b";") && cursor.peek() != Some(b'}') {
            cursor.end_line()?;
        }
    }
}

/// `name kind [kept] [events] [zeek "name"] [eve "path"] ["doc"]`: to the end of the line, a `;`
/// or the message's `}`.
fn field(cursor: &mut Cursor<'_>) -> Result<FieldDeclaration, Failure> {
    let (name, at) = named(cursor, "a field's name")?;
    cursor.skip_blanks();
    let kind_at = cursor.at;
    let kind = match cursor.word(false) {
        b"text" => FieldKind::Text,
        b"count" => FieldKind::Count,
        b"flag" => FieldKind::Flag,
        b"list" => FieldKind::List,
        b"files" => FieldKind::Files,
        _ => {
            let text = "text, count, flag, list or files is expected";
            return Err(Failure::new(kind_at, text));
        }
    };
    cursor.skip_blanks();
    let is_kept = cursor.eat(b"kept");
    cursor.skip_blanks();
    let is_in_events = cursor.eat(b"events");
    cursor.skip_blanks();
    let mut zeek = None;
    if cursor.eat(b"zeek") {
        cursor.skip_blanks();
        zeek = string(cursor)?;
        cursor.skip_blanks();
    }
    let mut eve = None;
    if cursor.eat(b"eve") {
        cursor.skip_blanks();
        eve = string(cursor)?;
        cursor.skip_blanks();
    }
    let doc = string(cursor)?.unwrap_or_default();
    Ok(FieldDeclaration {
        name,
        kind,
        is_kept,
        zeek,
        is_in_events,
        eve,
        doc,
        at,
    })
}

/// A text in quotes, if one is here.
fn string(cursor: &mut Cursor<'_>) -> Result<Option<String>, Failure> {
    let at = cursor.at;
    if !cursor.eat(b"\"") {
        return Ok(None);
    }
    let line = cursor.line();
    let Some(len) = line.iter().position(|&byte| byte == b'"') else {
        return Err(Failure::new(at, "a string without its closing quote"));
    };
    cursor.at += len + 1;
    Ok(Some(as_text(line.get(..len).unwrap_or_default())))
}

/// Bytes of a name.
pub(crate) const NAME_LEN_MAX: usize = 64;
const FIELDS_MAX: usize = 64;
const MESSAGES_MAX: usize = 16;
const TOKEN_LEN_MAX: u32 = 65_536;
