//! A source that waits for a pipe hears who calls, and loses nothing by it.

use crate::build::{compress, kinds, three};
use flowpin_capture::{Attention, Compression, Options, Source};
use flowpin_config::Input;
use flowpin_packet::Piece;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

fn pipe_in(dir: &Path) -> PathBuf {
    let pipe = dir.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    pipe
}

fn small_pieces() -> Options {
    Options {
        piece_len: 512,
        ..Options::default()
    }
}

fn open(path: &Path, attention: &Attention) -> Source {
    let inputs = [Input::File(path.to_owned())];
    Source::open_attentive(&inputs, &small_pieces(), attention).unwrap()
}

/// Frames of each piece that has any, and how many pieces had none.
fn pieces(mut source: Source, mut each: impl FnMut()) -> (Vec<usize>, usize) {
    let (mut piece, mut counts, mut empty) = (Piece::default(), Vec::new(), 0);
    while source.fill(&mut piece).unwrap() {
        let mut walk = source.walk(&piece);
        match std::iter::from_fn(|| walk.next_frame()).count() {
            0 => empty += 1,
            frames => counts.push(frames),
        }
        each();
    }
    assert!(!source.report().is_damaged());
    (counts, empty)
}

/// Calls at any moment must change no piece: only empty ones come between, one a call at most.
#[test]
fn calls_give_empty_pieces_and_change_no_other() {
    let samples: Vec<_> = (0..40).flat_map(|_| three()).collect();
    for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
        let dir = tempfile::tempdir().unwrap();
        let bytes = compress(compression, &kinds()[0].capture(&samples));
        let file = dir.path().join("file");
        fs::write(&file, &bytes).unwrap();
        let (expected, none) = pieces(open(&file, &Attention::default()), || ());
        assert!(expected.len() > 5 && none == 0);

        let pipe = pipe_in(dir.path());
        let attention = Attention::default();
        let (to, caller) = (pipe.clone(), attention.clone());
        let writer = thread::spawn(move || {
            let mut to = File::options().write(true).open(to).unwrap();
            for few in bytes.chunks(61) {
                to.write_all(few).unwrap();
                caller.calls.fetch_add(1, Ordering::Relaxed);
                thread::yield_now();
            }
        });
        let calls = || attention.calls.load(Ordering::Relaxed) as usize;
        let (got, empty) = pieces(open(&pipe, &attention), || ());
        writer.join().unwrap();
        assert_eq!(got, expected, "{compression:?}");
        assert!(empty <= calls());
    }
}

/// A call while nothing comes is heard: the writer waits for the answer before it goes on.
#[test]
fn a_call_is_heard_while_nothing_comes() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = pipe_in(dir.path());
    let attention = Attention::default();
    let bytes = kinds()[0].capture(&three());
    let (to, caller) = (pipe.clone(), attention.clone());
    let (answer, answered) = std::sync::mpsc::channel();
    let (begin, begun) = std::sync::mpsc::channel();
    let writer = thread::spawn(move || {
        let mut to = File::options().write(true).open(to).unwrap();
        let (first, rest) = bytes.split_at(bytes.len() - 5);
        to.write_all(first).unwrap();
        begun.recv().unwrap();
        caller.calls.fetch_add(1, Ordering::Relaxed);
        answered.recv().unwrap();
        to.write_all(rest).unwrap();
    });
    let source = open(&pipe, &attention);
    begin.send(()).unwrap();
    let (counts, empty) = pieces(source, || {
        // The reader is gone only if the answer was not needed any more.
        let _ = answer.send(());
    });
    writer.join().unwrap();
    assert_eq!((counts.iter().sum::<usize>(), empty), (3, 1));
}

/// A silent pipe is told of again and again: who reads cannot know when other threads have made of
/// its bytes what is to be made.
#[test]
fn silence_is_told_again_and_again() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = pipe_in(dir.path());
    let bytes = kinds()[0].capture(&three());
    let to = pipe.clone();
    let (answer, answered) = std::sync::mpsc::channel();
    let writer = thread::spawn(move || {
        let mut to = File::options().write(true).open(to).unwrap();
        to.write_all(&bytes).unwrap();
        // The piece with the frames, and five without.
        (0..6).all(|_| answered.recv_timeout(NEVER).is_ok())
    });
    let (counts, empty) = pieces(open(&pipe, &Attention::default()), || {
        // The writer is gone only once it has had enough.
        let _ = answer.send(());
    });
    assert!(writer.join().unwrap(), "silence was told {empty} times");
    assert_eq!(counts.iter().sum::<usize>(), 3);
    assert!(empty >= 5);
}

/// Longer than anything takes.
const NEVER: Duration = Duration::from_secs(300);

/// Stopping ends the input where it is: what has come is given out, and it is no damage.
#[test]
fn a_stop_ends_the_input_without_damage() {
    let bytes = kinds()[0].capture(&three());
    for (sent, frames) in [(bytes.len() - 5, 2), (10, 0), (0, 0)] {
        let dir = tempfile::tempdir().unwrap();
        let pipe = pipe_in(dir.path());
        let attention = Attention::default();
        // Both ends are held open here, so that the reader waits.
        let mut both = File::options().read(true).write(true).open(&pipe).unwrap();
        both.write_all(&bytes[..sent]).unwrap();
        let (to, stopper) = (pipe.clone(), attention.clone());
        let reader = thread::spawn(move || pieces(open(&to, &attention), || ()).0);
        while sent > 0 && unread(&both) > 0 {
            thread::yield_now();
        }
        stopper.stop.store(true, Ordering::Relaxed);
        assert_eq!(reader.join().unwrap().iter().sum::<usize>(), frames);
    }
}

/// Bytes in the pipe.
fn unread(pipe: &File) -> u64 {
    rustix::io::ioctl_fionread(pipe).unwrap()
}
