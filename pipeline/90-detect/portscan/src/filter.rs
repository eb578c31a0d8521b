//! What happens to attempts beyond a shard's cap: which are logged all the same, and how the rest
//! is summed up.
//!
//! ```text
//!  beyond the cap ──► source asked in this shard before, and something else? ──► log, marked late
//!                                     │ no
//!                                     └──► remember it; sums by target (Unlogged)
//! ```

use crate::event::Probe;
use crate::sketch::{add_to, hash_address, hash_target, mix};
use flowpin_packet::SHARD_COUNT;
use flowpin_record::FloodKind;

/// A set of shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shards([u64; SHARD_COUNT / 64]);

impl Shards {
    pub(crate) fn has(self, shard: u8) -> bool {
        let word = self.0.get(usize::from(shard) / 64);
        word.is_some_and(|word| word >> (shard % 64) & 1 == 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; SHARD_COUNT / 64]
    }

    /// Adds a shard; whether it is new.
    pub(crate) fn insert(&mut self, shard: u8) -> bool {
        let Some(word) = self.0.get_mut(usize::from(shard) / 64) else {
            return false;
        };
        let bit = 1 << (shard % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    pub(crate) fn join(&mut self, other: Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// Shards that are in both.
    pub(crate) fn common(self, other: Self) -> Self {
        let mut both = self;
        for (mine, theirs) in both.0.iter_mut().zip(other.0) {
            *mine &= theirs;
        }
        both
    }

    pub(crate) fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// Who asks what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) source: [u8; 16],
    pub(crate) target: [u8; 16],
    pub(crate) port: u16,
    pub(crate) probe: Probe,
}

/// Remembers, for each shard that is over its cap, who asked and who asked what: two Bloom filters
/// (1970) of 64 KiB each with the full caps, two bits an item.
#[derive(Debug)]
pub(crate) struct Filter {
    /// Words of one filter: a power of two.
    len: usize,
    /// Made when the first shard is full; pages of shards that never are stay untouched.
    words: Vec<u64>,
    used: Shards,
    /// Attempts that each shard's filters hold.
    items: Vec<u32>,
    /// Attempts still to be remembered, the oldest first from `next` on.
    // PERF: a filter's lines are in no cache; asked for now, they have come a few attempts later.
    waiting: [Option<(u8, Places)>; WAITING],
    next: usize,
}

/// Attempts that wait for their lines.
const WAITING: usize = 8;

/// The hashes of a source, and of what it asks.
#[derive(Clone, Copy, Debug)]
struct Places {
    source: u64,
    all: u64,
}

impl Places {
    fn of(question: &Question) -> Self {
        let source = hash_address(&question.source, u64::from(question.probe as u8));
        let all = mix(source ^ hash_target(&question.target, question.port));
        Self { source, all }
    }
}

/// More attempts a word than these, and a shard's filters begin anew: one in ten sources that ask
/// once would be taken for known.
const ITEMS_EACH: usize = 12;

impl Filter {
    /// Filters of `len` words, a power of two.
    pub(crate) fn new(len: usize) -> Self {
        Self {
            len,
            words: Vec::new(),
            used: Shards::default(),
            items: Vec::new(),
            waiting: [None; WAITING],
            next: 0,
        }
    }

    /// Remembers what a source asks, some time before somebody asks for it.
    pub(crate) fn remember(&mut self, shard: u8, question: &Question) {
        let places = Places::of(question);
        let start = usize::from(shard) * 2 * self.len;
        for (filter, hash) in [(start, places.source), (start + self.len, places.all)] {
            for word in words_of(hash, self.len) {
                flowpin_cpu::prefetch::read_at(&self.words, filter + word);
            }
        }
        let oldest = self.waiting.get_mut(self.next % WAITING);
        self.next += 1;
        if let Some((shard, places)) = oldest.and_then(|place| place.replace((shard, places))) {
            self.add(shard, places);
        }
    }

    /// Remembers all that waits.
    fn settle(&mut self) {
        for nth in self.next..self.next + WAITING {
            let waiting = self.waiting.get_mut(nth % WAITING);
            if let Some((shard, places)) = waiting.and_then(Option::take) {
                self.add(shard, places);
            }
        }
    }

    /// Whether the source has asked something else in this shard before. Remembers it.
    pub(crate) fn asked_before(&mut self, shard: u8, question: &Question) -> bool {
        self.settle();
        self.add(shard, Places::of(question))
    }

    fn add(&mut self, shard: u8, places: Places) -> bool {
        if self.words.is_empty() {
            self.words = vec![0; 2 * self.len * SHARD_COUNT];
            self.items = vec![0; SHARD_COUNT];
        }
        self.used.insert(shard);
        let start = usize::from(shard) * 2 * self.len;
        let words = self.words.get_mut(start..start + 2 * self.len);
        let items = self.items.get_mut(usize::from(shard));
        let (Some(words), Some(items)) = (words, items) else {
            return false;
        };
        if *items as usize >= ITEMS_EACH * self.len {
            *items = 0;
            words.fill(0);
        }
        *items += 1;
        let (sources, questions) = words.split_at_mut(self.len);
        let known_source = set(sources, places.source);
        let known_question = set(questions, places.all);
        known_source && !known_question
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.waiting = [None; WAITING];
        for (index, words) in self.words.chunks_mut(2 * self.len).enumerate() {
            let word = self.used.0.get(index / 64).copied().unwrap_or(0);
            if word >> (index % 64) & 1 == 1 {
                words.fill(0);
            }
        }
        self.items.fill(0);
        self.used = Shards::default();
    }
}

/// Sets the two bits of a hash; whether both were set.
fn set(words: &mut [u64], hash: u64) -> bool {
    let mut known = true;
    for (index, part) in words_of(hash, words.len())
        .into_iter()
        .zip([hash, hash >> 32])
    {
        if let Some(word) = words.get_mut(index) {
            let bit = 1 << (part & 63);
            known &= *word & bit != 0;
            *word |= bit;
        }
    }
    known
}

/// The words that have a hash's bits, of so many: a power of two.
fn words_of(hash: u64, len: usize) -> [usize; 2] {
    [hash, hash >> 32].map(|part| (part >> 6) as usize & (len - 1))
}

/// Attempts that were not logged: by target how many (Count-Min, Cormode and Muthukrishnan 2005)
/// and from how many sources.
#[derive(Clone, Debug)]
pub(crate) struct Unlogged {
    /// Shards that were over their cap.
    pub(crate) shards: Shards,
    pub(crate) attempts: u64,
    counts: Vec<u32>,
    sources: Vec<u8>,
}

const ROWS: usize = 2;
const COLUMNS: usize = 1 << 12;
const BUCKETS: usize = 64;
/// Registers of a bucket: a standard error of 3.3 %.
pub(crate) const REGISTERS: usize = 1 << 10;

impl Unlogged {
    pub(crate) fn new() -> Self {
        Self {
            shards: Shards::default(),
            attempts: 0,
            counts: vec![0; FloodKind::COUNT * ROWS * COLUMNS],
            sources: vec![0; BUCKETS * REGISTERS],
        }
    }

    /// Counts packets to a target.
    pub(crate) fn count(
        &mut self,
        kind: FloodKind,
        target: &[u8; 16],
        source: &[u8; 16],
        packets: u32,
    ) {
        let hash = hash_address(target, 0);
        for place in places(kind, hash) {
            if let Some(count) = self.counts.get_mut(place) {
                *count = count.saturating_add(packets);
            }
        }
        let start = bucket(hash) * REGISTERS;
        if let Some(registers) = self.sources.get_mut(start..start + REGISTERS) {
            add_to(registers, hash_address(source, 1));
        }
    }

    /// All that is in it, for who writes it down.
    pub(crate) fn parts(&self) -> ([u64; SHARD_COUNT / 64], &[u32], &[u8]) {
        (self.shards.0, &self.counts, &self.sources)
    }

    /// What was written down; none if it is not what [`Unlogged::parts`] has given.
    pub(crate) fn of_parts(
        shards: [u64; SHARD_COUNT / 64],
        attempts: u64,
        counts: Vec<u32>,
        sources: Vec<u8>,
    ) -> Option<Self> {
        let empty = Self::new();
        let fits = counts.len() == empty.counts.len() && sources.len() == empty.sources.len();
        fits.then_some(Self {
            shards: Shards(shards),
            attempts,
            counts,
            sources,
        })
    }

    /// Adds another worker's: sums, and for the rest the union.
    pub(crate) fn join(&mut self, other: &Self) {
        self.shards.join(other.shards);
        self.attempts += other.attempts;
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        for (mine, theirs) in self.sources.iter_mut().zip(&other.sources) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// At least how many packets went to a target, and not many more.
    pub(crate) fn packets_to(&self, kind: FloodKind, target: &[u8; 16]) -> u64 {
        let counts = places(kind, hash_address(target, 0))
            .map(|place| self.counts.get(place).copied().unwrap_or(0));
        counts.into_iter().min().map_or(0, u64::from)
    }

    /// Registers that have counted the sources that asked this target, and a few more.
    pub(crate) fn sources_of(&self, target: &[u8; 16]) -> &[u8] {
        let start = bucket(hash_address(target, 0)) * REGISTERS;
        self.sources
            .get(start..start + REGISTERS)
            .unwrap_or_default()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "masked")]
fn places(kind: FloodKind, hash: u64) -> [usize; ROWS] {
    let row = |row: usize, part: u64| {
        (kind as usize * ROWS + row) * COLUMNS + (part as usize & (COLUMNS - 1))
    };
    [row(0, hash), row(1, hash >> 32)]
}

fn bucket(hash: u64) -> usize {
    (hash >> 58) as usize & (BUCKETS - 1)
}
