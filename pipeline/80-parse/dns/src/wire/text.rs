//! The texts of one message, one behind the other; only counted where nobody reads them.

use super::cursor::Cursor;
use super::name::{BadName, Name, walk};
use super::suffixes::Suffixes;
use core::ops::Range;

/// Where a text lies among a message's texts: begin and end.
// PERF: one word, so that it is written and read at once: what is read as a whole right after its
// parts were written waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(u64);

impl Place {
    pub(crate) fn new(from: usize, to: usize) -> Self {
        let end = |at: usize| u64::from(u32::try_from(at).unwrap_or(u32::MAX));
        Self(end(from) | end(to) << 32)
    }

    pub(crate) fn len(self) -> usize {
        self.range().len()
    }

    pub(crate) const fn range(self) -> Range<usize> {
        let [a, b, c, d, e, f, g, h] = self.0.to_le_bytes();
        u32::from_le_bytes([a, b, c, d]) as usize..u32::from_le_bytes([e, f, g, h]) as usize
    }
}

/// All texts of a message.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) bytes: Vec<u8>,
    /// Of the texts that stand here only once though several names have them, and of those that
    /// nobody reads: no less than what they would take.
    counted: usize,
    suffixes: Suffixes,
}

impl Texts {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(capacity),
            counted: 0,
            suffixes: Suffixes::default(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.counted = 0;
        self.suffixes.clear();
    }

    /// How long all texts are.
    pub(crate) fn total(&self) -> usize {
        self.bytes.len().saturating_add(self.counted)
    }

    /// A text that is not written takes up to so much.
    pub(crate) fn count(&mut self, len: usize) {
        self.counted = self.counted.saturating_add(len);
    }

    pub(crate) fn get(&self, place: Place) -> &[u8] {
        self.bytes.get(place.range()).unwrap_or_default()
    }

    /// Everything from a place on.
    pub(crate) fn since(&self, from: usize) -> Place {
        Place::new(from, self.bytes.len())
    }

    /// Reads a name and moves on behind it. Its text may be that of a name before.
    pub(crate) fn name<const TEXT: bool>(
        &mut self,
        cursor: &mut Cursor<'_>,
    ) -> Result<Name, BadName> {
        if let Some(name) = self.suffixes.pointed_at(cursor) {
            self.count(if TEXT {
                name.text.len()
            } else {
                name.text_len_max()
            });
            return Ok(name);
        }
        self.new_name::<TEXT>(cursor)
    }

    /// The same, with a text of its own behind all others.
    pub(crate) fn new_name<const TEXT: bool>(
        &mut self,
        cursor: &mut Cursor<'_>,
    ) -> Result<Name, BadName> {
        let begin = self.bytes.len();
        let name = walk::<TEXT>(cursor, &mut self.suffixes, &mut self.bytes);
        match &name {
            Ok(name) if !TEXT => self.count(name.text_len_max()),
            Ok(_) => {}
            Err(_) => self.bytes.truncate(begin),
        }
        name
    }
}
