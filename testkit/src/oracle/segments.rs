//! TCP reassembly the slow and obvious way: one entry for each byte that is held.
//!
//! Positions are plain numbers that never wrap, each byte remembers the segment it came in, and
//! every decision looks at single bytes. Written from the description of the policies alone.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What a stream's reader is told, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Bytes at an offset.
    Data(u64, Vec<u8>),
    /// So many bytes are missing at an offset.
    Gap(u64, u64),
}

/// Adds bytes to what was told, as one with those before.
pub fn tell_data(told: &mut Vec<Told>, at: u64, bytes: &[u8]) {
    match told.last_mut() {
        Some(Told::Data(start, data)) if *start + data.len() as u64 == at => data.extend(bytes),
        _ => told.push(Told::Data(at, bytes.to_vec())),
    }
}

/// Adds a gap to what was told, as one with that before.
pub fn tell_gap(told: &mut Vec<Told>, at: u64, len: u64) {
    match told.last_mut() {
        Some(Told::Gap(start, gap)) if *start + *gap == at => *gap += len,
        _ => told.push(Told::Gap(at, len)),
    }
}

#[derive(Clone, Copy, Debug)]
struct Byte {
    value: u8,
    segment: u64,
    /// It came while it was outside the receiver's window.
    outside: bool,
    /// So did all of its segment: it counts once it is acknowledged.
    beyond: bool,
}

/// One direction of a connection; offset 0 is the first byte behind the SYN.
#[derive(Clone, Debug)]
pub struct SlowStream {
    policy: String,
    held: BTreeMap<u64, Byte>,
    next: u64,
    acked: u64,
    /// One past what the receiver takes, if it ever said so.
    edge: Option<u64>,
    segments: u64,
    /// What was told so far.
    pub told: Vec<Told>,
    /// Whether overlapping bytes ever differed.
    pub differed: bool,
}

impl SlowStream {
    /// A stream whose receiver has a policy, by the name that the configuration has for it.
    pub fn new(policy: &str, window: Option<u64>) -> Self {
        Self {
            policy: policy.to_owned(),
            held: BTreeMap::new(),
            next: 0,
            acked: 0,
            edge: window,
            segments: 0,
            told: Vec::new(),
            differed: false,
        }
    }

    /// A segment at an offset, which may lie before 0.
    pub fn segment(&mut self, at: i64, bytes: &[u8]) {
        self.segments += 1;
        let before = self.held.clone();
        let positioned = (at..).zip(bytes).filter_map(|(position, &value)| {
            let position = u64::try_from(position).ok()?;
            (position >= self.next).then_some((position, value))
        });
        let fresh: Vec<(u64, u8)> = positioned.collect();
        if let (Some(&(start, _)), Some(&(last, _))) = (fresh.first(), fresh.last()) {
            let mut run = (0, 0);
            for &(position, value) in &fresh {
                if position >= run.1 && before.contains_key(&position) {
                    run = run_around(&before, position);
                }
                let outside = self.edge.is_some_and(|edge| position >= edge);
                let beyond = self.edge.is_some_and(|edge| start >= edge);
                let new = Byte {
                    value,
                    segment: self.segments,
                    outside,
                    beyond,
                };
                let wins = match before.get(&position) {
                    None => true,
                    Some(old) => {
                        self.differed |= old.value != value;
                        match rank(*old).cmp(&rank(new)) {
                            Ordering::Less => true,
                            Ordering::Greater => false,
                            Ordering::Equal => self.new_wins(run, (start, last + 1)),
                        }
                    }
                };
                if wins {
                    self.held.insert(position, new);
                }
            }
        }
        self.advance(u64::try_from(at).ok());
    }

    /// The receiver has everything before `to`, and takes `window` bytes more.
    pub fn acknowledge(&mut self, to: u64, window: u64) {
        // More than was sent: what the receiver says later counts.
        let beyond = self.acked > self.sent();
        if to >= self.acked || beyond {
            self.acked = to;
            self.edge = Some(to + window);
            self.advance(None);
        }
    }

