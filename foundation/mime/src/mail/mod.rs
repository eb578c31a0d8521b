//! A mail (RFC 5322, RFC 2045, RFC 2046), read as it arrives: its parts, decoded.
//!
//! ```text
//!            ┌────────────── delimiter ◄──────────────┐
//!   Head ────┼─ multipart ► Between ─── delimiter ────┤
//!     ▲      ├─ message ──► Head                      │
//!     └──────┴─ any other ► Content ──────────────────┘ ► Over: the last boundary is closed
//! ```
//!
//! Boundaries of nested entities are a stack: the delimiter of an outer one also ends what is
//! inside (RFC 2046 §5.1.2). A line is looked at as a whole only if it begins with two hyphens, and
//! up to the length of a delimiter; of anything longer nothing waits. A line end waits for the line
//! behind it, as it belongs to a delimiter (RFC 2046 §5.1.1).

mod head;
mod transfer;

use crate::BOUNDARY_MAX;
use head::{FIELDS_MAX, Head, Kind};
use memchr::{memchr, memchr2};
use transfer::{Decoder, Encoding};

/// Multiparts within each other; one that is deeper is told as a part that is not divided.
pub const NESTED_MAX: usize = 8;

/// What is told of the parts of a mail that hold no others, one after the other.
pub trait MailParts {
    /// The next part. `nth`: which of the mail's entities it is, with those that hold others.
    fn begin(&mut self, nth: u64, name: Option<&[u8]>);
    /// The next bytes of its content, decoded.
    fn content(&mut self, bytes: &[u8]);
    /// So many of them are missing, about.
    fn missing(&mut self, len: u64);
    /// It is over; whether all of it was there.
    fn over(&mut self, is_whole: bool);
    /// Something is odd about the mail, or beyond a limit.
    fn odd(&mut self, flaw: MailFlaw);
}

/// What may be odd about a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailFlaw {
    /// Bytes that are no base64 (RFC 2045 §6.8), or too few of them.
    Base64,
    /// An equals sign that quotes nothing (RFC 2045 §6.7).
    QuotedPrintable,
    /// A multipart whose boundary no delimiter can have (RFC 2046 §5.1.1).
    Boundary,
    /// The last delimiter of a multipart is not there.
    BoundaryOpen,
    /// Multiparts within each other beyond [`NESTED_MAX`].
    Nested,
    /// Fields of a part that are longer than what is kept of them.
    Head,
}

/// The state of one mail between two segments.
///
/// ```
/// use flowpin_mime::{Mail, MailFlaw, MailParts};
///
/// #[derive(Default)]
/// struct Contents(Vec<String>);
/// impl MailParts for Contents {
///     fn begin(&mut self, _: u64, name: Option<&[u8]>) {
///         let name = String::from_utf8_lossy(name.unwrap_or_default());
///         self.0.push(format!("{name}:"));
///     }
///     fn content(&mut self, bytes: &[u8]) {
///         let text = String::from_utf8_lossy(bytes);
///         self.0.last_mut().unwrap().push_str(&text);
///     }
///     fn missing(&mut self, _: u64) {}
///     fn over(&mut self, _: bool) {}
///     fn odd(&mut self, _: MailFlaw) {}
/// }
///
/// let mut mail = Mail::default();
/// let mut contents = Contents::default();
/// mail.feed(b"Subject: a\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--", &mut contents);
/// mail.feed(b"x\r\nContent-Disposition: attachment; filename=f\r\n", &mut contents);
/// mail.feed(b"Content-Transfer-Encoding: base64\r\n\r\nb25l\r\n--x--\r\n", &mut contents);
/// mail.finish(true, &mut contents);
/// assert_eq!(contents.0, ["f:one"]);
/// ```
#[derive(Debug)]
pub struct Mail {
    place: Place,
    head: Head,
    /// Of the multiparts around the current entity, the outermost first.
    boundaries: Vec<Boundary>,
    decoder: Decoder,
    /// Entities so far.
    count: u64,
    /// The beginning of a line that may be a delimiter.
    line: Vec<u8>,
    /// The first bytes of what may be a message, and the name that it has as a file.
    first: Vec<u8>,
    name: Option<Vec<u8>>,
    /// The next byte is the first of a line.
    is_line_start: bool,
    held: Held,
    /// The current entity stands behind a delimiter: it is not the message that a part is.
    is_part: bool,
    /// The current part is not encoded as it says.
    is_flawed: bool,
}

#[derive(Debug)]
struct Boundary {
    text: Box<[u8]>,
    is_digest: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Head,
    /// The first line of what is a message with a head, or base64.
    Peek,
    /// Content of a part.
    Content,
    /// Before the first delimiter of a multipart, or behind the last one: for nobody.
    Between,
    /// Nothing that follows is of any part.
    Over,
}

