//! No capture stops an explanation.

use crate::{STORY, explain, plan};
use flowpin_engine::Question;
use flowpin_testkit::reorder::flip_bytes;

/// Damaged packets are explained like any others, each by itself and with its connection.
#[test]
fn damaged_packets_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.pcap");
    let story = std::fs::read(STORY).unwrap();
    for seed in 0..12u64 {
        // The file's header stays.
        let bytes = flip_bytes(story.clone(), 40, 20 + seed * 10, seed);
        std::fs::write(&path, bytes).unwrap();
        for number in [1, 4, 6 + seed, 18, 20] {
            let (accounts, report) = explain(&plan(&path), Question::Packet(number));
            assert_eq!(accounts.is_empty(), report.explained == 0);
        }
    }
}
