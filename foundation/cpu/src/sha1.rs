//! SHA-1 of one block, from registers to registers.
//!
//! For identifiers that are defined by it; nothing here depends on its strength. Longer input is
//! better given to a library.

/// SHA-1's words after one block that is all of the message, its padding included (FIPS 180-4
/// §6.1.2): the digest, most significant word first.
///
/// `text`: the message and a bit 1 behind it, big endian; at most 48 bytes, the rest 0. `bits`: the
/// length of the message.
///
/// ```
/// // "abc", the standard's example.
/// let digest = flowpin_cpu::sha1_block([0x6162_6380 << 96, 0, 0], 24);
/// assert_eq!(digest, [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d]);
/// ```
// PERF: never in memory. Whoever puts a block together writes it in pieces and reads it back in
// wide loads; such a load waits until all stores before it are in the cache, those of the record
// that is being written among them: 145 cycles of the 240 that a Community ID took (EPYC). So it
// travels in words of 64 bits, too: two of them on the stack are no one load.
#[inline]
pub fn sha1_block(text: [u128; 3], bits: u64) -> [u32; 5] {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sha")
        && std::arch::is_x86_feature_detected!("sse4.1")
        && std::arch::is_x86_feature_detected!("ssse3")
    {
        let [[a, b], [c, d], [e, f]] = text.map(|words| [(words >> 64) as u64, words as u64]);
        // SAFETY: the processor has these instructions; it was asked just now.
        return unsafe { wide::block(a, b, c, d, e, f, bits) };
    }
    plain([text[0], text[1], text[2], bits.into()])
}

/// FIPS 180-4 §5.3.1.
const START: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// As the standard has it.
// PERF: rounds of one kind in a loop of their own, five at a time, so that the state's words change
// their roles and not their registers: 4,000 instructions a block were one loop over 80 rounds.
fn plain(block: [u128; 4]) -> [u32; 5] {
    let mut schedule = [0_u32; 80];
    for (nth, word) in schedule.iter_mut().take(16).enumerate() {
        *word = (block[nth / 4] >> (96 - 32 * (nth % 4))) as u32;
    }
    for nth in 16..80 {
        let mixed = schedule[nth - 3] ^ schedule[nth - 8] ^ schedule[nth - 14] ^ schedule[nth - 16];
        schedule[nth] = mixed.rotate_left(1);
    }
    let mut state = START;
    let (kinds, _) = schedule.as_chunks();
    let [first, second, third, fourth] = core::array::from_fn(|nth| &kinds[nth]);
    rounds(&mut state, first, 0x5a82_7999, |b, c, d| d ^ (b & (c ^ d)));
    rounds(&mut state, second, 0x6ed9_eba1, |b, c, d| b ^ c ^ d);
    rounds(&mut state, third, 0x8f1b_bcdc, |b, c, d| {
        b & c | d & (b | c)
    });
    rounds(&mut state, fourth, 0xca62_c1d6, |b, c, d| b ^ c ^ d);
    core::array::from_fn(|nth| START[nth].wrapping_add(state[nth]))
}

/// Twenty rounds, which have `constant` and `mix` in common.
#[inline]
fn rounds(
    state: &mut [u32; 5],
    words: &[u32; 20],
    constant: u32,
    mix: impl Fn(u32, u32, u32) -> u32,
) {
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    let round = |a: u32, b: &mut u32, c: u32, d: u32, e: &mut u32, word: u32| {
        let sum = a.rotate_left(5).wrapping_add(mix(*b, c, d));
        *e = sum
            .wrapping_add(*e)
            .wrapping_add(constant)
            .wrapping_add(word);
        *b = b.rotate_left(30);
    };
    let (fives, _) = words.as_chunks();
    for &[v, w, x, y, z] in fives {
        round(a, &mut b, c, d, &mut e, v);
        round(e, &mut a, b, c, &mut d, w);
        round(d, &mut e, a, b, &mut c, x);
        round(c, &mut d, e, a, &mut b, y);
        round(b, &mut c, d, e, &mut a, z);
    }
    *state = [a, b, c, d, e];
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! Four rounds an instruction.

    use super::START;
    use core::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_extract_epi32, _mm_set_epi32,
        _mm_set_epi64x, _mm_sha1msg1_epu32, _mm_sha1msg2_epu32, _mm_sha1nexte_epu32,
        _mm_sha1rnds4_epu32, _mm_xor_si128,
    };

    #[target_feature(enable = "sha,sse4.1,ssse3")]
    pub(super) fn block(p: u64, q: u64, r: u64, s: u64, t: u64, u: u64, bits: u64) -> [u32; 5] {
        let [a, b, c, d, e] = START.map(u32::cast_signed);
        let start = _mm_set_epi32(a, b, c, d);
        let start_e = _mm_set_epi32(e, 0, 0, 0);
        // The last 16 words of the schedule, four to a register.
        let mut words = [vector(p, q), vector(r, s), vector(t, u), vector(0, bits)];
        // `before` is the state four rounds ago: its `a`, rotated, is the next `e`.
        let (mut state, mut before) = (start, start);
        for nth in 0..20 {
            if nth >= 4 {
                let [oldest, older, old, last] = words;
                let mixed = _mm_xor_si128(_mm_sha1msg1_epu32(oldest, older), old);
                words = [older, old, last, _mm_sha1msg2_epu32(mixed, last)];
            }
            let word = words[nth.min(3)];
            let with_e = if nth == 0 {
                _mm_add_epi32(start_e, word)
            } else {
                _mm_sha1nexte_epu32(before, word)
            };
            before = state;
            state = match nth / 5 {
                0 => _mm_sha1rnds4_epu32::<0>(state, with_e),
                1 => _mm_sha1rnds4_epu32::<1>(state, with_e),
                2 => _mm_sha1rnds4_epu32::<2>(state, with_e),
                _ => _mm_sha1rnds4_epu32::<3>(state, with_e),
            };
        }
        let end = _mm_add_epi32(state, start);
        let end_e = _mm_sha1nexte_epu32(before, start_e);
        [
            _mm_extract_epi32::<3>(end),
            _mm_extract_epi32::<2>(end),
            _mm_extract_epi32::<1>(end),
            _mm_cvtsi128_si32(end),
            _mm_extract_epi32::<3>(end_e),
        ]
        .map(i32::cast_unsigned)
    }

    /// The first word is the highest.
    #[target_feature(enable = "sse2")]
    fn vector(high: u64, low: u64) -> __m128i {
        _mm_set_epi64x(high.cast_signed(), low.cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::{plain, sha1_block};

    /// The instructions say what the standard says, whatever the block.
    #[test]
    fn both_ways_agree() {
        let mut state = 1_u128;
        for _ in 0..1000 {
            let [a, b, c, bits] = core::array::from_fn(|_| {
                state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) + 1;
                state ^ state >> 64
            });
            let bits = bits as u64;
            assert_eq!(sha1_block([a, b, c], bits), plain([a, b, c, bits.into()]));
        }
    }
}
