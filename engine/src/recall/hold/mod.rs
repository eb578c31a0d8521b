//! The packets that wait, and which of them are written.

#[cfg(test)]
mod tests;

use super::Finding;
use flowpin_capture::{CaptureError, ChosenPackets};
use flowpin_counters::{Loss, Losses};
use flowpin_packet::{Frame, Timestamp};
use flowpin_record::{RecordKey, Uid};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::net::IpAddr;

/// Whose packet it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose {
    pub(super) uid: Uid,
    /// Who began the connection.
    pub(super) client: IpAddr,
    /// Which of the connection's packets it is, from 1.
    pub(super) nth: u64,
}

/// A packet that waits; its bytes wait beside it.
#[derive(Debug)]
struct Waiting {
    frame: Frame,
    number: u64,
    time: Timestamp,
    whose: Option<Whose>,
    /// The packet that it is a part of.
    part_of: Option<u64>,
}

/// A connection whose packets are written.
#[derive(Debug, Default)]
struct Mark {
    /// One of its packets was written.
    is_written: bool,
}

/// Packets, marks, and the recording.
#[derive(Debug)]
pub(super) struct Hold {
    to: ChosenPackets,
    /// How long the line is, in bytes.
    before_bytes: u64,
    /// How much may wait, the line included.
    held_max: u64,
    /// All packets that are not decided, by number: first those in the line.
    packets: VecDeque<Waiting>,
    bytes: VecDeque<u8>,
    /// The number of the last one that has come.
    pushed: u64,
    /// Parts of others that have not come yet: some shapes find whole datagrams in a piece first.
    parts: HashMap<u64, u64>,
    /// Packets in the line, and their bytes.
    in_line: usize,
    line_bytes: u64,
    /// Bytes of all.
    held_bytes: u64,
    /// Up to which packet each worker has said whose they are.
    noted: Vec<u64>,
    /// What was found and not looked at yet, the first first.
    found: BinaryHeap<Reverse<(RecordKey, Finding)>>,
    marked: HashMap<Uid, Mark>,
    /// Hosts, with their scans that go on.
    hosts: BTreeSet<(IpAddr, Uid)>,
    /// Marks that end once the packet with this number has left: the last in the line.
    ending: BTreeMap<u64, Vec<Finding>>,
    losses: Losses,
    scratch: Vec<u8>,
}

impl Hold {
    pub(super) fn new(before_bytes: u64, workers: usize, to: ChosenPackets) -> Self {
        Self {
            to,
            before_bytes,
            held_max: before_bytes + before_bytes.max(UNKNOWN_BYTES_MIN),
            packets: VecDeque::new(),
            bytes: VecDeque::new(),
            pushed: 0,
            parts: HashMap::new(),
            in_line: 0,
            line_bytes: 0,
            held_bytes: 0,
            noted: vec![0; workers],
            found: BinaryHeap::new(),
            marked: HashMap::new(),
            hosts: BTreeSet::new(),
            ending: BTreeMap::new(),
            losses: Losses::default(),
            scratch: Vec::new(),
        }
    }

    /// A packet comes. One for which there is no room makes the oldest leave unsurely.
    pub(super) fn push(&mut self, frame: &Frame, number: u64, time: Timestamp, bytes: &[u8]) {
        // As much as there is of it: what leaves is what has come.
        let frame = Frame {
            captured_len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            ..*frame
        };
        while self.held_bytes + cost(&frame) > self.held_max && !self.packets.is_empty() {
            if self.in_line == 0 {
                self.arrive_one();
            }
            self.losses.count(Loss::RecordedUnsure, 1);
            self.leave_one();
        }
        self.held_bytes += cost(&frame);
        self.pushed = number;
        let part_of = self.parts.remove(&number);
        self.bytes.extend(bytes);
        self.packets.push_back(Waiting {
            frame,
            number,
            time,
            whose: None,
            part_of,
        });
    }

    /// A worker knows whose packets are, up to the one with this number.
    pub(super) fn know(&mut self, worker: usize, until: u64, seen: &[(u64, Whose)]) {
        for (number, whose) in seen {
            if let Some(packet) = self.packet(*number) {
                packet.whose = Some(*whose);
            }
        }
        if let Some(noted) = self.noted.get_mut(worker) {
            *noted = until.max(*noted);
        }
    }

    /// These packets are parts of the last of them.
    pub(super) fn join(&mut self, numbers: &[u64]) {
        let Some((last, parts)) = numbers.split_last() else {
            return;
        };
        for number in parts.iter().filter(|number| *number != last) {
            if *number > self.pushed {
                self.parts.insert(*number, *last);
            } else if let Some(packet) = self.packet(*number) {
                packet.part_of = Some(*last);
            }
        }
    }

    /// So many fragments will not be known as parts: they are not written.
    pub(super) fn forget_parts(&mut self, fragments: u64) {
        self.losses.count(Loss::RecordedUnsure, fragments);
    }

    /// Something was found.
    pub(super) fn find(&mut self, found: &[(RecordKey, Finding)]) {
        self.found.extend(found.iter().copied().map(Reverse));
    }

