//! Which packets are written, by what was found and when.

use super::{Finding, Hold, Whose, cost};
use flowpin_capture::{ChosenPackets, Options, Source};
use flowpin_config::Input;
use flowpin_counters::Loss;
use flowpin_packet::{Frame, InterfaceId, InterfaceNames, LinkType, Piece, Timestamp};
use flowpin_record::{RecordKey, Uid};
use std::fs::File;
use std::net::IpAddr;
use std::path::PathBuf;
use tempfile::TempDir;

/// A line of recent packets, and the file that those are written to.
struct Line {
    hold: Hold,
    path: PathBuf,
    _folder: TempDir,
}

/// All packets have this length, and begin with their number.
const LEN: u32 = 100;

fn frame() -> Frame {
    Frame {
        start: 0,
        captured_len: LEN,
        wire_len: LEN,
        link: LinkType::Ethernet,
        interface: InterfaceId::NONE,
        time: Timestamp(0),
    }
}

/// Stream time of a packet.
fn time(number: u64) -> Timestamp {
    Timestamp(number * 1000)
}

/// The key of what a packet causes.
fn key(number: u64, ordinal: u32) -> RecordKey {
    RecordKey {
        time: time(number),
        number,
        ordinal,
    }
}

impl Line {
    /// With room for so many packets, of a run with so many workers.
    fn new(packets: u64, workers: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chosen.pcapng");
        let to = ChosenPackets::new(
            path.clone(),
            File::create(&path).unwrap(),
            None,
            InterfaceNames::default(),
        );
        Self {
            hold: Hold::new(packets * cost(&frame()), workers, to),
            path,
            _folder: folder,
        }
    }

    fn push(&mut self, number: u64) {
        let mut bytes = [0; LEN as usize];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        self.hold.push(&frame(), number, time(number), &bytes);
    }

    /// A packet comes that is the `nth` of a connection.
    fn packet(&mut self, number: u64, uid: u64, nth: u64) {
        self.push(number);
        self.hold.know(0, number, &[(number, whose(uid, nth))]);
    }

    /// Something was found at a packet, and all is known up to there.
    fn find(&mut self, number: u64, finding: Finding) {
        self.hold.find(&[(key(number, 1), finding)]);
        self.hold.advance(key(number, u32::MAX));
    }

    fn lost(&self, loss: Loss) -> u64 {
        self.hold.losses().of(loss)
    }

    /// Ends the recording: the numbers of its packets.
    fn written(mut self) -> Vec<u64> {
        self.hold.end();
        assert!(self.hold.failure().is_none());
        assert_eq!((self.hold.held_bytes, self.hold.line_bytes), (0, 0));
        assert!(self.hold.bytes.is_empty());
        let inputs = [Input::File(self.path.clone())];
        let mut source = match Source::open(&inputs, &Options::default()) {
            Ok(source) => source,
            // Without a packet there is no interface either.
            Err(_) => return Vec::new(),
        };
        let mut piece = Piece::default();
        let mut numbers = Vec::new();
        while source.fill(&mut piece).unwrap() {
            let mut walk = source.walk(&piece);
            while let Some(frame) = walk.next_frame() {
                let start = frame.start as usize;
                let number = piece.bytes[start..start + 8].try_into().unwrap();
                numbers.push(u64::from_be_bytes(number));
            }
        }
        numbers
    }
}

/// The client of a connection: two have the same.
fn client(uid: u64) -> IpAddr {
    IpAddr::from([10, 0, 0, u8::try_from(uid / 2).unwrap()])
}

fn whose(uid: u64, nth: u64) -> Whose {
    Whose {
        uid: Uid(uid),
        client: client(uid),
        nth,
    }
}

/// What a connection had before something was found in it is written, in the order of the capture,
/// and nothing of others.
#[test]
fn what_was_before_is_written() {
    let mut line = Line::new(100, 1);
    for number in 1..=9 {
        line.packet(number, number % 3, number.div_ceil(3));
    }
    line.find(9, Finding::Wanted(Uid(1)));
    line.packet(10, 1, 4);
    line.packet(11, 2, 4);
    assert_eq!(line.lost(Loss::RecordedTooLate), 0);
    assert_eq!(line.written(), [1, 4, 7, 10]);
}

