//! Traffic by VLAN: the tags of each connection's first packet, as in its record.
//!
//! Two tags have 16 million values together, so the table is a [`Tally`]: exact up to a cap, and
//! the same for any division beyond it. One tag alone never reaches the cap. Connections without a
//! tag are one sum.

use crate::tally::{Key, Ranking, Sums, Tally, Words, keys_max};
use core::fmt;
use flowpin_aggregate::{Aggregate, Decider, Observer, Traffic};
use flowpin_config::Plan;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, RecordKey};
use std::io;

/// Traffic by VLAN, as an aggregate.
#[derive(Debug)]
pub struct Vlans;

/// The VLAN of a connection: its outermost two tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VlanTags {
    /// The identifier of the outer tag.
    pub outer: u16,
    /// That of the inner one, if there are two (IEEE 802.1ad).
    pub inner: Option<u16>,
}

/// What VLANs have carried.
#[derive(Debug)]
pub struct VlanSums {
    tagged: Tally<VlanTags>,
    untagged: Traffic,
}

/// The VLANs with the most bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopVlans {
    /// By tags.
    pub tagged: Ranking<VlanTags>,
    /// Connections without a tag.
    pub untagged: Traffic,
}

impl VlanTags {
    /// From the identifiers of a record, outermost first; none if there is no tag.
    #[inline]
    pub const fn of([outer, inner]: [u16; 2]) -> Option<Self> {
        if outer == NO_VLAN {
            return None;
        }
        let inner = if inner == NO_VLAN { None } else { Some(inner) };
        Some(Self { outer, inner })
    }
}

/// `200`, or `200.7` where 7 is the inner tag.
impl fmt::Display for VlanTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inner {
            Some(inner) => write!(f, "{}.{inner}", self.outer),
            None => write!(f, "{}", self.outer),
        }
    }
}

impl Key for VlanTags {
    #[inline]
    fn words(self) -> Words {
        let inner = self.inner.unwrap_or(NO_VLAN);
        Words::Short([u64::from(self.outer) << 16 | u64::from(inner)])
    }

    fn of(words: Words) -> Self {
        let (Words::Short([tags]) | Words::Long([tags, ..])) = words;
        let inner = tags as u16;
        Self {
            outer: (tags >> 16) as u16,
            inner: (inner != NO_VLAN).then_some(inner),
        }
    }
}

impl Aggregate for Vlans {
    type Observer = VlanSums;
    type Decider = VlanDecider;

    fn is_wanted(_: &Plan) -> bool {
        true
    }

    fn observer(plan: &Plan, secret: u64) -> io::Result<VlanSums> {
        VlanSums::new(keys_max(plan), secret)
    }

    fn decider(_: &Plan, _: usize) -> VlanDecider {
        VlanDecider::default()
    }
}

impl VlanSums {
    /// For at most `keys_max` exact rows.
    fn new(keys_max: usize, secret: u64) -> io::Result<Self> {
        Ok(Self {
            tagged: Tally::new(keys_max, secret)?,
            untagged: Traffic::default(),
        })
    }

    #[inline]
    fn count(&mut self, vlans: [u16; 2], random: u64, traffic: &Traffic) {
        match VlanTags::of(vlans) {
            Some(tags) => {
                let sums = Sums::one(random, traffic.packets, traffic.bytes);
                self.tagged.count(tags, sums, &mut |_, _| {});
            }
            None => self.untagged.add(traffic),
        }
    }

    /// Adds another worker's flushed sums.
    fn add(&mut self, other: &Self) {
        self.tagged.add(&other.tagged, &mut |_, _| {});
        self.untagged.add(&other.untagged);
    }
}

impl Observer for VlanSums {
    type News = Box<Self>;

    #[inline]
    fn conn(&mut self, _: RecordKey, record: &ConnRecord) {
        if record.interim == 0 {
            self.count(record.vlans, record.uid.0, &Traffic::of(record));
        }
    }

    fn finish(mut self, _: Timestamp) -> Option<Box<Self>> {
        self.tagged.flush(&mut |_, _| {});
        Some(Box::new(self))
    }
}

/// Adds up the workers' sums.
#[derive(Debug, Default)]
pub struct VlanDecider {
    sums: Option<Box<VlanSums>>,
    losses: Losses,
}

impl Decider for VlanDecider {
    type News = Box<VlanSums>;
    type Findings = TopVlans;
    const EMITS: bool = false;

