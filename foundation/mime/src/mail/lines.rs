//! The lines of a mail: which ones are delimiters, and what becomes of the others.

use super::{Held, LINE_MAX, Mail, MailParts, Place};
use memchr::memchr;

impl Mail {
    /// Reads a line that may be a delimiter: keeps it until that is known.
    pub(super) fn candidate<'b>(
        &mut self,
        bytes: &'b [u8],
        parts: &mut impl MailParts,
    ) -> &'b [u8] {
        let room = LINE_MAX.saturating_sub(self.line.len());
        let near = bytes.get(..room).unwrap_or(bytes);
        let end = memchr(b'\n', near);
        let len = end.unwrap_or(near.len());
        let (more, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        self.line.extend_from_slice(more);
        let is_known = end.is_some() || self.line.len() >= LINE_MAX;
        let may_be = matches!(self.line.as_slice(), [b'-'] | [b'-', b'-', ..]);
        if may_be && !is_known {
            return rest;
        }
        match self.delimiter(&self.line) {
            Some((level, is_last)) => {
                self.line.clear();
                self.delimited(level, is_last, parts);
                // What stands behind a boundary in its line is padding: the head begins behind
                // the line, and so does what is between parts.
                if self.place != Place::Head {
                    return rest;
                }
                if end.is_none() {
                    self.head.skip_line();
                    return rest;
                }
                rest.get(1..).unwrap_or_default()
            }
            None => {
                self.no_delimiter(parts);
                rest
            }
        }
    }

    /// Whether a line is a delimiter: of which level, and whether of the last.
    pub(super) fn delimiter(&self, line: &[u8]) -> Option<(usize, bool)> {
        let text = line.strip_prefix(b"--")?;
        let levels = self.boundaries.iter().enumerate().rev();
        levels.into_iter().find_map(|(level, boundary)| {
            let behind = text.strip_prefix(&*boundary.text)?;
            match behind {
                // RFC 2046 §5.1.1: blanks may stand behind a boundary.
                [] | [b' ' | b'\t' | b'\r', ..] => Some((level, false)),
                [b'-', b'-', ..] => Some((level, true)),
                _ => None,
            }
        })
    }

    /// What looked like a delimiter is none: the line goes on as any other.
    pub(super) fn no_delimiter(&mut self, parts: &mut impl MailParts) {
        let line = core::mem::take(&mut self.line);
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            rest = match self.place {
                Place::Head => self.read_head(rest, parts),
                Place::Peek => self.peek(rest, parts),
                _ => self.through_line_end(rest, parts),
            };
        }
        self.line = line;
        self.line.clear();
    }

    /// A delimiter: what is inside of its multipart is over.
    pub(super) fn delimited(&mut self, level: usize, is_last: bool, parts: &mut impl MailParts) {
        if self.place == Place::Peek {
            self.peeked(false, parts);
        }
        if self.place == Place::Content {
            self.end_part(true, parts);
        }
        self.held = Held::Nothing;
        self.boundaries.truncate(match is_last {
            true => level,
            false => level.saturating_add(1),
        });
        // What the rest of the line has is for nobody.
        self.is_line_start = false;
        self.place = match is_last {
            true if self.boundaries.is_empty() => Place::Over,
            true => Place::Between,
            false => {
                self.begin_entity();
                self.is_part = true;
                Place::Head
            }
        };
    }

    /// Tells content up to the next line end, which waits.
    pub(super) fn through_line_end<'b>(
        &mut self,
        bytes: &'b [u8],
        parts: &mut impl MailParts,
    ) -> &'b [u8] {
        let end = memchr(b'\n', bytes);
        let (line, rest) = bytes
            .split_at_checked(end.unwrap_or(bytes.len()))
            .unwrap_or((bytes, &[]));
        self.is_line_start = end.is_some();
        let rest = rest.get(1..).unwrap_or_default();
        if self.place == Place::Between {
            return rest;
        }
        if !line.is_empty() {
            self.flush(parts);
            let content = line.strip_suffix(b"\r");
            if content.is_some() {
                self.held = Held::Return;
            }
            self.put(content.unwrap_or(line), parts);
        }
        if end.is_some() {
            let both = self.held == Held::Return;
            if !both {
                self.flush(parts);
            }
            self.held = if both { Held::Both } else { Held::LineFeed };
        }
        rest
    }

    /// The line end that waited is content.
    pub(super) fn flush(&mut self, parts: &mut impl MailParts) {
        let held = core::mem::take(&mut self.held);
        self.put(held.bytes(), parts);
    }

    pub(super) fn put(&mut self, content: &[u8], parts: &mut impl MailParts) {
        if content.is_empty() || self.place != Place::Content {
            return;
        }
        let is_valid = self.decoder.push(content, &mut |made| {
            if !made.is_empty() {
                parts.content(made);
            }
        });
        self.is_flawed |= !is_valid;
    }
}
