//! Patterns of four bytes and more, by hashes of four bytes.

/// Patterns of four bytes and more, of which the shortest decides how many places are looked at.
#[derive(Debug)]
pub(super) struct Grams {
    /// A place is looked at if it is a multiple of this: 1, 2 or 4.
    stride: usize,
    seen: Seen,
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
    /// The four bytes of the pattern behind it, or before it.
    beside: u32,
    side: Side,
}

/// Which four bytes of a pattern stand beside a gram of it.
#[derive(Clone, Copy, Debug)]
enum Side {
    Behind,
    Before,
    /// It has not as many.
    Neither,
}

impl Entry {
    /// None if the pattern has no gram there.
    fn new(pattern: u32, bytes: &[u8], offset: usize) -> Option<Self> {
        let four = |at: usize| {
            let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
            four.map(|&four| u32::from_le_bytes(four))
        };
        let before = offset.checked_sub(GRAM).and_then(four);
        let (beside, side) = match (four(offset + GRAM), before) {
            (Some(behind), _) => (behind, Side::Behind),
            (None, Some(before)) => (before, Side::Before),
            (None, None) => (0, Side::Neither),
        };
        Some(Self {
            gram: four(offset)?,
            pattern,
            offset: u32::try_from(offset).ok()?,
            beside,
            side,
        })
    }

    /// Whether what stands beside a gram may be the pattern's.
    // PERF: this refuses most patterns that share a gram with a text, without their bytes.
    #[inline]
    fn may_stand(&self, text: &[u8], at: usize) -> bool {
        let at = match self.side {
            Side::Behind => Some(at + GRAM),
            Side::Before => at.checked_sub(GRAM),
            Side::Neither => return true,
        };
        let there = at.and_then(|at| text.get(at..)?.first_chunk());
        there.is_some_and(|&four| u32::from_le_bytes(four) == self.beside)
    }
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
            let offsets = rarity.rarest(bytes, stride);
            entries.extend(offsets.filter_map(|offset| Entry::new(pattern, bytes, offset)));
        }
        let mut seen = Seen::for_grams(entries.len());
        entries.sort_unstable_by_key(|one| (seen.bucket(one.gram), one.pattern, one.offset));
        entries.iter().for_each(|one| seen.add(one.gram));
        let begin = |of: usize| entries.partition_point(|one| seen.bucket(one.gram) < of);
        let buckets = (0..=seen.buckets()).map(|of| u32::try_from(begin(of)).unwrap_or(u32::MAX));
        Some(Self {
            stride,
            buckets: buckets.collect(),
            entries: entries.into(),
            seen,
        })
    }

    pub(super) fn search(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        match &self.seen {
            Seen::Few(bits) => self.with(bits, text, check),
            Seen::Several(bits) => self.with(bits, text, check),
            Seen::Many(bits) => self.with(bits, text, check),
            Seen::Most(bits) => self.with(bits, text, check),
        }
    }

    fn with<const WORDS: usize>(
        &self,
        seen: &Bits<WORDS>,
        text: &[u8],
        check: &mut dyn FnMut(u32, usize),
    ) {
        let mut look = |gram: u32, at: usize| {
            let bucket = (seen.hash(gram) >> BUCKET_SHIFT) as usize;
            self.look(bucket, gram, (text, at), check);
        };
        match self.stride {
            1 => by::<WORDS, 1>(seen, text, &mut look),
            2 => by::<WORDS, 2>(seen, text, &mut look),
            _ => by_four(seen, text, &mut look),
        }
    }

    /// Which patterns may have this gram at this place.
    #[inline]
    fn look(
        &self,
        bucket: usize,
        gram: u32,
        (text, at): (&[u8], usize),
        check: &mut dyn FnMut(u32, usize),
    ) {
        let edge = |of: usize| self.buckets.get(of).map_or(0, |&at| at as usize);
        let entries = self.entries.get(edge(bucket)..edge(bucket + 1));
        let entries = entries.into_iter().flatten();
        for one in entries.filter(|one| one.gram == gram && one.may_stand(text, at)) {
            if let Some(begin) = at.checked_sub(one.offset as usize) {
                check(one.pattern, begin);
            }
        }
    }
}

/// Looks at every fourth place; calls `look` with what may be a gram of a pattern.
// PERF: sixteen bytes a round, with one jump for what is seen nowhere: half the instructions of a
// round of four bytes.
fn by_four<const WORDS: usize>(seen: &Bits<WORDS>, text: &[u8], look: &mut impl FnMut(u32, usize)) {
    let (rounds, rest) = text.as_chunks::<16>();
    let mut at = 0;
    for round in rounds {
        let (grams, _) = round.as_chunks::<GRAM>();
        let is_seen = |any, gram: &[u8; GRAM]| any | seen.has(u32::from_le_bytes(*gram));
        if grams.iter().fold(0, is_seen) & 1 != 0 {
            for (nth, gram) in grams.iter().enumerate() {
                let gram = u32::from_le_bytes(*gram);
                if seen.has(gram) & 1 != 0 {
                    look(gram, at + nth * GRAM);
                }
            }
        }
        at += 16;
    }
    for gram in rest.as_chunks::<GRAM>().0 {
        let gram = u32::from_le_bytes(*gram);
        if seen.has(gram) & 1 != 0 {
            look(gram, at);
        }
        at += GRAM;
    }
}

