//! Text of records, written without allocation and almost without branches.
//!
//! ```text
//!  TextBuffer  │ line │ line │ line │ ←── PLACE_LEN free ──→│
//!                                   ▲ Line writes here, then commits
//! ```
//!
//! A [`Line`] writes into a place of fixed size, so every copy of known length is a few moves;
//! variable text is written in full width and the place advances by the part that counts.

mod address;
mod digits;
mod plain;
mod time;

pub(crate) use digits::hex;
pub(crate) use plain::copy_plain;
pub use time::file_name_time;
pub(crate) use time::{DateCache, second_of, zeek_header_time};

use flowpin_packet::Timestamp;
use flowpin_record::CommunityId;

/// No line of any format is longer: a test writes the longest there can be.
pub(crate) const LINE_LEN_MAX: usize = 4096;

/// Room for a line and for what a full-width copy writes behind it.
const PLACE_LEN: usize = LINE_LEN_MAX + 256;

/// A time as EVE JSON has it: in UTC, with microseconds.
///
/// ```
/// use flowpin_packet::Timestamp;
/// let time = flowpin_output::eve_time(Timestamp(1_500_000_000));
/// assert_eq!(time, "1970-01-01T00:00:01.500000+0000");
/// ```
pub fn eve_time(time: Timestamp) -> String {
    let (mut text, mut dates) = (TextBuffer::default(), DateCache::default());
    text.line(|line| line.put_eve_time(&mut dates, time));
    String::from_utf8_lossy(text.as_slice()).into_owned()
}

/// Bytes of finished lines, with room for the next one always initialised.
#[derive(Debug, Default)]
pub(crate) struct TextBuffer {
    /// Initialised throughout, so that reuse costs nothing.
    bytes: Vec<u8>,
    /// How many count.
    len: usize,
}

impl TextBuffer {
    /// The finished lines.
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// How many bytes the finished lines have.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How much memory it has.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Forgets all lines, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Forgets what was written behind the first `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends a finished line, or part of one.
    #[inline]
    pub(crate) fn extend(&mut self, line: &[u8]) {
        if self.bytes.len() < self.len + line.len() {
            self.grow(line.len());
        }
        if let Some(place) = self.bytes.get_mut(self.len..self.len + line.len()) {
            place.copy_from_slice(line);
            self.len += line.len();
        }
    }

    /// Writes all of `text` but appends its first `len` bytes only.
    #[inline]
    pub(crate) fn put_first<const N: usize>(&mut self, text: &[u8; N], len: usize) {
        if let Some(place) = self.room(N).first_chunk_mut::<N>() {
            *place = *text;
            self.len += len.min(N);
        }
    }

    /// What follows the finished lines: `len` bytes or more, to be written and then counted with
    /// [`TextBuffer::advance`].
    #[inline]
    pub(crate) fn room(&mut self, len: usize) -> &mut [u8] {
        if self.bytes.len() < self.len + len {
            self.grow(len);
        }
        self.bytes.get_mut(self.len..).unwrap_or_default()
    }

    /// Counts bytes that were written behind the finished lines.
    #[inline]
    pub(crate) fn advance(&mut self, len: usize) {
        self.len = (self.len + len).min(self.bytes.len());
    }

    /// Changes a byte that was written.
    #[inline]
    pub(crate) fn set(&mut self, at: usize, byte: u8) {
        if let Some(place) = self.bytes.get_mut(at) {
            *place = byte;
        }
    }

    /// Writes a line and returns its length.
    #[inline]
    pub(crate) fn line(&mut self, write: impl FnOnce(&mut Line<'_>)) -> usize {
        if self.bytes.len() < self.len + PLACE_LEN {
            self.grow(PLACE_LEN);
        }
        let free = self.bytes.get_mut(self.len..).unwrap_or_default();
        let Some(place) = free.first_chunk_mut() else {
            return 0;
        };
        let mut line = Line { place, at: 0 };
        write(&mut line);
        let written = line.at;
        self.len += written;
        written
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let wanted = self.len + more;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted.next_power_of_two(), 0);
        }
    }
}

/// A line being written.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    place: &'a mut [u8; PLACE_LEN],
    at: usize,
}

