//! Laws of splits, on captures whose packets carry captures.

use super::{Kind, Splitter};
use crate::{Options, PcapWriter, PcapngWriter, Precision, Source};
use flowpin_packet::{Piece, Timestamp};
use proptest::prelude::*;

type Packet = (u64, Vec<u8>);

fn pcap(packets: &[Packet]) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), 1, Precision::Micros).unwrap();
    for (time, bytes) in packets {
        let len = u32::try_from(bytes.len()).unwrap();
        writer.write(Timestamp(*time), len, bytes).unwrap();
    }
    writer.into_inner()
}

fn pcapng(packets: &[Packet]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new()).unwrap();
    let interfaces = [1, 101].map(|link| writer.add_interface(link, "").unwrap());
    for (nth, (time, bytes)) in packets.iter().enumerate() {
        let len = u32::try_from(bytes.len()).unwrap();
        let interface = interfaces[nth % 2];
        writer
            .write(interface, Timestamp(*time), len, bytes)
            .unwrap();
    }
    let mut bytes = writer.into_inner();
    // Statistics at the end, as recorders write them.
    for word in [5u32, 24, 0, 0, 0, 24] {
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

/// The frames that a source finds: time and bytes.
fn frames(capture: Vec<u8>) -> Vec<Packet> {
    let captures = vec![("a".into(), capture)];
    let mut source = Source::from_memory(captures, &Options::default()).unwrap();
    let (mut piece, mut found) = (Piece::default(), Vec::new());
    while source.fill(&mut piece).unwrap() {
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            let start = frame.start as usize;
            let bytes = &piece.bytes[start..start + frame.captured_len as usize];
            found.push((frame.time.0, bytes.to_vec()));
        }
    }
    found
}

/// What a driver does: walks the splits at the places where each seems to begin, and again those
/// whose place was wrong. Returns the splits, and how many were walked again.
fn settled(splitter: &Splitter, bytes: &[u8], cuts: &[usize]) -> (Vec<(usize, usize, u64)>, usize) {
    let ends = cuts.iter().copied().chain([bytes.len()]);
    let (mut border, mut again, mut splits) = (splitter.head().len(), 0, Vec::new());
    for (nth, until) in ends.enumerate() {
        let place = nth.checked_sub(1).and_then(|before| cuts.get(before));
        let guess = place.map_or(Some(border), |&at| splitter.guess(bytes, at.max(border)));
        again += usize::from(guess != Some(border));
        let walked = splitter.walk(bytes, border, until.max(border)).unwrap();
        splits.push((border, walked.end, walked.packets));
        border = walked.end;
    }
    (splits, again)
}

/// A packet that is noise, zeros, a capture, or a piece of one.
fn packet() -> impl Strategy<Value = Packet> {
    let noise = prop::collection::vec(any::<u8>(), 1..200);
    let inner = prop::collection::vec((0..u64::from(u32::MAX), noise.clone()), 1..20);
    let carried =
        (inner, any::<bool>(), any::<prop::sample::Index>()).prop_map(|(packets, is_ng, from)| {
            let whole = if is_ng {
                pcapng(&packets)
            } else {
                pcap(&packets)
            };
            whole[from.index(whole.len())..].to_vec()
        });
    let zeros = (1usize..300).prop_map(|len| vec![0; len]);
    (
        1_000_000_000..4_000_000_000_000_000_000u64,
        prop_oneof![noise, zeros, carried],
    )
        .prop_map(|(time, bytes)| (time / 1000 * 1000, bytes))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Wherever it is cut, and whatever packets carry: the splits are captures with all packets
    /// once, in order.
    #[test]
    fn splits_lose_nothing_and_double_nothing(
        packets in prop::collection::vec(packet(), 1..60),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        is_ng in any::<bool>(),
    ) {
        let whole = if is_ng { pcapng(&packets) } else { pcap(&packets) };
        let splitter = Splitter::new(&whole).unwrap();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(whole.len() + 1) / 4 * 4).collect();
        cuts.sort_unstable();
        let (splits, _) = settled(&splitter, &whole, &cuts);
        let mut found = Vec::new();
        for (start, end, count) in splits {
            let mut part = splitter.head().to_vec();
            part.extend(&whole[start..end]);
            let of_part = frames(part);
            prop_assert_eq!(of_part.len() as u64, count);
            found.extend(of_part);
        }
        prop_assert_eq!(&found, &frames(whole));
        prop_assert_eq!(found, packets);
    }

    /// Nothing that is no capture, or a damaged one, makes it panic or walk for ever.
    #[test]
    fn any_bytes_are_walked_or_refused(
        packets in prop::collection::vec(packet(), 1..10),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        at in any::<prop::sample::Index>(),
        is_ng in any::<bool>(),
    ) {
        let mut whole = if is_ng { pcapng(&packets) } else { pcap(&packets) };
        for (place, byte) in damage {
            let place = place.index(whole.len());
            whole[place] = byte;
        }
        if let Some(splitter) = Splitter::new(&whole) {
            let at = at.index(whole.len()) / 4 * 4;
            let start = splitter.guess(&whole, at).unwrap_or(at);
            if let Some(walked) = splitter.walk(&whole, start, whole.len()) {
                prop_assert_eq!(walked.end, whole.len());
            }
        }
    }
}

/// In ordinary traffic a guess is right: nothing is walked twice.
#[test]
fn guesses_are_right_where_packets_carry_no_captures() {
    let packets: Vec<_> = (0..2000u64)
        .map(|nth| {
            let len = 60 + (nth * 7919 % 1400) as usize;
            let bytes = (0..len).map(|at| (at as u64 * 31 + nth * 17) as u8);
            (1_700_000_000_000_000_000 + nth * 1_000_000, bytes.collect())
        })
        .collect();
    for whole in [pcap(&packets), pcapng(&packets)] {
        let splitter = Splitter::new(&whole).unwrap();
        let cuts: Vec<_> = (1..50).map(|nth| whole.len() * nth / 50 / 4 * 4).collect();
        assert_eq!(settled(&splitter, &whole, &cuts).1, 0);
    }
}

/// What is not alike throughout is not cut.
#[test]
fn other_captures_are_not_cut() {
    let packets = [(1_000_000_000, vec![1; 60]), (2_000_000_000, vec![2; 60])];
    let (mut old, ng) = (pcap(&packets), pcapng(&packets));
    assert!(Splitter::new(&[0x1f, 0x8b, 8, 0]).is_none());
    assert!(Splitter::new(b"no capture").is_none());
    // The lengths the other way round.
    old[6] = 2;
    assert!(Splitter::new(&old).is_none());
    // A second section, and a capture that breaks off.
    let splitter = Splitter::new(&ng).unwrap();
    assert!(matches!(splitter.kind, Kind::Pcapng { .. }));
    let head = splitter.head().len();
    let twice = [ng.as_slice(), &ng].concat();
    assert_eq!(splitter.walk(&twice, head, twice.len()), None);
    assert_eq!(splitter.walk(&ng[..ng.len() - 3], head, ng.len() - 3), None);
}
