//! Every format, byte order and compression gives back what was put in.

use crate::build::{COMPRESSIONS, compress, kinds, pieces_of, read, samples, three};
use flowpin_capture::Options;
use flowpin_packet::LinkType;
use proptest::prelude::*;

/// All formats, in all compressions, with several members.
#[test]
fn every_format_in_every_compression_gives_back_its_frames() {
    let samples = three();
    for kind in kinds() {
        for compression in COMPRESSIONS {
            let bytes = compress(compression, &kind.capture(&samples));
            let (got, report) = read(vec![bytes], &Options::default()).unwrap();
            assert_eq!(got, samples, "{kind:?} {compression:?}");
            let file = &report.files[0];
            assert_eq!(file.compression, compression);
            assert_eq!(file.damage, None, "{kind:?} {compression:?}");
            assert_eq!((file.packets, file.links.as_slice()), (3, &[1][..]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Where pieces end must not change what is in them, for any length of piece.
    #[test]
    fn frames_do_not_depend_on_the_length_of_pieces(
        samples in samples(40),
        kind in prop::sample::select(kinds()),
        piece_len in prop_oneof![64_usize..400, Just(256 << 10)],
    ) {
        let (got, report) = read(vec![kind.capture(&samples)], &pieces_of(piece_len)).unwrap();
        prop_assert_eq!(got, samples);
        prop_assert_eq!(&report.files[0].damage, &None);
    }
}

/// A pcap header's link type shares its word with the length of a frame check sequence.
#[test]
fn bits_above_the_link_type_are_passed_over() {
    for kind in kinds().into_iter().take(2) {
        let mut bytes = kind.capture(&three());
        let at = if kind.big_endian { 20 } else { 23 };
        bytes[at] = 0x24; // two bytes of check sequence, and the bit that says so
        let (got, report) = read(vec![bytes], &Options::default()).unwrap();
        assert_eq!(got.len(), 3);
        assert_eq!(report.files[0].links, [1]);
    }
}

/// Versions before 2.3 wrote the lengths the other way round, 2.3 wrote both ways.
#[test]
fn old_versions_have_their_lengths_swapped() {
    for (version, swapped) in [(4, false), (2, true), (3, false), (3, true)] {
        let mut bytes = kinds()[0].capture(&three());
        bytes[6] = version;
        if swapped {
            let (first, rest) = bytes[32..].split_at_mut(4);
            first.swap_with_slice(&mut rest[..4]);
            bytes.truncate(24 + 16 + 41);
        }
        let (got, _) = read(vec![bytes], &Options::default()).unwrap();
        assert_eq!(got[0], three()[0], "2.{version}, swapped: {swapped}");
    }
}

/// A record longer than a piece makes the piece grow, and no further than it must.
#[test]
fn the_longest_record_fits_into_a_short_piece() {
    let mut samples = three();
    samples[1].bytes = vec![7; 262_144];
    samples[1].wire_len = 300_000;
    for kind in kinds() {
        let (got, report) = read(vec![kind.capture(&samples)], &pieces_of(64)).unwrap();
        assert_eq!(got, samples, "{kind:?}");
        assert_eq!(report.files[0].damage, None);
    }
}

/// Frames of types that are not decoded are delivered and counted, not dropped.
#[test]
fn frames_of_unsupported_link_types_are_delivered_and_counted() {
    let kind = kinds()[0];
    let mut usb = kind.file_header(189);
    usb.extend(kind.record(&three()[0]));
    let (got, report) = read(vec![kind.capture(&three()), usb], &Options::default()).unwrap();
    assert_eq!(got.len(), 4);
    assert_eq!(
        got.iter()
            .filter(|s| s.link == LinkType::Unsupported)
            .count(),
        1
    );
    assert!(report.files[1].is_unsupported() && !report.files[0].is_unsupported());
    assert_eq!(report.files[1].packets_unsupported, 1);
    assert!(report.files[1].notes()[0].contains("189 (USB_LINUX"));
}

/// If nothing at all can be decoded, that is said at once.
#[test]
fn an_input_without_any_decodable_link_type_is_refused_by_name() {
    let error = read(vec![kinds()[0].file_header(189)], &Options::default()).unwrap_err();
    assert!(
        error.to_string().contains("link type 189 (USB_LINUX"),
        "{error}"
    );
    assert!(!error.is_usage());
    assert_eq!(LinkType::of_number(189), LinkType::Unsupported);
}

/// `-n` counts what is delivered, in any format and whatever a piece holds.
#[test]
fn the_packet_limit_is_exact() {
    for kind in kinds() {
        for (limit, piece_len) in [(0, 64), (1, 64), (2, 256 << 10), (3, 64), (9, 64)] {
            let options = Options {
                packet_count_max: Some(limit),
                piece_len,
                ..Options::default()
            };
            let captures = vec![kind.capture(&three()), kind.capture(&three())];
            let limit = usize::try_from(limit).unwrap();
            for captures in [captures.clone(), captures[..1].to_vec()] {
                let all = captures.len() * 3;
                let named = captures
                    .into_iter()
                    .map(|bytes| ("c".into(), bytes))
                    .collect();
                let mut source = flowpin_capture::Source::from_memory(named, &options).unwrap();
                let got = crate::build::drain(&mut source).unwrap();
                assert_eq!(got.len(), limit.min(all), "{kind:?} {limit} {piece_len}");
            }
        }
    }
}
