//! A place in a grammar's text.

use crate::diagnostic::Failure;

/// Where reading stands.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    pub(crate) fn eat(&mut self, what: &[u8]) -> bool {
        let is_there = self.rest().starts_with(what);
        self.at += if is_there { what.len() } else { 0 };
        is_there
    }

    pub(crate) fn is_at_line_end(&self) -> bool {
        matches!(self.rest(), [] | [b'\n', ..] | [b'\r', b'\n', ..])
    }

    /// Over blanks, within the line.
    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// To the next item of a line; at the line's end to the next line, and false.
    pub(crate) fn next_item(&mut self) -> Result<bool, Failure> {
        self.skip_blanks();
        self.skip_comment()?;
        self.skip_blanks();
        let is_over = self.is_at_line_end();
        if is_over {
            self.skip_line();
        }
        Ok(!is_over)
    }

    /// Over blanks, line ends and comments.
    pub(crate) fn skip_space(&mut self) -> Result<(), Failure> {
        loop {
            match self.rest() {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.at += 1,
                [b'/', b'*', ..] => self.skip_comment()?,
                [b'/', b'/', ..] => self.skip_line(),
                _ => return Ok(()),
            }
        }
    }

    /// Over a comment, if one is here.
    pub(crate) fn skip_comment(&mut self) -> Result<(), Failure> {
        let begun = self.at;
        if !self.eat(b"/*") {
            return Ok(());
        }
        let Some(len) = self.rest().windows(2).position(|pair| pair == b"*/") else {
            return Err(Failure::new(begun, "a comment without its end"));
        };
        self.at += len + 2;
        Ok(())
    }

    /// To the beginning of the next line.
    pub(crate) fn skip_line(&mut self) {
        let rest = self.rest();
        let len = rest.iter().position(|&byte| byte == b'\n');
        self.at += len.map_or(rest.len(), |len| len + 1);
    }

    /// What is left of the line, without blanks behind it.
    pub(crate) fn line(&self) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|&byte| byte == b'\n');
        rest.get(..len.unwrap_or(rest.len()))
            .unwrap_or_default()
            .trim_ascii_end()
    }

    /// A word of letters, digits, `_`, and `-` if that is allowed.
    pub(crate) fn word(&mut self, with_dash: bool) -> &'a [u8] {
        let rest = self.rest();
        let is_part =
            |&byte: &u8| byte.is_ascii_alphanumeric() || byte == b'_' || with_dash && byte == b'-';
        let len = rest.iter().position(|byte| !is_part(byte));
        let word = rest.get(..len.unwrap_or(rest.len())).unwrap_or_default();
        self.at += word.len();
        word
    }

    /// Blanks and comments to the end of the line; anything else is an error.
    pub(crate) fn end_line(&mut self) -> Result<(), Failure> {
        self.skip_blanks();
        self.skip_comment()?;
        self.skip_blanks();
        if !self.is_at_line_end() {
            return Err(Failure::new(self.at, "not expected here"));
        }
        self.skip_line();
        Ok(())
    }

    /// A block `%{ … %}`: comments alone may stand in it.
    pub(crate) fn skip_block(&mut self) -> Result<(), Failure> {
        let begun = self.at;
        self.at += 2;
        loop {
            self.skip_space()?;
            if self.eat(b"%}") {
                return Ok(());
            }
            match self.peek() {
                None => return Err(Failure::new(begun, "%{ without its %}")),
                // Lines that only name headers say nothing about the scanner.
                Some(b'#') => self.skip_line(),
                Some(_) => {
                    let text = "C is not compiled: only comments and # lines may stand in %{ %}";
                    return Err(Failure::new(self.at, text));
                }
            }
        }
    }
}

/// A name as text.
pub(crate) fn as_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
