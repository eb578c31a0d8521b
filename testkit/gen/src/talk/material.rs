//! What bodies are made of: text, random bytes and chunk-encoded text, made once.

use crate::random::Random;

/// Bytes that messages take their bodies from, each used as a ring.
#[derive(Debug)]
pub(crate) struct Material {
    /// Lines of 76 letters and CRLF; none begins with a dot.
    pub(crate) text: Vec<u8>,
    /// Random bytes.
    pub(crate) noise: Vec<u8>,
    /// Chunks of [`CHUNK`] bytes of text, as HTTP encodes them (RFC 9112 §7.1).
    pub(crate) chunks: Vec<u8>,
    /// Letters without line ends.
    pub(crate) letters: Vec<u8>,
    /// The sum of the first so many letters, modulo 256.
    pub(crate) letter_sums: Vec<u8>,
}

/// Bytes of text: a prime number of lines, so that bodies differ.
const LINES: usize = 6_007;
/// Letters and CRLF.
pub(crate) const LINE: usize = 78;
const NOISE: usize = 1 << 19;
/// Content of a chunk.
pub(crate) const CHUNK: usize = 1024;
/// A chunk with its size line and line end.
pub(crate) const CHUNK_ENCODED: usize = CHUNK + CHUNK_HEAD.len() + 2;
const CHUNK_HEAD: &[u8] = b"400\r\n";
const CHUNKS: usize = 257;
const LETTERS: usize = 1 << 14;

impl Material {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x6d61_7465_7269_616c);
        let mut text = Vec::with_capacity(LINES * LINE);
        for _ in 0..LINES {
            text.extend((0..LINE - 2).map(|nth| letter(&mut random, nth)));
            text.extend_from_slice(b"\r\n");
        }
        let noise = (0..NOISE / 8).flat_map(|_| random.next().to_le_bytes());
        let noise = noise.collect();
        let mut chunks = Vec::with_capacity(CHUNKS * CHUNK_ENCODED);
        for nth in 0..CHUNKS {
            chunks.extend_from_slice(CHUNK_HEAD);
            chunks.extend(text.iter().cycle().skip(nth * CHUNK).take(CHUNK));
            chunks.extend_from_slice(b"\r\n");
        }
        let letters: Vec<u8> = (0..LETTERS).map(|_| letter(&mut random, 1)).collect();
        let mut letter_sums = vec![0];
        let mut sum = 0u8;
        for &letter in &letters {
            sum = sum.wrapping_add(letter);
            letter_sums.push(sum);
        }
        Self {
            text,
            noise,
            chunks,
            letters,
            letter_sums,
        }
    }
}

/// A lower-case letter; now and then a blank, but not at the beginning of a line.
fn letter(random: &mut Random, nth: usize) -> u8 {
    const LETTERS: &[u8; 32] = b"etaoinshrdlucmfwypvbgkjqxzetaoin";
    let number = random.next_u32();
    if nth % LINE > 1 && number.is_multiple_of(6) {
        return b' ';
    }
    LETTERS[(number >> 27) as usize]
}

/// Appends `len` bytes from `start` of a ring.
pub(crate) fn take(ring: &[u8], start: usize, mut len: usize, out: &mut Vec<u8>) {
    let mut at = start.checked_rem(ring.len()).unwrap_or(0);
    while len > 0 {
        let rest = ring.get(at..).unwrap_or_default();
        let part = rest.get(..len.min(rest.len())).unwrap_or_default();
        if part.is_empty() {
            return;
        }
        out.extend_from_slice(part);
        len -= part.len();
        at = 0;
    }
}
