//! Hash buckets: heads of chains whose links the members hold.

use super::pool::NONE;

/// Heads of chains, as many as there are members or up to twice as many.
#[derive(Debug)]
pub(crate) struct Index {
    heads: Vec<u32>,
    secret: u64,
}

impl Index {
    pub(crate) fn new(secret: u64) -> Self {
        Self {
            heads: vec![NONE; HEADS_MIN],
            secret,
        }
    }

    /// Whether `len` members are more than the heads are meant for; then the caller puts them all
    /// back in after [`Index::grow`].
    pub(crate) const fn is_crowded(&self, len: usize) -> bool {
        len > self.heads.len() && self.heads.len() < HEADS_MAX
    }

    /// Twice as many heads, all without chains.
    pub(crate) fn grow(&mut self) {
        let len = self.heads.len().saturating_mul(2);
        self.heads.clear();
        self.heads.resize(len, NONE);
    }

    /// The first member of the chain for `words`.
    #[inline]
    pub(crate) fn head(&self, words: &[u64]) -> u32 {
        self.heads.get(self.place(words)).copied().unwrap_or(NONE)
    }

    /// Makes `number` the first of its chain and returns the one that was.
    pub(crate) fn push(&mut self, words: &[u64], number: u32) -> u32 {
        let place = self.place(words);
        self.heads
            .get_mut(place)
            .map_or(NONE, |head| core::mem::replace(head, number))
    }

    /// Makes `next` the first of a chain.
    pub(crate) fn set_head(&mut self, words: &[u64], next: u32) {
        let place = self.place(words);
        if let Some(head) = self.heads.get_mut(place) {
            *head = next;
        }
    }

    fn place(&self, words: &[u64]) -> usize {
        let mut hash = self.secret;
        for &word in words {
            hash = fold(hash ^ word).wrapping_add(self.secret.rotate_left(32));
        }
        // The middle of a product depends on all bits. The number of heads is a power of two.
        let middle = usize::try_from(hash >> 20 & 0xffff_ffff).unwrap_or(0);
        middle & self.heads.len().wrapping_sub(1)
    }
}

/// The two halves of a 128-bit product with the golden ratio in 64 bits, folded.
fn fold(word: u64) -> u64 {
    let product = u128::from(word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let [a, b, c, d, e, f, g, h, rest @ ..] = product.to_be_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h]) ^ u64::from_be_bytes(rest)
}

const HEADS_MIN: usize = 1 << 10;
const HEADS_MAX: usize = 1 << 24;