impl Line<'_> {
    /// Appends text of known length.
    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, text: &[u8; N]) {
        self.put_first(text, N);
    }

    /// Writes all of `text` but advances by its first `len` bytes only.
    // PERF: the mask spares a comparison and a branch at each of the 70 or so copies of a record:
    // the compiler sees that the place is always large enough. Together with the clock's digits in
    // one register 2,208 → 2,022 instructions an EVE record (`format_bench eve`, EPYC).
    #[inline]
    pub(crate) fn put_first<const N: usize>(&mut self, text: &[u8; N], len: usize) {
        const { assert!(LINE_LEN_MAX.is_power_of_two() && LINE_LEN_MAX + N <= PLACE_LEN) };
        debug_assert!(self.at < LINE_LEN_MAX, "a line is longer than LINE_LEN_MAX");
        let at = self.at & (LINE_LEN_MAX - 1);
        let place = self.place.get_mut(at..at + N).unwrap_or_default();
        if let Some(place) = place.first_chunk_mut() {
            *place = *text;
        }
        self.at = at + len;
    }

    /// Appends text whose length is only known at run time.
    #[inline]
    pub(crate) fn put_str(&mut self, text: &str) {
        let has_room = self.put_bytes(text.as_bytes());
        debug_assert!(has_room, "a line is longer than LINE_LEN_MAX");
    }

    /// Appends a short word: at most 16 bytes, copied in full width.
    #[inline]
    pub(crate) fn put_word(&mut self, word: &Word) {
        self.put_first(&word.text, usize::from(word.len));
    }

    /// Appends a Community ID.
    #[inline]
    pub(crate) fn put_community_id(&mut self, id: &CommunityId) {
        let ([first, second, third], last) = id.letters();
        self.put(b"1:");
        self.put(&first);
        self.put(&second);
        self.put(&third);
        self.put(&last);
    }

    /// Appends `true` or `false`.
    #[inline]
    pub(crate) fn put_bool(&mut self, value: bool) {
        let text = if value { b"true " } else { b"false" };
        self.put_first(text, if value { 4 } else { 5 });
    }
}

/// What stands before a member's value: a comma, the quoted name, a colon.
// PERF: one copy of known length for nearly all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    text: [u8; KEY_LEN],
    len: usize,
    /// All of it, if it is longer.
    long: Option<Box<[u8]>>,
}

const KEY_LEN: usize = 32;

impl Key {
    pub(crate) fn new(name: &str) -> Self {
        let all = format!(",\"{name}\":").into_bytes();
        let mut text = [0; KEY_LEN];
        for (to, from) in text.iter_mut().zip(&all) {
            *to = *from;
        }
        Self {
            text,
            len: all.len(),
            long: (all.len() > KEY_LEN).then(|| all.into_boxed_slice()),
        }
    }
}

impl TextBuffer {
    /// Appends a member's name.
    #[inline]
    pub(crate) fn put_key(&mut self, key: &Key) {
        match &key.long {
            None => self.put_first(&key.text, key.len),
            Some(long) => self.extend(long),
        }
    }
}

impl Line<'_> {
    /// Appends a member's name.
    #[inline]
    pub(crate) fn put_key(&mut self, key: &Key) {
        match &key.long {
            None => self.put_first(&key.text, key.len),
            Some(long) => {
                self.put_bytes(long);
            }
        }
    }

    /// Appends text in quotes; false, and nothing of use is written, if it needs an escape or is
    /// long.
    #[inline]
    pub(crate) fn put_quoted(&mut self, text: &[u8]) -> bool {
        if text.len() > QUOTED_MAX {
            return false;
        }
        self.put(b"\"");
        let place = self.place.get_mut(self.at..).unwrap_or_default();
        let is_plain = copy_plain(text, place);
        self.at += text.len();
        self.put(b"\"");
        is_plain
    }

    /// Appends bytes whose number is only known at run time; false if there is no room.
    fn put_bytes(&mut self, bytes: &[u8]) -> bool {
        let end = self.at + bytes.len();
        let place = self.place.get_mut(self.at..end);
        place
            .map(|place| {
                place.copy_from_slice(bytes);
                self.at = end;
            })
            .is_some()
    }
}

/// Of longer text nothing is written in one go.
const QUOTED_MAX: usize = LINE_LEN_MAX / 2;

/// A word of at most 16 bytes, padded so that copying it is one move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    text: [u8; 16],
    len: u8,
}

impl Word {
    /// Pads a word; one longer than 16 bytes is cut (a test looks at all that there are).
    pub(crate) const fn new(word: &str) -> Self {
        let mut text = [0; 16];
        let mut from = word.as_bytes();
        let mut len = 0_u8;
        while let [first, rest @ ..] = from {
            if len == 16 {
                break;
            }
            text[len as usize] = *first;
            len += 1;
            from = rest;
        }
        Self { text, len }
    }
}

#[cfg(test)]
pub(crate) fn written(write: impl FnOnce(&mut Line<'_>)) -> String {
    let mut buffer = TextBuffer::default();
    buffer.line(write);
    String::from_utf8(buffer.as_slice().to_vec()).unwrap()
}
