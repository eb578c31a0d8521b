//! Taking and giving back blocks: a pool of ours, and whichever allocator this process has.

use flowpin_cpu::thread_cpu_time;
use flowpin_memory::BlockPool;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Bytes of one.
    pub(crate) len: usize,
    pub(crate) threads: usize,
    /// Bytes of all that one thread has at a time: more than the second-level cache holds.
    pub(crate) set_bytes: usize,
    /// Blocks taken and given back by each thread.
    pub(crate) turns: u64,
}

/// Words of a line.
const LINE: usize = 8;

/// Blocks given back, and then taken, in one go: at most.
const BURST_MAX: u64 = 64;

/// Where blocks come from.
trait Place {
    type Block;
    /// A block whose first line is written.
    fn take(&mut self, value: u64) -> Option<Self::Block>;
    fn give(&mut self, block: Self::Block);
}

impl Place for BlockPool {
    type Block = u32;

    #[inline]
    fn take(&mut self, value: u64) -> Option<u32> {
        let block = BlockPool::take(self)?;
        let bytes = self.bytes_mut(block);
        let (words, _) = bytes.as_chunks_mut();
        for word in words.iter_mut().take(LINE) {
            *word = value.to_le_bytes();
        }
        Some(block)
    }

    #[inline]
    fn give(&mut self, block: u32) {
        self.put_back(block);
    }
}

/// `malloc`, or what stands in its place.
struct Heap {
    words: usize,
}

impl Place for Heap {
    type Block = Box<[MaybeUninit<u64>]>;

    #[inline]
    fn take(&mut self, value: u64) -> Option<Self::Block> {
        let mut block = Box::new_uninit_slice(self.words);
        for word in block.iter_mut().take(LINE) {
            word.write(value);
        }
        Some(black_box(block))
    }

    #[inline]
    fn give(&mut self, block: Self::Block) {
        drop(block);
    }
}

/// Nanoseconds of processor time to take a block, write its first line and give it back, with
/// random lifetimes, from
/// a pool for each thread or from the allocator; none if there is no memory.
pub(crate) fn measured(blocks: Blocks, from_pool: bool) -> Option<f64> {
    let all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..blocks.threads)
            .map(|_| scope.spawn(|| one_thread(blocks, from_pool)))
            .collect();
        let ends = threads
            .into_iter()
            .map(|thread| thread.join().ok().flatten());
        ends.collect::<Option<Vec<f64>>>()
    })?;
    Some(all.iter().sum::<f64>() / count(all.len() as u64))
}

fn one_thread(blocks: Blocks, from_pool: bool) -> Option<f64> {
    let alive = blocks.set_bytes / blocks.len;
    if from_pool {
        let most = u32::try_from(alive + BURST_MAX as usize).ok()?;
        turns(
            &mut BlockPool::new(blocks.len, most).ok()?,
            alive,
            blocks.turns,
        )
    } else {
        let words = blocks.len / size_of::<u64>();
        turns(&mut Heap { words }, alive, blocks.turns)
    }
}

fn turns<P: Place>(place: &mut P, alive: usize, turns: u64) -> Option<f64> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let mut held: Vec<P::Block> = Vec::with_capacity(alive);
    for turn in 0..alive {
        held.push(place.take(turn as u64)?);
    }
    let mut step = |count: u64| {
        for _ in 0..count {
            let at = ((next() >> 32) as usize * held.len()) >> 32;
            place.give(held.swap_remove(at));
        }
        for turn in 0..count {
            held.push(place.take(turn)?);
        }
        Some(next())
    };
    // Once through, so that nothing is in the order in which it was made.
    let mut done = 0;
    let mut burst = 1;
    while done < alive as u64 {
        done += burst;
        burst = 1 + step(burst)? % BURST_MAX;
    }
    let start = thread_cpu_time();
    let mut done = 0;
    while done < turns {
        done += burst;
        burst = 1 + step(burst)? % BURST_MAX;
    }
    let spent = thread_cpu_time().saturating_sub(start);
    Some(spent.as_secs_f64() * 1e9 / count(done))
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn count(number: u64) -> f64 {
    number as f64
}
