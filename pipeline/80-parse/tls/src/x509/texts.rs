//! Serial numbers and times of certificates as records show them.

use crate::schema::hex;
use crate::short::Short;
use flowpin_packet::Timestamp;
use flowpin_record::Value;

/// Digits without the zero that marks the number as positive (RFC 5280 §4.1.2.2).
pub(super) fn serial(encoded: &[u8]) -> Short<80> {
    let number = match encoded {
        [0, rest @ ..] if !rest.is_empty() => rest,
        whole => whole,
    };
    let mut text = Short::default();
    for &byte in number {
        text.push(&hex(byte).map(|digit| digit.to_ascii_uppercase()));
    }
    text
}

/// The time of `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ` (RFC 5280 §4.1.2.5); unset where records of
/// this program have no such time: before 1970, beyond 2554.
pub(super) fn time(encoded: &[u8]) -> Value<'static> {
    seconds(encoded)
        .and_then(|seconds| seconds.checked_mul(1_000_000_000))
        .map_or(Value::Unset, |nanos| Value::Time(Timestamp(nanos)))
}

fn seconds(encoded: &[u8]) -> Option<u64> {
    // X.690 §11.7 wants `Z`; what has the difference to it instead is read all the same.
    let (digits, ahead, behind) = match encoded {
        [digits @ .., b'Z'] => (digits, 0, 0),
        [digits @ .., b'+', a, b, c, d] => (digits, difference([*a, *b, *c, *d])?, 0),
        [digits @ .., b'-', a, b, c, d] => (digits, 0, difference([*a, *b, *c, *d])?),
        _ => return None,
    };
    let (year, rest) = match digits.len() {
        12 => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year = number(year)?;
            let century = if year < 50 { 2000 } else { 1900 };
            (year.checked_add(century)?, rest)
        }
        14 => {
            let (year, rest) = digits.split_at_checked(4)?;
            (number(year)?, rest)
        }
        _ => return None,
    };
    let mut parts = rest.chunks(2).map(number);
    let mut part = |range: core::ops::RangeInclusive<u64>| {
        let part = parts.next().flatten();
        part.filter(|part| range.contains(part))
    };
    let (month, day) = (part(1..=12)?, part(1..=31)?);
    let (hour, minute, second) = (part(0..=23)?, part(0..=59)?, part(0..=59)?);
    let hours = days(year, month, day)?.checked_mul(24)?.checked_add(hour)?;
    let minutes = hours.checked_mul(60)?.checked_add(minute)?;
    let seconds = minutes.checked_mul(60)?.checked_add(second)?;
    seconds.checked_add(behind)?.checked_sub(ahead)
}

/// The seconds of `hhmm`.
fn difference(digits: [u8; 4]) -> Option<u64> {
    let [hours, minutes] = [digits.get(..2)?, digits.get(2..)?].map(number);
    let minutes = hours?.checked_mul(60)?.checked_add(minutes?)?;
    minutes.checked_mul(60)
}

fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |number, &digit| {
        let digit = u64::from(digit.checked_sub(b'0').filter(|&digit| digit < 10)?);
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Days since 1970, by a calendar whose years begin in March, so that a leap day is the last.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month > 2 {
        year
    } else {
        year.checked_sub(1)?
    };
    let since_march = month.checked_add(9)?.checked_rem(12)?;
    let days = year.checked_mul(365)?.checked_add(year / 4)?;
    let days = days.checked_sub(year / 100)?.checked_add(year / 400)?;
    let in_year = since_march.checked_mul(153)?.checked_add(2)? / 5;
    let days = days.checked_add(in_year)?.checked_add(day)?;
    days.checked_sub(719_469)
}

#[cfg(test)]
mod tests {
    use super::{seconds, serial, time};
    use flowpin_record::Value;

    /// RFC 5280 §4.1.2.5: two digits are years up to 2049; leap days count.
    #[test]
    fn times_are_seconds_since_1970() {
        let cases: [(&[u8], Option<u64>); 12] = [
            (b"700101000000Z", Some(0)),
            (b"160926211038Z", Some(1_474_924_238)),
            (b"20291107210038Z", Some(1_888_779_638)),
            (b"000229120000Z", Some(951_825_600)),
            (b"99991231235959Z", Some(253_402_300_799)),
            (b"250115120000+0530", Some(1_736_922_600)),
            (b"20260115120000-0800", Some(1_768_507_200)),
            (b"691231235959Z", None),
            (b"250115120000+05x0", None),
            (b"161326211038Z", None),
            (b"160926241038Z", None),
            (b"160926211038", None),
        ];
        for (encoded, expected) in cases {
            assert_eq!(seconds(encoded), expected, "{encoded:?}");
        }
        assert_eq!(time(b"99991231235959Z"), Value::Unset);
    }

    /// A zero in front marks a number as positive, unless it is the number.
    #[test]
    fn serial_numbers_are_in_hexadecimal() {
        assert_eq!(serial(&[0, 0x8f, 1]).get(), b"8F01");
        assert_eq!(serial(&[0]).get(), b"00");
    }
}
