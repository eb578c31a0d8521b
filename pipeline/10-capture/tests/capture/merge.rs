//! Several captures make one stream, by time.

use crate::build::{Kind, Sample, kinds, pieces_of, read, samples, three};
use flowpin_capture::{Options, Source};
use flowpin_packet::Piece;
use proptest::prelude::*;

/// The slow obvious way: all captures open from the start, always take the one whose next
/// frame is earliest; at the same time the one that was named first.
fn merged(captures: &[Vec<Sample>]) -> Vec<Sample> {
    let mut next = vec![0; captures.len()];
    let mut out = Vec::new();
    while let Some((_, i)) = (captures.iter().enumerate())
        .filter_map(|(i, capture)| Some((capture.get(next[i])?.time_ns, i)))
        .min()
    {
        out.push(captures[i][next[i]].clone());
        next[i] += 1;
    }
    out
}

fn write(kind: Kind, captures: &[Vec<Sample>]) -> Vec<Vec<u8>> {
    captures.iter().map(|c| kind.capture(c)).collect()
}

/// Times close together, so that ties and overlaps are frequent.
fn crowded(captures: Vec<Vec<Sample>>, step: u64, sort: bool) -> Vec<Vec<Sample>> {
    let crowd = |(i, mut capture): (usize, Vec<Sample>)| {
        for sample in &mut capture {
            sample.time_ns = (sample.time_ns / 1_000_000 % 20 + i as u64 * step) * 1_000_000;
        }
        if sort {
            capture.sort_by_key(|s| s.time_ns);
        }
        capture
    };
    captures.into_iter().enumerate().map(crowd).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Overlapping or not, in order or not, with ties: as the obvious way, for any piece.
    #[test]
    fn any_captures_merge_as_if_all_were_open(
        captures in prop::collection::vec(samples(25), 1..6),
        kind in prop::sample::select(kinds()),
        step in 0_u64..25,
        sort in any::<bool>(),
        piece_len in prop_oneof![64_usize..600, Just(256 << 10)],
    ) {
        let captures = crowded(captures, step, sort);
        let (got, report) = read(write(kind, &captures), &pieces_of(piece_len)).unwrap();
        prop_assert_eq!(got, merged(&captures));
        for (file, capture) in report.files.iter().zip(&captures) {
            prop_assert_eq!(file.packets, capture.len() as u64);
            prop_assert_eq!(&file.damage, &None);
        }
    }
}

/// Argument order decides ties, also against a capture that has not begun.
#[test]
fn ties_go_to_the_capture_named_first() {
    let at = |time_ns, mark| Sample {
        time_ns,
        wire_len: 1,
        bytes: vec![mark],
        link: flowpin_packet::LinkType::Ethernet,
    };
    let captures = [
        vec![at(5000, 1), at(7000, 2)],
        vec![at(0, 3), at(5000, 4), at(7000, 5)],
        vec![at(7000, 6)],
    ];
    let (got, _) = read(write(kinds()[0], &captures), &Options::default()).unwrap();
    let marks: Vec<_> = got.iter().map(|s| s.bytes[0]).collect();
    assert_eq!(marks, [3, 1, 4, 2, 5, 6]);
}

/// Where captures overlap and a filter rejects all, filling still comes back now and then, so
/// that progress is shown and signals are heard.
#[test]
fn a_merge_that_rejects_everything_comes_back_now_and_then() {
    let samples: Vec<_> = (0..200).flat_map(|_| three()).collect();
    let capture = kinds()[0].capture(&samples);
    let options = Options {
        filter: "greater 5000".to_owned(),
        ..pieces_of(1024)
    };
    let named = vec![("a".into(), capture.clone()), ("b".into(), capture)];
    let mut source = Source::from_memory(named, &options).unwrap();
    let (mut piece, mut pieces) = (Piece::default(), 0);
    while source.fill(&mut piece).unwrap() {
        assert!(source.walk(&piece).next_frame().is_none());
        pieces += 1;
    }
    assert!(pieces > 50, "{pieces}");
    assert_eq!(source.report().rejected_by_filter, 1200);
}
