//! Values with a unit: `64 MiB`, `30 s`.
//!
//! A bare number is refused, so that the unit of a key is always visible. The same words
//! hold in the configuration file and on the command line, and what is printed reads back.

use core::fmt;
use core::str::FromStr;

/// A number of bytes, written with its unit.
///
/// ```
/// use flowpin_config::ByteSize;
/// assert_eq!("64 MiB".parse(), Ok(ByteSize(64 << 20)));
/// assert_eq!("1.5GB".parse(), Ok(ByteSize(1_500_000_000)));
/// assert!("64".parse::<ByteSize>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// A length of time in nanoseconds, written with its unit.
///
/// ```
/// use flowpin_config::Span;
/// assert_eq!("30 s".parse(), Ok(Span(30_000_000_000)));
/// assert_eq!("1h30min".parse(), Ok(Span(5_400_000_000_000)));
/// assert!("30".parse::<Span>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub u64);

/// Why a value with a unit was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The number is missing or unreadable.
    #[error("`{0}` is not a number with a unit, such as {1}")]
    NoNumber(String, &'static str),
    /// There is a number and nothing else.
    #[error("`{0}` needs a unit, such as {1}")]
    NoUnit(String, &'static str),
    /// The unit is not one that we know.
    #[error("`{0}` is not a unit here: use {1}")]
    UnknownUnit(String, &'static str),
    /// More than 64 bits can hold.
    #[error("`{0}` is too large")]
    TooLarge(String),
}

impl FromStr for ByteSize {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let term = Term::first(text, SIZE_EXAMPLE)?;
        if !term.rest.is_empty() {
            return Err(UnitError::UnknownUnit(
                format!("{}{}", term.unit, term.rest),
                SIZE_UNITS_TEXT,
            ));
        }
        term.scaled(&SIZE_UNITS, SIZE_EXAMPLE, SIZE_UNITS_TEXT)
            .map(Self)
    }
}

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let too_large = || UnitError::TooLarge(text.trim().to_owned());
        let mut total = 0u64;
        let mut rest = text;
        loop {
            let term = Term::first(rest, SPAN_EXAMPLE)?;
            let part = term.scaled(&SPAN_UNITS, SPAN_EXAMPLE, SPAN_UNITS_TEXT)?;
            total = total.checked_add(part).ok_or_else(too_large)?;
            rest = term.rest;
            if rest.is_empty() {
                return Ok(Self(total));
            }
        }
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = exact_unit(self.0, &["TiB", "GiB", "MiB", "KiB"], |unit| {
            scale_of(&SIZE_UNITS, unit)
        })
        .unwrap_or((1, "B"));
        write!(f, "{} {unit}", self.0 / scale)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["d", "h", "min", "s", "ms", "us"];
        let (scale, unit) =
            exact_unit(self.0, &units, |unit| scale_of(&SPAN_UNITS, unit)).unwrap_or((1, "ns"));
        write!(f, "{} {unit}", self.0 / scale)
    }
}

/// The largest unit that expresses `value` without a fraction.
fn exact_unit<'a>(
    value: u64,
    units: &[&'a str],
    scale_of: impl Fn(&str) -> Option<u64>,
) -> Option<(u64, &'a str)> {
    units
        .iter()
        .filter_map(|&unit| Some((scale_of(unit)?, unit)))
        .find(|&(scale, _)| value > 0 && value.is_multiple_of(scale))
}

/// One number and its unit at the start of a text.
struct Term<'a> {
    number: &'a str,
    unit: &'a str,
    rest: &'a str,
}

impl<'a> Term<'a> {
    fn first(text: &'a str, example: &'static str) -> Result<Self, UnitError> {
        let text = text.trim();
        let number_end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
            .unwrap_or(text.len());
        let (number, rest) = text.split_at(number_end);
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(UnitError::NoNumber(text.to_owned(), example));
        }
        let rest = rest.trim_start();
        let unit_end = rest
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(rest.len());
        let (unit, rest) = rest.split_at(unit_end);
        let rest = rest.trim_start();
        Ok(Self { number, unit, rest })
    }

    /// The number times its unit, exactly: digits after the point that are worth less than one
    /// are dropped.
    fn scaled(
        &self,
        units: &[(&str, u64)],
        example: &'static str,
        known: &'static str,
    ) -> Result<u64, UnitError> {
        if self.unit.is_empty() {
            return Err(UnitError::NoUnit(self.number.to_owned(), example));
        }
        let scale = scale_of(units, self.unit)
            .ok_or_else(|| UnitError::UnknownUnit(self.unit.to_owned(), known))?;
        let too_large = || UnitError::TooLarge(format!("{} {}", self.number, self.unit));
        let (whole, fraction) = self.number.split_once('.').unwrap_or((self.number, ""));
        let digits = |text: &str| text.replace('_', "");
        let bad = || UnitError::NoNumber(self.number.to_owned(), example);
        let whole: u64 = digits(whole).parse().map_err(|_| too_large())?;
        let mut value = whole.checked_mul(scale).ok_or_else(too_large)?;
        let mut part = u128::from(scale);
        for digit in digits(fraction).chars() {
            part /= 10;
            let digit = digit.to_digit(10).ok_or_else(bad)?;
            let add = u64::try_from(part * u128::from(digit)).map_err(|_| too_large())?;
            value = value.checked_add(add).ok_or_else(too_large)?;
        }
        Ok(value)
    }
}

