//! Tags and numbers from their decimal digits, eight bytes at a time.

use crate::message::fields::low;

/// Parses a decimal number without a sign; `None` if the text is anything else or the number does
/// not fit.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
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
    let not_digits = (numbers.wrapping_add(BELOW_TEN) | numbers) & HIGH;
    if not_digits != 0 {
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
    use super::{tag_of, word_at};

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
