//! Peers that are away, reset, or read nothing; spools that are full, planted, or left behind.

use super::{Stream, StreamHooks};
use crate::OutputError;
use flowpin_config::{ByteSize, OutputPlan, PeerAddress};
use flowpin_disk::Reads;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;

/// Lines of [`LINE`] bytes, each with its number.
const LINE: usize = 1 << 10;
/// More than what waits in memory, and than what systems hold on the way.
const MANY: usize = 24 << 10;

fn plan(address: &str, spool: Option<&Path>, spool_bytes_max: u64) -> OutputPlan {
    OutputPlan {
        stream: Some(address.parse().unwrap()),
        spool: spool.map(Path::to_owned),
        spool_bytes_max,
        ..OutputPlan::default()
    }
}

fn open(plan: &OutputPlan, hooks: &StreamHooks) -> Result<Stream, OutputError> {
    let address: &PeerAddress = plan.stream.as_ref().unwrap();
    Stream::open(plan, address, &Reads::default(), hooks.clone())
}

fn write(stream: &Stream, numbers: impl Iterator<Item = usize>) {
    let mut target = stream.target();
    for number in numbers {
        let line = format!("{number:0width$}\n", width = LINE - 1);
        target.write_all(line.as_bytes()).unwrap();
    }
}

/// The numbers of whole lines that come until the end.
fn read(stream: impl Read) -> Vec<usize> {
    let mut reader = BufReader::new(stream);
    let mut numbers = Vec::new();
    let mut line = Vec::new();
    while reader
        .read_until(b'\n', &mut line)
        .is_ok_and(|count| count == LINE)
    {
        let text = str::from_utf8(&line).unwrap();
        numbers.push(text.trim().parse().unwrap());
        line.clear();
    }
    assert!(numbers.is_sorted(), "each connection is in order");
    numbers
}

fn all(count: usize) -> BTreeSet<usize> {
    (0..count).collect()
}

/// At least once, in order: what a connection took with it comes over the next one.
#[test]
fn a_peer_that_resets_gets_everything_in_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let mut stream = open(&plan(&address, None, 0), &StreamHooks::default()).unwrap();
    let peer = thread::spawn(move || {
        let mut seen = BTreeSet::new();
        for some in [100, 3000] {
            // Dropped with unread bytes: a reset.
            let (connection, _) = listener.accept().unwrap();
            seen.extend(read(connection.take(some * LINE as u64)));
        }
        seen.extend(read(listener.accept().unwrap().0));
        seen
    });
    write(&stream, 0..MANY);
    stream.end().unwrap();
    assert_eq!((stream.newly_lost(), peer.join().unwrap()), (0, all(MANY)));
}

/// Records of a peer's absence wait on disk, and are sent before those that come later.
#[test]
fn a_peer_that_comes_late_gets_the_spool_first() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, spool) = (folder.path().join("s"), folder.path().join("spool"));
    let address = format!("unix:{}", socket.display());
    let away = open(&plan(&address, None, 0), &StreamHooks::default());
    assert!(matches!(away, Err(OutputError::Away { .. })));
    let plan = plan(&address, Some(&spool), 1 << 30);
    let mut stream = open(&plan, &StreamHooks::default()).unwrap();
    write(&stream, 0..MANY / 2);
    assert!(fs::read_dir(&spool).unwrap().count() > 0);
    // Two runs in one spool would mix.
    assert!(open(&plan, &StreamHooks::default()).is_err());
    let listener = UnixListener::bind(&socket).unwrap();
    let peer = thread::spawn(move || read(listener.accept().unwrap().0));
    write(&stream, MANY / 2..MANY);
    stream.end().unwrap();
    let seen = peer.join().unwrap();
    assert!(seen.iter().copied().eq(0..MANY), "once each: nothing broke");
    assert_eq!(fs::read_dir(&spool).unwrap().count(), 0);
}

/// Live: a peer that reads nothing stops no capture, and each record is somewhere.
#[test]
fn what_cannot_be_held_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let spool = folder.path().join("spool");
    let mut plan = plan(&address, Some(&spool), 1 << 20);
    plan.may_wait = false;
    let hooks = StreamHooks::default();
    let mut stream = open(&plan, &hooks).unwrap();
    let (silent, _) = listener.accept().unwrap();
    drop(listener);
    write(&stream, 0..MANY);
    let lost = stream.newly_lost();
    assert!(lost > 0);
    hooks.stop.store(true, Ordering::Relaxed);
    let told = stream.end().unwrap_err();
    assert!(
        matches!(told, OutputError::StayedAway { lost: 0, .. }),
        "{told}"
    );
    drop(silent);
    drop(stream);
    let mut kept = BTreeSet::new();
    for entry in fs::read_dir(&spool).unwrap() {
        kept.extend(read(fs::File::open(entry.unwrap().path()).unwrap()));
    }
    // The window holds all that was sent here, so that all is in the spool that is not lost.
    assert_eq!(kept.len() as u64 + lost, MANY as u64);
}

/// A spool that cannot be written is a full one: a directory that was removed, a link in the way.
#[test]
fn a_spool_that_fails_is_told_in_figures() {
    let folder = tempfile::tempdir().unwrap();
    let spool = folder.path().join("spool");
    let address = format!("unix:{}", folder.path().join("s").display());
    let mut plan = plan(&address, Some(&spool), 1 << 30);
    plan.may_wait = false;
    let mut stream = open(&plan, &StreamHooks::default()).unwrap();
    fs::remove_dir_all(&spool).unwrap();
    write(&stream, 0..MANY);
    let told = stream.end().unwrap_err();
    assert!(
        matches!(told, OutputError::StayedAway { spooled: None, .. }),
        "{told}"
    );
    assert_eq!(stream.newly_lost(), MANY as u64);
}

/// What a run leaves is sent by the next; half a line of a killed run is not, nor what a stranger
/// has put there.
#[test]
fn the_next_run_sends_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, spool) = (folder.path().join("s"), folder.path().join("spool"));
    let secret = folder.path().join("secret");
    fs::write(&secret, "secret\n").unwrap();
    let plan = plan(
        &format!("unix:{}", socket.display()),
        Some(&spool),
        ByteSize(1 << 30).0,
    );
    let mut stream = open(&plan, &StreamHooks::default()).unwrap();
    write(&stream, 0..MANY);
    let told = stream.end().unwrap_err().to_string();
    assert!(told.contains("wait in"), "{told}");
    drop(stream);
    let mut names: Vec<_> = fs::read_dir(&spool)
        .unwrap()
        .map(|one| one.unwrap().path())
        .collect();
    names.sort();
    let last = names.last().unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(last).unwrap();
    file.write_all(b"half a li").unwrap();
    symlink(&secret, spool.join("spool-00000000000000ff.json")).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let peer = thread::spawn(move || read(listener.accept().unwrap().0));
    let mut stream = open(&plan, &StreamHooks::default()).unwrap();
    write(&stream, MANY..MANY + 10);
    stream.end().unwrap();
    assert!(peer.join().unwrap().into_iter().eq(0..MANY + 10));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret\n");
}
