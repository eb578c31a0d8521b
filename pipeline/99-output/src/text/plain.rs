//! Text off the wire that needs no escape: copied and looked at in one go.

/// Copies `from` to the beginning of `to`, and returns whether all of it is printable ASCII without
/// quotes and backslashes. What is copied if not, is of no use.
// PERF: 16 bytes at a time; the last ones, or those of a short text, overlap the ones before, so
// that nothing is copied byte by byte.
#[inline]
pub(crate) fn copy_plain(from: &[u8], to: &mut [u8]) -> bool {
    let Some(to) = to.get_mut(..from.len()) else {
        return false;
    };
    if from.len() >= 16 {
        let mut odd = [0; 16];
        let mut places = to.chunks_exact_mut(16);
        let mut chunks = from.chunks_exact(16);
        for (place, chunk) in places.by_ref().zip(chunks.by_ref()) {
            if let (Some(place), Some(chunk)) = (place.first_chunk_mut(), chunk.first_chunk()) {
                copy_chunk(chunk, place, &mut odd);
            }
        }
        if let (Some(place), Some(chunk)) = (to.last_chunk_mut(), from.last_chunk()) {
            copy_chunk(chunk, place, &mut odd);
        }
        return u128::from_le_bytes(odd) == 0;
    }
    let (first, last) = if from.len() >= 8 {
        let (Some(&first), Some(&last)) = (from.first_chunk::<8>(), from.last_chunk::<8>()) else {
            return false;
        };
        if let Some(place) = to.first_chunk_mut() {
            *place = first;
        }
        if let Some(place) = to.last_chunk_mut() {
            *place = last;
        }
        (u64::from_le_bytes(first), u64::from_le_bytes(last))
    } else if from.len() >= 4 {
        let (Some(&first), Some(&last)) = (from.first_chunk::<4>(), from.last_chunk::<4>()) else {
            return false;
        };
        if let Some(place) = to.first_chunk_mut() {
            *place = first;
        }
        if let Some(place) = to.last_chunk_mut() {
            *place = last;
        }
        let wide = |part: [u8; 4]| u64::from(u32::from_le_bytes(part));
        (wide(first) | wide(last) << 32, PLAIN)
    } else {
        let mut all = PLAIN;
        for (place, &byte) in to.iter_mut().zip(from) {
            *place = byte;
            all = all << 8 | u64::from(byte);
        }
        (all, PLAIN)
    };
    odd_bytes(first) | odd_bytes(last) == 0
}

#[inline(always)]
fn copy_chunk(from: &[u8; 16], to: &mut [u8; 16], odd: &mut [u8; 16]) {
    *to = *from;
    for (odd, &byte) in odd.iter_mut().zip(from) {
        *odd |= u8::from(!is_plain(byte));
    }
}

/// Printable ASCII that needs no escape in JSON.
#[inline]
const fn is_plain(byte: u8) -> bool {
    byte.wrapping_sub(0x20) < 0x5f && byte != b'"' && byte != b'\\'
}

const ONES: u64 = u64::MAX / 255;
/// Eight letters.
const PLAIN: u64 = ONES * 0x78;

/// Not 0 if any byte of a word is not plain.
#[inline]
const fn odd_bytes(word: u64) -> u64 {
    const HIGH: u64 = ONES << 7;
    // Bytes below 0x80 are looked at one by one: no carry from one to the next that could hide.
    let low = word & !HIGH;
    let below_space = !(low + ONES * (0x80 - 0x20)) & HIGH;
    let quote = !((low ^ (ONES * 0x22)) + (HIGH - ONES)) & HIGH;
    let backslash = !((low ^ (ONES * 0x5c)) + (HIGH - ONES)) & HIGH;
    let delete = (low + ONES) & HIGH;
    word & HIGH | below_space | quote | backslash | delete
}

#[cfg(test)]
mod tests {
    use super::{copy_plain, is_plain};
    use proptest::prelude::*;

    proptest! {
        /// What is plain is told byte by byte; what is told to be is copied.
        #[test]
        fn what_is_plain_is_copied(
            mut bytes in prop::collection::vec(0x20u8..0x7f, 0..70),
            odd in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            if let Some((at, byte)) = odd && !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let mut to = vec![0; bytes.len() + 3];
            let expected = bytes.iter().all(|&byte| is_plain(byte));
            prop_assert_eq!(copy_plain(&bytes, &mut to), expected);
            prop_assert!(!expected || to.starts_with(&bytes));
        }
    }

    /// Every byte at every place of every short text.
    #[test]
    fn every_byte_is_seen_at_every_place() {
        for len in 1..40 {
            for at in 0..len {
                for byte in 0..=255 {
                    let mut bytes = vec![b'a'; len];
                    bytes[at] = byte;
                    let mut to = vec![0; len];
                    assert_eq!(
                        copy_plain(&bytes, &mut to),
                        is_plain(byte),
                        "{byte} {at} {len}"
                    );
                }
            }
        }
        assert!(copy_plain(b"", &mut []));
    }
}
