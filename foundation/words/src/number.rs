//! Numbers as people read them.

use flowpin_counters::Loss;
use flowpin_packet::{Timestamp, date_of_day};
use std::time::Duration;

/// `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 packet`, `1,234 packets`.
pub fn things(value: u64, name: &str) -> String {
    let number = count(value);
    if value == 1 {
        return format!("{number} {name}");
    }
    let is_vowel = |c: char| "aeiou".contains(c);
    match name.strip_suffix('y') {
        Some(stem) if !stem.ends_with(is_vowel) => format!("{number} {stem}ies"),
        _ if name.ends_with('s') => format!("{number} {name}es"),
        _ => format!("{number} {name}s"),
    }
}

/// A loss in words: how many of what, why, and what helps.
pub fn loss(loss: Loss, count: u64) -> String {
    format!("{} {}", things(count, loss.unit()), loss.explanation())
}

/// The same, and the form of its verb: of one thing, of several.
pub fn things_and<'a>(value: u64, name: &str, verb: [&'a str; 2]) -> (String, &'a str) {
    let [one, several] = verb;
    (things(value, name), if value == 1 { one } else { several })
}

/// Bytes of traffic, in powers of 1000: `30.7 MB`.
pub fn bytes(value: u64) -> String {
    si(real(value), "B")
}

/// Memory, in powers of 1024: `45 MiB`.
pub fn memory(value: u64) -> String {
    let mebibytes = real(value) / f64::from(1 << 20);
    if mebibytes < 1024.0 {
        format!("{mebibytes:.0} MiB")
    } else {
        format!("{:.1} GiB", mebibytes / 1024.0)
    }
}

/// Three digits and a prefix: `3.11 M` and the unit.
pub fn si(value: f64, unit: &str) -> String {
    let mut value = value;
    let mut prefixes = ["", "k", "M", "G", "T", "P"].into_iter().peekable();
    let mut prefix = prefixes.next().unwrap_or_default();
    // 999.5 would be rounded to a fourth digit.
    while value >= 999.5 {
        let Some(next) = prefixes.next() else { break };
        prefix = next;
        value /= 1000.0;
    }
    let places = match value {
        whole if prefix.is_empty() && whole.fract() == 0.0 => 0,
        small if small < 9.995 => 2,
        middle if middle < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$} {prefix}{unit}")
}

/// `count` per second.
pub fn rate(count: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 {
        real(count) / seconds
    } else {
        0.0
    }
}

/// `12.3 %`; never `0.0 %` for something, nor `100.0 %` for less than all.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 || part == 0 {
        return "0 %".to_owned();
    }
    let share = real(part) / real(whole) * 100.0;
    if share < 0.05 {
        "<0.1 %".to_owned()
    } else if part < whole && share >= 99.95 {
        ">99.9 %".to_owned()
    } else if part == whole {
        "100 %".to_owned()
    } else {
        format!("{share:.1} %")
    }
}

/// A length of time: `12 ms`, `3.25 s`, `8 min 41 s`, `2 d 3 h`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 1 {
        let micros = time.as_micros();
        return if micros < 1000 {
            format!("{micros} µs")
        } else {
            format!("{} ms", micros / 1000)
        };
    }
    let two = |high: u64, high_unit: &str, low: u64, low_unit: &str| {
        if low == 0 {
            format!("{high} {high_unit}")
        } else {
            format!("{high} {high_unit} {low} {low_unit}")
        }
    };
    match seconds {
        ..60 => format!("{:.2} s", time.as_secs_f64()),
        60..3600 => two(seconds / 60, "min", seconds % 60, "s"),
        3600..86400 => two(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        _ => two(seconds / 86400, "d", seconds % 86400 / 3600, "h"),
    }
}

/// `2011-01-25` and `18:52:22`, in UTC.
pub fn date_and_time(time: Timestamp) -> (String, String) {
    let (days, second) = (time.secs() / 86_400, time.secs() % 86_400);
    let (year, month, day) = date_of_day(days);
    (
        format!("{year:04}-{month:02}-{day:02}"),
        format!(
            "{:02}:{:02}:{:02}",
            second / 3600,
            second % 3600 / 60,
            second % 60
        ),
    )
}

/// RFC 3339 with nanoseconds: for machines.
pub fn rfc3339(time: Timestamp) -> String {
    let (date, clock) = date_and_time(time);
    format!("{date}T{clock}.{:09}Z", time.subsec_nanos())
}

/// As a floating-point number: exact enough for three digits.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub const fn real(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::{bytes, count, date_and_time, duration, percent, rfc3339, si, things};
    use flowpin_packet::Timestamp;
    use std::time::Duration;

    /// Nouns of counters and tables in the singular and the plural.
    #[test]
    fn things_have_their_plural() {
        for (noun, plural) in [
            ("packet", "packets"),
            ("query", "queries"),
            ("decoy", "decoys"),
            ("address", "addresses"),
        ] {
            assert_eq!(things(1, noun), format!("1 {noun}"));
            assert_eq!(things(0, noun), format!("0 {plural}"));
            assert_eq!(things(1_234, noun), format!("1,234 {plural}"));
        }
    }

    /// Groups of three from the right, none in front.
    #[test]
    fn thousands_are_grouped() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(things(1, "packet"), "1 packet");
        assert_eq!(things(1_000, "packet"), "1,000 packets");
    }

    /// Three digits, also where rounding would make a fourth.
    #[test]
    fn three_digits_and_a_prefix() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_000), "1.00 kB");
        assert_eq!(bytes(999_999), "1.00 MB");
        assert_eq!(si(12_340_000.0, "pps"), "12.3 Mpps");
        assert_eq!(si(123_400_000_000.0, "bit/s"), "123 Gbit/s");
    }

    /// A share of something is never shown as nothing, nor a part as all.
    #[test]
    fn shares_do_not_round_to_nothing_or_all() {
        assert_eq!(percent(1, 1_000_000), "<0.1 %");
        assert_eq!(percent(999_999, 1_000_000), ">99.9 %");
        assert_eq!(percent(5, 5), "100 %");
        assert_eq!(percent(0, 0), "0 %");
        assert_eq!(percent(1, 8), "12.5 %");
    }

    /// Two units at most, and no second one that is 0.
    #[test]
    fn durations_have_two_units_at_most() {
        assert_eq!(duration(Duration::from_micros(12)), "12 µs");
        assert_eq!(duration(Duration::from_millis(12)), "12 ms");
        assert_eq!(duration(Duration::from_millis(3_250)), "3.25 s");
        assert_eq!(duration(Duration::from_secs(521)), "8 min 41 s");
        assert_eq!(duration(Duration::from_secs(3_600)), "1 h");
        assert_eq!(duration(Duration::from_secs(183_700)), "2 d 3 h");
    }

    /// Leap days, the turn of a century and the epoch itself.
    #[test]
    fn calendar_is_gregorian() {
        for (seconds, date, clock) in [
            (0, "1970-01-01", "00:00:00"),
            (951_782_399, "2000-02-28", "23:59:59"),
            (951_782_400, "2000-02-29", "00:00:00"),
            (1_295_981_542, "2011-01-25", "18:52:22"),
            (4_107_542_400, "2100-03-01", "00:00:00"),
        ] {
            let (got_date, got_clock) = date_and_time(Timestamp::new(seconds, 0));
            assert_eq!((got_date.as_str(), got_clock.as_str()), (date, clock));
        }
        assert_eq!(
            rfc3339(Timestamp::new(1, 5)),
            "1970-01-01T00:00:01.000000005Z"
        );
    }
}