fn scale_of(units: &[(&str, u64)], unit: &str) -> Option<u64> {
    units
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|&(_, scale)| scale)
}

const SIZE_EXAMPLE: &str = "\"64 MiB\"";
const SPAN_EXAMPLE: &str = "\"30 s\"";
pub(crate) const SIZE_UNITS_TEXT: &str =
    "B, KiB, MiB, GiB, TiB (also K, M, G, T) or kB, MB, GB, TB";
pub(crate) const SPAN_UNITS_TEXT: &str = "ns, us, ms, s, min (also m), h, d";

/// `K`, `M`, `G` and `T` alone are powers of two, as in most tools' memory options.
const SIZE_UNITS: [(&str, u64); 14] = [
    ("B", 1),
    ("K", 1 << 10),
    ("KiB", 1 << 10),
    ("M", 1 << 20),
    ("MiB", 1 << 20),
    ("G", 1 << 30),
    ("GiB", 1 << 30),
    ("T", 1 << 40),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

const SPAN_UNITS: [(&str, u64); 10] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("day", 86_400_000_000_000),
];

#[cfg(test)]
mod tests {
    use super::{ByteSize, Span, UnitError};

    /// Both the binary and the decimal units of sizes are in use; they must not be mixed up.
    #[test]
    fn binary_and_decimal_sizes_differ() {
        assert_eq!("1 GiB".parse(), Ok(ByteSize(1 << 30)));
        assert_eq!("1 GB".parse(), Ok(ByteSize(1_000_000_000)));
        assert_eq!("512M".parse(), Ok(ByteSize(512 << 20)));
    }

    /// A fraction is exact: no floating point on the way.
    #[test]
    fn fractions_are_exact() {
        assert_eq!("0.1 s".parse(), Ok(Span(100_000_000)));
        assert_eq!("1.000000001 s".parse(), Ok(Span(1_000_000_001)));
    }

    /// A bare number is refused: 64 of what?
    #[test]
    fn bare_numbers_are_refused() {
        assert!(matches!(
            "64".parse::<ByteSize>(),
            Err(UnitError::NoUnit(..))
        ));
        assert!(matches!("30".parse::<Span>(), Err(UnitError::NoUnit(..))));
        assert!(matches!("".parse::<Span>(), Err(UnitError::NoNumber(..))));
        assert!(matches!(
            "-3 s".parse::<Span>(),
            Err(UnitError::NoNumber(..))
        ));
    }

    /// Nothing wraps: a size beyond 64 bits is an error.
    #[test]
    fn overflow_is_an_error() {
        assert!(matches!(
            "99999999 TiB".parse::<ByteSize>(),
            Err(UnitError::TooLarge(..))
        ));
        assert!(matches!(
            "999999 d".parse::<Span>(),
            Err(UnitError::TooLarge(..))
        ));
    }

    /// A size in a size's place only: time units are named as wrong.
    #[test]
    fn units_of_the_other_kind_are_refused() {
        assert!(matches!(
            "3 min".parse::<ByteSize>(),
            Err(UnitError::UnknownUnit(..))
        ));
        assert!(matches!(
            "3 MiB".parse::<Span>(),
            Err(UnitError::UnknownUnit(..))
        ));
        assert!("1 MiB 2 KiB".parse::<ByteSize>().is_err());
    }

    /// What `--print-config` prints must read back as the same value.
    #[test]
    fn what_is_printed_reads_back() {
        for bytes in [0, 1, 1023, 1024, 1536, 1 << 30, (1 << 30) + 1, u64::MAX] {
            let size = ByteSize(bytes);
            assert_eq!(size.to_string().parse(), Ok(size), "{size}");
        }
        for nanos in [
            0,
            1,
            1_000,
            1_500_000,
            60_000_000_000,
            90_000_000_000,
            u64::MAX,
        ] {
            let span = Span(nanos);
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
    }
}
