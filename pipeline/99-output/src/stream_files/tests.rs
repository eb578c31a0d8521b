//! The files in the folder afterwards.

use super::{Gaps, StreamFiles, StreamFilesOptions, StreamId};
use crate::StreamFilesError;
use flowpin_counters::Loss;
use flowpin_disk::Reads;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of its own for each test, removed afterwards.
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

fn options(path: &Path) -> StreamFilesOptions {
    StreamFilesOptions {
        path: path.to_owned(),
        ..StreamFilesOptions::default()
    }
}

/// A stream from a client's port.
fn stream(port: u16, handle: u32) -> StreamId {
    StreamId {
        handle,
        to_server: true,
        from: ([10, 0, 0, 1], port).into(),
        to: ([10, 0, 0, 2], 80).into(),
    }
}

/// However few files may be open, each stream's bytes are all there, in order.
#[test]
fn streams_that_alternate_are_whole_with_two_files_open() {
    let folder = Folder::new("alternate");
    let options = StreamFilesOptions {
        open_max: 2,
        ..options(&folder.0)
    };
    let mut files = StreamFiles::new(options);
    files.begin(&Reads::default()).unwrap();
    let streams: Vec<_> = (1..=7).map(|port| stream(port, port.into())).collect();
    for round in 0..5_u8 {
        for stream in &streams {
            files.data(stream, &[b'a' + round; 3]).unwrap();
            if round == 2 {
                files.gap(stream, 4);
            }
        }
    }
    for stream in &streams {
        files.gap(stream, 2);
        files.close(stream).unwrap();
    }
    let found = folder.contents();
    assert_eq!(found.len(), 7);
    for (name, bytes) in found {
        assert_eq!(bytes, b"aaabbbccc\0\0\0\0dddeee\0\0", "{name}");
    }
    assert_eq!((files.files(), files.bytes()), (7, 7 * 21));
}

/// Ports are reused; streams without bytes take no name.
#[test]
fn later_streams_between_the_same_ends_are_counted() {
    let folder = Folder::new("counted");
    let mut files = StreamFiles::new(options(&folder.0));
    files.begin(&Reads::default()).unwrap();
    for (handle, bytes) in [(5, &b"one"[..]), (5, b""), (5, b"two"), (9, b"three")] {
        let stream = stream(1025, handle);
        files.gap(&stream, 1);
        files.data(&stream, bytes).unwrap();
        files.close(&stream).unwrap();
    }
    let name = "010.000.000.001.01025-010.000.000.002.00080";
    let found = folder.contents();
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    assert_eq!(names, [name, &format!("{name}c1"), &format!("{name}c2")]);
    assert_eq!(found[name], b"\0one");
    assert_eq!(found[&format!("{name}c2")], b"\0three");
}

/// Each limit has a counter, and bytes written before stay.
#[test]
fn limits_are_kept_and_counted() {
    let folder = Folder::new("limits");
    let mut files = StreamFiles::new(StreamFilesOptions {
        bytes_max: 10,
        files_max: 2,
        ..options(&folder.0)
    });
    files.begin(&Reads::default()).unwrap();
    let streams = [1, 2, 3].map(|port| stream(port, port.into()));
    files.data(&streams[0], b"12345678").unwrap();
    files.data(&streams[1], b"a").unwrap();
    files.data(&streams[2], b"b").unwrap();
    files.gap(&streams[0], 20 << 20);
    files.data(&streams[0], b"90").unwrap();
    let losses = files.losses();
    assert_eq!(losses.of(Loss::StreamFilesOverLimit), 1);
    assert_eq!(losses.of(Loss::StreamGapsShortened), 4 << 20);
    assert_eq!(losses.of(Loss::StreamBytesOverLimit), (16 << 20) - 1 + 2);
    drop(files);
    let sizes: Vec<_> = folder.contents().values().map(Vec::len).collect();
    assert_eq!(sizes, [8, 1]);
}

/// Gaps as nothing or as a note, and one direction only.
#[test]
fn gaps_are_skipped_or_noted_if_asked() {
    for (gaps, expected) in [
        (Gaps::Skip, &b"ab"[..]),
        (Gaps::Note, b"a[3 bytes missing in capture file]b"),
    ] {
        let folder = Folder::new(&format!("{gaps:?}"));
        let mut files = StreamFiles::new(StreamFilesOptions {
            gaps,
            only: Some(true),
            ..options(&folder.0)
        });
        files.begin(&Reads::default()).unwrap();
        let stream = stream(7, 0);
        files.data(&stream, b"a").unwrap();
        files.gap(&stream, 3);
        files.data(&stream, b"b").unwrap();
        files.close(&stream).unwrap();
        let back = StreamId {
            to_server: false,
            ..stream
        };
        files.data(&back, b"no").unwrap();
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
    let refused = StreamFiles::new(options(&folder.0)).begin(&Reads::default());
    assert!(matches!(refused, Err(StreamFilesError::NotEmpty(_))));
    let force = StreamFilesOptions {
        force: true,
        ..options(&folder.0)
    };
    StreamFiles::new(force).begin(&Reads::default()).unwrap();
    let mut inside_a_file = StreamFiles::new(options(&folder.0.join("notes/x")));
    let refused = inside_a_file.begin(&Reads::default());
    assert!(matches!(refused, Err(StreamFilesError::Write(_))));
}