/// Looks at every place, or every second one.
fn by<const WORDS: usize, const STRIDE: usize>(
    seen: &Bits<WORDS>,
    text: &[u8],
    look: &mut impl FnMut(u32, usize),
) {
    // Eight bytes hold the grams at four places.
    let mut at = 0;
    while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let eight = u64::from_le_bytes(*eight);
        let gram = |place: usize| (eight >> (8 * place)) as u32;
        let all = match STRIDE {
            1 => seen.has(gram(0)) | seen.has(gram(1)) | seen.has(gram(2)) | seen.has(gram(3)),
            _ => seen.has(gram(0)) | seen.has(gram(2)),
        };
        if all & 1 != 0 {
            for place in (0..4).step_by(STRIDE) {
                if seen.has(gram(place)) & 1 != 0 {
                    look(gram(place), at + place);
                }
            }
        }
        at += 4;
    }
    // What is left has less than eight bytes.
    while let Some(four) = text.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        let gram = u32::from_le_bytes(*four);
        if seen.has(gram) & 1 != 0 {
            look(gram, at);
        }
        at += STRIDE;
    }
}

/// A bit for each hash of a gram that some pattern has. Of grams that no pattern has, one of 32 is
/// seen at most, unless there are too many.
// PERF: of sizes that are known when this is compiled: no look at a bit is checked. The larger ones
// are read from the second-level cache, where what is seen wrongly would cost more.
#[derive(Debug)]
enum Seen {
    Few(Bits<{ 1 << 6 }>),
    Several(Bits<{ 1 << 10 }>),
    Many(Bits<{ 1 << 12 }>),
    Most(Bits<{ 1 << 14 }>),
}

impl Seen {
    fn for_grams(count: usize) -> Self {
        match count {
            0..=128 => Self::Few(Bits::new()),
            129..=2048 => Self::Several(Bits::new()),
            2049..=8192 => Self::Many(Bits::new()),
            _ => Self::Most(Bits::new()),
        }
    }

    fn add(&mut self, gram: u32) {
        match self {
            Self::Few(bits) => bits.add(gram),
            Self::Several(bits) => bits.add(gram),
            Self::Many(bits) => bits.add(gram),
            Self::Most(bits) => bits.add(gram),
        }
    }

    fn bucket(&self, gram: u32) -> usize {
        let hash = match self {
            Self::Few(bits) => bits.hash(gram),
            Self::Several(bits) => bits.hash(gram),
            Self::Many(bits) => bits.hash(gram),
            Self::Most(bits) => bits.hash(gram),
        };
        (hash >> BUCKET_SHIFT) as usize
    }

    const fn buckets(&self) -> usize {
        let words = match self {
            Self::Few(_) => 1 << 6,
            Self::Several(_) => 1 << 10,
            Self::Many(_) => 1 << 12,
            Self::Most(_) => 1 << 14,
        };
        words << (6 - BUCKET_SHIFT)
    }
}

#[derive(Debug)]
struct Bits<const WORDS: usize>(Box<[u64; WORDS]>);

impl<const WORDS: usize> Bits<WORDS> {
    /// Of a product, what is no hash.
    const SHIFT: u32 = 32 - (WORDS.ilog2() + 6);

    fn new() -> Self {
        Self(Box::new([0; WORDS]))
    }

    fn add(&mut self, gram: u32) {
        let hash = self.hash(gram);
        if let Some(word) = self.0.get_mut(hash as usize >> 6) {
            *word |= 1 << (hash & 63);
        }
    }

    /// Whether some pattern may have a gram: in the lowest bit.
    #[inline]
    fn has(&self, gram: u32) -> u64 {
        let hash = self.hash(gram);
        // Always there: what is shifted so far is less.
        let word = self.0.get(hash as usize >> 6).copied().unwrap_or(0);
        word >> (hash & 63)
    }

    /// Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4).
    #[inline]
    const fn hash(&self, gram: u32) -> u32 {
        gram.wrapping_mul(MULTIPLIER) >> Self::SHIFT
    }
}

/// How often grams are met, and how many patterns each then stands for.
// PERF: of `User-Agent: a` and two hundred more, each text with a `User-Agent` would be compared
// with all; what tells them apart stands behind it.
pub(crate) struct Rarity {
    /// How many patterns have a gram, by its hash: some have the same.
    patterns: Box<[u32]>,
}

impl Rarity {
    /// For patterns that are searched for together.
    pub(crate) fn of<'a>(patterns: impl Iterator<Item = &'a [u8]>) -> Self {
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
    pub(crate) fn rarest(&self, pattern: &[u8], count: usize) -> core::ops::Range<usize> {
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

pub(crate) const GRAM: usize = 4;
/// The golden ratio of 32 bits.
const MULTIPLIER: u32 = 0x9e37_79b1;
const RARITY_BITS: u32 = 12;
/// So many bits of the bitmap have a bucket, as a power of two.
const BUCKET_SHIFT: u32 = 4;
