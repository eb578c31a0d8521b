//! Times as text: ISO 8601 in UTC, and seconds since the epoch.

use super::Line;
use super::digits::hour_minute_second;
use flowpin_packet::{Timestamp, date_of_day, day_of_date};

/// The seconds written lately: many times of a capture lie in the same, nearly all within the last
/// minute or two.
#[derive(Clone, Debug)]
pub(crate) struct DateCache {
    day: u64,
    /// `YYYY-MM-DDT`, padded.
    text: [u8; 16],
    /// Each second at the place of its remainder.
    clocks: [Clock; CLOCKS],
}

/// One second since the epoch, as text.
#[derive(Clone, Copy, Debug)]
struct Clock {
    second: u64,
    /// `YYYY-MM-DDThh:mm:ss`, padded.
    text: [u8; 32],
}

const CLOCKS: usize = 64;

impl Default for DateCache {
    fn default() -> Self {
        let none = Clock {
            second: u64::MAX,
            text: [b' '; 32],
        };
        Self {
            day: 0,
            text: padded(*b"1970-01-01T"),
            clocks: [none; CLOCKS],
        }
    }
}

impl DateCache {
    /// `YYYY-MM-DDT` of a day since the epoch, in the first eleven bytes.
    #[inline]
    fn date(&mut self, day: u64) -> &[u8; 16] {
        if day != self.day {
            self.day = day;
            self.text = padded(date_text(day));
        }
        &self.text
    }

    /// `YYYY-MM-DDThh:mm:ss` of a second since the epoch, in the first nineteen bytes.
    #[inline]
    fn clock(&mut self, second: u64) -> &[u8; 32] {
        let nth = second as usize % CLOCKS;
        if self.clocks[nth].second != second {
            self.clocks[nth] = self.new_clock(second);
        }
        &self.clocks[nth].text
    }

    #[inline(never)]
    fn new_clock(&mut self, second: u64) -> Clock {
        let (day, of_day) = (second / 86_400, (second % 86_400) as u32);
        let (minute, hour) = (of_day / 60 % 60, of_day / 3600);
        let clock = hour_minute_second(hour * 10_000 + minute * 100 + of_day % 60);
        let mut text = [b' '; 32];
        let date = self.date(day).iter().take(DATE_LEN);
        for (to, from) in text.iter_mut().zip(date.chain(&clock)) {
            *to = *from;
        }
        Clock { second, text }
    }
}

impl Line<'_> {
    /// Appends `2024-02-29T23:59:59.123456+0000`, EVE's form.
    #[inline]
    pub(crate) fn put_eve_time(&mut self, dates: &mut DateCache, time: Timestamp) {
        self.put_seconds(dates, time.secs());
        self.put_point_and_micros(time.subsec_nanos() / 1000);
        self.put(b"+0000");
    }

    /// Appends `2024-02-29T23:59:59.123456789Z`, RFC 3339 in full precision.
    #[inline]
    pub(crate) fn put_rfc3339_time(&mut self, dates: &mut DateCache, time: Timestamp) {
        self.put_seconds(dates, time.secs());
        self.put(b".");
        self.put_nine_digits(time.subsec_nanos());
        self.put(b"Z");
    }

    /// Appends seconds with six decimals, Zeek's form of times and intervals.
    #[inline]
    pub(crate) fn put_seconds_micros(&mut self, nanos: u64) {
        self.put_u64(nanos / 1_000_000_000);
        self.put_point_and_micros((nanos % 1_000_000_000 / 1000) as u32);
    }

    /// Appends seconds with nine decimals.
    #[inline]
    pub(crate) fn put_seconds_nanos(&mut self, nanos: u64) {
        self.put_u64(nanos / 1_000_000_000);
        self.put(b".");
        self.put_nine_digits((nanos % 1_000_000_000) as u32);
    }

    /// Appends date and time of day.
    #[inline]
    fn put_seconds(&mut self, dates: &mut DateCache, secs: u64) {
        self.put_first(dates.clock(secs), DATE_LEN + 8);
    }
}

/// Length of `YYYY-MM-DDT`.
const DATE_LEN: usize = 11;

/// A date, padded for a copy in full width.
const fn padded(date: [u8; 11]) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h, i, j, k] = date;
    [a, b, c, d, e, f, g, h, i, j, k, 0, 0, 0, 0, 0]
}

/// `2024-02-29-23-59-59`: how Zeek's headers write a time.
pub(crate) fn zeek_header_time(time: Timestamp) -> [u8; 19] {
    let (day, second) = (time.secs() / 86_400, time.secs() % 86_400);
    let [y, e, a, r, _, m, n, _, d, t, _] = date_text(day);
    let ([g, h], [i, j]) = (two_digits(second / 3600), two_digits(second / 60 % 60));
    let [k, l] = two_digits(second % 60);
    let dash = b'-';
    [
        y, e, a, r, dash, m, n, dash, d, t, dash, g, h, dash, i, j, dash, k, l,
    ]
}

