//! A body of several parts (RFC 2046 §5.1), read as it arrives.
//!
//! ```text
//!   Search ──delimiter──► Delimiter ──line end──► Head ──empty line──► Search …
//!     ▲                    │  │ blank ► Padding ──┘
//!     └── anything else ───┘  └ "--" ► Over: what follows is for nobody
//! ```
//!
//! A delimiter is a line feed, two hyphens and the boundary. RFC 2046 wants a carriage return
//! before the line feed; receivers that do without it are common, so one belongs to the delimiter
//! if it is there. In front of the first delimiter there may be anything.

use memchr::memchr;

/// The longest boundary that is looked for. RFC 2046 §5.1.1 allows 70 bytes.
pub const BOUNDARY_MAX: usize = 256;

/// Bytes of a part's head that are kept; what is beyond them is not read.
pub const HEAD_MAX: usize = 4 << 10;

/// What is told of the parts, one after the other.
pub trait Parts {
    /// The fields of the next part, whose content follows.
    fn head(&mut self, head: &[u8]);
    /// The next bytes of its content.
    fn content(&mut self, bytes: &[u8]);
    /// It is over; whether a delimiter ends it.
    fn over(&mut self, is_whole: bool);
}

/// The state of one body between two segments.
///
/// ```
/// use flowpin_mime::{Multipart, Parts};
///
/// #[derive(Default)]
/// struct Contents(Vec<String>);
/// impl Parts for Contents {
///     fn head(&mut self, _: &[u8]) {
///         self.0.push(String::new());
///     }
///     fn content(&mut self, bytes: &[u8]) {
///         let text = String::from_utf8_lossy(bytes);
///         self.0.last_mut().unwrap().push_str(&text);
///     }
///     fn over(&mut self, _: bool) {}
/// }
///
/// let mut body = Multipart::new(b"x").unwrap();
/// let mut contents = Contents::default();
/// body.feed(b"--x\r\nA: b\r\n\r\none\r\n--", &mut contents);
/// body.feed(b"x\r\n\r\ntwo\r\n--x--\r\n", &mut contents);
/// body.finish(&mut contents);
/// assert_eq!(contents.0, ["one", "two"]);
/// ```
#[derive(Debug)]
pub struct Multipart {
    /// A line feed, two hyphens, the boundary.
    delimiter: Box<[u8]>,
    place: Place,
    /// Bytes of the delimiter that were seen.
    matched: usize,
    /// How many of them are none of the body's: the line feed ended the line before.
    borrowed: usize,
    /// A carriage return came before them.
    has_return: bool,
    /// In the content of a part.
    is_inside: bool,
    /// The current line of the head is empty so far.
    is_line_empty: bool,
    head: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Content, or what stands before the first part.
    Search,
    /// Behind a delimiter.
    Delimiter,
    /// Behind a delimiter and one hyphen.
    Hyphen,
    /// Behind a delimiter and a blank.
    Padding,
    /// In the head of a part.
    Head,
    /// Behind the last delimiter.
    Over,
}

impl Multipart {
    /// At the first byte of a body; none if the boundary is empty, has a line end, or is longer
    /// than [`BOUNDARY_MAX`].
    pub fn new(boundary: &[u8]) -> Option<Self> {
        let has_line_end = boundary.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
        if boundary.is_empty() || boundary.len() > BOUNDARY_MAX || has_line_end {
            return None;
        }
        Some(Self {
            delimiter: [b"\n--", boundary].concat().into_boxed_slice(),
            place: Place::Search,
            // The first line may be a delimiter.
            matched: 1,
            borrowed: 1,
            has_return: false,
            is_inside: false,
            is_line_empty: true,
            head: Vec::new(),
        })
    }

    /// Whether the next byte may belong to the content of a part.
    pub fn is_inside(&self) -> bool {
        self.is_inside
    }

    /// Whether the last delimiter was read: no part follows.
    pub const fn is_over(&self) -> bool {
        matches!(self.place, Place::Over)
    }

    /// The memory that it has beside itself, at most.
    pub const fn bytes_max() -> usize {
        BOUNDARY_MAX.saturating_add(HEAD_MAX)
    }

    /// The next bytes.
    pub fn feed(&mut self, bytes: &[u8], parts: &mut impl Parts) {
        let mut rest = bytes;
        while let Some((&first, tail)) = rest.split_first() {
            rest = match (self.place, first) {
                (Place::Over, _) => return,
                (Place::Search, _) => self.search(rest, parts),
                (Place::Head, _) => self.head(rest, parts),
                (Place::Delimiter, b'-') => {
                    self.place = Place::Hyphen;
                    tail
                }
                (Place::Delimiter, b' ' | b'\t' | b'\r') => {
                    self.delimited(Place::Padding, parts);
                    tail
                }
                (Place::Hyphen, b'-') => {
                    self.delimited(Place::Over, parts);
                    tail
                }
                (Place::Delimiter, b'\n') => {
                    self.delimited(Place::Head, parts);
                    tail
                }
                (Place::Padding, b'\n') => {
                    self.place = Place::Head;
                    tail
                }
                (Place::Padding, _) => tail,
                // A longer line that begins like a delimiter is none.
                (Place::Delimiter | Place::Hyphen, _) => {
                    self.flush(parts);
                    rest
                }
            };
        }
    }

