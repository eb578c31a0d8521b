//! Frames in: capture files, compressed or not, merged by time.
//!
//! ```text
//!  files, directories ─► head of each ─► Source ─► fill: Piece ─► walk: Frame, Frame, …
//!  standard input        (what is it,    one open: its bytes as they are
//!                         first time)    several:  frames copied, earliest first
//! ```
//!
//! Reads pcap in all its variants and pcapng, by their first bytes and never by their names,
//! plain or wrapped in gzip, Zstandard, LZ4 or xz; hands out pieces of bytes and where the
//! frames lie in them. Owns file formats, link type numbers, filters, the order of several
//! captures, and the writers for both formats. Does not look into frames.
//!
//! Guarantees: the same bytes make the same pieces and frames, however they arrive; whatever is
//! cut off or damaged, all frames before are delivered and the place is reported; nothing is
//! allocated per frame; memory is limited by the longest record, which is limited itself.

#![forbid(unsafe_code)]

mod ahead;
mod bytes;
mod error;
mod filter;
mod format;
mod inputs;
mod link;
mod live;
mod magic;
mod reader;
mod report;
mod share;
mod source;
mod split;
mod write;

pub use ahead::{Ahead, Claim, Fetched};
pub use bytes::Attention;
pub use error::CaptureError;
pub use format::{CAPTURED_LEN_MAX, Damage};
pub use link::{link_name, link_number};
pub use live::{ChosenPackets, Cut, LiveFilter, LiveOptions, MakeFile, NextFiles, Shedding, Work};
pub use magic::Compression;
pub use report::{FileReport, Progress, Report};
pub use share::{add_to_share, mark_of};
pub use source::{Options, Shares, Source, Walk};
pub use split::{Splitter, Walked};
pub use write::{PcapWriter, PcapngWriter, Precision, SNAP_LEN};

/// Reads anything as a capture, with and without a filter: must neither panic nor hang.
#[doc(hidden)]
pub fn fuzz_capture(data: &[u8]) {
    for filter in ["", "tcp port 80 or greater 100"] {
        let options = Options {
            piece_len: 512,
            filter: filter.to_owned(),
            until: Some(flowpin_packet::Timestamp::new(1_500_000_000, 0)),
            ..Options::default()
        };
        let captures = vec![("a".into(), data.to_vec()), ("b".into(), data.to_vec())];
        let Ok(mut source) = Source::from_memory(captures, &options) else {
            continue;
        };
        let mut piece = flowpin_packet::Piece::default();
        while let Ok(true) = source.fill(&mut piece) {
            let mut walk = source.walk(&piece);
            while let Some(frame) = walk.next_frame() {
                let end = frame.start as usize + frame.captured_len as usize;
                assert!(end <= piece.len && frame.wire_len >= frame.captured_len);
            }
        }
        source.report();
    }
}
