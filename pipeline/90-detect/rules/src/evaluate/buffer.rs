//! Searching one buffer: patterns in either case, numbers, decoded bytes.

use flowpin_rule::{Base64Mode, Operand, Width};

/// The first place from `from` on where `pattern`, in small letters, stands in either case.
pub(crate) fn find_nocase(pattern: &[u8], bytes: &[u8], from: usize) -> Option<usize> {
    let (&first, rest) = pattern.split_first()?;
    let mut at = from;
    loop {
        let tail = bytes.get(at..)?;
        if tail.len() < pattern.len() {
            return None;
        }
        let starts = tail.get(..tail.len() - rest.len())?;
        let upper = first.to_ascii_uppercase();
        let found = match upper == first {
            true => memchr::memchr(first, starts),
            false => memchr::memchr2(first, upper, starts),
        }?;
        let begin = at + found;
        let end = begin + 1 + rest.len();
        if bytes.get(begin + 1..end)?.eq_ignore_ascii_case(rest) {
            return Some(begin);
        }
        at = begin + 1;
    }
}

/// Variables that terms have read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Variables([i64; 16]);

impl Variables {
    pub(crate) fn get(&self, operand: Operand) -> i64 {
        match operand {
            Operand::Value(value) => value,
            Operand::Variable(number) => self.0.get(usize::from(number)).copied().unwrap_or(0),
        }
    }

    pub(crate) fn set(&mut self, number: u8, value: i64) {
        if let Some(place) = self.0.get_mut(usize::from(number)) {
            *place = value;
        }
    }
}

/// A number at a place, and where it ends; none if it is not all there, or has no digits.
pub(crate) fn number(bytes: &[u8], at: usize, width: &Width, count: usize) -> Option<(u64, usize)> {
    let end = at.checked_add(count)?;
    let Some(base) = width.base else {
        if count == 0 || count > 8 {
            return None;
        }
        let digits = bytes.get(at..end)?;
        let fold = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        let value = match width.little {
            true => digits.iter().rev().fold(0, fold),
            false => digits.iter().fold(0, fold),
        };
        return Some((masked(value, width.mask), end));
    };
    // Without a count, the digits themselves say how many they are.
    let end = if count == 0 {
        at.checked_add(DIGITS_MAX)?
    } else {
        end
    };
    let text = bytes.get(at..end.min(bytes.len()))?;
    let blanks = text
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let mut text_at = text.get(blanks..)?;
    let mut used = blanks;
    if base == 16
        && let Some(rest) = text_at
            .strip_prefix(b"0x")
            .or_else(|| text_at.strip_prefix(b"0X"))
    {
        text_at = rest;
        used += 2;
    }
    let digits = text_at
        .iter()
        .map_while(|&byte| char::from(byte).to_digit(base.into()));
    let (mut value, mut len) = (0_u64, 0);
    for digit in digits {
        value = value.checked_mul(base.into())?.checked_add(digit.into())?;
        len += 1;
    }
    (len > 0).then_some((masked(value, width.mask), at + used + len))
}

/// A number of 64 bits has so many octal digits, with a prefix.
const DIGITS_MAX: usize = 23;

/// The bits of a mask, moved down so that its lowest one is the lowest.
fn masked(value: u64, mask: Option<u64>) -> u64 {
    match mask {
        None | Some(0) => value,
        Some(mask) => (value & mask) >> mask.trailing_zeros(),
    }
}

/// What Base64 decodes to, up to the first character that does not belong to it. White space is
/// passed over.
pub(crate) fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    base64_of(bytes, Base64Mode::Rfc4648, out);
}

/// As [`base64`]; `mode`: what becomes of bytes that are no digits.
pub(crate) fn base64_of(bytes: &[u8], mode: Base64Mode, out: &mut Vec<u8>) {
    out.clear();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for &byte in bytes {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ if mode == Base64Mode::Rfc2045 => continue,
            b' ' | b'\t' | b'\r' | b'\n' if mode == Base64Mode::Rfc4648 => continue,
            _ if mode == Base64Mode::Strict => return out.clear(),
            _ => break,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{base64, find_nocase, number};
    use flowpin_rule::Width;
    use proptest::prelude::*;

    /// RFC 4648 §10.
    #[test]
    fn base64_decodes_the_examples_of_its_rfc() {
        let mut out = Vec::new();
        for (encoded, plain) in [("Zg==", "f"), ("Zm9v", "foo"), ("Zm9v\r\nYmFy", "foobar")] {
            base64(encoded.as_bytes(), &mut out);
            assert_eq!(out, plain.as_bytes());
        }
    }

    /// Numbers as text end at what is no digit, binary ones have all their bytes.
    #[test]
    fn numbers_are_read_as_they_stand() {
        let text = |base| Width {
            base: Some(base),
            ..Width::default()
        };
        assert_eq!(number(b"x 12;", 1, &text(10), 4), Some((12, 4)));
        assert_eq!(number(b"0x1fg", 0, &text(16), 5), Some((0x1f, 4)));
        assert_eq!(number(b"ab", 0, &text(10), 2), None);
        let little = Width {
            little: true,
            ..Width::default()
        };
        assert_eq!(number(&[1, 2, 3], 1, &little, 2), Some((0x0302, 3)));
        assert_eq!(number(&[1, 2, 3], 2, &little, 2), None);
        let masked = Width {
            mask: Some(0xf0),
            ..Width::default()
        };
        assert_eq!(number(&[0x5a], 0, &masked, 1), Some((5, 1)));
    }

    proptest! {
        /// The same place as in a copy in small letters.
        #[test]
        fn either_case_is_found_as_small_letters_are(
            bytes in "[aAbB.]{0,30}", pattern in "[ab.]{1,3}", from in 0_usize..32,
        ) {
            let small = bytes.to_ascii_lowercase();
            let expected = small.get(from..).and_then(|rest| rest.find(&pattern));
            let found = find_nocase(pattern.as_bytes(), bytes.as_bytes(), from);
            prop_assert_eq!(found, expected.map(|at| at + from));
        }
    }
}
