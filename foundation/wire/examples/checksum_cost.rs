//! What a checksum costs: `perf stat -e instructions:u,cycles:u,branch-misses:u -- \
//! target/release/examples/checksum_cost mixed`, divided by the number of sums it prints.
//!
//! Lengths: a number for all the same, or `mixed` for acknowledgements, full segments and
//! anything between. Mixed ones are what counts: branches on equal lengths are foreseen.

use flowpin_wire::checksum::Sum;
use std::hint::black_box;

const COUNT: usize = 1 << 16;
const ROUNDS: usize = 100;

fn main() {
    let lengths = std::env::args().nth(1).unwrap_or_else(|| "mixed".into());
    let bytes: Vec<u8> = (0..4096u32).map(|i| i.wrapping_mul(7) as u8).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let lengths: Vec<usize> = (0..COUNT)
        .map(|_| match lengths.parse() {
            Ok(len) => len,
            Err(_) => match random(10) {
                0..=3 => 20 + random(4) as usize * 4,
                4..=5 => 1480,
                _ => 32 + random(600) as usize,
            },
        })
        .collect();
    let mut folded = 0u64;
    for _ in 0..ROUNDS {
        for &len in &lengths {
            let bytes = black_box(bytes.get(..len).unwrap_or_default());
            folded += u64::from(Sum::of(bytes).fold());
        }
    }
    let mean = lengths.iter().sum::<usize>() / COUNT;
    println!(
        "{} sums of {mean} bytes on average ({folded:#x})",
        COUNT * ROUNDS
    );
}
