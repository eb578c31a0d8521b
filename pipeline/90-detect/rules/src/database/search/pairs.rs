//! Patterns by their first two bytes.

/// Patterns by their first two bytes.
#[derive(Debug)]
pub(super) struct Pairs {
    /// A bit for each pair of bytes, in small letters as letters are folded.
    seen: Box<[u64; PAIR_WORDS]>,
    /// The first two bytes, and the pattern: in order.
    entries: Box<[(u16, u32)]>,
}

impl Pairs {
    pub(super) fn new(patterns: &[(u32, &[u8])]) -> Option<Self> {
        let mut entries = Vec::new();
        for &(pattern, bytes) in patterns {
            let two = bytes.first_chunk();
            entries.extend(two.map(|&two| (u16::from_le_bytes(two), pattern)));
        }
        entries.sort_unstable();
        let mut seen = Box::new([0; PAIR_WORDS]);
        for (pair, _) in &entries {
            if let Some(word) = seen.get_mut(usize::from(pair >> 6)) {
                *word |= 1 << (pair & 63);
            }
        }
        (!entries.is_empty()).then(|| Self {
            seen,
            entries: entries.into(),
        })
    }

    pub(super) fn search(&self, text: &[u8], check: &mut dyn FnMut(u32, usize)) {
        let mut at = 0;
        while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*eight);
            let two = |place: usize| (eight >> (8 * place)) as u16;
            let is_seen = self.is_seen(two(0))
                | self.is_seen(two(1))
                | self.is_seen(two(2))
                | self.is_seen(two(3));
            if is_seen {
                (0..4).for_each(|place| self.look(two(place), at + place, check));
            }
            at += 4;
        }
        while let Some(two) = text.get(at..).and_then(|rest| rest.first_chunk::<2>()) {
            self.look(u16::from_le_bytes(*two), at, check);
            at += 1;
        }
    }

    #[inline]
    fn is_seen(&self, pair: u16) -> bool {
        self.seen
            .get(usize::from(pair >> 6))
            .is_some_and(|bits| bits >> (pair & 63) & 1 != 0)
    }

    pub(super) fn look(&self, pair: u16, at: usize, check: &mut dyn FnMut(u32, usize)) {
        if !self.is_seen(pair) {
            return;
        }
        let begin = self.entries.partition_point(|one| one.0 < pair);
        let entries = self.entries.get(begin..).unwrap_or_default();
        for &(_, pattern) in entries.iter().take_while(|one| one.0 == pair) {
            check(pattern, at);
        }
    }
}

const PAIR_WORDS: usize = 1 << 10;