    /// Bytes are missing, after which a delimiter is looked for. Whether they are taken for bytes
    /// of the current part: a delimiter among them is not seen.
    pub fn gap(&mut self, parts: &mut impl Parts) -> bool {
        match self.place {
            Place::Search | Place::Delimiter | Place::Hyphen => self.flush(parts),
            Place::Padding | Place::Head => self.place = Place::Search,
            Place::Over => {}
        }
        self.is_inside
    }

    /// The body is over, complete or not.
    pub fn finish(&mut self, parts: &mut impl Parts) {
        if matches!(self.place, Place::Search | Place::Delimiter | Place::Hyphen) {
            self.flush(parts);
        }
        if core::mem::replace(&mut self.is_inside, false) {
            parts.over(false);
        }
        self.place = Place::Over;
        self.head = Vec::new();
    }

    /// Looks for a delimiter, and returns the bytes behind what was looked at.
    fn search<'b>(&mut self, bytes: &'b [u8], parts: &mut impl Parts) -> &'b [u8] {
        if self.matched == 0 {
            return self.through_line_end(bytes, parts);
        }
        // A line feed stands nowhere but at the beginning: what does not match on begins no
        // delimiter before its own next line feed.
        let expected = self.delimiter.get(self.matched..).unwrap_or_default();
        let both = expected.iter().zip(bytes);
        let same = both.take_while(|(one, other)| one == other).count();
        self.matched = self.matched.saturating_add(same);
        let rest = bytes.get(same..).unwrap_or_default();
        if self.matched == self.delimiter.len() {
            self.place = Place::Delimiter;
        } else if !rest.is_empty() {
            self.flush(parts);
        }
        rest
    }

    /// Tells content up to the next line feed, without the carriage return before it.
    fn through_line_end<'b>(&mut self, bytes: &'b [u8], parts: &mut impl Parts) -> &'b [u8] {
        let end = memchr(b'\n', bytes);
        let (line, rest) = bytes
            .split_at_checked(end.unwrap_or(bytes.len()))
            .unwrap_or((bytes, &[]));
        if !line.is_empty() {
            self.flush(parts);
            let content = line.strip_suffix(b"\r");
            self.has_return = content.is_some();
            self.tell(content.unwrap_or(line), parts);
        }
        if end.is_none() {
            return &[];
        }
        (self.matched, self.borrowed) = (1, 0);
        rest.get(1..).unwrap_or_default()
    }

    /// What looked like a delimiter is content.
    fn flush(&mut self, parts: &mut impl Parts) {
        if core::mem::replace(&mut self.has_return, false) {
            self.tell(b"\r", parts);
        }
        let seen = self.delimiter.get(self.borrowed..self.matched);
        if let Some(seen) = seen.filter(|seen| !seen.is_empty() && self.is_inside) {
            parts.content(seen);
        }
        if self.place == Place::Hyphen {
            self.tell(b"-", parts);
        }
        (self.matched, self.borrowed) = (0, 0);
        self.place = Place::Search;
    }

    fn tell(&self, content: &[u8], parts: &mut impl Parts) {
        if self.is_inside && !content.is_empty() {
            parts.content(content);
        }
    }

    /// A delimiter: the part before it is over.
    fn delimited(&mut self, next: Place, parts: &mut impl Parts) {
        if core::mem::replace(&mut self.is_inside, false) {
            parts.over(true);
        }
        (self.matched, self.borrowed) = (0, 0);
        self.has_return = false;
        self.is_line_empty = true;
        self.head.clear();
        self.place = next;
    }

    /// Reads a line of a head, or what there is of it.
    fn head<'b>(&mut self, bytes: &'b [u8], parts: &mut impl Parts) -> &'b [u8] {
        let end = memchr(b'\n', bytes);
        let len = end.map_or(bytes.len(), |end| end.saturating_add(1));
        let (line, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        let is_text = |byte: &u8| !matches!(byte, b'\r' | b'\n');
        self.is_line_empty &= !line.iter().any(is_text);
        if end.is_some() && self.is_line_empty {
            self.is_inside = true;
            self.place = Place::Search;
            // RFC 2046 §5.1.1: a part may have no content, so that the next delimiter follows its
            // empty line at once.
            (self.matched, self.borrowed) = (1, 1);
            // A carriage return of the empty line may have come before its line feed.
            while self.head.last() == Some(&b'\r') {
                self.head.pop();
            }
            parts.head(&self.head);
            return rest;
        }
        self.is_line_empty |= end.is_some();
        let room = HEAD_MAX.saturating_sub(self.head.len());
        self.head
            .extend_from_slice(line.get(..room).unwrap_or(line));
        rest
    }
}

#[cfg(test)]
mod tests;
