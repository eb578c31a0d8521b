//! The trailer of a message: CheckSum (10).

use crate::message::fields::SOH;

/// Computes the sum, modulo 256, of all bytes of a message without its trailer.
// PERF: one instruction adds sixteen sums in parallel; the last bytes are added as two numbers.
#[inline]
pub fn checksum(bytes: &[u8]) -> u8 {
    let (chunks, rest) = bytes.as_chunks::<16>();
    let mut sums = [0u8; 16];
    for chunk in chunks {
        for (sum, byte) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*byte);
        }
    }
    let across = |bytes: &[u8]| bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    let left = match bytes.last_chunk::<16>() {
        Some(_) if rest.is_empty() => 0,
        Some(last) => {
            let seen = 16usize.wrapping_sub(rest.len()).wrapping_mul(8);
            let seen = u32::try_from(seen).unwrap_or(0);
            u128::from_le_bytes(*last).wrapping_shr(seen)
        }
        None => return across(rest),
    };
    let left = left.to_le_bytes();
    let (halves, _) = left.as_chunks();
    halves.iter().fold(across(&sums), |sum, half| {
        sum.wrapping_add(sum_of(u64::from_le_bytes(*half)))
    })
}

/// Sums eight bytes, modulo 256.
#[inline]
const fn sum_of(bytes: u64) -> u8 {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    let pairs = (bytes & EVEN).wrapping_add(bytes >> 8 & EVEN);
    let [.., sum, _] = pairs.wrapping_mul(0x0001_0001_0001_0001).to_le_bytes();
    sum
}

/// Whether the CheckSum of a message is right; `None` if it does not end in a trailer.
#[inline]
pub(super) fn trailer(message: &[u8]) -> Option<bool> {
    let (body, field) = message.split_last_chunk::<TRAILER_LEN>()?;
    let claimed = checksum_field(field)?;
    if body.last() != Some(&SOH) {
        return None;
    }
    Some(claimed == u16::from(checksum(body)))
}

/// Returns the length of a message that has `total` bytes by its BodyLength, if its CheckSum has
/// fewer than three digits or contains other bytes.
#[cold]
pub(super) fn malformed_trailer(bytes: &[u8], total: usize) -> Option<usize> {
    let at = total.checked_sub(TRAILER_LEN)?;
    if bytes.get(at.checked_sub(1)?) != Some(&SOH) {
        return None;
    }
    at.checked_add(malformed_checksum_field(bytes.get(at..)?)?)
}

/// Returns the length of `10=`, at most three bytes, and SOH.
pub(super) fn malformed_checksum_field(rest: &[u8]) -> Option<usize> {
    let value = rest.strip_prefix(b"10=")?;
    let soh = value.iter().take(4).position(|&byte| byte == SOH)?;
    soh.checked_add(4)
}

/// Returns the number in `10=ddd` and SOH.
#[inline]
pub(super) fn checksum_field(field: &[u8; TRAILER_LEN]) -> Option<u16> {
    let [b'1', b'0', b'=', a, b, c, SOH] = *field else {
        return None;
    };
    let digit = |byte: u8| u16::from(byte.wrapping_sub(b'0'));
    let (a, b, c) = (digit(a), digit(b), digit(c));
    if a > 9 || b > 9 || c > 9 {
        return None;
    }
    let tens = a.wrapping_mul(10).wrapping_add(b);
    Some(tens.wrapping_mul(10).wrapping_add(c))
}

pub(super) const TRAILER_LEN: usize = 7;
