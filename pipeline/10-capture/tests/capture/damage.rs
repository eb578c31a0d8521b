//! What is cut off or damaged: all frames before it, and the place.

use crate::build::{COMPRESSIONS, compress, kinds, pieces_of, read, samples, three};
use flowpin_capture::{Compression, Options};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any cut gives a prefix of the frames; that it was cut is said unless it is between
    /// two records.
    #[test]
    fn any_cut_gives_a_prefix_of_the_frames(
        samples in samples(20),
        kind in prop::sample::select(kinds()),
        compression in prop::sample::select(COMPRESSIONS.to_vec()),
        cut in any::<prop::sample::Index>(),
        piece_len in prop_oneof![Just(64_usize), Just(256 << 10)],
    ) {
        let whole = compress(compression, &kind.capture(&samples));
        let cut = cut.index(whole.len());
        // Without a file header, it is refused as a whole.
        if let Ok((got, report)) = read(vec![whole[..cut].to_vec()], &pieces_of(piece_len)) {
            prop_assert!(samples.starts_with(&got));
            prop_assert_eq!(report.files[0].packets, got.len() as u64);
            let damage = &report.files[0].damage;
            if compression == Compression::None {
                let header = kind.file_header(1).len();
                let mut ends = vec![header];
                for sample in &samples {
                    ends.push(ends.last().unwrap() + kind.record(sample).len());
                }
                if ends.contains(&cut) {
                    prop_assert_eq!(damage, &None);
                }
                if got.len() < samples.len() && damage.is_none() {
                    // Blocks around packets are boundaries too.
                    prop_assert!(ends.contains(&cut) || report.files[0].format == "pcapng");
                }
                if let Some(damage) = damage {
                    prop_assert!(damage.offset <= cut as u64);
                    prop_assert!(cut as u64 - damage.offset < 400);
                }
            }
        }
    }

    /// Whatever the bytes are, reading ends without a panic, and pieces stay limited.
    #[test]
    fn random_bytes_behind_a_magic_do_no_harm(
        magic in prop::sample::select(vec![
            0xa1b2_c3d4_u32, 0xd4c3_b2a1, 0xa1b2_3c4d, 0x4d3c_b2a1, 0xa1b2_cd34, 0x34cd_b2a1,
            0x0a0d_0d0a, 0x1f8b_0800, 0x28b5_2ffd, 0x0422_4d18, 0xfd37_7a58, 0x1c00_01ac,
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        flowpin_capture::fuzz_capture(&[&magic.to_be_bytes()[..], &bytes].concat());
    }

    /// Bits that flip anywhere: no panic, and no frame beyond the piece.
    #[test]
    fn flipped_bits_do_no_harm(
        samples in samples(20),
        kind in prop::sample::select(kinds()),
        compression in prop::sample::select(COMPRESSIONS.to_vec()),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..6),
    ) {
        let mut bytes = compress(compression, &kind.capture(&samples));
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
        }
        flowpin_capture::fuzz_capture(&bytes);
    }
}

/// The place is that of the record, in the file's own bytes or in the decompressed ones.
#[test]
fn the_place_of_the_damage_is_the_record_that_cannot_be_read() {
    let kind = kinds()[0];
    let mut bytes = kind.capture(&three());
    let second = 24 + 16 + 41;
    bytes[second + 11] = 0xff; // the captured length's high byte
    for compression in COMPRESSIONS {
        let (got, report) = read(vec![compress(compression, &bytes)], &Options::default()).unwrap();
        assert_eq!(got, three()[..1]);
        let damage = report.files[0].damage.clone().unwrap();
        assert_eq!(damage.offset, second as u64);
        assert_eq!(damage.decompressed, compression != Compression::None);
        assert!(
            damage
                .to_string()
                .contains("captured bytes, more than 262144"),
            "{damage}"
        );
    }
    assert!(report_is_damaged(&bytes));
}

fn report_is_damaged(bytes: &[u8]) -> bool {
    let (_, report) = read(vec![bytes.to_vec()], &Options::default()).unwrap();
    report.is_damaged() && report.files[0].notes()[0].contains("damaged at byte 81")
}

/// One damaged capture does not take the others with it.
#[test]
fn other_captures_go_on() {
    let kind = kinds()[0];
    let mut damaged = kind.capture(&three());
    damaged.truncate(24 + 16 + 41 + 5);
    let (got, report) = read(vec![damaged, kind.capture(&three())], &Options::default()).unwrap();
    assert_eq!(got.len(), 4);
    assert!(report.files[0].damage.is_some() && report.files[1].damage.is_none());
}

/// Garbage behind compressed data, or damage in it, is told with what the decoder said.
#[test]
fn damage_in_compressed_data_is_told() {
    let plain = kinds()[0].capture(&three());
    for compression in COMPRESSIONS.into_iter().skip(1) {
        let mut bytes = compress(compression, &plain);
        bytes.truncate(bytes.len() - 3);
        let (_, report) = read(vec![bytes], &Options::default()).unwrap();
        let damage = report.files[0].damage.clone().unwrap().to_string();
        assert!(damage.contains(compression.name()), "{damage}");
    }
}

/// An LZ4 stream cut between two blocks looks whole to the decoder; the missing end mark tells.
#[test]
fn an_lz4_frame_without_its_end_mark_is_damaged() {
    let plain = kinds()[0].capture(&three());
    let whole = compress(Compression::Lz4, &plain);
    let (got, report) = read(vec![whole[..whole.len() - 4].to_vec()], &Options::default()).unwrap();
    assert_eq!(got.len(), 3);
    assert!(report.files[0].damage.is_some());
}

/// A capture that ends in its own header has nothing before that: it is refused, and why is told.
#[test]
fn a_cut_file_header_is_refused() {
    for kind in kinds() {
        let header = kind.capture(&[]);
        let error = read(vec![header[..10].to_vec()], &Options::default()).unwrap_err();
        assert!(error.to_string().contains("inside its header"), "{error}");
    }
}

/// What fuzzing found once must not come back.
#[test]
fn regressions_found_by_fuzzing_do_no_harm() {
    let regressions = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/regressions");
    let Ok(targets) = std::fs::read_dir(regressions) else {
        return;
    };
    for target in targets.map(|entry| entry.unwrap().path()) {
        if target
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains("capture"))
        {
            for case in std::fs::read_dir(target).unwrap() {
                flowpin_capture::fuzz_capture(&std::fs::read(case.unwrap().path()).unwrap());
            }
        }
    }
}
