//! The texts of one message, concatenated; only their length is counted if the sink does not read
//! them.

use super::cursor::Cursor;
use super::name::{BadName, Name, walk};
use super::suffixes::Suffixes;
use core::ops::Range;

/// Range of a text among the texts of its message: start and end.
// PERF: one word, written and read at once: reading a whole right after writing its parts stalls on
// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ByteRange(u64);

impl ByteRange {
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
    /// Length of the texts that are not written: those shared by several names, and those that the
    /// sink does not read. At least the length that they would have.
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

    /// Returns the total length of all texts.
    pub(crate) fn total(&self) -> usize {
        self.bytes.len().saturating_add(self.counted)
    }

    /// Counts a text of at most `len` bytes that is not written.
    pub(crate) fn count(&mut self, len: usize) {
        self.counted = self.counted.saturating_add(len);
    }

    pub(crate) fn get(&self, place: ByteRange) -> &[u8] {
        self.bytes.get(place.range()).unwrap_or_default()
    }

    /// Returns the range from a position to the end.
    pub(crate) fn since(&self, from: usize) -> ByteRange {
        ByteRange::new(from, self.bytes.len())
    }

    /// Reads a name and moves the cursor past it. Its text may be shared with an earlier name.
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

    /// Like [`Self::name`], but always writes the text at the end.
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
