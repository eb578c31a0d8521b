//! Conditions on times: those of a certificate's validity.

use crate::NumberCheck;

/// What is asked of a time that a buffer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeCheck {
    /// Its seconds since 1970 compare.
    Is(NumberCheck),
    /// It is over when the rule is compared.
    Over,
    /// It is not.
    ToCome,
}

impl TimeCheck {
    /// Whether a time is as it should be; `now`: seconds since 1970 of the capture's time.
    pub const fn holds(self, time: u64, now: u64) -> bool {
        match self {
            Self::Is(check) => check.holds(time),
            Self::Over => time < now,
            Self::ToCome => time >= now,
        }
    }
}

/// The seconds since 1970 of a time in UTC: `2026-11-28T20:30:00`. It may lack its end, up to
/// `2026`, and begins then. Before 1970 it is 0.
///
/// ```
/// use flowpin_rule::seconds_of;
///
/// assert_eq!(seconds_of("1970-01-02T01"), Some(90_000));
/// assert_eq!(seconds_of("2000-02-30"), None);
/// ```
pub fn seconds_of(text: &str) -> Option<u64> {
    let (date, clock) = text.split_once('T').unwrap_or((text, ""));
    let mut parts = date.split('-');
    let year: i64 = digits(parts.next()?, 4)?.into();
    let mut part = || match parts.next() {
        Some(part) => digits(part, 2).map(i64::from),
        None => Some(1),
    };
    let (month, day) = (part()?, part()?);
    if parts.next().is_some() || !(1..=12).contains(&month) {
        return None;
    }
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    };
    if !(1..=days).contains(&day) {
        return None;
    }
    let mut seconds = 0;
    let mut units = [(3600, 23), (60, 59), (1, 60)].into_iter();
    for part in clock.split(':').filter(|_| !clock.is_empty()) {
        let (unit, most) = units.next()?;
        let number: i64 = digits(part, 2)?.into();
        if number > most {
            return None;
        }
        seconds += number * unit;
    }
    let of_all = days_since_1970(year, month, day) * 86_400 + seconds;
    Some(u64::try_from(of_all).unwrap_or(0))
}

/// Days of the Gregorian calendar, counted in years that begin in March: a leap day ends one.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let of_years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let of_months = (month * 153 + 2) / 5;
    of_years + of_months + day - 1 - TO_1970
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Days from 1 March of the year 0 to 1970.
const TO_1970: i64 = 719_468;

#[cfg(test)]
mod tests {
    use super::{TimeCheck, seconds_of};

    /// As `date -u +%s` has them, at the ends of months and around leap days.
    #[test]
    fn times_are_seconds_since_1970() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("1969-12-31T23:59:59", 0),
            ("2000-02-29T12:00:00", 951_825_600),
            ("2000-03-01", 951_868_800),
            ("2000-03", 951_868_800),
            ("1971", 31_536_000),
            ("2026-11-28T20:30:15", 1_795_897_815),
            ("2100-03-01T00:01", 4_107_542_460),
            ("9999-12-31T23:59:59", 253_402_300_799),
        ] {
            assert_eq!(seconds_of(text), Some(seconds), "{text}");
        }
        for wrong in [
            "",
            "26",
            "2026-",
            "2026-1-01",
            "2026-13-01",
            "2100-02-29",
            "2026-01-01T24",
            "2026-01-01T00:00:00:00",
            "2026-01-01-01",
            "+026-01-01",
            "2026-01-01Tx",
        ] {
            assert_eq!(seconds_of(wrong), None, "{wrong}");
        }
    }

    /// Up to its second a certificate is valid (RFC 5280 §4.1.2.5).
    #[test]
    fn the_last_second_is_still_to_come() {
        assert!(TimeCheck::ToCome.holds(5, 5) && !TimeCheck::Over.holds(5, 5));
        assert!(TimeCheck::Over.holds(5, 6) && !TimeCheck::ToCome.holds(5, 6));
    }
}
