//! Compressed captures whose decompressors may keep more than there is.

use crate::build::{Sample, kinds};
use flowpin_capture::{Options, Source};
use flowpin_config::Input;
use flowpin_packet::{LinkType, Piece};
use std::fs;
use std::path::Path;

/// Frames of a capture of some 3 MB that begins at this second.
const FRAMES: usize = 2000;

fn capture(second: u64) -> Vec<u8> {
    let mut state = second;
    let samples = (0..FRAMES as u64).map(|nth| Sample {
        time_ns: (second * 1_000_000 + nth) * 1000,
        wire_len: 1500,
        bytes: std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        })
        .take(1500)
        .collect(),
        link: LinkType::Ethernet,
    });
    kinds()[0].capture(&samples.collect::<Vec<_>>())
}

/// With a window of 2 MiB, by Zstandard and by xz.
fn compressed(bytes: &[u8]) -> [Vec<u8>; 2] {
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zstd.window_log(21).unwrap();
    std::io::Write::write_all(&mut zstd, bytes).unwrap();
    let mut options = liblzma::stream::LzmaOptions::new_preset(0).unwrap();
    options.dict_size(2 << 20);
    let mut filters = liblzma::stream::Filters::new();
    filters.lzma2(&options);
    let check = liblzma::stream::Check::Crc32;
    let stream = liblzma::stream::Stream::new_stream_encoder(&filters, check).unwrap();
    let mut xz = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
    std::io::Write::write_all(&mut xz, bytes).unwrap();
    [zstd.finish().unwrap(), xz.finish().unwrap()]
}

/// Frames read, and for each file that was not read whole, why.
fn read(dir: &Path, windows_max: u64) -> (usize, Vec<String>) {
    let options = Options {
        windows_max,
        ..Options::default()
    };
    let mut source = Source::open(&[Input::File(dir.to_owned())], &options).unwrap();
    let (mut piece, mut frames) = (Piece::default(), 0);
    while source.fill(&mut piece).unwrap() {
        let mut walk = source.walk(&piece);
        frames += std::iter::from_fn(|| walk.next_frame()).count();
    }
    let report = source.report();
    let damage = report.files.iter().filter_map(|file| file.damage.clone());
    (frames, damage.map(|damage| damage.to_string()).collect())
}

/// Files that overlap keep their windows at once: those for which there is no room end there, and
/// say so. Those that follow each other share the room.
#[test]
fn windows_of_files_that_overlap_have_one_limit() {
    for nth in 0..2 {
        for (overlaps, windows_max, whole) in [
            (true, 100 << 20, 4),
            (true, 6 << 20, 2),
            (false, 3 << 20, 4),
        ] {
            let dir = tempfile::tempdir().unwrap();
            for file in 0..4 {
                let second = if overlaps { 1 } else { 1 + file };
                let bytes = &compressed(&capture(second))[nth];
                fs::write(dir.path().join(file.to_string()), bytes).unwrap();
            }
            let (frames, damage) = read(dir.path(), windows_max);
            assert_eq!(damage.len(), 4 - whole, "{nth} {overlaps} {damage:?}");
            // Nothing that came out before is lost.
            let cut = frames - whole * FRAMES;
            assert_eq!(cut > (4 - whole) * FRAMES / 4, whole < 4, "{cut}");
            for what in damage {
                assert!(what.contains("may take 6 MiB"), "{what}");
            }
        }
    }
}
