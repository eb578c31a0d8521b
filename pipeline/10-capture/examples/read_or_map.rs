//! Measures how to get at a capture's bytes: reading pieces of several lengths, or mapping.
//!
//! `cargo run --release -p flowpin-capture --example read_or_map FILE [ROUNDS]`
//!
//! For each way: CPU time (user and system) of one pass over the file, median of the rounds.
//! The ways take turns, so that a busy machine slows all of them alike. What is done:
//!
//! - *bytes*: one byte of every cache line is touched;
//! - *walk*: every record's header is read, and a byte of the frame behind it (*ahead*: asking
//!   for the memory 4 KiB further on);
//! - *source*: as *walk*, by the capture stage itself.
//!
//! Only *source* can do with anything but a plain little-endian pcap. A first round, not counted,
//! puts FILE into the page cache.
#![expect(unsafe_code, reason = "the system calls that are compared")]

use flowpin_capture::{Options, Source};
use flowpin_config::Input;
use flowpin_cpu::prefetch;
use flowpin_packet::Piece;
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args_os().skip(1);
    let path = arguments.next().ok_or("which FILE?")?;
    let path = Path::new(&path);
    let rounds = arguments
        .next()
        .map_or(Ok(9), |r| r.to_string_lossy().parse())?;
    let (names, ways) = ways(is_plain_pcap(path)?);
    let mut secs = vec![Vec::new(); ways.len()];
    let mut packets = 0;
    for round in 0..=rounds {
        for (way, secs) in ways.iter().zip(&mut secs) {
            let before = cpu_secs()?;
            packets = packets.max(way(path)?);
            if round > 0 {
                secs.push(cpu_secs()? - before);
            }
        }
    }
    let bytes = std::fs::metadata(path)?.len();
    println!("{packets} packets, {bytes} bytes, median of {rounds} rounds of CPU time");
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let (packets, bytes) = (packets as f64, bytes as f64);
    for (name, mut secs) in names.into_iter().zip(secs) {
        secs.sort_by(f64::total_cmp);
        let median = secs.get(secs.len() / 2).copied().unwrap_or_default();
        let (ns, rate) = (median * 1e9 / packets, bytes / median / 1e9);
        println!(
            "{name:28} {:8.2} ms {ns:8.2} ns a packet {rate:8.2} GB/s",
            median * 1e3
        );
    }
    Ok(())
}

/// A way through a file, which may count its packets.
type Way = Box<dyn Fn(&Path) -> Outcome<u64>>;

fn ways(is_plain_pcap: bool) -> (Vec<String>, Vec<Way>) {
    let mut names = Vec::new();
    let mut ways: Vec<Way> = Vec::new();
    if is_plain_pcap {
        read_and_map(&mut names, &mut ways);
    }
    for kib in [64, 128, 256, 512, 1024] {
        names.push(format!("source, {kib} KiB"));
        ways.push(Box::new(move |path| source(path, kib << 10)));
    }
    (names, ways)
}

fn read_and_map(names: &mut Vec<String>, ways: &mut Vec<Way>) {
    for kib in [64, 128, 256, 512, 1024] {
        names.push(format!("bytes, read {kib} KiB"));
        ways.push(Box::new(move |path| read(path, kib << 10, touch)));
    }
    names.extend(["bytes, mmap".into(), "bytes, mmap, populated".into()]);
    ways.push(Box::new(|path| map(path, 0, touch)));
    ways.push(Box::new(|path| map(path, libc::MAP_POPULATE, touch)));
    for kib in [64, 128, 256, 512, 1024] {
        names.push(format!("walk, read {kib} KiB"));
        ways.push(Box::new(move |path| read(path, kib << 10, walk::<false>)));
    }
    names.extend(["walk, mmap".into(), "walk, mmap, populated".into()]);
    names.push("walk ahead, mmap, populated".into());
    ways.push(Box::new(|path| map(path, 0, walk::<false>)));
    ways.push(Box::new(|path| {
        map(path, libc::MAP_POPULATE, walk::<false>)
    }));
    ways.push(Box::new(|path| map(path, libc::MAP_POPULATE, walk::<true>)));
}

