//! A fuzzer for machines without libFuzzer: seeds, changed at random, until the time is up.
//!
//! It does not see which branches an input takes, so it finds less. What it finds goes to
//! `fuzz/artifacts/TARGET`, as libFuzzer's finds do.

#![forbid(unsafe_code)]

use flowpin_fuzz::{Target, folder, seeds, targets};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An input that takes longer than this counts as a hang.
const HANG: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, seconds) = match arguments.as_slice() {
        [list] if list == "--list" => {
            targets().iter().for_each(|(name, _)| println!("{name}"));
            return ExitCode::SUCCESS;
        }
        [name, seconds] => (name.as_str(), seconds.parse().ok()),
        _ => ("", None),
    };
    let target = targets().into_iter().find(|(known, _)| *known == name);
    let (Some((name, target)), Some(seconds)) = (target, seconds) else {
        eprintln!("usage: mutate TARGET SECONDS | mutate --list");
        return ExitCode::from(2);
    };
    let current = Arc::new(Mutex::new((Instant::now(), Vec::new())));
    watch(name, &current);
    let (runs, find) = fuzz(name, target, Duration::from_secs(seconds), &current);
    println!("{name}: {runs} inputs");
    match find {
        None => ExitCode::SUCCESS,
        Some(input) => {
            keep(name, "crash", &input);
            ExitCode::FAILURE
        }
    }
}

/// The input that runs now, and since when.
type Current = Arc<Mutex<(Instant, Vec<u8>)>>;

/// Runs the target until the time is up or an input breaks it.
fn fuzz(name: &str, target: Target, time: Duration, current: &Current) -> (u64, Option<Vec<u8>>) {
    let mut inputs = seeds(name);
    inputs.push(Vec::new());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < time {
        let mut input = inputs[random.below(inputs.len())].clone();
        for _ in 0..=random.below(6) {
            change(&mut input, &inputs, &mut random);
        }
        *current.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), input.clone());
        if catch_unwind(AssertUnwindSafe(|| target(&input))).is_err() {
            return (runs, Some(input));
        }
        runs += 1;
    }
    (runs, None)
}

/// Ends the process if an input hangs.
fn watch(name: &'static str, current: &Current) {
    let current = Arc::clone(current);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let (since, input) = current
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            if since.elapsed() > HANG {
                keep(name, "timeout", &input);
                std::process::exit(1);
            }
        }
    });
}

/// One change: flip, set, cut, insert, repeat, or join with another input.
fn change(input: &mut Vec<u8>, inputs: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(7) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = [0, 1, 0x7f, 0x80, 0xff, 0x45, 0x60][random.below(7)];
            }
        }
        2 => input.truncate(at),
        3 => input.insert(at, random.below(256) as u8),
        4 if at < input.len() => {
            input.remove(at);
        }
        5 => {
            let part: Vec<u8> = input
                .iter()
                .skip(at)
                .take(random.below(32))
                .copied()
                .collect();
            input.splice(at..at, part);
        }
        _ => {
            let other = &inputs[random.below(inputs.len())];
            input.truncate(at);
            input.extend(other.iter().skip(random.below(other.len() + 1)));
        }
    }
    input.truncate(1 << 16);
}

fn keep(name: &str, kind: &str, input: &[u8]) {
    let folder = folder().join("artifacts").join(name);
    let path = folder.join(format!("{kind}-{:016x}", Random::of(input).next()));
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    match kept {
        Ok(()) => eprintln!("{name}: {kind}: {}", path.display()),
        Err(error) => eprintln!(
            "{name}: {kind}, and cannot write {}: {error}",
            path.display()
        ),
    }
}

/// xorshift64*: good enough, and the same every time.
struct Random(u64);

impl Random {
    fn of(bytes: &[u8]) -> Self {
        let state = bytes
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |state: u64, &byte| {
                (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        Self(state | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`, or 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end.max(1)
    }
}