/// `2024-02-29T23-59-59Z`: a time in a file's name, without letters that a file system refuses.
pub fn file_name_time(time: Timestamp) -> String {
    let text = zeek_header_time(time);
    let text = core::str::from_utf8(&text).unwrap_or_default();
    let (date, clock) = text.split_at_checked(10).unwrap_or_default();
    format!("{date}T{}Z", clock.trim_start_matches('-'))
}

/// Two digits of a number below 100.
#[inline]
fn two_digits(value: u64) -> [u8; 2] {
    let digit = |value: u64| b'0' + (value % 10) as u8;
    [digit(value / 10), digit(value)]
}

/// `YYYY-MM-DDT` of a day since the epoch, by the proleptic Gregorian calendar.
fn date_text(day: u64) -> [u8; 11] {
    let (year, month, day_of_month) = date_of_day(day);
    let ([a, b], [c, d]) = (two_digits(year / 100), two_digits(year % 100));
    let ([e, f], [g, h]) = (two_digits(month), two_digits(day_of_month));
    [a, b, c, d, b'-', e, f, b'-', g, h, b'T']
}

/// The second since 1970 of `YYYY-MM-DDThh:mm:ss`; none if it is no such time. Certificates may be
/// valid since earlier.
pub(crate) fn second_of(text: &[u8]) -> Option<i64> {
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let is_time = |&(place, mark): &(usize, u8)| text.get(place) == Some(&mark);
    if text.len() != 19 || !marks.iter().all(is_time) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = core::str::from_utf8(text.get(from..to)?).ok()?;
        let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| digits.parse::<u64>().ok())?
    };
    // The calendar is the same every 400 years, which have 146,097 days.
    let (year, shift) = match number(0, 4)? {
        year @ ..1970 => (year + 400, 146_097),
        year => (year, 0),
    };
    let day = i64::try_from(day_of_date(year, number(5, 7)?, number(8, 10)?)?).ok()? - shift;
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // A leap second is the first of the next minute.
    let is_clock = hour < 24 && minute < 60 && second <= 60;
    let clock = i64::try_from(hour * 3600 + minute * 60 + second).ok()?;
    is_clock.then_some(day * 86_400 + clock)
}

#[cfg(test)]
mod tests {
    use super::{DateCache, file_name_time, zeek_header_time};
    use crate::text::written;
    use flowpin_packet::Timestamp;

    fn eve(secs: u64, nanos: u32) -> String {
        let mut dates = DateCache::default();
        written(|line| line.put_eve_time(&mut dates, Timestamp::new(secs, nanos)))
    }

    /// Leap days, turns of centuries, and the last moment that a timestamp can hold.
    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(eve(0, 0), "1970-01-01T00:00:00.000000+0000");
        assert_eq!(
            eve(951_782_399, 999_999_999),
            "2000-02-28T23:59:59.999999+0000"
        );
        assert_eq!(eve(951_782_400, 0), "2000-02-29T00:00:00.000000+0000");
        assert_eq!(eve(1_709_251_199, 1_000), "2024-02-29T23:59:59.000001+0000");
        assert_eq!(eve(1_709_251_200, 0), "2024-03-01T00:00:00.000000+0000");
        assert_eq!(eve(4_107_542_399, 0), "2100-02-28T23:59:59.000000+0000");
        assert_eq!(eve(4_107_542_400, 0), "2100-03-01T00:00:00.000000+0000");
        let mut dates = DateCache::default();
        let last = written(|line| line.put_rfc3339_time(&mut dates, Timestamp::MAX));
        assert_eq!(last, "2554-07-21T23:34:33.709551615Z");
    }

    /// Every day of 800 years follows the one before: an independent count of days.
    #[test]
    fn each_day_follows_the_last() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for index in 0..200_000_u64 {
            let text = super::date_text(index);
            let expected = format!("{year:04}-{month:02}-{day:02}T");
            assert_eq!(core::str::from_utf8(&text).unwrap(), expected);
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let days = match month {
                2 => 28 + i32::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > days {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }

    /// Headers and file names use the same moment.
    #[test]
    fn header_and_file_name_times_are_utc() {
        let time = Timestamp::new(1_709_251_199, 5);
        assert_eq!(&zeek_header_time(time), b"2024-02-29-23-59-59");
        assert_eq!(file_name_time(time), "2024-02-29T23-59-59Z");
        let text = written(|line| line.put_seconds_micros(1_500_000_999));
        assert_eq!(text, "1.500000");
    }
}