    /// All records up to `known` are there: lets in packets and findings up to it.
    pub(super) fn advance(&mut self, known: RecordKey) {
        let noted = self.noted.iter().copied().min().unwrap_or(u64::MAX);
        while let Some(next) = self.packets.get(self.in_line) {
            if next.number > noted || (next.time, next.number) > (known.time, known.number) {
                break;
            }
            let (time, number) = (next.time, next.number);
            self.look(RecordKey {
                time,
                number,
                ordinal: 0,
            });
            self.arrive_one();
            while self.line_bytes > self.before_bytes && self.in_line > 1 {
                self.leave_one();
            }
        }
        // Those behind the last packet, so that they do not pile up where none comes.
        if self.packets.len() == self.in_line {
            self.look(known);
        }
    }

    /// Writes what is left.
    pub(super) fn end(&mut self) {
        self.noted.fill(u64::MAX);
        self.advance(RecordKey::LAST);
        self.look(RecordKey::LAST);
        while self.in_line > 0 {
            self.leave_one();
        }
        self.to.end();
    }

    pub(super) fn flush(&mut self) {
        self.to.flush();
    }

    pub(super) fn failure(&mut self) -> Option<CaptureError> {
        self.to.failure()
    }

    pub(super) const fn losses(&self) -> Losses {
        self.losses
    }

    /// The packet with this number, if it still waits.
    fn packet(&mut self, number: u64) -> Option<&mut Waiting> {
        let place = self.packets.partition_point(|one| one.number < number);
        self.packets
            .get_mut(place)
            .filter(|one| one.number == number)
    }

    /// Looks at what was found before `until`.
    fn look(&mut self, until: RecordKey) {
        while let Some(Reverse((key, _))) = self.found.peek()
            && *key < until
            && let Some(Reverse((_, finding))) = self.found.pop()
        {
            self.mark(finding);
        }
    }

    fn mark(&mut self, finding: Finding) {
        match finding {
            Finding::Wanted(uid) => {
                self.marked.entry(uid).or_default();
            }
            Finding::Host(host, scan) => {
                self.hosts.insert((host, scan));
            }
            // Its packets may still be in the line; and what else was found at its end follows.
            Finding::Ended(..) | Finding::HostDone(..) => self.end_later(finding),
        }
    }

    fn end_later(&mut self, finding: Finding) {
        let last = self.in_line.checked_sub(1);
        let last = last.and_then(|last| self.packets.get(last));
        match last.map(|last| last.number) {
            Some(number) => self.ending.entry(number).or_default().push(finding),
            None => self.unmark(finding),
        }
    }

    fn unmark(&mut self, finding: Finding) {
        match finding {
            Finding::Ended(uid, packets) => {
                let mark = self.marked.remove(&uid);
                if mark.is_some_and(|mark| !mark.is_written) {
                    self.losses.count(Loss::RecordedTooLate, packets);
                }
            }
            Finding::HostDone(host, scan) => {
                self.hosts.remove(&(host, scan));
            }
            Finding::Wanted(_) | Finding::Host(..) => {}
        }
    }

    /// The next packet enters the line.
    fn arrive_one(&mut self) {
        if let Some(packet) = self.packets.get(self.in_line) {
            self.line_bytes += cost(&packet.frame);
            self.in_line += 1;
        }
    }

    /// The first packet leaves the line.
    fn leave_one(&mut self) {
        let whose = self.whose(0, NESTED_MAX);
        let Some(packet) = self.packets.pop_front() else {
            return;
        };
        self.in_line = self.in_line.saturating_sub(1);
        self.line_bytes = self.line_bytes.saturating_sub(cost(&packet.frame));
        self.held_bytes = self.held_bytes.saturating_sub(cost(&packet.frame));
        let len = packet.frame.captured_len as usize;
        if whose.is_some_and(|whose| self.is_wanted(&whose)) {
            self.scratch.clear();
            self.scratch
                .extend(self.bytes.range(..len.min(self.bytes.len())));
            self.to.packet(&packet.frame, &self.scratch);
        }
        self.bytes.drain(..len.min(self.bytes.len()));
        while let Some(first) = self.ending.first_entry()
            && *first.key() <= packet.number
        {
            for finding in first.remove() {
                self.unmark(finding);
            }
        }
    }

    /// Whose a packet in the line is: a part is whose the whole is, if that is in the line, too.
    fn whose(&self, place: usize, depth: usize) -> Option<Whose> {
        let packet = self.packets.get(place).filter(|_| place < self.in_line)?;
        if packet.whose.is_some() || depth == 0 {
            return packet.whose;
        }
        let whole = packet.part_of?;
        let place = self.packets.partition_point(|one| one.number < whole);
        self.whose(place, depth - 1)
    }

    fn is_wanted(&mut self, whose: &Whose) -> bool {
        if let Some(mark) = self.marked.get_mut(&whose.uid) {
            if !core::mem::replace(&mut mark.is_written, true) {
                let before = whose.nth.saturating_sub(1);
                self.losses.count(Loss::RecordedTooLate, before);
            }
            return true;
        }
        let scans = (whose.client, Uid(0))..=(whose.client, Uid(u64::MAX));
        !self.hosts.is_empty() && self.hosts.range(scans).next().is_some()
    }
}

/// What a packet takes.
const fn cost(frame: &Frame) -> u64 {
    frame.captured_len as u64 + size_of::<Waiting>() as u64
}

/// What is not known yet may take this much, or as much as the line.
const UNKNOWN_BYTES_MIN: u64 = 256 << 20;

/// Datagrams in fragments, in the fragments of others.
const NESTED_MAX: usize = 8;
