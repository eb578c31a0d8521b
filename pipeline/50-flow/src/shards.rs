//! The set of shards that a table owns.

use flowpin_packet::Shard;

/// A set of shards.
///
/// ```
/// use flowpin_flow::ShardSet;
/// use flowpin_packet::Shard;
///
/// let odd: ShardSet = (0..=255).map(Shard).filter(|shard| shard.0 % 2 == 1).collect();
/// assert_eq!(odd.len(), 128);
/// assert!(odd.contains(Shard(3)) && !odd.contains(Shard(4)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardSet([u64; 4]);

impl ShardSet {
    /// All shards: one table for everything.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// Adds a shard.
    pub fn insert(&mut self, shard: Shard) {
        self.0[usize::from(shard.0 >> 6)] |= 1 << (shard.0 & 63);
    }

    /// Whether the set contains a shard.
    pub fn contains(&self, shard: Shard) -> bool {
        self.0[usize::from(shard.0 >> 6)] >> (shard.0 & 63) & 1 != 0
    }

    /// The number of shards.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shards in order.
    pub fn iter(&self) -> impl Iterator<Item = Shard> + use<> {
        let set = *self;
        (0..=u8::MAX)
            .map(Shard)
            .filter(move |&shard| set.contains(shard))
    }
}

impl FromIterator<Shard> for ShardSet {
    fn from_iter<I: IntoIterator<Item = Shard>>(shards: I) -> Self {
        let mut set = Self::default();
        for shard in shards {
            set.insert(shard);
        }
        set
    }
}
