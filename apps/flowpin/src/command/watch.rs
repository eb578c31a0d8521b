//! An end to work that libclang does not end: macros that hold each other many times double with
//! each level, and what it has begun it cannot be asked to stop.

use crate::exit::Exit;
use crate::tell::tell;
use flowpin_words::number;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Waits until the other end is dropped. Past the limit, or once the process has three quarters of
/// the memory that was available, says so and ends the process; what comes names the file that is
/// being read.
pub(super) fn watch(work: &Receiver<PathBuf>, limit: Option<Duration>) {
    let began = Instant::now();
    let room = available_bytes().map(|bytes| bytes / 4 * 3);
    let mut reading: Option<PathBuf> = None;
    loop {
        match work.recv_timeout(INTERVAL) {
            Ok(file) => reading = Some(file),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let is_late = limit.is_some_and(|limit| began.elapsed() > limit);
        let is_large = room.is_some_and(|room| resident_bytes() > Some(room));
        if is_late || is_large {
            end(reading.as_ref(), limit.filter(|_| is_late));
        }
    }
}

fn end(reading: Option<&PathBuf>, limit: Option<Duration>) -> ! {
    let what = match (limit, resident_bytes()) {
        (Some(limit), _) => format!("not done after {} s (--time-limit)", limit.as_secs()),
        (None, bytes) => format!("out of memory at {}", number::bytes(bytes.unwrap_or(0))),
    };
    let file = reading.map_or_else(String::new, |file| format!("{}: ", file.display()));
    tell(format_args!(
        "flowpin cc: {file}{what}: macros that hold each other, or a function of very many \
         statements, take time that grows faster than their text"
    ));
    std::process::exit(i32::from(Exit::Failed.code()));
}

const INTERVAL: Duration = Duration::from_millis(200);
/// Of Linux on the machines that there are packages for.
const PAGE: u64 = 4096;

fn resident_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

fn available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}
