//! What is nothing must have no name: random bytes, packed ones, text and counting.

use crate::testing::{searches, whose};
use crate::{On, Search, Step};

/// The prose that the repository has.
const PROSE: &[&str] = &[
    include_str!("../../../ARCHITECTURE.md"),
    include_str!("../../../CONTRIBUTING.md"),
    include_str!("../../../README.md"),
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
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap() % end
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

/// One kind of noise, of a length that is often short.
fn noise(numbers: &mut Numbers, kind: usize) -> Vec<u8> {
    let longest = if numbers.below(2) == 0 { 64 } else { 1500 };
    let mut bytes = vec![0; 1 + numbers.below(longest)];
    match kind {
        0 => numbers.fill(&mut bytes),
        1 => {
            numbers.fill(&mut bytes);
            let head = PACKED[numbers.below(PACKED.len())];
            let len = head.len().min(bytes.len());
            bytes[..len].copy_from_slice(&head[..len]);
        }
        2 => {
            let prose = PROSE[numbers.below(PROSE.len())].as_bytes();
            let at = numbers.below(prose.len());
            let end = prose.len().min(at + bytes.len());
            bytes = prose[at..end].to_vec();
        }
        _ => {
            // Letters in base 64.
            numbers.fill(&mut bytes);
            for byte in &mut bytes {
                *byte = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                    [usize::from(*byte & 63)];
            }
        }
    }
    bytes
}

/// At most one in 100,000: here one in all, as these are that many.
#[test]
fn noise_has_no_name() {
    let mut searches = searches();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut named = Vec::new();
    for round in 0..25_000 {
        for kind in 0..4 {
            let bytes = noise(&mut numbers, kind);
            let ports = (
                50_000,
                10_000 + u16::try_from(numbers.below(40_000)).unwrap(),
            );
            let on = if round % 2 == 0 { On::Udp } else { On::Tcp };
            let whose = whose(on, numbers.below(2) == 0, ports);
            let mut search = Search::default();
            let mut step = match on {
                On::Tcp => searches.stream_bytes(&mut search, whose, &bytes),
                _ => searches.datagram(&mut search, whose, &bytes, bytes.len()),
            };
            if step == Step::Undecided && on == On::Tcp {
                step = searches.stream_ended(&mut search, whose);
            }
            if let Step::Verdict(verdict) = step {
                named.push((verdict.rule, bytes.get(..32).unwrap_or(&bytes).to_vec()));
            }
            searches.release(&mut search);
        }
    }
    let names: Vec<_> = named
        .iter()
        .map(|(rule, bytes)| (searches.identifier().rule_name(*rule), bytes))
        .collect();
    assert!(names.len() <= 1, "{names:02x?}");
}