/// The line end before the next byte, which may belong to a delimiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Held {
    #[default]
    Nothing,
    Return,
    LineFeed,
    Both,
}

impl Held {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Nothing => b"",
            Self::Return => b"\r",
            Self::LineFeed => b"\n",
            Self::Both => b"\r\n",
        }
    }
}

/// At the first byte of a mail.
impl Default for Mail {
    fn default() -> Self {
        Self {
            place: Place::Head,
            head: Head::default(),
            boundaries: Vec::new(),
            decoder: Decoder::Identity,
            count: 1,
            line: Vec::new(),
            first: Vec::new(),
            name: None,
            is_line_start: true,
            held: Held::Nothing,
            is_part: false,
            is_flawed: false,
        }
    }
}

impl Mail {
    /// The memory that it has beside itself, at most.
    pub const fn bytes_max() -> usize {
        let boundary = BOUNDARY_MAX.saturating_add(size_of::<Boundary>());
        let boundaries = boundary.saturating_mul(NESTED_MAX);
        // Vectors grow to twice what they need.
        boundaries
            .saturating_add(FIELDS_MAX)
            .saturating_add(LINE_MAX.saturating_mul(2))
            .saturating_add(PEEK_MAX.saturating_mul(2))
            .saturating_add(NAME_MAX)
    }

    /// How many entities there were, with those that hold others.
    pub const fn entity_count(&self) -> u64 {
        self.count
    }

