//! Checksums of decoded bytes, which follow the encoded ones.

use flate2::Crc;

/// CRC-32 and length of a gzip member (RFC 1952 §2.3.1).
#[derive(Default)]
pub(super) struct GzipSum(Crc);

impl GzipSum {
    pub(super) const LEN: usize = 8;

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Whether a trailer matches; then restarts for the next member.
    pub(super) fn check(&mut self, trailer: [u8; Self::LEN]) -> bool {
        let [a, b, c, d, len @ ..] = trailer;
        let is_right = u32::from_le_bytes([a, b, c, d]) == self.0.sum()
            && u32::from_le_bytes(len) == self.0.amount();
        self.0.reset();
        is_right
    }
}

/// Adler-32 of a zlib stream (RFC 1950 §2.2 and §9).
pub(super) struct Adler {
    low: u32,
    high: u32,
}

/// The largest prime below 2¹⁶.
const MODULUS: u32 = 65_521;
/// Sums of this many bytes fit 32 bits before the modulus must be taken.
const AT_ONCE: usize = 5552;

impl Adler {
    pub(super) const LEN: usize = 4;

    pub(super) const fn new() -> Self {
        Self { low: 1, high: 0 }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(AT_ONCE) {
            for &byte in part {
                self.low = self.low.wrapping_add(u32::from(byte));
                self.high = self.high.wrapping_add(self.low);
            }
            self.low %= MODULUS;
            self.high %= MODULUS;
        }
    }

    /// Whether a trailer matches.
    pub(super) const fn check(&self, trailer: [u8; Self::LEN]) -> bool {
        u32::from_be_bytes(trailer) == self.high << 16 | self.low
    }
}

#[cfg(test)]
mod tests {
    use super::{Adler, GzipSum};

    /// Published values; a long run must not overflow between two moduli.
    #[test]
    fn sums_are_those_of_their_standards() {
        let mut adler = Adler::new();
        adler.update(b"Wiki");
        adler.update(b"pedia");
        assert!(adler.check([0x11, 0xe6, 0x03, 0x98]));
        let mut adler = Adler::new();
        adler.update(&[0xff; 1 << 20]);
        let (mut low, mut high) = (1u64, 0u64);
        for _ in 0..1 << 20 {
            low = (low + 255) % 65_521;
            high = (high + low) % 65_521;
        }
        let sum = u32::try_from(high << 16 | low).unwrap();
        assert!(adler.check(sum.to_be_bytes()));
        let mut crc = GzipSum::default();
        for _ in 0..2 {
            crc.update(b"123456789");
            assert!(crc.check([0x26, 0x39, 0xf4, 0xcb, 9, 0, 0, 0]));
        }
        crc.update(b"123456789");
        assert!(!crc.check([0x26, 0x39, 0xf4, 0xcb, 8, 0, 0, 0]));
    }
}
