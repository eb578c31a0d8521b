//! Actions: a small set of statements in C's clothes, so that flex can read them, too.

use super::cursor::{Cursor, as_text};
use crate::diagnostic::Failure;

/// A statement: a name and its arguments. `return X` and `BEGIN X` are calls of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) at: usize,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// A name.
    Name(String, usize),
    /// A number, and whether it has a minus sign.
    Number(u64, bool, usize),
    /// `'c'`.
    Byte(u8, usize),
    /// `"…"`.
    Text(String, usize),
}

impl Argument {
    pub(crate) const fn at(&self) -> usize {
        match self {
            Self::Name(_, at) | Self::Number(_, _, at) | Self::Byte(_, at) | Self::Text(_, at) => {
                *at
            }
        }
    }
}

/// Reads a rule's action, to the beginning of the next line. None: `|`, after which on the same
/// line
/// another pattern may stand: the cursor is there then.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Vec<Call>>, Failure> {
    cursor.skip_blanks();
    let mut calls = Vec::new();
    if let [b'|', ..] = cursor.rest() {
        cursor.at += 1;
        cursor.skip_blanks();
        cursor.skip_comment()?;
        cursor.skip_blanks();
        if cursor.is_at_line_end() {
            cursor.skip_line();
        }
        return Ok(None);
    }
    let mut depth = 0usize;
    let begun = cursor.at;
    loop {
        cursor.skip_blanks();
        if depth == 0 && cursor.is_at_line_end() {
            cursor.skip_line();
            return Ok(Some(calls));
        }
        match cursor.rest() {
            [] => return Err(Failure::new(begun, "an action without its }")),
            [b'/', b'*', ..] => cursor.skip_comment()?,
            // Within braces lines end anywhere; without, a comment ends the action.
            [b'/', b'/', ..] => {
                cursor.at += cursor.line().len();
            }
            [b'{', ..] => {
                cursor.at += 1;
                depth += 1;
            }
            [b'}', ..] if depth > 0 => {
                cursor.at += 1;
                depth -= 1;
            }
            [b';' | b'\r' | b'\n', ..] => cursor.at += 1,
            _ => {
                if calls.len() >= CALLS_MAX {
                    let text = format!("an action of at most {CALLS_MAX} statements");
                    return Err(Failure::new(cursor.at, text));
                }
                calls.push(call(cursor)?);
            }
        }
    }
}

fn call(cursor: &mut Cursor<'_>) -> Result<Call, Failure> {
    let at = cursor.at;
    let name = cursor.word(false);
    if name.is_empty() || name.first().is_some_and(u8::is_ascii_digit) {
        return Err(not_ours(at));
    }
    let name = as_text(name);
    cursor.skip_space()?;
    let mut arguments = Vec::new();
    if cursor.eat(b"(") {
        cursor.skip_space()?;
        if !cursor.eat(b")") {
            loop {
                arguments.push(argument(cursor)?);
                cursor.skip_space()?;
                if cursor.eat(b")") {
                    break;
                }
                if !cursor.eat(b",") {
                    return Err(Failure::new(cursor.at, "a , or ) is expected"));
                }
                cursor.skip_space()?;
            }
        }
    } else if matches!(name.as_str(), "return" | "BEGIN")
        && !matches!(cursor.peek(), Some(b';' | b'}') | None)
    {
        arguments.push(argument(cursor)?);
    }
    cursor.skip_space()?;
    match cursor.peek() {
        Some(b';') => cursor.at += 1,
        Some(b'}') => {}
        _ => return Err(not_ours(at)),
    }
    Ok(Call {
        name,
        arguments,
        at,
    })
}

fn argument(cursor: &mut Cursor<'_>) -> Result<Argument, Failure> {
    let at = cursor.at;
    match cursor.rest() {
        [b'\'', b'\\', byte, b'\'', ..] => {
            cursor.at += 4;
            let byte = match byte {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'0' => 0,
                other => *other,
            };
            Ok(Argument::Byte(byte, at))
        }
        [b'\'', byte, b'\'', ..] => {
            cursor.at += 3;
            Ok(Argument::Byte(*byte, at))
        }
        [b'"', rest @ ..] => {
            let Some(len) = rest.iter().position(|&byte| matches!(byte, b'"' | b'\n')) else {
                return Err(Failure::new(at, "a string without its closing quote"));
            };
            cursor.at += len + 2;
            let text = rest.get(..len).unwrap_or_default();
            if text.contains(&b'\\') || rest.get(len) == Some(&b'\n') {
                return Err(Failure::new(
                    at,
                    "a string on one line, without backslashes",
                ));
            }
            Ok(Argument::Text(as_text(text), at))
        }
        [b'-', b'0'..=b'9', ..] | [b'0'..=b'9', ..] => {
            let is_negative = cursor.eat(b"-");
            let word = as_text(cursor.word(false));
            let value = match word.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => word.parse(),
            };
            match value {
                Ok(value) => Ok(Argument::Number(value, is_negative, at)),
                Err(_) => Err(Failure::new(at, "no number of 64 bits")),
            }
        }
        _ => {
            // Names may have dashes, as where they are declared.
            let name = cursor.word(true);
            if name.is_empty() {
                return Err(not_ours(at));
            }
            Ok(Argument::Name(as_text(name), at))
        }
    }
}

fn not_ours(at: usize) -> Failure {
    Failure::new(
        at,
        "C is not compiled: an action is made of BEGIN, return and the statements of \
         docs/user/grammar.md, each with its ;",
    )
}

const CALLS_MAX: usize = 64;