    /// Nothing more comes.
    pub fn end(&mut self) {
        while let Some(mut entry) = self.held.first_entry() {
            let first = *entry.key();
            let byte = entry.get_mut();
            let is_reached = byte.beyond && self.edge.is_some_and(|edge| first < edge);
            if byte.outside && !is_reached {
                entry.remove();
            } else {
                byte.beyond = false;
                self.gap_to(first);
            }
            self.drain();
        }
        if self.acked > self.next + 1 {
            self.gap_to(self.acked);
        }
    }

    fn new_wins(&self, old: (u64, u64), new: (u64, u64)) -> bool {
        let (before, same, after) = (new.0 < old.0, new.0 == old.0, new.0 > old.0);
        let (ends_same, ends_after) = (new.1 == old.1, new.1 > old.1);
        match self.policy.as_str() {
            "first" | "vista" => false,
            "last" => true,
            "bsd" | "macos" | "windows" => before,
            "linux" | "irix" => before || same && ends_after,
            "old-linux" => before || same && (ends_same || ends_after),
            "solaris" | "hpux" => {
                (before || same) && (ends_same || ends_after) || after && ends_after
            }
            other => panic!("no policy {other}"),
        }
    }

    /// One past all that was sent, as far as it was seen.
    fn sent(&self) -> u64 {
        let held = self.held.last_key_value().map(|(&last, _)| last + 1);
        held.unwrap_or(self.next)
    }

    fn advance(&mut self, shown: Option<u64>) {
        loop {
            self.drain();
            if self.acked > self.sent().max(shown.unwrap_or(0)) {
                return;
            }
            let first = self.held.keys().next().copied();
            let proofs = [first, shown].into_iter().flatten();
            let proof = proofs.filter(|&at| at > self.next).min();
            match proof {
                Some(proof) if self.acked > self.next => self.gap_to(proof.min(self.acked)),
                _ => return,
            }
        }
    }

    fn drain(&mut self) {
        while let Some(byte) = self.held.get(&self.next) {
            if byte.beyond && self.next >= self.acked {
                return;
            }
            if !byte.beyond && byte.outside && self.edge.is_some_and(|edge| self.next >= edge) {
                return;
            }
            tell_data(&mut self.told, self.next, &[byte.value]);
            self.held.remove(&self.next);
            self.next += 1;
        }
    }

    fn gap_to(&mut self, to: u64) {
        if to > self.next {
            tell_gap(&mut self.told, self.next, to - self.next);
            self.next = to;
        }
    }
}

/// How likely its receiver has taken a byte.
fn rank(byte: Byte) -> u8 {
    match (byte.beyond, byte.outside) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    }
}

/// What is held of a byte's segment around it without a hole.
fn run_around(held: &BTreeMap<u64, Byte>, position: u64) -> (u64, u64) {
    let whose = |at: u64| held.get(&at).map(|byte| (byte.segment, rank(*byte)));
    let (mut start, mut end) = (position, position + 1);
    while start > 0 && whose(start - 1) == whose(position) {
        start -= 1;
    }
    while whose(end) == whose(position) {
        end += 1;
    }
    (start, end)
}

#[cfg(test)]
mod tests {
    use super::{SlowStream, Told};

    /// The oracle is trusted: it must be right where anyone can see what is right.
    #[test]
    fn a_hole_is_filled_by_the_bytes_that_the_policy_prefers() {
        for (policy, want) in [("first", "abCDe"), ("last", "abcde"), ("bsd", "abcDe")] {
            let mut stream = SlowStream::new(policy, None);
            stream.segment(2, b"C");
            stream.segment(3, b"D");
            stream.segment(1, b"bc");
            // Under `last`, D goes the same way.
            stream.segment(3, b"de");
            stream.segment(0, b"a");
            let got = &stream.told;
            assert_eq!(got, &[Told::Data(0, want.as_bytes().to_vec())], "{policy}");
        }
    }

    /// Only what the receiver has acknowledged can be a gap before the end.
    #[test]
    fn a_hole_becomes_a_gap_when_it_is_acknowledged() {
        let mut stream = SlowStream::new("first", None);
        stream.segment(2, b"c");
        assert_eq!(stream.told, []);
        stream.acknowledge(3, 100);
        let want = [Told::Gap(0, 2), Told::Data(2, b"c".to_vec())];
        assert_eq!(stream.told, want);
    }
}