    /// The next bytes.
    pub fn feed(&mut self, bytes: &[u8], parts: &mut impl MailParts) {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if !self.line.is_empty() {
                rest = self.candidate(rest, parts);
                continue;
            }
            let may_delimit = first == b'-' && !self.boundaries.is_empty();
            rest = match self.place {
                Place::Over => return,
                Place::Head if may_delimit && self.head.is_at_line_start() => {
                    self.candidate(rest, parts)
                }
                Place::Head => self.read_head(rest, parts),
                Place::Peek if may_delimit && self.first.is_empty() => self.candidate(rest, parts),
                Place::Peek => self.peek(rest, parts),
                Place::Content | Place::Between if may_delimit && self.is_line_start => {
                    self.candidate(rest, parts)
                }
                Place::Content | Place::Between => self.through_line_end(rest, parts),
            };
        }
    }

    /// Bytes are missing; a delimiter among them is not seen, so that they are taken for bytes of
    /// the current part.
    pub fn gap(&mut self, len: u64, parts: &mut impl MailParts) {
        self.no_delimiter(parts);
        match self.place {
            // Nobody knows what the entity is.
            Place::Head if self.boundaries.is_empty() => self.place = Place::Over,
            Place::Head => self.place = Place::Between,
            Place::Peek => {
                self.peeked(false, parts);
                return self.gap(len, parts);
            }
            Place::Content => {
                self.flush(parts);
                let missing = self.decoder.gap(len, &mut |made| parts.content(made));
                parts.missing(missing);
            }
            Place::Between | Place::Over => {}
        }
        self.held = Held::Nothing;
        self.is_line_start = false;
    }

    /// The mail is over; whether its end was seen.
    pub fn finish(&mut self, is_whole: bool, parts: &mut impl MailParts) {
        let line = core::mem::take(&mut self.line);
        if let Some((level, is_last)) = self.delimiter(&line) {
            self.delimited(level, is_last, parts);
        } else {
            self.line = line;
            self.no_delimiter(parts);
        }
        if self.place == Place::Peek {
            self.peeked(false, parts);
        }
        if self.place == Place::Content {
            self.flush(parts);
            self.end_part(is_whole, parts);
        }
        if is_whole && !self.boundaries.is_empty() {
            parts.odd(MailFlaw::BoundaryOpen);
        }
        self.boundaries.clear();
        self.place = Place::Over;
    }

    /// Reads a line that may be a delimiter: keeps it until that is known.
    fn candidate<'b>(&mut self, bytes: &'b [u8], parts: &mut impl MailParts) -> &'b [u8] {
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
    fn delimiter(&self, line: &[u8]) -> Option<(usize, bool)> {
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
    fn no_delimiter(&mut self, parts: &mut impl MailParts) {
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
    fn delimited(&mut self, level: usize, is_last: bool, parts: &mut impl MailParts) {
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

    fn begin_entity(&mut self) {
        self.count = self.count.saturating_add(1);
        self.is_part = false;
        self.head.clear();
        self.place = Place::Head;
    }

    fn read_head<'b>(&mut self, bytes: &'b [u8], parts: &mut impl MailParts) -> &'b [u8] {
        let (rest, is_over) = self.head.feed(bytes);
        if is_over {
            self.head_over(parts);
        }
        rest
    }

    /// What the entity is: its content follows.
    fn head_over(&mut self, parts: &mut impl MailParts) {
        self.is_line_start = true;
        self.held = Held::Nothing;
        let in_digest = self.is_part && self.boundaries.last().is_some_and(|last| last.is_digest);
        let head = core::mem::take(&mut self.head);
        if head.is_cut {
            parts.odd(MailFlaw::Head);
        }
        let said = head.said(in_digest);
        match said.kind {
            Kind::Message => self.begin_entity(),
            Kind::CodedMessage => {
                let name = said.name.as_deref();
                self.name = name.map(|name| name.get(..NAME_MAX).unwrap_or(name).to_vec());
                self.place = Place::Peek;
            }
            Kind::Multipart(boundary, is_digest) if self.enter(&boundary, is_digest, parts) => {
                self.place = Place::Between;
            }
            _ => self.begin_part(said.encoding, said.name.as_deref(), parts),
        }
        self.head = head;
        self.head.clear();
    }

    /// Reads the first line of what may be a message: base64 has no colon.
    fn peek<'b>(&mut self, bytes: &'b [u8], parts: &mut impl MailParts) -> &'b [u8] {
        let room = PEEK_MAX.saturating_sub(self.first.len());
        let near = bytes.get(..room).unwrap_or(bytes);
        let end = memchr2(b':', b'\n', near);
        let len = end.map_or(near.len(), |end| end.saturating_add(1));
        let (more, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        self.first.extend_from_slice(more);
        if end.is_some() || self.first.len() >= PEEK_MAX {
            self.peeked(self.first.last() == Some(&b':'), parts);
        }
        rest
    }

    /// It is known what it is: what was read of it is the beginning.
    fn peeked(&mut self, is_message: bool, parts: &mut impl MailParts) {
        let first = core::mem::take(&mut self.first);
        let name = self.name.take();
        if is_message {
            self.begin_entity();
        } else {
            self.begin_part(Encoding::Base64, name.as_deref(), parts);
        }
        let mut rest = first.as_slice();
        while !rest.is_empty() {
            rest = match self.place {
                Place::Head => self.read_head(rest, parts),
                _ => self.through_line_end(rest, parts),
            };
        }
    }

    /// A multipart begins; false if it cannot be divided.
    fn enter(&mut self, boundary: &[u8], is_digest: bool, parts: &mut impl MailParts) -> bool {
        if boundary.len() > BOUNDARY_MAX || boundary.contains(&b'\r') {
            parts.odd(MailFlaw::Boundary);
            return false;
        }
        if self.boundaries.len() >= NESTED_MAX {
            parts.odd(MailFlaw::Nested);
            return false;
        }
        self.boundaries.push(Boundary {
            text: Box::from(boundary),
            is_digest,
        });
        true
    }

    fn begin_part(&mut self, encoding: Encoding, name: Option<&[u8]>, parts: &mut impl MailParts) {
        self.place = Place::Content;
        self.is_flawed = false;
        self.decoder = encoding.decoder();
        parts.begin(self.count, name);
    }

    fn end_part(&mut self, is_whole: bool, parts: &mut impl MailParts) {
        let is_valid = self.decoder.finish(&mut |made| parts.content(made));
        // Of what is not whole the end is missing, which is no fault of its sender.
        self.is_flawed |= !is_valid && is_whole;
        let decoder = core::mem::replace(&mut self.decoder, Decoder::Identity);
        match decoder {
            Decoder::Base64(_) if self.is_flawed => parts.odd(MailFlaw::Base64),
            Decoder::Quoted(_) if self.is_flawed => parts.odd(MailFlaw::QuotedPrintable),
            _ => {}
        }
        parts.over(is_whole);
    }

    /// Tells content up to the next line end, which waits.
    fn through_line_end<'b>(&mut self, bytes: &'b [u8], parts: &mut impl MailParts) -> &'b [u8] {
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
    fn flush(&mut self, parts: &mut impl MailParts) {
        let held = core::mem::take(&mut self.held);
        self.put(held.bytes(), parts);
    }

    fn put(&mut self, content: &[u8], parts: &mut impl MailParts) {
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

/// The longest line that is a delimiter: two hyphens, a boundary, two hyphens.
const LINE_MAX: usize = BOUNDARY_MAX.saturating_add(4);

/// The longest name of a field that is looked for in front of a message. RFC 5322 §2.1.1: a line
/// has 78 bytes.
const PEEK_MAX: usize = 78;

/// Bytes of a file's name that wait with that line.
const NAME_MAX: usize = 512;

#[cfg(test)]
mod tests;
