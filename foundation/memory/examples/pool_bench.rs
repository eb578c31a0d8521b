//! Nanoseconds to return one block, take another and write its first line, with random lifetimes
//! and a set larger than the L2 cache: the pool, and the system's allocator beside it.
//!
//! `cargo run --release -p flowpin-memory --example pool_bench`
#![allow(clippy::unwrap_used, reason = "a bench may stop")]

use flowpin_memory::BlockPool;
use std::hint::black_box;
use std::time::Instant;

/// The least of so many rounds is what it costs when nothing disturbs it.
const ROUNDS: usize = 15;
const STEPS: usize = 400_000;
/// Bytes in use at once.
const SET_BYTES: usize = 16 << 20;

fn main() {
    println!("set of {} MiB, ns", SET_BYTES >> 20);
    println!(
        "{:>8}{:>12}{:>12}{:>12}",
        "bytes", "pool", "huge pages", "malloc"
    );
    for block_bytes in [32, 64, 128, 256, 512, 1024, 2048] {
        let count = SET_BYTES / block_bytes;
        let pool = least(|| blocks(block_bytes, count, false));
        let huge = least(|| blocks(block_bytes, count, true));
        let malloc = least(|| malloc(block_bytes, count));
        println!("{block_bytes:>8}{pool:>12.1}{huge:>12.1}{malloc:>12.1}");
    }
}

fn least(mut round: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Victims at random: a multiplicative congruential generator, cheap beside what is measured.
fn victims(count: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    core::iter::repeat_with(move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        usize::try_from(((state >> 32) * count as u64) >> 32).unwrap_or(0)
    })
}

fn blocks(block_bytes: usize, count: usize, huge: bool) -> f64 {
    let mut pool = BlockPool::new(block_bytes, u32::try_from(count + 1).unwrap()).unwrap();
    if huge {
        let _without = pool.prefer_huge_pages();
    }
    let mut held: Vec<u32> = (0..count).map(|_| pool.take().unwrap()).collect();
    for &block in &held {
        pool.bytes_mut(block).fill(1);
    }
    time(|| {
        for victim in victims(count).take(STEPS) {
            let block = pool.take().unwrap();
            write_line(pool.bytes_mut(block));
            pool.put_back(core::mem::replace(&mut held[victim], block));
        }
    })
}

fn malloc(block_bytes: usize, count: usize) -> f64 {
    let mut held: Vec<Vec<u8>> = (0..count).map(|_| vec![1; block_bytes]).collect();
    time(|| {
        for victim in victims(count).take(STEPS) {
            let mut block = Vec::with_capacity(block_bytes);
            block.extend_from_slice(black_box(&[2; 32]));
            held[victim] = block;
        }
    })
}

/// 32 bytes of the block's first line.
fn write_line(block: &mut [u8]) {
    if let Some(line) = block.first_chunk_mut::<32>() {
        *line = black_box([2; 32]);
    }
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    {
        start.elapsed().as_nanos() as f64 / STEPS as f64
    }
}
