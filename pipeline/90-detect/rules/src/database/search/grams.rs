//! Patterns of four bytes and more, by hashes of four bytes.

/// Patterns of four bytes and more, of which the shortest decides how many places are looked at.
#[derive(Debug)]
pub(super) struct Grams {
    /// A place is looked at if it is a multiple of this: 1, 2 or 4.
    stride: usize,
    /// Of a product, what is no hash.
    shift: u32,
    /// A bit for each hash of a gram that some pattern has.
    seen: Box<[u64]>,
    /// Where the entries of each bucket begin.
    buckets: Box<[u32]>,
    entries: Box<[Entry]>,
}

/// A gram of a pattern.
#[derive(Clone, Copy, Debug)]
struct Entry {
    gram: u32,
    pattern: u32,
    /// Where it stands in the pattern.
    offset: u32,
}

impl Grams {
    pub(super) fn new(patterns: &[(u32, &[u8])]) -> Option<Self> {
        let shortest = patterns.iter().map(|one| one.1.len()).min()?;
        let stride = match shortest {
            0..5 => 1,
            5..7 => 2,
            _ => 4,
        };
        let rarity = Rarity::of(patterns.iter().map(|one| one.1));
        let mut entries = Vec::new();
        for &(pattern, bytes) in patterns {
            for offset in rarity.rarest(bytes, stride) {
                let four = bytes.get(offset..).and_then(|rest| rest.first_chunk());
                entries.extend(four.map(|&four| Entry {
                    gram: u32::from_le_bytes(four),
                    pattern,
                    offset: u32::try_from(offset).unwrap_or(u32::MAX),
                }));
            }
        }
        // One gram of 32 that no pattern has is seen at most, unless there are too many.
        let bits = (entries.len().ilog2() + 6).clamp(HASH_BITS_MIN, HASH_BITS_MAX);
        let mut made = Self {
            stride,
            shift: 32 - bits,
            seen: vec![0; 1 << (bits - 6)].into(),
            buckets: Box::new([]),
            entries: Box::new([]),
        };
        entries.sort_unstable_by_key(|one| (made.bucket(one.gram), one.pattern, one.offset));
        for one in &entries {
            let hash = made.hash(one.gram);
            if let Some(word) = made.seen.get_mut(hash as usize >> 6) {
                *word |= 1 << (hash & 63);
            }
        }
        let begin = |of: usize| entries.partition_point(|one| made.bucket(one.gram) < of);
        let buckets = 0..=1 << (bits - BUCKET_SHIFT);
        let buckets = buckets.map(|of| u32::try_from(begin(of)).unwrap_or(u32::MAX));
        made.buckets = buckets.collect();
        made.entries = entries.into();
        Some(made)
    }

    pub(super) fn search(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        match self.stride {
            1 => self.by::<1>(text, check),
            2 => self.by::<2>(text, check),
            _ => self.by_four(text, check),
        }
    }

    /// Looks at every fourth place.
    // PERF: sixteen bytes a round, with one jump for what is seen nowhere: half the instructions of
    // a round of four bytes.
    fn by_four(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        let (rounds, rest) = text.as_chunks::<16>();
        let mut at = 0;
        for round in rounds {
            let (grams, _) = round.as_chunks::<GRAM>();
            let is_seen = |seen, gram: &[u8; GRAM]| seen | self.is_seen(u32::from_le_bytes(*gram));
            if grams.iter().fold(false, is_seen) {
                for (nth, gram) in grams.iter().enumerate() {
                    let gram = u32::from_le_bytes(*gram);
                    if self.is_seen(gram) {
                        self.look(gram, at + nth * GRAM, check);
                    }
                }
            }
            at += 16;
        }
        for gram in rest.as_chunks::<GRAM>().0 {
            self.look(u32::from_le_bytes(*gram), at, check);
            at += GRAM;
        }
    }

