//! What repetition applies to: characters, classes, strings, groups and definitions.

use super::{Parser, is_name};
use crate::diagnostic::Failure;
use crate::pattern::node::Node;
use crate::pattern::set::Set;

impl Parser<'_> {
    pub(super) fn atom(&mut self) -> Result<Node, Failure> {
        let place = self.place();
        self.count_part(place)?;
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'[') => Ok(Node::Class(self.class()?)),
            Some(b'(') => self.group(),
            Some(b'{') => self.defined(),
            Some(b'.') => {
                self.at += 1;
                Ok(Node::Class(match self.flags.dot_is_all {
                    true => Set::ALL,
                    false => Set::of([b'\n']).complement(),
                }))
            }
            Some(b'\\') => {
                let byte = self.escape()?;
                Ok(self.byte(byte))
            }
            Some(b'*' | b'+' | b'?') => {
                Err(Failure::new(place, "there is nothing before it to repeat"))
            }
            Some(b'^') => Err(Failure::new(
                place,
                "^ stands at the beginning of a rule; the character is written \\^",
            )),
            Some(b'<') if self.rest().starts_with(b"<<EOF>>") => Err(Failure::new(
                place,
                "<<EOF>> is a rule by itself; as text it is written \"<<EOF>>\"",
            )),
            Some(byte) => {
                self.at += 1;
                Ok(self.byte(byte))
            }
            None => Err(Failure::new(place, "a pattern is expected here")),
        }
    }

    fn byte(&self, byte: u8) -> Node {
        let set = Set::of([byte]);
        Node::Class(match self.flags.ignores_case {
            true => set.in_both_cases(),
            false => set,
        })
    }

    /// `"…"`: all but backslashes stand for themselves.
    fn string(&mut self) -> Result<Node, Failure> {
        let place = self.place();
        self.at += 1;
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let byte = self.escape()?;
                    parts.push(self.byte(byte));
                }
                None | Some(b'\n') => {
                    return Err(Failure::new(place, "a string without its closing quote"));
                }
                Some(byte) => {
                    self.at += 1;
                    parts.push(self.byte(byte));
                }
            }
            self.count_part(place)?;
        }
        self.at += 1;
        Ok(match parts.is_empty() {
            true => Node::Empty,
            false => Node::Concat(parts),
        })
    }

    /// `(…)`, `(?i:…)` or `(?# …)`.
    fn group(&mut self) -> Result<Node, Failure> {
        let place = self.place();
        self.at += 1;
        let before = self.flags;
        if self.eat(b'?') {
            if self.eat(b'#') {
                while !self.eat(b')') {
                    if self.peek().is_none() {
                        return Err(Failure::new(place, "a comment without its )"));
                    }
                    self.at += 1;
                }
                return Ok(Node::Empty);
            }
            self.group_flags()?;
        }
        self.enter(place)?;
        self.group_depth += 1;
        let node = self.either()?;
        self.skip_blanks()?;
        if !self.eat(b')') {
            return Err(Failure::new(place, "a ( without its )"));
        }
        self.group_depth -= 1;
        self.depth -= 1;
        self.flags = before;
        Ok(node)
    }

    /// The letters between `(?` and `:`.
    fn group_flags(&mut self) -> Result<(), Failure> {
        let mut is_on = true;
        loop {
            let place = self.place();
            let flag = match self.peek() {
                Some(b':') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'-') => {
                    self.at += 1;
                    is_on = false;
                    continue;
                }
                Some(b'i') => &mut self.flags.ignores_case,
                Some(b's') => &mut self.flags.dot_is_all,
                Some(b'x') => &mut self.flags.skips_blanks,
                _ => {
                    let text = "behind (? stand i, s, x or -, and then :";
                    return Err(Failure::new(place, text));
                }
            };
            *flag = is_on;
            self.at += 1;
        }
    }

    /// `{name}`.
    fn defined(&mut self) -> Result<Node, Failure> {
        let place = self.place();
        let rest = self.rest();
        let len = rest.iter().position(|&byte| byte == b'}').unwrap_or(0);
        let name = rest.get(1..len).unwrap_or_default();
        if !is_name(name) {
            return Err(Failure::new(place, "a name or a count is expected in { }"));
        }
        let Some(&definition) = self.definitions.get(name) else {
            let name = String::from_utf8_lossy(name);
            return Err(Failure::new(place, format!("{{{name}}} is not defined")));
        };
        self.at += len + 1;
        self.enter(place)?;
        let outer = (self.at, self.end, self.used_at, self.group_depth);
        self.at = definition.from;
        self.end = definition.to;
        self.used_at = Some(self.used_at.unwrap_or(place));
        self.group_depth = 0;
        let node = self.either()?;
        if self.at < self.end {
            let text = "a definition that is used in a pattern has neither ^, $ nor / of its own";
            return Err(Failure::new(self.place(), text));
        }
        (self.at, self.end, self.used_at, self.group_depth) = outer;
        self.depth -= 1;
        Ok(node)
    }
}
