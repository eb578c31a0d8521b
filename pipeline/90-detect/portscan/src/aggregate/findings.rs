//! Findings for the summary: how many scans and floods, and the largest of them.

use core::cmp::Reverse;
use flowpin_record::{
    AnomalyRecord, ConnRecord, EpisodeState, FloodRecord, RecordKey, RecordSink, ScanRecord,
    TunnelRecord,
};

/// The scans and floods of a run. Depends on the input alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanFindings {
    /// Scans in all.
    pub scan_count: u64,
    /// Floods in all.
    pub flood_count: u64,
    /// Those of most targets (pairs of host and port), 100 at most, the largest first.
    pub scans: Vec<ScanRecord>,
    /// Those of most packets, likewise.
    pub floods: Vec<FloodRecord>,
}

impl ScanFindings {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.scan_count == 0 && self.flood_count == 0
    }

    fn scan(&mut self, record: &ScanRecord) {
        self.scan_count += 1;
        keep(&mut self.scans, record, |scan| {
            (Reverse(scan.targets), scan.first_packet, scan.uid.0)
        });
    }

    fn flood(&mut self, record: &FloodRecord) {
        self.flood_count += 1;
        keep(&mut self.floods, record, |flood| {
            (Reverse(flood.packets), flood.first_packet, flood.uid.0)
        });
    }
}

/// Puts a record where it belongs in a list that is in order of `key`, or nowhere if that is full.
fn keep<T: Copy, K: Ord>(list: &mut Vec<T>, record: &T, key: impl Fn(&T) -> K) {
    let place = list.partition_point(|other| key(other) <= key(record));
    if place < LISTED_MAX {
        list.truncate(LISTED_MAX - 1);
        list.insert(place, *record);
    }
}

/// Hands records on to `out`, and counts each scan and flood at its end, once.
pub(super) struct Counting<'a, S> {
    pub(super) out: &'a mut S,
    pub(super) found: &'a mut ScanFindings,
}

impl<S: RecordSink> RecordSink for Counting<'_, S> {
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        self.out.conn(key, record);
    }

    fn anomaly(&mut self, key: RecordKey, record: &AnomalyRecord) {
        self.out.anomaly(key, record);
    }

    fn tunnel(&mut self, key: RecordKey, record: &TunnelRecord) {
        self.out.tunnel(key, record);
    }

    fn scan(&mut self, key: RecordKey, record: &ScanRecord) {
        if record.state == EpisodeState::Over {
            self.found.scan(record);
        }
        self.out.scan(key, record);
    }

    fn flood(&mut self, key: RecordKey, record: &FloodRecord) {
        if record.state == EpisodeState::Over {
            self.found.flood(record);
        }
        self.out.flood(key, record);
    }
}

const LISTED_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::{LISTED_MAX, keep};
    use core::cmp::Reverse;

    /// The list holds the largest in order, whatever the order of arrival, and no more than fit.
    #[test]
    fn the_largest_are_listed_whatever_comes_first() {
        let all: Vec<usize> = (0..3 * LISTED_MAX).map(|n| n * 7919 % 1009).collect();
        let mut listed = Vec::new();
        for number in &all {
            keep(&mut listed, number, |&n| Reverse(n));
        }
        let mut sorted = all;
        sorted.sort_unstable_by_key(|&n| Reverse(n));
        sorted.truncate(LISTED_MAX);
        assert_eq!(listed, sorted);
    }
}
