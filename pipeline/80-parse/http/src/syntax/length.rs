//! The value of `Content-Length` (RFC 9110 §8.6).

use super::trimmed;
use crate::anomaly::Anomaly;

/// A value of Content-Length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    /// The length of the body; none if it is unknown.
    pub(crate) bytes: Option<u64>,
    /// The deviation from the grammar.
    pub(crate) anomaly: Option<Anomaly>,
}

/// Reads a value.
#[inline]
pub(crate) fn length(value: &[u8]) -> Length {
    // PERF: eighteen digits cannot overflow, so most values need no checks.
    let is_plain = !value.is_empty()
        && value.len() <= 18
        && value.iter().all(u8::is_ascii_digit)
        && (value.first() != Some(&b'0') || value.len() == 1);
    if is_plain {
        let digit = |sum: u64, &byte: &u8| {
            sum.wrapping_mul(10)
                .wrapping_add(u64::from(byte.wrapping_sub(b'0')))
        };
        return Length {
            bytes: Some(value.iter().fold(0, digit)),
            anomaly: None,
        };
    }
    read_odd(value)
}

#[cold]
fn read_odd(value: &[u8]) -> Length {
    let mut members = value.split(|&byte| byte == b',').map(trimmed);
    let first = members.next().unwrap_or_default();
    let read = one(first);
    let mut others = members.peekable();
    if others.peek().is_some() {
        let same = others.all(|other| one(other).bytes == read.bytes);
        let anomaly = if same {
            Anomaly::LengthList
        } else {
            Anomaly::LengthsContradict
        };
        return Length {
            anomaly: Some(anomaly),
            ..read
        };
    }
    read
}

/// A number as lenient receivers read it: a sign, then digits, then anything.
fn one(value: &[u8]) -> Length {
    let (digits, is_negative) = match value {
        [b'+', rest @ ..] => (rest, false),
        [b'-', rest @ ..] => (rest, true),
        _ => (value, false),
    };
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let number = digits
        .get(..count)
        .unwrap_or_default()
        .iter()
        .try_fold(0u64, |sum, &byte| {
            sum.checked_mul(10)?
                .checked_add(u64::from(byte.wrapping_sub(b'0')))
        });
    let (bytes, is_odd) = match number {
        Some(number) if count > 0 && !is_negative => {
            let leading_zero = count > 1 && digits.first() == Some(&b'0');
            (Some(number), count != value.len() || leading_zero)
        }
        _ => {
            return Length {
                bytes: None,
                anomaly: Some(Anomaly::LengthInvalid),
            };
        }
    };
    Length {
        bytes,
        anomaly: is_odd.then_some(Anomaly::LengthOdd),
    }
}

#[cfg(test)]
mod tests {
    use super::length;
    use crate::anomaly::Anomaly;

    /// Values that receivers read differently are reported; each has a length.
    #[test]
    fn lengths_are_read_and_oddities_told() {
        use Anomaly::{LengthInvalid, LengthList, LengthOdd, LengthsContradict};
        for (value, bytes, anomaly) in [
            ("0", Some(0), None),
            ("1234567", Some(1_234_567), None),
            ("18446744073709551615", Some(u64::MAX), None),
            ("18446744073709551616", None, Some(LengthInvalid)),
            ("007", Some(7), Some(LengthOdd)),
            ("+7", Some(7), Some(LengthOdd)),
            ("-7", None, Some(LengthInvalid)),
            ("0x10", Some(0), Some(LengthOdd)),
            ("7 7", Some(7), Some(LengthOdd)),
            ("7abc", Some(7), Some(LengthOdd)),
            ("7, 7", Some(7), Some(LengthList)),
            ("7,8", Some(7), Some(LengthsContradict)),
            ("", None, Some(LengthInvalid)),
            ("abc", None, Some(LengthInvalid)),
        ] {
            let found = length(value.as_bytes());
            assert_eq!((found.bytes, found.anomaly), (bytes, anomaly), "{value:?}");
        }
    }
}
