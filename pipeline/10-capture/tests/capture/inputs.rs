//! Files, directories, pipes: what is found, and what is said when nothing is.

use crate::build::{Sample, compress, drain, kinds, three};
use flowpin_capture::{CaptureError, Compression, Options, Source};
use flowpin_config::Input;
use flowpin_packet::Piece;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn open(inputs: &[Input]) -> Result<Source, CaptureError> {
    Source::open(inputs, &Options::default())
}

fn file(path: impl AsRef<Path>) -> Input {
    Input::File(path.as_ref().to_owned())
}

fn later(samples: Vec<Sample>, secs: u64) -> Vec<Sample> {
    let shift = |mut s: Sample| {
        s.time_ns += secs * 1_000_000_000;
        s
    };
    samples.into_iter().map(shift).collect()
}

/// Captures in a directory and below it, by what they are and not by what they are called.
#[test]
fn a_directory_gives_all_its_captures_in_name_order() {
    let dir = tempfile::tempdir().unwrap();
    let kind = kinds()[3];
    let capture = kind.capture(&three());
    fs::create_dir(dir.path().join("b")).unwrap();
    fs::write(dir.path().join("c.pcap"), &capture).unwrap();
    let packed = compress(Compression::Zstd, &capture);
    fs::write(dir.path().join("b/no-capture-by-name.txt"), packed).unwrap();
    fs::write(dir.path().join("a.txt"), "not a capture at all").unwrap();
    fs::write(dir.path().join("empty"), "").unwrap();
    // A pipe would wait for ever, a circle of links would never end.
    let pipe = dir.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink(dir.path(), dir.path().join("circle")).unwrap();

    let mut source = open(&[Input::Directory(dir.path().to_owned())]).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 6);
    let report = source.report();
    let names: Vec<_> = report
        .files
        .iter()
        .map(|f| f.path.file_name().unwrap())
        .collect();
    assert_eq!(names, ["no-capture-by-name.txt", "c.pcap"]);
    assert_eq!(report.files_skipped, 2);
    let progress = source.progress();
    assert_eq!(progress.bytes_total, Some(progress.bytes_read));
    assert_eq!(
        (progress.files_done, progress.files_total, progress.packets),
        (2, 2, 6)
    );
}

/// What would be missed is named: packing that breaks off before a capture's header, and whatever
/// is called like a capture and is none. What else is no capture is passed over.
#[test]
fn damaged_files_of_a_directory_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    let capture = kinds()[0].capture(&three());
    put("whole", &capture);
    let mut damaged = Vec::new();
    let mut harm = |name: String, bytes: &[u8]| {
        put(&name, bytes);
        damaged.push(name);
    };
    for (ending, compression) in [
        ("gz", Compression::Gzip),
        ("zst", Compression::Zstd),
        ("lz4", Compression::Lz4),
        ("xz", Compression::Xz),
    ] {
        let packed = compress(compression, &capture);
        for len in [6, 12, 20] {
            harm(format!("cut{len}.{ending}"), &packed[..len]);
        }
        harm(format!("one.pcap.{ending}"), &packed[..1]);
        harm(format!("empty.pcapng.{ending}"), &[]);
        harm(
            format!("of-nothing.CAP.{ending}"),
            &compress(compression, &[]),
        );
        let mut wrong = packed.clone();
        wrong[12..].fill(0xff);
        harm(format!("wrong.{ending}"), &wrong);
        put(
            &format!("text.{ending}"),
            &compress(compression, &[b'x'; 200]),
        );
    }
    harm("empty.pcap".into(), &[]);
    harm("rotated.pcap17".into(), &[]);
    harm("text.dmp".into(), b"text");
    harm("zeros.pcapng".into(), &[0; 5000]);
    put("readme", b"text");
    put("empty", b"");
    let mut source = open(&[file(dir.path())]).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 3);
    let report = source.report();
    let named = report.files.iter().filter(|file| {
        let damage = file.damage.as_ref();
        damage.is_some_and(|damage| damage.unopened || damage.what.contains("header"))
    });
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let named: Vec<_> = named.map(|file| name(&file.path)).collect();
    damaged.sort();
    assert_eq!(named, damaged);
    assert_eq!(report.files_skipped, 6);
    // Of a folder with nothing else, there is nothing to analyse.
    fs::remove_file(dir.path().join("whole")).unwrap();
    open(&[file(dir.path())]).err().unwrap();
}

/// Each mistake is one line with the path in it, and says whose mistake it is.
#[test]
fn mistakes_are_one_clear_line_with_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("text"), "GET / HTTP/1.1").unwrap();
    fs::write(path("empty"), "").unwrap();
    fs::write(path("short"), b"\xd4\xc3").unwrap();
    fs::write(
        path("text.gz"),
        compress(Compression::Gzip, b"GET / HTTP/1.1"),
    )
    .unwrap();
    fs::write(path("a.bz2"), "BZh91AY&SY").unwrap();
    fs::write(path("old"), b"\xa1\xb2\xc3\xd4\0\x01\0\0................").unwrap();
    fs::create_dir(path("nothing")).unwrap();
    fs::write(path("nothing/readme"), "text").unwrap();
    for (name, expected) in [
        ("missing", "No such file"),
        ("text", "neither pcap nor pcapng"),
        ("empty", "it is empty"),
        ("short", "neither pcap nor pcapng"),
        ("text.gz", "it is gzip, but what it holds"),
        ("a.bz2", "decompress it first"),
        ("old", "pcap of version 1.0"),
        ("nothing", "which has 1 file: none is pcap"),
    ] {
        let error = open(&[file(path(name))]).err().unwrap();
        let text = error.to_string();
        assert!(text.contains(expected), "{text}");
        assert!(text.contains(path(name).to_str().unwrap()), "{text}");
        assert!(!text.contains('\n') && !error.is_usage());
    }
    assert!(open(&[]).err().unwrap().is_usage());
}