/// Whether the file begins as pcap, little-endian, in micro- or nanoseconds.
fn is_plain_pcap(path: &Path) -> io::Result<bool> {
    let mut magic = [0; 4];
    File::open(path)?.read_exact_at(&mut magic, 0)?;
    Ok(matches!(
        u32::from_le_bytes(magic),
        0xa1b2_c3d4 | 0xa1b2_3c4d
    ))
}

/// Reads the file piece by piece; `look` gets what is not looked at yet and says how much of
/// it is to come again.
fn read(path: &Path, piece_len: usize, look: fn(&[u8]) -> (usize, u64)) -> Outcome<u64> {
    let file = File::open(path)?;
    let mut piece = vec![0; piece_len + CARRY_MAX];
    let (mut offset, mut packets) = (0, 0);
    let (mut start, mut end) = (CARRY_MAX, CARRY_MAX);
    loop {
        // What is left goes right before the place that the kernel copies to.
        piece.copy_within(start..end, CARRY_MAX - (end - start));
        start = CARRY_MAX - (end - start);
        let into = piece.get_mut(CARRY_MAX..).unwrap_or_default();
        let count = file.read_at(into, offset)?;
        if count == 0 {
            return Ok(packets);
        }
        end = CARRY_MAX + count;
        if offset == 0 {
            start += FILE_HEADER_LEN;
        }
        offset += count as u64;
        let (left, found) = look(piece.get(start..end).unwrap_or_default());
        start = end - left;
        packets += found;
    }
}

/// Maps the whole file.
fn map(path: &Path, flags: i32, look: fn(&[u8]) -> (usize, u64)) -> Outcome<u64> {
    let file = File::open(path)?;
    let len = usize::try_from(file.metadata()?.len())?;
    // SAFETY: a new private mapping at an address that the kernel chooses.
    let address = unsafe {
        let (access, flags) = (libc::PROT_READ, libc::MAP_PRIVATE | flags);
        libc::mmap(
            std::ptr::null_mut(),
            len,
            access,
            flags,
            file.as_raw_fd(),
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error().into());
    }
    // SAFETY: `len` bytes were mapped, and nobody changes the file while this runs.
    let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), len) };
    let (_, packets) = look(bytes.get(FILE_HEADER_LEN..).unwrap_or_default());
    // SAFETY: mapped above with this length; `bytes` is not used any more.
    unsafe { libc::munmap(address, len) };
    Ok(packets)
}

fn touch(bytes: &[u8]) -> (usize, u64) {
    let sum: u64 = bytes.iter().step_by(64).map(|&byte| u64::from(byte)).sum();
    black_box(sum);
    (0, 0)
}

fn walk<const AHEAD: bool>(bytes: &[u8]) -> (usize, u64) {
    let (mut rest, mut packets, mut sum) = (bytes, 0, 0);
    while let Some((header, behind)) = rest.split_first_chunk::<16>() {
        let [.., a, b, c, d, _, _, _, _] = *header;
        let captured_len = u32::from_le_bytes([a, b, c, d]) as usize;
        let Some((frame, next)) = behind.split_at_checked(captured_len) else {
            break;
        };
        sum += u64::from(frame.get(30).copied().unwrap_or_default());
        packets += 1;
        if AHEAD {
            for line in (0..16 + captured_len).step_by(64) {
                prefetch::read_at(rest, 4096 + line);
            }
        }
        rest = next;
    }
    black_box(sum);
    (rest.len(), packets)
}

fn source(path: &Path, piece_len: usize) -> Outcome<u64> {
    let options = Options {
        piece_len,
        ..Options::default()
    };
    let mut source = Source::open(&[Input::File(path.to_owned())], &options)?;
    let (mut piece, mut packets, mut sum) = (Piece::default(), 0, 0);
    while source.fill(&mut piece)? {
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            let byte = piece.bytes.get(frame.start as usize + 30);
            sum += u64::from(byte.copied().unwrap_or_default());
            packets += 1;
        }
    }
    black_box(sum);
    Ok(packets)
}

/// CPU time of this process so far.
fn cpu_secs() -> io::Result<f64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for the call, which keeps no pointer to it.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

const FILE_HEADER_LEN: usize = 24;
/// Page aligned in the vector, so that reads begin at the same place of a page as the file.
const CARRY_MAX: usize = 512 << 10;
