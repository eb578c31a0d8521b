//! What is in the folder afterwards.

use super::{DirectoryOptions, StreamDirectory};
use crate::RunError;
use crate::alone::streams::{Conversation, Gaps, StreamEnd, StreamPlace, StreamSink};
use flowpin_counters::Loss;
use flowpin_disk::Reads;
use flowpin_packet::Timestamp;
use flowpin_record::Uid;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of its own for each test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("flowpin-{test}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(&self.0).unwrap().map(Result::unwrap);
        let read = |path: PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        };
        entries.map(|entry| read(entry.path())).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

fn options(path: &Path) -> DirectoryOptions {
    DirectoryOptions {
        path: path.to_owned(),
        ..DirectoryOptions::default()
    }
}

fn talk(port: u16) -> Conversation {
    Conversation {
        uid: Uid(1),
        protocol: 6,
        client: ([10, 0, 0, 1], port).into(),
        server: ([10, 0, 0, 2], 80).into(),
    }
}

fn place(conversation: &Conversation, handle: u32) -> StreamPlace<'_> {
    StreamPlace {
        conversation,
        handle,
        to_server: true,
        offset: 0,
        time: Timestamp(0),
        packet_number: 1,
    }
}

/// However few files may be open, each stream's bytes are all there, in order.
#[test]
fn streams_that_alternate_are_whole_with_two_files_open() {
    let folder = Folder::new("alternate");
    let options = DirectoryOptions {
        open_max: 2,
        ..options(&folder.0)
    };
    let mut directory = StreamDirectory::new(options);
    directory.begin(&Reads::default()).unwrap();
    let talks: Vec<_> = (1..=7).map(talk).collect();
    for round in 0..5_u8 {
        for (handle, talk) in (0..).zip(&talks) {
            let at = place(talk, handle);
            directory.data(&at, &[b'a' + round; 3]).unwrap();
            if round == 2 {
                directory.gap(&at, 4).unwrap();
            }
        }
    }
    for (handle, talk) in (0..).zip(&talks) {
        directory.gap(&place(talk, handle), 2).unwrap();
        directory
            .closed(&place(talk, handle), StreamEnd::Fin)
            .unwrap();
    }
    let found = folder.contents();
    assert_eq!(found.len(), 7);
    for (name, bytes) in found {
        assert_eq!(bytes, b"aaabbbccc\0\0\0\0dddeee\0\0", "{name}");
    }
    assert_eq!((directory.files(), directory.bytes()), (7, 7 * 21));
}

/// Ports are used again; streams without bytes take no name.
#[test]
fn later_streams_between_the_same_ends_are_counted() {
    let folder = Folder::new("counted");
    let mut directory = StreamDirectory::new(options(&folder.0));
    directory.begin(&Reads::default()).unwrap();
    let talk = talk(1025);
    for (handle, bytes) in [(5, &b"one"[..]), (5, b""), (5, b"two"), (9, b"three")] {
        let at = place(&talk, handle);
        directory.gap(&at, 1).unwrap();
        directory.data(&at, bytes).unwrap();
        directory.closed(&at, StreamEnd::Reset).unwrap();
    }
    let name = "010.000.000.001.01025-010.000.000.002.00080";
    let found = folder.contents();
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    assert_eq!(names, [name, &format!("{name}c1"), &format!("{name}c2")]);
    assert_eq!(found[name], b"\0one");
    assert_eq!(found[&format!("{name}c2")], b"\0three");
}

/// Each limit has a counter, and what was written before is as it was.
#[test]
fn limits_are_kept_and_counted() {
    let folder = Folder::new("limits");
    let mut directory = StreamDirectory::new(DirectoryOptions {
        bytes_max: 10,
        files_max: 2,
        ..options(&folder.0)
    });
    directory.begin(&Reads::default()).unwrap();
    let talks: Vec<_> = (1..=3).map(talk).collect();
    directory.data(&place(&talks[0], 0), b"12345678").unwrap();
    directory.data(&place(&talks[1], 1), b"a").unwrap();
    directory.data(&place(&talks[2], 2), b"b").unwrap();
    directory.gap(&place(&talks[0], 0), 20 << 20).unwrap();
    directory.data(&place(&talks[0], 0), b"90").unwrap();
    let losses = directory.losses();
    assert_eq!(losses.of(Loss::StreamFilesOverLimit), 1);
    assert_eq!(losses.of(Loss::StreamGapsShortened), 4 << 20);
    assert_eq!(losses.of(Loss::StreamBytesOverLimit), (16 << 20) - 1 + 2);
    drop(directory);
    let sizes: Vec<_> = folder.contents().values().map(Vec::len).collect();
    assert_eq!(sizes, [8, 1]);
}

/// What stands for a gap, and one direction only.
#[test]
fn gaps_are_skipped_or_noted_if_asked() {
    for (gaps, expected) in [
        (Gaps::Skip, &b"ab"[..]),
        (Gaps::Note, b"a[3 bytes missing in capture file]b"),
    ] {
        let folder = Folder::new(&format!("{gaps:?}"));
        let mut directory = StreamDirectory::new(DirectoryOptions {
            gaps,
            only: Some(true),
            ..options(&folder.0)
        });
        directory.begin(&Reads::default()).unwrap();
        let talk = talk(7);
        let at = place(&talk, 0);
        directory.data(&at, b"a").unwrap();
        directory.gap(&at, 3).unwrap();
        directory.data(&at, b"b").unwrap();
        directory.closed(&at, StreamEnd::Ended).unwrap();
        let back = StreamPlace {
            to_server: false,
            ..at
        };
        directory.data(&back, b"no").unwrap();
        assert_eq!(
            folder.contents().into_values().collect::<Vec<_>>(),
            [expected]
        );
    }
}

/// Streams of two runs must not be mixed by mistake.
#[test]
fn a_folder_that_holds_something_is_refused() {
    let folder = Folder::new("refused");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("notes"), "mine").unwrap();
    let refused = StreamDirectory::new(options(&folder.0)).begin(&Reads::default());
    assert!(matches!(refused, Err(RunError::StreamFolder { .. })));
    let force = DirectoryOptions {
        force: true,
        ..options(&folder.0)
    };
    StreamDirectory::new(force)
        .begin(&Reads::default())
        .unwrap();
    let mut inside_a_file = StreamDirectory::new(options(&folder.0.join("notes/x")));
    let refused = inside_a_file.begin(&Reads::default());
    assert!(matches!(refused, Err(RunError::StreamWrite { .. })));
}