    fn add(&mut self, _: usize, news: Box<VlanSums>) {
        match &mut self.sums {
            Some(sums) => sums.add(&news),
            none => *none = Some(news),
        }
    }

    fn losses(&self) -> Losses {
        self.losses
    }

    fn take_findings(&mut self) -> TopVlans {
        let Some(sums) = self.sums.take() else {
            return TopVlans::default();
        };
        let tagged = sums.tagged.ranking(ROWS_LISTED);
        self.losses
            .count(Loss::VlansSummed, tagged.rest.connections);
        TopVlans {
            tagged,
            untagged: sums.untagged,
        }
    }
}

/// As records mark that there is no tag: no identifier has more than 12 bits.
const NO_VLAN: u16 = 0xffff;

/// Rows that are left for the summary.
const ROWS_LISTED: usize = 100;

#[cfg(test)]
mod tests {
    use super::{NO_VLAN, TopVlans, VlanDecider, VlanSums, VlanTags};
    use crate::tally::Key;
    use flowpin_aggregate::{Decider, Observer, Traffic};
    use flowpin_counters::Loss;
    use flowpin_packet::Timestamp;

    fn traffic(bytes: u64) -> Traffic {
        Traffic {
            connections: 1,
            packets: 2,
            bytes,
        }
    }

    /// The sums of some of 40,000 connections, with two tags, one, or none.
    fn counted(keys_max: usize, secret: u64, of: impl Fn(u64) -> bool) -> Box<VlanSums> {
        let mut sums = VlanSums::new(keys_max, secret).unwrap();
        for nth in (0..40_000u64).filter(|nth| of(*nth)) {
            let (outer, inner) = ((nth % 100) as u16, (nth / 8 % 97) as u16);
            let vlans = match nth % 8 {
                0 => [NO_VLAN; 2],
                1 => [outer, NO_VLAN],
                _ => [outer, inner],
            };
            let random = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sums.count(vlans, random, &traffic(nth % 211));
        }
        sums.finish(Timestamp::default()).unwrap()
    }

    fn joined(parts: impl IntoIterator<Item = Box<VlanSums>>) -> (TopVlans, u64) {
        let mut decider = VlanDecider::default();
        for (worker, part) in parts.into_iter().enumerate() {
            Decider::add(&mut decider, worker, part);
        }
        let found = decider.take_findings();
        (found, decider.losses().of(Loss::VlansSummed))
    }

    /// The same rows for any division among workers, even among some that saw nothing: where every
    /// row is exact, and above the cap.
    #[test]
    fn rows_are_the_same_for_any_division() {
        for keys_max in [1 << 10, 1 << 14] {
            let (whole, summed) = joined([counted(keys_max, 1, |_| true)]);
            let parts = [2, 0, 1].map(|part| counted(keys_max, part, |nth| nth / 5 % 3 == part));
            let idle = counted(keys_max, 9, |_| false);
            let (parts, parts_summed) = joined(parts.into_iter().chain([idle]));
            assert_eq!((&parts, parts_summed), (&whole, summed));
            assert_eq!(whole.untagged.connections, 5_000);
            assert_eq!(whole.tagged.rows.len(), 100);
            assert_eq!(summed > 0, keys_max == 1 << 10, "{summed}");
            if summed == 0 {
                // Every pair of 100 outer and 97 inner tags, and 25 outer tags alone.
                assert_eq!(whole.tagged.keys, 9_725);
                assert!(whole.tagged.rows.iter().all(|row| !row.is_estimate));
            }
        }
    }

    /// Reserved identifiers are tags as well; a key is that of its tags alone.
    #[test]
    fn every_pair_of_tags_is_a_key_of_its_own() {
        for outer in [0, 1, 4095] {
            for inner in [NO_VLAN, 0, 1, 4095] {
                let tags = VlanTags::of([outer, inner]).unwrap();
                assert_eq!((tags.outer, tags.inner.unwrap_or(NO_VLAN)), (outer, inner));
                assert_eq!(<VlanTags as Key>::of(tags.words()), tags);
            }
        }
        assert_eq!(VlanTags::of([NO_VLAN; 2]), None);
        let text = |vlans| VlanTags::of(vlans).unwrap().to_string();
        assert_eq!(text([200, NO_VLAN]), "200");
        assert_eq!(text([200, 7]), "200.7");
    }

    /// No connection at all leaves an empty table.
    #[test]
    fn nothing_was_counted() {
        assert_eq!(joined([]), (TopVlans::default(), 0));
    }
}
