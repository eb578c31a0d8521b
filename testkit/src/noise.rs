//! What no protocol says: random bytes (also encrypted ones), packed ones, text, base 64.
//!
//! Identification, with whatever rules, must have no name for it.

/// The text that the repository has: prose, tables, code, settings, JSON.
const TEXTS: &[&str] = &[
    include_str!("../../ARCHITECTURE.md"),
    include_str!("../../CONTRIBUTING.md"),
    include_str!("../../README.md"),
    include_str!("../../docs/user/records.md"),
    include_str!("../../Cargo.toml"),
    include_str!("../../Cargo.lock"),
    include_str!("../../bench/instructions"),
    include_str!("../../bench/instructions.json"),
    include_str!("../../pipeline/70-identify/src/identifier.rs"),
    include_str!("../../pipeline/70-identify/src/search/stream.rs"),
];

/// What compressed files begin with: gzip, zlib, zstd, zip, xz, bzip2, lz4; then it is as random.
const PACKED: &[&[u8]] = &[
    &[0x1f, 0x8b, 8, 0],
    &[0x78, 0x9c],
    &[0x28, 0xb5, 0x2f, 0xfd],
    &[0x50, 0x4b, 3, 4, 20, 0],
    &[0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4],
    b"BZh91AY&SY",
    &[4, 0x22, 0x4d, 0x18],
];

/// A generator that gives the same numbers each time (xorshift64*).
#[derive(Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Random bytes, as encrypted ones are.
    Random,
    /// The beginning of a compressed file.
    Packed,
    /// Prose, tables, code.
    Text,
    /// Letters of base 64.
    Base64,
}

/// All of them.
pub const KINDS: [Kind; 4] = [Kind::Random, Kind::Packed, Kind::Text, Kind::Base64];

/// One kind of noise, of a length that is often short.
pub fn noise(numbers: &mut Numbers, kind: Kind) -> Vec<u8> {
    let longest = if numbers.below(2) == 0 { 64 } else { 1500 };
    let mut bytes = vec![0; 1 + numbers.below(longest)];
    match kind {
        Kind::Random => numbers.fill(&mut bytes),
        Kind::Packed => {
            numbers.fill(&mut bytes);
            let head = PACKED[numbers.below(PACKED.len())];
            let len = head.len().min(bytes.len());
            bytes[..len].copy_from_slice(&head[..len]);
        }
        Kind::Text => {
            let text = TEXTS[numbers.below(TEXTS.len())].as_bytes();
            let at = numbers.below(text.len());
            let end = text.len().min(at + bytes.len());
            bytes = text[at..end].to_vec();
        }
        Kind::Base64 => {
            const LETTERS: &[u8; 64] =
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            numbers.fill(&mut bytes);
            for byte in &mut bytes {
                *byte = LETTERS[usize::from(*byte & 63)];
            }
        }
    }
    bytes
}
