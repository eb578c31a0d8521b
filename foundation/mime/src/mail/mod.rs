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

mod entity;
mod head;
mod lines;
mod transfer;

use crate::BOUNDARY_MAX;
use head::{FIELDS_MAX, Head};
use transfer::Decoder;

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
