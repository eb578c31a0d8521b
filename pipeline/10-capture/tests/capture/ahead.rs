//! Bytes that are fetched before their turn make the same pieces.

use crate::build::{Kind, Sample, kinds};
use flowpin_capture::{Options, Source};
use flowpin_config::Input;
use flowpin_packet::{LinkType, Piece};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::fs;

/// Frames of any length, up to several pieces.
fn capture(lens: &[usize], step: u64, start: u64) -> Vec<Sample> {
    let sample = |(number, &len): (usize, &usize)| Sample {
        time_ns: (start + number as u64 * step) * 1_000_000,
        wire_len: u32::try_from(len).unwrap(),
        bytes: (0..len).map(|at| (at * 7 + number) as u8).collect(),
        link: LinkType::Ethernet,
    };
    lens.iter().enumerate().map(sample).collect()
}

/// What each piece has: where its frames' bytes are, summed up, and their times.
type Pieces = Vec<Vec<(u64, u64)>>;

/// All pieces, with so many fetched before their turn as `ahead` says in turns; 0 is none.
fn pieces(inputs: &[Input], options: &Options, ahead: &[usize]) -> Pieces {
    let mut source = Source::open(inputs, options).unwrap();
    let mut out = Pieces::new();
    let mut fetched = VecDeque::new();
    let mut next = source.ahead();
    for &many in ahead.iter().cycle() {
        while fetched.len() < many
            && let Some(claim) = next.as_mut().and_then(flowpin_capture::Ahead::claim)
        {
            let mut piece = Piece::default();
            let bytes = claim.fetch(&mut piece);
            fetched.push_back((piece, bytes));
        }
        let mut piece = Piece::default();
        let is_filled = match fetched.pop_front() {
            Some((its, bytes)) => {
                piece = its;
                source.fill_fetched(&mut piece, &bytes).unwrap()
            }
            None => source.fill(&mut piece).unwrap(),
        };
        if !is_filled {
            break;
        }
        let mut frames = Vec::new();
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            let start = frame.start as usize;
            let bytes = &piece.bytes[start..start + frame.captured_len as usize];
            let sum = bytes.iter().fold(bytes.len() as u64, |sum, &byte| {
                sum.wrapping_mul(31).wrapping_add(byte.into())
            });
            frames.push((frame.time.0, sum));
        }
        drop(walk);
        out.push(frames);
        next = source.ahead();
        for _ in &fetched {
            next.as_mut().map(flowpin_capture::Ahead::pass);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However many are fetched ahead, with records longer than a piece, one file after the other
    /// or merged, cut off or not.
    #[test]
    fn pieces_do_not_depend_on_what_was_fetched(
        lens in prop::collection::vec(prop_oneof![0_usize..2_000, 0_usize..60_000], 1..60),
        ahead in prop::collection::vec(0_usize..6, 1..8),
        kind in prop::sample::select(kinds()),
        overlap in any::<bool>(),
        piece_len in (16_usize << 10)..(80 << 10),
        cut in 0_usize..50_000,
    ) {
        check(&lens, &ahead, kind, overlap, piece_len, cut);
    }
}

fn check(lens: &[usize], ahead: &[usize], kind: Kind, overlap: bool, piece_len: usize, cut: usize) {
    let folder = tempfile::tempdir().unwrap();
    let later = if overlap { 20 } else { lens.len() as u64 * 10 };
    let starts = [0, later, later * 2];
    let inputs = starts.map(|start| {
        let path = folder.path().join(format!("{start}.pcap"));
        let mut bytes = kind.capture(&capture(lens, 10, start));
        // The last one is cut off, maybe within a record.
        if start == later * 2 {
            bytes.truncate(bytes.len().saturating_sub(cut).max(100));
        }
        fs::write(&path, bytes).unwrap();
        Input::File(path)
    });
    let options = Options {
        piece_len,
        ..Options::default()
    };
    let plain = pieces(&inputs, &options, &[0]);
    assert_eq!(pieces(&inputs, &options, ahead), plain);
}

/// A file that grows while it is read is read to its new end.
#[test]
fn what_is_appended_meanwhile_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.pcap");
    let kind = kinds()[0];
    let bytes = kind.capture(&capture(&[1_000; 200], 10, 0));
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let inputs = [Input::File(path.clone())];
    let options = Options {
        piece_len: 32 << 10,
        ..Options::default()
    };
    let mut source = Source::open(&inputs, &options).unwrap();
    fs::write(&path, &bytes).unwrap();
    let mut frames = 0;
    let mut piece = Piece::default();
    let mut next = source.ahead();
    loop {
        let claim = next.as_mut().and_then(flowpin_capture::Ahead::claim);
        let is_filled = match claim.map(|claim| claim.fetch(&mut piece)) {
            Some(bytes) => source.fill_fetched(&mut piece, &bytes).unwrap(),
            None => source.fill(&mut piece).unwrap(),
        };
        if !is_filled {
            break;
        }
        let mut walk = source.walk(&piece);
        while walk.next_frame().is_some() {
            frames += 1;
        }
        drop(walk);
        next = source.ahead();
    }
    assert_eq!(frames, 200);
}