/// Bytes that trickle through a pipe make the same pieces as the same bytes in a file.
#[test]
fn a_trickling_pipe_makes_the_same_pieces_as_a_file() {
    let samples: Vec<_> = (0..40).flat_map(|i| later(three(), i)).collect();
    for compression in [Compression::None, Compression::Gzip, Compression::Lz4] {
        check_trickle(&compress(compression, &kinds()[0].capture(&samples)));
    }
}

fn check_trickle(bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let bytes = bytes.to_vec();
    let (plain, pipe) = (dir.path().join("file"), dir.path().join("pipe"));
    fs::write(&plain, &bytes).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let to = pipe.clone();
    let writer = std::thread::spawn(move || {
        let mut to = fs::File::options().write(true).open(to).unwrap();
        for few in bytes.chunks(7) {
            to.write_all(few).unwrap();
        }
    });
    let pieces = |path: &PathBuf| {
        let options = Options {
            piece_len: 512,
            ..Options::default()
        };
        let mut source = Source::open(&[file(path)], &options).unwrap();
        let (mut piece, mut counts) = (Piece::default(), Vec::new());
        while source.fill(&mut piece).unwrap() {
            assert_eq!(piece.number, counts.len() as u64);
            let mut walk = source.walk(&piece);
            counts.push(std::iter::from_fn(|| walk.next_frame()).count());
        }
        (counts, source.progress().bytes_total.is_some())
    };
    let (from_pipe, pipe_has_total) = pieces(&pipe);
    let (from_file, file_has_total) = pieces(&plain);
    writer.join().unwrap();
    assert_eq!(from_pipe, from_file);
    assert!(from_file.len() > 5 && file_has_total && !pipe_has_total);
}

/// More captures at the same time than there are descriptors for.
#[test]
fn thousands_of_overlapping_captures_do_not_exhaust_descriptors() {
    let dir = tempfile::tempdir().unwrap();
    let capture = kinds()[0].capture(&three());
    let count = 1500;
    for i in 0..count {
        fs::write(dir.path().join(format!("{i:05}")), &capture).unwrap();
    }
    // Whatever the limit here is: in the usual one of 1024 there is room for this much.
    let mut source = open(&[file(dir.path())]).unwrap();
    let (mut piece, mut open_max, mut frames) = (Piece::default(), 0, 0);
    while source.fill(&mut piece).unwrap() {
        open_max = open_max.max(fs::read_dir("/proc/self/fd").unwrap().count());
        let mut walk = source.walk(&piece);
        frames += std::iter::from_fn(|| walk.next_frame()).count();
    }
    assert_eq!(frames, count * 3);
    assert!(open_max < 700, "{open_max} descriptors");
}

/// A capture that vanished before its turn is reported, and the others go on.
#[test]
fn a_capture_that_vanishes_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    fs::write(&a, kinds()[0].capture(&three())).unwrap();
    fs::write(&b, kinds()[0].capture(&later(three(), 100))).unwrap();
    let mut source = open(&[file(&a), file(&b)]).unwrap();
    fs::remove_file(&b).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 3);
    let damage = source.report().files[1].damage.clone().unwrap().to_string();
    assert!(
        damage.contains("cannot be opened: No such file"),
        "{damage}"
    );
}

/// The engine moves the source to its input thread.
#[test]
fn a_source_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Source>();
    is_send::<CaptureError>();
}

/// A link in a folder that leads nowhere is named, and the rest is read.
#[test]
fn a_link_that_leads_nowhere_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("b"), kinds()[0].capture(&three())).unwrap();
    for (name, target) in [("a", "nowhere"), ("c", "c")] {
        std::os::unix::fs::symlink(target, dir.path().join(name)).unwrap();
    }
    let mut source = open(&[file(dir.path())]).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 3);
    let report = source.report();
    for index in [0, 2] {
        assert!(report.files[index].damage.clone().unwrap().unopened);
    }
    assert_eq!(report.files[1].damage, None);
}

/// What cannot be read in a folder is named as that, and the rest is read.
#[test]
#[cfg(target_os = "linux")]
fn a_file_of_a_folder_that_cannot_be_read_is_named_and_the_rest_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("b"), kinds()[0].capture(&three())).unwrap();
    // A regular file whose first byte nobody can read.
    std::os::unix::fs::symlink("/proc/self/mem", dir.path().join("a")).unwrap();
    let mut source = open(&[file(dir.path())]).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 3);
    let report = source.report();
    assert!(report.is_damaged());
    let damage = report.files[0].damage.clone().unwrap();
    assert!(damage.unopened);
    assert!(
        damage.to_string().starts_with("cannot be opened: "),
        "{damage}"
    );
    assert_eq!(report.files[1].damage, None);
}
