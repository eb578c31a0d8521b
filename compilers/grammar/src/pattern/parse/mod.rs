//! The parser of patterns.
//!
//! A definition that is used stands in parentheses, as in flex; it is parsed anew where it is
//! used, because the options there hold for it, too.

mod atom;

use super::node::{Node, Pattern};
use super::set::Set;
use crate::diagnostic::Failure;
use crate::limits::Limits;
use std::collections::HashMap;

/// A named definition: where its text stands in the grammar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// What `(?is-x:…)` switches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) ignores_case: bool,
    dot_is_all: bool,
    skips_blanks: bool,
}

/// Parses the pattern at a place of the grammar's text.
pub(crate) struct Parser<'a> {
    text: &'a [u8],
    end: usize,
    pub(super) at: usize,
    pub(super) flags: Flags,
    definitions: &'a HashMap<Vec<u8>, Definition>,
    limits: &'a Limits,
    depth: usize,
    group_depth: usize,
    /// Parts so far, so that definitions within definitions do not multiply without bound.
    parts: usize,
    /// The place that errors are about, if it is where a definition is used.
    used_at: Option<usize>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(
        text: &'a [u8],
        at: usize,
        definitions: &'a HashMap<Vec<u8>, Definition>,
        limits: &'a Limits,
        ignores_case: bool,
    ) -> Self {
        Self {
            text,
            end: text.len(),
            at,
            flags: Flags {
                ignores_case,
                ..Flags::default()
            },
            definitions,
            limits,
            depth: 0,
            group_depth: 0,
            parts: 0,
            used_at: None,
        }
    }

    /// A rule's pattern, up to the blank or line end behind it, and where that is.
    pub(crate) fn pattern(mut self) -> Result<(Pattern, usize), Failure> {
        let at_line_start = self.eat(b'^');
        let head = self.either()?;
        let tail = match self.peek() {
            Some(b'/') => {
                self.at += 1;
                let tail = self.either()?;
                if self.peek() == Some(b'/') || self.is_line_end() {
                    let text = "a pattern has at most one trailing context";
                    return Err(Failure::new(self.place(), text));
                }
                Some(tail)
            }
            Some(b'$') if self.is_line_end() => {
                self.at += 1;
                Some(Node::Class(Set::of([b'\n'])))
            }
            _ => None,
        };
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\r' | b'\n') => {}
            Some(b')') => return Err(Failure::new(self.place(), "a ) without its (")),
            Some(_) => return Err(Failure::new(self.place(), "not expected in a pattern")),
        }
        let pattern = Pattern {
            at_line_start,
            head,
            tail,
        };
        Ok((pattern, self.at))
    }

    fn either(&mut self) -> Result<Node, Failure> {
        let mut choices = vec![self.concat()?];
        while self.eat(b'|') {
            choices.push(self.concat()?);
        }
        Ok(match choices.len() {
            1 => choices.pop().unwrap_or(Node::Empty),
            _ => Node::Either(choices),
        })
    }

    fn concat(&mut self) -> Result<Node, Failure> {
        let mut parts = Vec::new();
        let begun = self.place();
        loop {
            self.skip_blanks()?;
            match self.peek() {
                None | Some(b'|' | b')' | b'/') => break,
                Some(b' ' | b'\t' | b'\r' | b'\n') => {
                    if self.group_depth > 0 {
                        return Err(Failure::new(self.place(), "a ( without its )"));
                    }
                    break;
                }
                Some(b'$') if self.is_line_end() => break,
                Some(_) => parts.push(self.repeat()?),
            }
        }
        match parts.len() {
            0 => Err(Failure::new(begun, "a pattern is expected here")),
            1 => Ok(parts.pop().unwrap_or(Node::Empty)),
            _ => Ok(Node::Concat(parts)),
        }
    }

    fn repeat(&mut self) -> Result<Node, Failure> {
        let mut node = self.atom()?;
        loop {
            self.skip_blanks()?;
            let place = self.place();
            let (min, max) = match self.rest() {
                [b'*', ..] => (0, None),
                [b'+', ..] => (1, None),
                [b'?', ..] => (0, Some(1)),
                [b'{', b'0'..=b'9', ..] => {
                    let (min, max) = self.count()?;
                    self.count_part(place)?;
                    node = Node::Repeat(Box::new(node), min, max);
                    continue;
                }
                _ => return Ok(node),
            };
            self.at += 1;
            self.count_part(place)?;
            node = Node::Repeat(Box::new(node), min, max);
        }
    }

    /// `{2}`, `{2,}` or `{2,5}`.
    fn count(&mut self) -> Result<(u32, Option<u32>), Failure> {
        let place = self.place();
        self.at += 1;
        let min = self.number(place)?;
        let max = match self.eat(b',') {
            false => Some(min),
            true if self.peek() == Some(b'}') => None,
            true => Some(self.number(place)?),
        };
        if !self.eat(b'}') {
            return Err(Failure::new(place, "a count is {2}, {2,} or {2,5}"));
        }
        match max {
            Some(max) if max < min || max == 0 => Err(Failure::new(
                place,
                "a count whose end comes before its beginning, or of nothing",
            )),
            max => Ok((min, max)),
        }
    }

    fn number(&mut self, place: usize) -> Result<u32, Failure> {
        let mut value: u32 = 0;
        let mut has_digit = false;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            self.at += 1;
            has_digit = true;
            value = value
                .saturating_mul(10)
                .saturating_add(u32::from(digit - b'0'));
        }
        if !has_digit {
            return Err(Failure::new(place, "a count is {2}, {2,} or {2,5}"));
        }
        if value > self.limits.repeat_max {
            let text = format!("a count of at most {} is allowed", self.limits.repeat_max);
            return Err(Failure::new(place, text));
        }
        Ok(value)
    }

    /// Blanks and comments within `(?x:…)`.
    fn skip_blanks(&mut self) -> Result<(), Failure> {
        while self.flags.skips_blanks {
            match self.rest() {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.at += 1,
                [b'/', b'*', rest @ ..] => {
                    let end = rest.windows(2).position(|pair| pair == b"*/");
                    let Some(end) = end else {
                        return Err(Failure::new(self.place(), "a comment without its end"));
                    };
                    self.at += end + 4;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn enter(&mut self, place: usize) -> Result<(), Failure> {
        self.depth += 1;
        if self.depth > self.limits.depth_max {
            let text = format!(
                "parentheses and definitions within each other deeper than {}",
                self.limits.depth_max
            );
            return Err(Failure::new(place, text));
        }
        Ok(())
    }

    fn count_part(&mut self, place: usize) -> Result<(), Failure> {
        self.parts += 1;
        if self.parts > self.limits.parts_max {
            let text = format!("a pattern of more than {} parts", self.limits.parts_max);
            return Err(Failure::new(place, text));
        }
        Ok(())
    }

    /// Whether a `$` here stands at the end of the pattern.
    fn is_line_end(&self) -> bool {
        match self.rest() {
            [b'$'] => self.used_at.is_none(),
            [b'$', next, ..] => matches!(next, b' ' | b'\t' | b'\r' | b'\n'),
            _ => false,
        }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    /// What an error here is about.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }
}

/// Whether a definition or start condition may have this name.
pub(crate) fn is_name(name: &[u8]) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    match name.split_first() {
        Some((&first, rest)) => {
            is_first(first)
                && rest
                    .iter()
                    .all(|&byte| is_first(byte) || byte.is_ascii_digit() || byte == b'-')
        }
        None => false,
    }
}
