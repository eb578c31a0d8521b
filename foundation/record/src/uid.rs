//! Identifiers as text: `C` and eleven base-62 digits, as Zeek's users know them.
//!
//! ```text
//!  Uid(u64) ──text()──► "C0aB…"          conn.log, CSV, Parquet, EVE's flowpin.uid
//!      └─────flow_id()─► upper 53 bits   EVE's flow_id: exact in a JavaScript number
//! ```

use core::fmt;
use core::str::FromStr;

/// An identifier that depends on nothing but the input and `--id-seed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub u64);

impl Uid {
    /// Length of [`Uid::text`]: the letter `C` and eleven digits.
    pub const TEXT_LEN: usize = 12;

    /// The identifier as text, always of the same length.
    ///
    /// ```
    /// use flowpin_record::Uid;
    /// assert_eq!(&Uid(62).text(), b"C00000000010");
    /// assert_eq!("C00000000010".parse(), Ok(Uid(62)));
    /// ```
    #[inline]
    pub fn text(self) -> [u8; Self::TEXT_LEN] {
        // Four independent parts, so that their divisions overlap.
        let (high, low) = (self.0 / THREE_DIGITS.pow(2), self.0 % THREE_DIGITS.pow(2));
        let [a, b, c] = three_digits(high / THREE_DIGITS);
        let [d, e, f] = three_digits(high % THREE_DIGITS);
        let [g, h, i] = three_digits(low / THREE_DIGITS);
        let [j, k, l] = three_digits(low % THREE_DIGITS);
        debug_assert_eq!(a, b'0', "11 digits hold 64 bits");
        [b'C', b, c, d, e, f, g, h, i, j, k, l]
    }

    /// Whether a text is `C` and eleven base-62 digits; they may be above 2^64.
    pub fn has_form(text: &str) -> bool {
        text.len() == Self::TEXT_LEN
            && text.strip_prefix('C').is_some_and(|digits| {
                let is_digit = |letter: u8| letter.is_ascii_alphanumeric();
                digits.bytes().all(is_digit)
            })
    }

    /// The upper 53 bits: EVE's `flow_id`, which must be exact in a double.
    #[inline]
    pub const fn flow_id(self) -> u64 {
        self.0 >> 11
    }
}

/// The identifier of a file (Zeek's `fuid`): `F` and eleven base-62 digits. Depends on its
/// connection and its number there alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u64);

impl FileId {
    /// Of the file with this number in that connection.
    #[inline]
    pub const fn of(connection: Uid, number: u64) -> Self {
        // SplitMix64: neighbouring numbers have identifiers that do not look alike.
        let mut state = connection
            .0
            .wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(state ^ (state >> 31))
    }

    /// The identifier as text, always of the same length.
    pub fn text(self) -> [u8; Uid::TEXT_LEN] {
        let mut text = Uid(self.0).text();
        text[0] = b'F';
        text
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text()
            .iter()
            .try_for_each(|&letter| fmt::Write::write_char(out, char::from(letter)))
    }
}

/// The text is not `C` and eleven base-62 digits below 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAUid;

impl fmt::Display for NotAUid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("not a uid: expected C and eleven letters or digits")
    }
}

impl core::error::Error for NotAUid {}

impl FromStr for Uid {
    type Err = NotAUid;

    fn from_str(text: &str) -> Result<Self, NotAUid> {
        let digits = text.strip_prefix('C').ok_or(NotAUid)?;
        if digits.len() != Self::TEXT_LEN - 1 {
            return Err(NotAUid);
        }
        digits
            .bytes()
            .try_fold(0_u64, |value, digit| {
                let digit = DIGITS.iter().position(|&known| known == digit)?;
                value.checked_mul(62)?.checked_add(digit as u64)
            })
            .map(Self)
            .ok_or(NotAUid)
    }
}

const THREE_DIGITS: u64 = 62 * 62 * 62;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Three base-62 digits of a number below 62³.
#[inline]
fn three_digits(value: u64) -> [u8; 3] {
    let digit = |value: u64| DIGITS.get((value % 62) as usize).copied().unwrap_or(b'0');
    [digit(value / (62 * 62)), digit(value / 62), digit(value)]
}

#[cfg(test)]
mod tests {
    use super::{NotAUid, Uid};
    use proptest::prelude::*;

    proptest! {
        /// What is printed is what can be asked for (`flowpin slice --uid`).
        #[test]
        fn every_uid_survives_its_text(value in any::<u64>()) {
            prop_assert_eq!(Uid(value).to_string().parse(), Ok(Uid(value)));
        }
    }

    /// The greatest identifier still fits, the next number does not wrap around.
    #[test]
    fn the_greatest_uid_fits_and_more_is_refused() {
        assert_eq!(Uid(u64::MAX).to_string().parse(), Ok(Uid(u64::MAX)));
        for text in [
            "",
            "C",
            "Czzzzzzzzzzz",
            "D00000000000",
            "C0000000000-",
            "C000000000000",
        ] {
            assert_eq!(text.parse::<Uid>(), Err(NotAUid), "{text}");
        }
        assert!(Uid(u64::MAX).flow_id() < 1 << 53);
    }
}