/// Packets that had left the line are counted: once the connection's first one is written, or where
/// it ends without.
#[test]
fn what_had_left_is_counted() {
    let mut line = Line::new(4, 1);
    for number in 1..=10 {
        line.packet(number, 1 + number % 2, number.div_ceil(2));
    }
    line.hold.advance(key(10, u32::MAX));
    line.find(10, Finding::Wanted(Uid(2)));
    for number in 11..=16 {
        line.packet(number, 7, number - 10);
        line.hold.advance(key(number, u32::MAX));
    }
    // Of its packets 1, 3, 5, 7 and 9 the last two were in the line.
    assert_eq!(line.lost(Loss::RecordedTooLate), 3);
    line.find(16, Finding::Wanted(Uid(1)));
    line.find(16, Finding::Ended(Uid(1), 5));
    assert_eq!(
        line.lost(Loss::RecordedTooLate),
        3,
        "what follows its end may still be in the line"
    );
    for number in 17..=30 {
        line.packet(number, 7, number - 10);
        line.hold.advance(key(number, u32::MAX));
    }
    assert_eq!(line.lost(Loss::RecordedTooLate), 3 + 5);
    assert!(line.hold.marked.contains_key(&Uid(2)));
    assert_eq!(line.written(), [7, 9]);
}

/// A connection's mark ends with it, but not before its last packet has left the line.
#[test]
fn marks_end_behind_the_last_packet() {
    let mut line = Line::new(3, 1);
    line.packet(1, 1, 1);
    line.find(1, Finding::Wanted(Uid(1)));
    line.packet(2, 1, 2);
    line.find(2, Finding::Ended(Uid(1), 2));
    assert_eq!(line.hold.marked.len(), 1);
    for number in 3..=8 {
        line.packet(number, 2, number);
        line.hold.advance(key(number, u32::MAX));
    }
    assert!(line.hold.marked.is_empty() && line.hold.ending.is_empty());
    assert_eq!(line.lost(Loss::RecordedTooLate), 0);
    assert_eq!(line.written(), [1, 2]);
}

/// While a host scans, all connections that it begins are wanted; two scans end one by one.
#[test]
fn scans_mark_hosts() {
    let mut line = Line::new(2, 1);
    // Connections 4 and 5 have one client, 6 another.
    for (number, uid) in (1..).zip([4, 5, 6]) {
        line.packet(number, uid, 1);
    }
    let host = client(4);
    line.find(3, Finding::Host(host, Uid(100)));
    line.find(3, Finding::Host(host, Uid(101)));
    line.find(3, Finding::HostDone(host, Uid(100)));
    for number in 4..=8 {
        line.packet(number, 6 - number % 2, number);
        line.hold.advance(key(number, u32::MAX));
    }
    line.find(8, Finding::HostDone(host, Uid(101)));
    for number in 9..=14 {
        line.packet(number, 5, number);
        line.hold.advance(key(number, u32::MAX));
    }
    assert!(line.hold.hosts.is_empty());
    // The first had left before the scan was found; 7 was in the line when it was over, and left
    // before the last one of then did.
    assert_eq!(line.written(), [2, 5, 7]);
}

/// Fragments are whose their datagram is, whether they were known to be parts before they came or
/// after; also those of a datagram that is a fragment itself.
#[test]
fn parts_are_whose_the_whole_is() {
    let mut line = Line::new(100, 1);
    line.push(1);
    line.push(2);
    line.hold.join(&[1, 2, 3]);
    // A whole that is known before its parts have come, and is a part itself.
    line.hold.join(&[4, 5]);
    line.hold.join(&[5, 6]);
    line.push(3);
    for number in 4..=7 {
        line.push(number);
    }
    assert!(line.hold.parts.is_empty());
    line.hold.know(
        0,
        7,
        &[(3, whose(1, 1)), (6, whose(1, 2)), (7, whose(2, 1))],
    );
    line.find(7, Finding::Wanted(Uid(1)));
    assert_eq!(line.written(), [1, 2, 3, 4, 5, 6]);
}

/// A fragment without its datagram belongs to none, and those that were forgotten are counted.
#[test]
fn parts_without_a_whole_are_not_written() {
    let mut line = Line::new(100, 1);
    line.push(1);
    line.hold.join(&[]);
    line.hold.join(&[1, 9]);
    line.hold.forget_parts(3);
    line.packet(2, 1, 1);
    line.find(2, Finding::Wanted(Uid(1)));
    assert_eq!(line.lost(Loss::RecordedUnsure), 3);
    assert_eq!(line.written(), [2]);
}

