//! Tags and numbers from their decimal digits, eight bytes at a time.

use crate::message::fields::low;

/// Parses a decimal number without a sign; `None` if the text is anything else or the number does
/// not fit.
#[inline]
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) if text.len() <= 8 => four_to_eight(*first, *last, text.len()),
        (None, _) => up_to_three(text),
        _ => of_any_length(text),
    }
}

/// Parses up to three digits.
#[inline]
fn up_to_three(text: &[u8]) -> Option<u64> {
    let (mut value, mut is_number) = (0u64, !text.is_empty());
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        is_number &= digit <= 9;
        value = value.wrapping_mul(10).wrapping_add(digit.into());
    }
    is_number.then_some(value)
}

/// Parses `len` digits, given the first four and the last four of them.
#[inline]
fn four_to_eight(first: [u8; 4], last: [u8; 4], len: usize) -> Option<u64> {
    let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(four)) ^ ZEROS >> 32);
    // The last digit in the highest byte, zeros below the first.
    let below = low(len.wrapping_mul(8));
    let digits = last << 32 | first.wrapping_shl(64u32.wrapping_sub(below));
    are_digits(digits).then(|| eight_digits(digits).into())
}

#[inline(never)]
fn of_any_length(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Whether each byte is at most 9.
#[inline]
const fn are_digits(numbers: u64) -> bool {
    (numbers.wrapping_add(BELOW_TEN) | numbers) & HIGH == 0
}

/// Returns how many bytes of eight come before the first SOH; 8 if there is none.
#[inline]
pub(super) const fn before_soh(word: u64) -> usize {
    let rest = word ^ ONES;
    let found = rest.wrapping_sub(ONES) & !rest & HIGH;
    (found.trailing_zeros() >> 3) as usize
}

/// Returns the eight bytes at `start`; missing bytes are zeros.
#[inline]
pub(super) fn word_at(message: &[u8], start: usize) -> u64 {
    match message.get(start..).and_then(<[u8]>::first_chunk::<8>) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_word(message, start),
    }
}

/// Returns the tag that eight bytes begin with and its number of digits; (0, 0) if they do not
/// begin with `digits=`.
pub(super) fn tag_of(word: u64) -> (u32, u32) {
    let equals = word ^ EQUALS;
    let found = equals.wrapping_sub(ONES) & !equals & HIGH;
    // Position of the first `=`: 8 × digits + 7, or 64 if there is none.
    let digits = found.trailing_zeros() >> 3;
    if digits == 0 || digits == 8 {
        return (0, 0);
    }
    // The digits as numbers: the last in the highest byte, zeros below the first.
    let shift = 64u32.wrapping_sub(digits.wrapping_mul(8));
    let numbers = (word ^ ZEROS).wrapping_shl(shift);
    if !are_digits(numbers) {
        return (0, 0);
    }
    (eight_digits(numbers), digits)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const EQUALS: u64 = u64::from_le_bytes([b'='; 8]);
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
/// Added to a digit, it leaves the highest bit clear; added to ten or more, it sets that bit.
const BELOW_TEN: u64 = 0x7676_7676_7676_7676;

/// Returns the last bytes, fewer than eight, padded with zeros.
#[inline]
fn last_word(message: &[u8], start: usize) -> u64 {
    let rest = message.len().saturating_sub(start);
    match message.last_chunk::<8>() {
        Some(last) if rest > 0 => {
            let before = 8usize.wrapping_sub(rest).wrapping_mul(8);
            u64::from_le_bytes(*last).wrapping_shr(low(before))
        }
        _ => {
            let mut word = [0; 8];
            for (to, from) in word
                .iter_mut()
                .zip(message.get(start..).unwrap_or_default())
            {
                *to = *from;
            }
            u64::from_le_bytes(word)
        }
    }
}

/// Converts eight digits, the first in the lowest byte, with three multiplications.
const fn eight_digits(digits: u64) -> u32 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::{before_soh, number, of_any_length, tag_of, word_at};

    /// Digits that are read together are those read one by one, and so is what is no digit.
    #[test]
    fn numbers_are_read_alike_at_any_length() {
        for len in 0..12 {
            for wrong in 0..=len {
                for byte in [b'0', b'9', b'5', b'/', b':', 0, 1, 0x80, 0xb5, 0xff] {
                    let mut text = b"908172635445".get(..len).unwrap().to_vec();
                    if let Some(place) = text.get_mut(wrong) {
                        *place = byte;
                    }
                    assert_eq!(number(&text), of_any_length(&text), "{text:?}");
                }
            }
        }
    }

    /// Whatever stands before and after it.
    #[test]
    fn the_first_soh_is_found() {
        for at in 0..8 {
            for other in [0, 2, b'=', 0x80, 0x81, 0xff] {
                let mut bytes = [other; 8];
                bytes[at] = 1;
                assert_eq!(before_soh(u64::from_le_bytes(bytes)), at);
                bytes[7] = 1;
                assert_eq!(before_soh(u64::from_le_bytes(bytes)), at);
            }
        }
        assert_eq!(before_soh(u64::from_le_bytes([0; 8])), 8);
    }

    /// Tags are one to seven digits before `=`.
    #[test]
    fn a_tag_is_its_digits() {
        for tag in [
            1u32, 9, 10, 35, 100, 1_402, 12_345, 50_002, 999_999, 9_999_999,
        ] {
            let digits = tag.to_string().len() as u32;
            for tail in ["=x\u{1}", "=abcdefgh\u{1}10=000\u{1}"] {
                let text = format!("{tag}{tail}");
                assert_eq!(tag_of(word_at(text.as_bytes(), 0)), (tag, digits));
            }
        }
        for bad in [
            "=x",
            "a=x",
            "1a=x",
            "12345678=x",
            "123",
            "",
            "-1=x",
            "1 =x",
            "\u{ff}=x",
        ] {
            assert_eq!(tag_of(word_at(bad.as_bytes(), 0)), (0, 0), "{bad}");
        }
    }
}
