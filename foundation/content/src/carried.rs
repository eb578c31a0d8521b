//! One file while its bytes arrive.

use crate::{HEAD_LEN, HashOptions, Hashers, media_type};
use flowpin_packet::Timestamp;

/// Bytes of a file's name that are kept.
pub const NAME_MAX: usize = 512;

/// A file that is a part of a message: what is known of it so far.
#[derive(Debug)]
pub struct CarriedFile {
    /// Which of its connection's files it is.
    pub number: u64,
    /// The name that its sender gives it; may be empty.
    pub name: Vec<u8>,
    /// Its hashes so far.
    pub hashers: Hashers,
    head: [u8; HEAD_LEN],
    head_len: u8,
    /// Bytes that were there.
    pub len: u64,
    /// Bytes that are missing in the capture.
    pub missing: u64,
    /// Bytes dropped by the shard's file quota.
    pub left_out: u64,
    /// The sink gets its bytes.
    pub is_file: bool,
    /// All of it was seen, and written if it is to be.
    pub is_whole: bool,
    /// When its first bytes were captured, and its last ones.
    pub times: [Timestamp; 2],
}

impl CarriedFile {
    /// At its first byte.
    pub fn new(number: u64, name: &[u8], hashes: HashOptions, at: Timestamp) -> Self {
        Self {
            number,
            name: name.get(..NAME_MAX).unwrap_or(name).to_vec(),
            hashers: Hashers::new(hashes),
            head: [0; HEAD_LEN],
            head_len: 0,
            len: 0,
            missing: 0,
            left_out: 0,
            is_file: false,
            is_whole: false,
            times: [at; 2],
        }
    }

    /// Its next bytes, which were captured at this time.
    pub fn put(&mut self, bytes: &[u8], at: Timestamp) {
        let begin = usize::from(self.head_len);
        for (place, &byte) in self.head.iter_mut().skip(begin).zip(bytes) {
            *place = byte;
            self.head_len = self.head_len.wrapping_add(1);
        }
        self.times[1] = at;
        self.hashers.update(bytes);
        self.len = self.len.saturating_add(bytes.len() as u64);
    }

    /// It is over; whether its end was seen.
    pub const fn end(&mut self, is_whole: bool) {
        self.is_whole = is_whole && self.missing == 0 && self.left_out == 0;
    }

    /// Whether the sink got any of its bytes.
    pub const fn is_stored(&self) -> bool {
        self.is_file && self.left_out < self.len
    }

    /// The media type that its first bytes show.
    pub fn media_type(&self) -> Option<&'static str> {
        media_type(self.head.get(..usize::from(self.head_len))?)
    }
}
