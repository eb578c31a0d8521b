//! What a check sees, and what it answers.

use crate::On;
use flowpin_wire::Cursor;

/// A check: pure and total; `None` as long as bytes are missing that would decide.
///
/// Its answer must not change when more bytes of the same direction come: so segmentation cannot
/// matter. It neither allocates nor loops for longer than the bytes are long.
pub type Check = for<'a> fn(&Look<'a>) -> Option<Answer>;

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Not this protocol.
    No,
    /// It looks so, but one in a thousand others would. Two such datagrams, or one in each
    /// direction of a stream, are a verdict.
    Likely,
    /// This protocol: less than one in ten million others would look so.
    Yes,
}

impl Answer {
    /// Yes if `is`, else no.
    #[inline]
    pub const fn when(is: bool) -> Option<Self> {
        Some(if is { Self::Yes } else { Self::No })
    }

    /// Likely if `is`, else no.
    #[inline]
    pub const fn likely(is: bool) -> Option<Self> {
        Some(if is { Self::Likely } else { Self::No })
    }
}

/// The beginning of one direction, or a datagram, with what is known around it.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The bytes of this direction so far, or the datagram (as far as it was captured).
    pub bytes: &'a [u8],
    /// Length of the datagram on the wire; of `bytes` for a stream.
    pub len: usize,
    /// Of a stream the other direction's bytes so far; else the first
    /// [`HEAD_LEN`](crate::HEAD_LEN) of its latest datagram.
    pub reply: &'a [u8],
    /// The first [`HEAD_LEN`](crate::HEAD_LEN) bytes of the datagram before this one in the same
    /// direction. Empty for streams.
    pub earlier: &'a [u8],
    /// The ports of client and server. Evidence beside a structure, never alone.
    pub ports: (u16, u16),
    /// Whether `bytes` come from the client.
    pub to_server: bool,
    /// Over what it came.
    pub on: On,
    /// No more bytes will be shown: a check may make do with what is there.
    pub ended: bool,
}

impl<'a> Look<'a> {
    /// The byte at `at`.
    #[inline]
    pub fn u8(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// `N` bytes at `at`.
    #[inline]
    pub fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    /// Two bytes at `at`, the first the higher.
    #[inline]
    pub fn be16(&self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_be_bytes)
    }

    /// Three bytes at `at`, the first the highest.
    #[inline]
    pub fn be24(&self, at: usize) -> Option<u32> {
        let [a, b, c] = self.array(at)?;
        Some(u32::from_be_bytes([0, a, b, c]))
    }

    /// Four bytes at `at`, the first the highest.
    #[inline]
    pub fn be32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_be_bytes)
    }

    /// Eight bytes at `at`, the first the highest.
    #[inline]
    pub fn be64(&self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_be_bytes)
    }

    /// Two bytes at `at`, the first the lower.
    #[inline]
    pub fn le16(&self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    /// Four bytes at `at`, the first the lowest.
    #[inline]
    pub fn le32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    /// A length of two bytes at `at`, the first the higher.
    #[inline]
    pub fn len16_at(&self, at: usize) -> Option<usize> {
        self.be16(at).map(usize::from)
    }

    /// Whether `literal` is at `at`: `None` if the bytes end inside it and agree so far.
    #[inline]
    pub fn has(&self, at: usize, literal: &[u8]) -> Option<bool> {
        let rest = self.bytes.get(at..)?;
        match rest.get(..literal.len()) {
            Some(there) => Some(there == literal),
            None if literal.starts_with(rest) => None,
            None => Some(false),
        }
    }

    /// The bytes from `at` on; empty beyond the end.
    #[inline]
    pub fn from(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// `len` bytes at `at`.
    #[inline]
    pub fn range(&self, at: usize, len: usize) -> Option<&'a [u8]> {
        self.bytes.get(at..)?.get(..len)
    }

    /// Whether either port is one of these.
    #[inline]
    pub fn on_port(&self, ports: &[u16]) -> bool {
        ports.contains(&self.ports.0) || ports.contains(&self.ports.1)
    }

    /// Whether the datagram is exactly so long on the wire; of a stream, whether so much comes.
    #[inline]
    pub fn is_long(&self, len: usize) -> Option<bool> {
        if !matches!(self.on, On::Tcp) {
            return Some(self.len == len);
        }
        (self.len >= len || self.ended).then_some(self.len >= len)
    }

    /// Reads on from `at`.
    #[inline]
    pub fn cursor(&self, at: usize) -> Cursor<'a> {
        Cursor::within(self.bytes, at, self.len)
    }

    /// The same look from `at` on: for what is wrapped.
    #[inline]
    pub fn within(&self, at: usize) -> Self {
        Self {
            bytes: self.from(at),
            len: self.len.saturating_sub(at),
            earlier: self.earlier.get(at..).unwrap_or_default(),
            reply: self.reply.get(at..).unwrap_or_default(),
            ..*self
        }
    }
}