/// Nothing leaves before every worker has said whose packets are, and all records are there; only
/// if there is no more room, and that is counted.
#[test]
fn packets_wait_for_every_worker() {
    let mut line = Line::new(1, 2);
    for number in 1..=6 {
        line.push(number);
    }
    line.hold.know(0, 6, &[(1, whose(1, 1))]);
    line.hold.advance(key(6, u32::MAX));
    assert_eq!((line.hold.in_line, line.hold.packets.len()), (0, 6));
    line.hold.know(1, 2, &[(2, whose(2, 1))]);
    line.hold.advance(key(1, u32::MAX));
    assert_eq!(line.hold.in_line, 1);
    line.find(2, Finding::Wanted(Uid(1)));
    // The first has left for the second.
    assert_eq!((line.hold.in_line, line.hold.packets.len()), (1, 5));
    line.hold.held_max = 5 * cost(&frame());
    line.push(7);
    assert_eq!(line.lost(Loss::RecordedUnsure), 1);
    assert_eq!(line.hold.packets.len(), 5);
    // One that is larger than all room waits alone.
    line.hold.held_max = 0;
    line.push(8);
    assert_eq!(
        (line.lost(Loss::RecordedUnsure), line.hold.packets.len()),
        (6, 1)
    );
    // What a worker says of those that are gone is too late.
    line.hold.know(1, 8, &[(3, whose(1, 2)), (8, whose(1, 3))]);
    line.hold.know(0, 8, &[]);
    assert_eq!(line.written(), [8]);
}

/// A frame whose bytes are not there counts as much when it comes as when it leaves.
#[test]
fn frames_count_what_there_is_of_them() {
    let mut line = Line::new(2, 1);
    for number in 1..=4 {
        line.hold.push(&frame(), number, time(number), &[]);
    }
    line.hold.know(0, 4, &[]);
    assert!(line.written().is_empty());
}

/// Numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// However many workers there are, and however far each is, the recording and what is counted are
/// the same: packets and findings meet in the order of their keys.
#[test]
fn the_recording_does_not_depend_on_workers() {
    for seed in 1..60 {
        let mut random = Random(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15));
        let (connections, packets) = (6, 80);
        let of: Vec<u64> = (0..packets).map(|_| random.below(connections)).collect();
        let mut found = Vec::new();
        for number in 1..=packets {
            let uid = Uid(random.below(connections));
            let finding = match random.below(12) {
                0 => Finding::Wanted(uid),
                1 => Finding::Ended(uid, 5),
                2 => Finding::Host(client(uid.0), Uid(100)),
                3 => Finding::HostDone(client(uid.0), Uid(100)),
                _ => continue,
            };
            found.push((key(number, 1), finding));
        }
        let outcome = |workers: u64, pace: u64| {
            let mut random = Random(seed + pace);
            let count = usize::try_from(workers).unwrap();
            let mut line = Line::new(7, count);
            let mut nth = [0; 6];
            let mut seen = vec![Vec::new(); count];
            let mut notes = vec![0; count];
            let mut findings = found.iter();
            for number in 1..=packets {
                let uid = of[usize::try_from(number - 1).unwrap()];
                line.push(number);
                let nth = &mut nth[usize::try_from(uid).unwrap()];
                *nth += 1;
                seen[usize::try_from(uid % workers).unwrap()].push((number, whose(uid, *nth)));
                for worker in 0..count {
                    if random.below(pace) == 0 || number == packets {
                        line.hold.know(worker, number, &seen[worker]);
                        seen[worker].clear();
                        notes[worker] = number;
                    }
                }
                let known = *notes.iter().min().unwrap();
                let until = key(known, u32::MAX);
                let ready = findings.as_slice().partition_point(|one| one.0 <= until);
                let ready: Vec<_> = findings.by_ref().take(ready).copied().collect();
                line.hold.find(&ready);
                line.hold.advance(until);
            }
            let lost = line.lost(Loss::RecordedTooLate);
            (lost, line.written())
        };
        let expected = outcome(1, 1);
        for (workers, pace) in [(1, 9), (2, 1), (2, 5), (3, 7), (3, 20)] {
            assert_eq!(
                outcome(workers, pace),
                expected,
                "seed {seed}, {workers}, {pace}"
            );
        }
    }
}