    fn by<const STRIDE: usize>(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        // Eight bytes hold the grams at four places.
        let mut at = 0;
        while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*eight);
            let gram = |place: usize| (eight >> (8 * place)) as u32;
            let is_seen = match STRIDE {
                1 => {
                    self.is_seen(gram(0))
                        | self.is_seen(gram(1))
                        | self.is_seen(gram(2))
                        | self.is_seen(gram(3))
                }
                _ => self.is_seen(gram(0)) | self.is_seen(gram(2)),
            };
            if is_seen {
                for place in (0..4).step_by(STRIDE) {
                    self.look(gram(place), at + place, check);
                }
            }
            at += 4;
        }
        // What is left has less than eight bytes.
        while let Some(four) = text.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
            self.look(u32::from_le_bytes(*four), at, check);
            at += STRIDE;
        }
    }

    #[inline]
    fn is_seen(&self, gram: u32) -> bool {
        let hash = self.hash(gram);
        self.seen
            .get(hash as usize >> 6)
            .is_some_and(|bits| bits >> (hash & 63) & 1 != 0)
    }

    /// Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4).
    #[inline]
    const fn hash(&self, gram: u32) -> u32 {
        gram.wrapping_mul(MULTIPLIER) >> self.shift
    }

    const fn bucket(&self, gram: u32) -> usize {
        (self.hash(gram) >> BUCKET_SHIFT) as usize
    }

    /// Which patterns may have this gram at this place.
    fn look(&self, gram: u32, at: usize, check: &mut dyn FnMut(u32, usize)) {
        if !self.is_seen(gram) {
            return;
        }
        let bucket = self.bucket(gram);
        let edge = |of: usize| self.buckets.get(of).map_or(0, |&at| at as usize);
        let entries = self.entries.get(edge(bucket)..edge(bucket + 1));
        for one in entries.into_iter().flatten().filter(|one| one.gram == gram) {
            if let Some(begin) = at.checked_sub(one.offset as usize) {
                check(one.pattern, begin);
            }
        }
    }
}

/// How often grams are met, and how many patterns each then stands for.
// PERF: of `User-Agent: a` and two hundred more, each text with a `User-Agent` would be compared
// with all; what tells them apart stands behind it.
pub(super) struct Rarity {
    /// How many patterns have a gram, by its hash: some have the same.
    patterns: Box<[u32]>,
}

impl Rarity {
    /// For patterns that are searched for together.
    pub(super) fn of<'a>(patterns: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut counts = vec![0_u32; 1 << RARITY_BITS];
        for gram in patterns.flat_map(|one| one.windows(GRAM)) {
            if let Some(count) = counts.get_mut(place(gram)) {
                *count = count.saturating_add(1);
            }
        }
        Self {
            patterns: counts.into(),
        }
    }

    /// The place in a pattern where `count` neighbouring grams begin that cost the least.
    pub(super) fn rarest(&self, pattern: &[u8], count: usize) -> core::ops::Range<usize> {
        let len = GRAM + count - 1;
        let cost = |begin: &usize| {
            let grams = pattern.windows(GRAM).skip(*begin).take(count);
            // What costs most decides.
            grams.map(|gram| self.cost(gram)).max()
        };
        let last = pattern.len().saturating_sub(len);
        let begin = (0..=last).min_by_key(cost).unwrap_or(0);
        begin..begin + count
    }

    fn cost(&self, gram: &[u8]) -> u64 {
        let in_traffic: u32 = gram.iter().map(|&byte| frequency(byte)).product();
        let patterns = self.patterns.get(place(gram)).copied().unwrap_or(1);
        u64::from(in_traffic) * u64::from(patterns)
    }
}

/// Where a gram is counted.
fn place(gram: &[u8]) -> usize {
    let four = gram.first_chunk().copied().unwrap_or_default();
    let hash = u32::from_le_bytes(four).wrapping_mul(MULTIPLIER);
    (hash >> (32 - RARITY_BITS)) as usize
}

/// How common a byte is, roughly, in what is searched: text of protocols, and zeros.
const fn frequency(byte: u8) -> u32 {
    match byte.to_ascii_lowercase() {
        b' ' | b'e' | b't' | b'a' | b'o' | b'n' | b'i' | b's' | b'r' => 16,
        0 | b'\r' | b'\n' | b'/' | b'.' | b':' | b'h' | b'p' | b'l' | b'd' | b'c' | b'm' => 14,
        b'0'..=b'9' | b'u' | b'g' | b'f' | b'w' | b'y' | b'b' | b'=' | b'-' | b'"' | 0xff => 10,
        b'v' | b'k' | b'x' | b'<' | b'>' | b';' | b',' | b'&' | b'_' | b'(' | b')' => 7,
        b'!'..=b'~' => 5,
        1..=16 => 4,
        _ => 2,
    }
}

pub(super) const GRAM: usize = 4;
/// The golden ratio of 32 bits.
const MULTIPLIER: u32 = 0x9e37_79b1;
const RARITY_BITS: u32 = 12;
const HASH_BITS_MIN: u32 = 8;
/// Most bitmaps fit into the first-level cache, the largest into the second: few places are looked
/// at, and those that are seen wrongly cost more.
const HASH_BITS_MAX: u32 = 20;
/// So many bits of the bitmap have a bucket, as a power of two.
const BUCKET_SHIFT: u32 = 4;
