//! The head of an entity, of which only the fields about its content are kept.

use super::transfer::Encoding;
use crate::{field, parameter};
use memchr::memchr;
use std::borrow::Cow;

/// Bytes of the fields that are kept.
pub(super) const FIELDS_MAX: usize = 4 << 10;
/// Fields about content begin so (RFC 2045 §3): no other one matters here.
const BEGIN: &[u8] = b"content-";

/// A head that is being read.
#[derive(Debug, Default)]
pub(super) struct Head {
    fields: Vec<u8>,
    /// Bytes of [`BEGIN`] that the current line begins with.
    matched: usize,
    line: Line,
    /// Fields were left out.
    pub(super) is_cut: bool,
}

/// Where in a line the head's next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    /// At its first byte; whether the line before was kept, which a blank continues.
    #[default]
    Skipped,
    Kept,
    /// Among the bytes of [`BEGIN`].
    Begin,
    /// Behind them.
    InKept,
    /// In another line.
    InSkipped,
    /// Behind a carriage return that is the line's first byte.
    Return,
}

/// What the fields say of an entity's content.
pub(super) struct Said<'h> {
    pub(super) kind: Kind<'h>,
    pub(super) encoding: Encoding,
    /// The file's name.
    pub(super) name: Option<Cow<'h, [u8]>>,
}

/// What an entity holds.
pub(super) enum Kind<'h> {
    /// Other entities, between such boundaries; whether they are messages if nothing else is said.
    Multipart(Cow<'h, [u8]>, bool),
    /// A message with a head of its own.
    Message,
    /// One that is said to be coded, which no message may be (RFC 2046 §5.2.1): its first line
    /// shows whether it is.
    CodedMessage,
    /// Anything else.
    Leaf,
}

impl Head {
    /// Reads the next bytes of a head, up to the end of a line; returns those behind it, and
    /// whether the head is over.
    pub(super) fn feed<'b>(&mut self, bytes: &'b [u8]) -> (&'b [u8], bool) {
        let Some((&first, tail)) = bytes.split_first() else {
            return (bytes, false);
        };
        match (self.line, first) {
            (Line::Skipped | Line::Kept | Line::Return, b'\n') => return (tail, true),
            (Line::Skipped | Line::Kept, b'\r') => {
                self.line = Line::Return;
                return (tail, false);
            }
            (Line::Kept, b' ' | b'\t') => {
                self.line = Line::InKept;
                return (bytes, false);
            }
            (Line::Skipped | Line::Kept, _) => {
                (self.line, self.matched) = (Line::Begin, 0);
                return (bytes, false);
            }
            (Line::Return, _) => self.line = Line::InSkipped,
            (Line::Begin, _) => {
                let expected = BEGIN.get(self.matched);
                if expected.is_some_and(|byte| first.eq_ignore_ascii_case(byte)) {
                    self.matched = self.matched.saturating_add(1);
                    if self.matched == BEGIN.len() {
                        self.keep(BEGIN);
                        self.line = Line::InKept;
                    }
                    return (tail, false);
                }
                self.line = Line::InSkipped;
            }
            (Line::InKept | Line::InSkipped, _) => {}
        }
        let end = memchr(b'\n', bytes);
        let len = end.map_or(bytes.len(), |end| end.saturating_add(1));
        let (line, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        let is_kept = self.line == Line::InKept;
        if is_kept {
            self.keep(line);
        }
        if end.is_some() {
            self.line = if is_kept { Line::Kept } else { Line::Skipped };
        }
        (rest, false)
    }

    /// At the first byte of a line.
    pub(super) fn is_at_line_start(&self) -> bool {
        matches!(self.line, Line::Skipped | Line::Kept)
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = FIELDS_MAX.saturating_sub(self.fields.len());
        self.is_cut |= bytes.len() > room;
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.fields.extend_from_slice(kept);
    }

    /// What follows in the current line is no field.
    pub(super) const fn skip_line(&mut self) {
        self.line = Line::InSkipped;
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) {
        self.fields.clear();
        (self.line, self.matched, self.is_cut) = (Line::Skipped, 0, false);
    }

    /// What it says. `in_digest`: parts without a type are messages (RFC 2046 §5.1.5).
    pub(super) fn said(&self, in_digest: bool) -> Said<'_> {
        let value = |name: &[u8]| field(&self.fields, name);
        let encoding = value(b"content-transfer-encoding");
        let encoding = encoding.map_or(Encoding::Identity, |value| Encoding::of(&value));
        let of_type = value(b"content-type");
        let disposition = value(b"content-disposition");
        // RFC 2183 §2.3; programs that know only RFC 1341 have the name in the type.
        let named = |value: &Option<Cow<'_, [u8]>>, name: &[u8]| {
            let value = value.as_ref()?;
            let name = parameter(value, name).extended_first()?;
            (!name.is_empty()).then(|| Cow::Owned(name.into_owned()))
        };
        let name = named(&disposition, b"filename").or_else(|| named(&of_type, b"name"));
        let kind = match &of_type {
            Some(value) => kind(value, encoding),
            None if in_digest => Kind::Message,
            None => Kind::Leaf,
        };
        Said {
            kind,
            encoding,
            name,
        }
    }
}

/// Reads a media type (RFC 2045 §5.1).
fn kind<'h>(value: &[u8], encoding: Encoding) -> Kind<'h> {
    let begins = |begin: &[u8]| {
        let own = value.get(..begin.len());
        own.is_some_and(|own| own.eq_ignore_ascii_case(begin))
    };
    if begins(b"multipart/") {
        let boundary = parameter(value, b"boundary").plain_first();
        let boundary = boundary.map(|boundary| boundary.trim_ascii_end().to_vec());
        return match boundary.filter(|boundary| !boundary.is_empty()) {
            Some(boundary) => Kind::Multipart(Cow::Owned(boundary), begins(b"multipart/digest")),
            None => Kind::Leaf,
        };
    }
    let is_message = [
        b"message/rfc822".as_slice(),
        b"message/global",
        b"message/news",
    ]
    .iter()
    .any(|name| {
        let behind = value.get(name.len());
        begins(name) && behind.is_none_or(|byte| matches!(byte, b';' | b' ' | b'\t'))
    });
    match (is_message, encoding) {
        (true, Encoding::Base64) => Kind::CodedMessage,
        (true, Encoding::Identity | Encoding::QuotedPrintable) => Kind::Message,
        (false, _) => Kind::Leaf,
    }
}
