//! Points in time, as they are written: `2026-11-23T08:35:00Z`.
//!
//! A time without its zone is refused, so that a value means the same on every machine. Accepted
//! are RFC 3339, the offset without a colon (as in EVE JSON), and seconds since 1970 (as in Zeek's
//! logs); what is printed reads back.

use core::fmt;
use core::str::FromStr;
use flowpin_packet::{Timestamp, date_of_day, day_of_date};

/// A point in time, written as a date and time with its zone or as seconds since 1970.
///
/// ```
/// use flowpin_config::TimeText;
/// let time: TimeText = "2024-02-29T23:59:59.5+01:00".parse().unwrap();
/// assert_eq!("1709247599.5".parse(), Ok(time));
/// assert!("2024-02-29T23:59:59".parse::<TimeText>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeText(pub Timestamp);

/// A point in time that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a time with its zone, such as \"2026-11-23T08:35:00Z\", nor seconds since 1970"
)]
pub struct TimeError(String);

impl FromStr for TimeText {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let text = text.trim();
        since_epoch(text)
            .or_else(|| date_and_clock(text))
            .map(|nanos| Self(Timestamp(nanos)))
            .ok_or_else(|| TimeError(text.to_owned()))
    }
}

impl fmt::Display for TimeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (day, second) = (self.0.secs() / DAY, self.0.secs() % DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let (year, month, day) = date_of_day(day);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        match self.0.subsec_nanos() {
            0 => f.write_str("Z"),
            nanos => write!(f, ".{nanos:09}Z"),
        }
    }
}

/// Nanoseconds since 1970 of `1709247599.5`.
fn since_epoch(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    nanos(number(seconds)?, fraction)
}

/// Nanoseconds since 1970 of `2024-02-29T23:59:59.5+01:00`.
fn date_and_clock(text: &str) -> Option<u64> {
    let (date, rest) = text.split_at_checked("2024-02-29".len())?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    // RFC 3339 §5.6: 60 is a leap second; POSIX time has none, so it is the next minute's first.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let here = day_of_date(year, month, day)? * DAY + hour * 3600 + minute * 60 + second;
    nanos(here.checked_add_signed(-offset(zone)?)?, fraction)
}

/// Seconds that clocks of a zone are ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, ahead) = zone.split_at_checked(1)?;
    let (hour, minute) = ahead
        .split_once(':')
        .or_else(|| ahead.split_at_checked(2))?;
    let (hour, minute) = (digits(hour, 2)?, digits(minute, 2)?);
    if hour > 23 || minute > 59 {
        return None;
    }
    let seconds = i64::try_from(hour * 3600 + minute * 60).ok()?;
    Some(if sign == "-" { -seconds } else { seconds })
}

/// Digits of the fraction that are worth less than a nanosecond are dropped.
fn nanos(seconds: u64, fraction: &str) -> Option<u64> {
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let part = number(is_fraction.then(|| format!("{fraction:0<9.9}"))?.as_str())?;
    seconds.checked_mul(1_000_000_000)?.checked_add(part)
}

/// Three numbers with `lens` digits each.
fn numbers(text: &str, separator: char, lens: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; 3];
    for (to, len) in numbers.iter_mut().zip(lens) {
        *to = digits(parts.next()?, len)?;
    }
    parts.next().is_none().then_some(numbers)
}

fn digits(text: &str, len: usize) -> Option<u64> {
    (text.len() == len).then(|| number(text))?
}

/// As `parse`, without a sign.
fn number(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Seconds of a day.
const DAY: u64 = 86_400;

#[cfg(test)]
mod tests {
    use super::TimeText;
    use flowpin_packet::Timestamp;

    fn read(text: &str) -> Option<u64> {
        text.parse().ok().map(|TimeText(Timestamp(nanos))| nanos)
    }

    /// The forms of RFC 3339, of EVE JSON and of Zeek's logs are the same time.
    #[test]
    fn a_time_has_several_forms() {
        for text in [
            "2024-02-29T23:59:59.25Z",
            "2024-02-29 23:59:59.250z",
            "2024-02-29t23:59:59.2500009999Z",
            "2024-02-29T23:59:59.250000+0000",
            "2024-03-01T01:29:59.25+01:30",
            "2024-02-29T18:59:59.25-05:00",
            " 1709251199.250000",
        ] {
            let nanos = read(text).unwrap();
            assert_eq!(nanos / 1000, 1_709_251_199_250_000, "{text}");
        }
        assert_eq!(read("0"), Some(0));
        assert_eq!(read("2016-12-31T23:59:60Z"), read("2017-01-01T00:00:00Z"));
    }

    /// No zone, no such date, before 1970, beyond 64 bits: refused.
    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            ".",
            "5.",
            ".5",
            "-1",
            "+1",
            "1e9",
            "2024-02-29",
            "2024-02-29T23:59:59",
            "2024-02-29T23:59Z",
            "2023-02-29T23:59:59Z",
            "2024-00-01T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-01-00T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+24:00",
            "2024-01-01T00:00:00+1",
            "2024-1-01T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "0000-01-01T00:00:00Z",
            "2600-01-01T00:00:00Z",
            "99999999999999999999",
            "2024-02-29Т00:00:00Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    /// What `--print-config` prints must read back as the same value.
    #[test]
    fn what_is_printed_reads_back() {
        for nanos in [0, 1, 1_500_000_000, 1_709_251_199_250_000_000, u64::MAX] {
            let time = TimeText(Timestamp(nanos));
            assert_eq!(time.to_string().parse(), Ok(time), "{time}");
        }
        let time = TimeText(Timestamp::new(1_709_251_199, 0));
        assert_eq!(time.to_string(), "2024-02-29T23:59:59Z");
    }
}
