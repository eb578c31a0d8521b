//! The laws of all views, on random bytes, on real frames and on everything that broke one once.

use flowpin_wire::fuzz::TARGETS;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Bytes that get further than random ones: versions, lengths and types that views look for.
fn plausible_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 1..12),
        2 => prop::collection::vec(Just(0u8), 1..8),
        1 => prop::sample::select(vec![
            vec![0x08, 0x00],
            vec![0x86, 0xdd],
            vec![0x81, 0x00],
            vec![0x88, 0x47],
            vec![0x88, 0x64, 0x11, 0x00],
            vec![0xaa, 0xaa, 0x03, 0, 0, 0],
            vec![0xff, 0x03, 0x00, 0x21],
            vec![0x45, 0, 0, 40],
            vec![0x60, 0, 0, 0, 0, 20, 0, 64],
            vec![0x45, 0, 0, 60, 0, 0, 0, 0, 64, 47, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
            vec![0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2],
            vec![0, 9, 0x12, 0xb5, 0, 40, 0, 0, 8, 0, 0, 0, 0, 0, 1, 0],
            vec![0, 9, 0x17, 0xc1, 0, 40, 0, 0, 0, 0, 0x65, 0x58, 0, 0, 1, 0],
            vec![0, 9, 0x08, 0x68, 0, 40, 0, 0, 0x30, 0xff, 0, 20, 0, 0, 0, 1],
            vec![0x30, 0x81, 0x88, 0x0b],
            vec![0x34, 0xff, 0, 20],
        ]),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    // Finds are kept as files of `fuzz/regressions`, not as seeds.
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// No bytes and no prefix of any bytes break a law.
    #[test]
    fn no_bytes_break_a_law(bytes in plausible_bytes()) {
        for (_, target) in TARGETS {
            for end in 0..=bytes.len() {
                target(&bytes[..end]);
            }
        }
    }
}

/// What broke a law once, in any target, does not break it again.
#[test]
fn kept_finds_stay_fixed() {
    for (name, target) in TARGETS {
        let folder = repository().join("fuzz/regressions").join(name);
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            if let Ok(bytes) = std::fs::read(entry.path()) {
                target(&bytes);
            }
        }
    }
}

/// Real captures hold what nobody thinks of: each frame goes through every view, whole, cut
/// short and with one byte changed.
#[test]
fn real_frames_break_no_law() {
    let corpus = std::env::var_os("FLOWPIN_SHARED")
        .map_or_else(|| repository().join("../shared"), PathBuf::from)
        .join("corpus");
    if !corpus.is_dir() {
        eprintln!(
            "skipped: no corpus at {} (set FLOWPIN_SHARED)",
            corpus.display()
        );
        return;
    }
    let mut files = Vec::new();
    captures_below(&corpus, &mut files);
    let mut frames = 0u64;
    for file in &files {
        let Ok(bytes) = std::fs::read(file) else {
            continue;
        };
        // Enough of each capture to meet its protocols; the largest ones repeat themselves.
        for frame in frames_of(&bytes).take(400) {
            frames += 1;
            run_frame(frame, frames);
        }
    }
    eprintln!("{frames} frames of {} captures", files.len());
    assert!(frames > 0, "a corpus without a single frame");
}

/// One frame through all targets; `number` chooses what is done to it.
fn run_frame(frame: &[u8], number: u64) {
    let mut data = vec![0, 0];
    data.extend(&frame[..frame.len().min(2000)]);
    for skipped in [0, 14, 34] {
        // Later layers begin where they do in most frames.
        let mut layer = data[..2].to_vec();
        layer.extend(data.get(2 + skipped..).unwrap_or_default());
        for (_, target) in TARGETS {
            target(&layer);
        }
    }
    let at = number as usize % data.len();
    data[at] ^= 1 << (number % 8);
    let end = data.len() - number as usize % (data.len() / 2 + 1);
    for (_, target) in TARGETS {
        target(&data[1..]);
        target(&data[..end]);
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn captures_below(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            captures_below(&path, files);
        } else if path.extension().is_some_and(|extension| {
            ["pcap", "pcapng", "cap", "trace"]
                .iter()
                .any(|known| extension == *known)
        }) {
            files.push(path);
        }
    }
}

/// The frames of an uncompressed pcap or pcapng file, as far as this simple reading goes.
fn frames_of(bytes: &[u8]) -> Box<dyn Iterator<Item = &[u8]> + '_> {
    let read = |at: usize, big: bool| -> Option<usize> {
        let word = *bytes.get(at..)?.first_chunk()?;
        let value = if big {
            u32::from_be_bytes(word)
        } else {
            u32::from_le_bytes(word)
        };
        usize::try_from(value).ok()
    };
    match bytes.first_chunk() {
        Some([0x0a, 0x0d, 0x0d, 0x0a]) => {
            let big = bytes.get(8) == Some(&0x1a);
            let mut at = 0usize;
            Box::new(core::iter::from_fn(move || {
                loop {
                    let (kind, len) = (read(at, big)?, read(at + 4, big)?.max(12));
                    let (start, block) = (at, bytes.get(at..at.checked_add(len)?)?);
                    at = start + len.next_multiple_of(4);
                    let frame = match kind {
                        6 => block.get(28..28usize.checked_add(read(start + 20, big)?)?),
                        3 => block.get(12..block.len().checked_sub(4)?),
                        _ => None,
                    };
                    if frame.is_some() {
                        return frame;
                    }
                }
            }))
        }
        Some([0xd4 | 0x4d, 0xc3 | 0x3c, 0xb2, 0xa1] | [0xa1, 0xb2, _, _]) => {
            let big = bytes[0] == 0xa1;
            let mut at = 24usize;
            Box::new(core::iter::from_fn(move || {
                let len = read(at + 8, big)?;
                let frame = bytes.get(at + 16..at.checked_add(16)?.checked_add(len)?);
                at = at.checked_add(16)?.checked_add(len)?;
                frame
            }))
        }
        _ => Box::new(core::iter::empty()),
    }
}
