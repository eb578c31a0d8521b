//! Dates of the Gregorian calendar, by days since 1970-01-01.
//!
//! Years begin in March here, so that the leap day is a year's last one and months have a fixed
//! pattern: 31, 30, 31, 30, 31 days, 153 in five, over and over.

/// Year, month and day of a day counted from 1970-01-01.
pub const fn date_of_day(day: u64) -> (u64, u64, u64) {
    let day = day.saturating_add(DAYS_TO_1970);
    let (era, day_of_era) = (day / ERA_DAYS, day % ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12 + 1;
    let year = era * 400 + year_of_era + (month < 3) as u64;
    (year, month, day)
}

/// The day of a date, counted from 1970-01-01; none if there is no such date, or it is before 1970
/// or after the year 9999.
pub fn day_of_date(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let march_year = year - u64::from(month < 3);
    let march_month = (month + 9) % 12;
    let (era, year_of_era) = (march_year / 400, march_year % 400);
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let at = (era * ERA_DAYS + day_of_era).checked_sub(DAYS_TO_1970)?;
    // The 30th of February is another date.
    (date_of_day(at) == (year, month, day)).then_some(at)
}

/// Days of 400 years.
const ERA_DAYS: u64 = 146_097;

/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: u64 = 719_468;

#[cfg(test)]
mod tests {
    use super::{date_of_day, day_of_date};

    /// Every day of the years that a timestamp can hold follows the one before it, and leads back.
    #[test]
    fn days_follow_each_other() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for at in 0..213_504 {
            assert_eq!(date_of_day(at), (year, month, day));
            assert_eq!(day_of_date(year, month, day), Some(at));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let len = match month {
                2 => 28 + u64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > len {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(year, 2554);
    }

    /// What is no date is refused.
    #[test]
    fn there_is_no_such_date() {
        for (year, month, day) in [
            (2023, 2, 29),
            (2100, 2, 29),
            (2024, 2, 30),
            (2024, 4, 31),
            (2024, 0, 1),
            (2024, 13, 1),
            (2024, 1, 0),
            (2024, 1, 32),
            (1969, 12, 31),
            (0, 1, 1),
            (u64::MAX, 1, 1),
            (2024, u64::MAX, 1),
        ] {
            assert_eq!(day_of_date(year, month, day), None, "{year}-{month}-{day}");
        }
    }
}
