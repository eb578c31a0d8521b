//! 32 bytes at a time.

use super::{BLOCK_BYTES, BlockMasks, ByteSet, ByteSets, Classifier, WithClassifier};
use core::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set_epi64x, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
};

/// Only [`run`] makes one, which runs on processors that have AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn run<W: WithClassifier>(work: W) -> W::Output {
    work.run(Avx2(()))
}

impl Classifier for Avx2 {
    #[inline(always)]
    fn members(self, set: &ByteSet, block: &[u8; BLOCK_BYTES]) -> u64 {
        // SAFETY: an `Avx2` exists, so the processor has AVX2.
        unsafe { members(set, block) }
    }

    #[inline(always)]
    fn members_of_all(self, sets: &ByteSets, block: &[u8; BLOCK_BYTES], masks: &mut BlockMasks) {
        // SAFETY: an `Avx2` exists, so the processor has AVX2.
        unsafe { members_of_all(sets, block, masks) }
    }

    #[inline(always)]
    fn members_of_short(self, sets: &ByteSets, bytes: &[u8], masks: &mut BlockMasks) {
        // SAFETY: an `Avx2` exists, so the processor has AVX2.
        unsafe { members_of_short(sets, bytes, masks) }
    }

    #[inline(always)]
    fn outlined<W: WithClassifier>(self, work: W) -> W::Output {
        // SAFETY: an `Avx2` exists, so the processor has all that `run` asks for.
        unsafe { run_apart(work) }
    }
}

#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_apart<W: WithClassifier>(work: W) -> W::Output {
    work.run(Avx2(()))
}

#[inline]
#[target_feature(enable = "avx2")]
fn members(set: &ByteSet, block: &[u8; BLOCK_BYTES]) -> u64 {
    members_in_halves(set, halves(block))
}

#[inline]
#[target_feature(enable = "avx2")]
fn members_of_all(sets: &ByteSets, block: &[u8; BLOCK_BYTES], masks: &mut BlockMasks) {
    let halves = halves(block);
    for (set, mask) in sets.0.iter().zip(masks) {
        *mask = members_in_halves(set, halves);
    }
}

// PERF: nothing is put together in memory, which a wide load would have to wait for.
#[inline]
#[target_feature(enable = "avx2")]
fn members_of_short(sets: &ByteSets, bytes: &[u8], masks: &mut BlockMasks) {
    let len = bytes.len();
    // The last 32 bytes are looked at together with bytes before them.
    let (front, back, shift) = match (bytes.first_chunk::<32>(), bytes.last_chunk::<32>()) {
        (Some(front), Some(back)) => (in_halves(front), in_halves(back), (len - 32) & 63),
        _ => {
            let [first, second, third, fourth] = words(bytes).map(u64::cast_signed);
            let front = _mm256_set_epi64x(fourth, third, second, first);
            (of_halves(front), of_halves(front), 0)
        }
    };
    let unused = u32::try_from(BLOCK_BYTES.saturating_sub(len)).unwrap_or(0);
    let used = u64::MAX.checked_shr(unused).unwrap_or(0);
    for (set, mask) in sets.0.iter().zip(masks) {
        let low = table(&set.low);
        let high = table(&set.high);
        let front = u64::from(!outside(low, high, front));
        let back = u64::from(!outside(low, high, back)) << shift;
        *mask = (front | back) & used;
    }
}

/// Fewer than 32 bytes as numbers, with zeros behind them.
#[inline]
fn words(bytes: &[u8]) -> [u64; 4] {
    let mut words = [0; 4];
    let (whole, rest) = bytes.as_chunks::<8>();
    for (word, bytes) in words.iter_mut().zip(whole) {
        *word = u64::from_le_bytes(*bytes);
    }
    if let Some(word) = words.get_mut(whole.len()) {
        // The last eight bytes hold some that are in a word already.
        *word = match bytes.last_chunk() {
            Some(_) if rest.is_empty() => 0,
            Some(last) => u64::from_le_bytes(*last) >> (((8 - rest.len()) * 8) & 63),
            None => {
                let bytes = rest.iter().rev();
                bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
            }
        };
    }
    words
}

// PERF: no closures here: they are compiled for any processor, and called.
#[inline]
#[target_feature(enable = "avx2")]
fn members_in_halves(set: &ByteSet, halves: [Halves; 2]) -> u64 {
    let low = table(&set.low);
    let high = table(&set.high);
    let [front, back] = halves;
    let front = outside(low, high, front);
    let back = outside(low, high, back);
    !(u64::from(back) << 32 | u64::from(front))
}

/// A bit for each of 32 bytes that is *not* in the set.
#[inline]
#[target_feature(enable = "avx2")]
fn outside(low: __m256i, high: __m256i, of: Halves) -> u32 {
    // A shuffle takes the low four bits of each byte, and gives 0 where the top bit is 1.
    let rows = _mm256_and_si256(
        _mm256_shuffle_epi8(low, of.low),
        _mm256_shuffle_epi8(high, of.high),
    );
    let is_outside = _mm256_cmpeq_epi8(rows, _mm256_setzero_si256());
    _mm256_movemask_epi8(is_outside).cast_unsigned()
}

/// The low and the high four bits of each of 32 bytes.
#[derive(Clone, Copy)]
struct Halves {
    low: __m256i,
    high: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(block: &[u8; BLOCK_BYTES]) -> [Halves; 2] {
    let (front, back) = block.split_at(BLOCK_BYTES / 2);
    [in_halves(front), in_halves(back)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn in_halves(bytes: &[u8]) -> Halves {
    of_halves(load(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn of_halves(bytes: __m256i) -> Halves {
    let nibble = _mm256_set1_epi8(0x0f);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), nibble);
    Halves {
        low: _mm256_and_si256(bytes, nibble),
        high,
    }
}

/// The first 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8]) -> __m256i {
    assert!(bytes.len() >= 32);
    // SAFETY: there are 32 bytes that may be read; the load asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn table(of: &[u8; 16]) -> __m256i {
    // SAFETY: `of` is 16 bytes that may be read; the load asks for no alignment.
    let half = unsafe { _mm_loadu_si128(of.as_ptr().cast()) };
    _mm256_broadcastsi128_si256(half)
}
