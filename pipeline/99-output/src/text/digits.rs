//! Numbers as text: eight digits at a time in one register, without a branch on their count.

use super::Line;

impl Line<'_> {
    /// Appends a number in decimal, without leading zeros.
    // PERF: the counts of a record have 1 to 8 digits at random; a branch on the number of digits
    // would be mispredicted about every second time.
    #[inline]
    pub(crate) fn put_u64(&mut self, value: u64) {
        if value < 100_000_000 {
            self.put_up_to_eight(value);
        } else {
            self.put_long(value);
        }
    }

    /// Appends a number of nine digits or more.
    #[inline]
    fn put_long(&mut self, value: u64) {
        let (high, low) = (value / 100_000_000, value % 100_000_000);
        if high < 100_000_000 {
            self.put_up_to_eight(high);
        } else {
            self.put_up_to_eight(high / 100_000_000);
            self.put(&ascii(high % 100_000_000));
        }
        self.put(&ascii(low));
    }

    /// Appends a number below 10^8.
    #[inline]
    fn put_up_to_eight(&mut self, value: u64) {
        let digits = eight_digits(value);
        // The first digit is the lowest byte; 0 keeps its last digit.
        let zeros = (digits | (1 << 56)).trailing_zeros() / 8;
        let text = ((digits | ASCII_ZEROS) >> (zeros * 8)).to_le_bytes();
        self.put_first(&text, 8 - zeros as usize);
    }

    /// Appends a decimal point and the six digits of a number below 10^6, leading zeros too.
    #[inline]
    pub(crate) fn put_point_and_micros(&mut self, value: u32) {
        // Of eight digits the first is dropped and the second, 0 too, gives way to the point.
        let text = (eight_digits(u64::from(value)) | ASCII_ZEROS) >> 8;
        self.put_first(&(text - 0x30 + 0x2e).to_le_bytes(), 7);
    }

    /// Appends the nine digits of a number below 10^9, leading zeros too.
    #[inline]
    pub(crate) fn put_nine_digits(&mut self, value: u32) {
        self.put(&[b'0' + (value / 100_000_000 % 10) as u8]);
        self.put(&ascii(u64::from(value % 100_000_000)));
    }

    /// Appends two hexadecimal digits.
    #[inline]
    pub(crate) fn put_hex(&mut self, value: u8) {
        self.put(&hex(value));
    }
}

/// `hh:mm:ss`, given as the number `hhmmss`.
#[inline]
pub(super) fn hour_minute_second(value: u32) -> [u8; 8] {
    let digits = eight_digits(u64::from(value)) | ASCII_ZEROS;
    let pair = |shift: u32| digits >> shift & 0xffff;
    let text = pair(16) | 0x3a << 16 | pair(32) << 24 | 0x3a << 40 | pair(48) << 48;
    text.to_le_bytes()
}

const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// The eight digits of a number below 10^8 as ASCII.
#[inline]
fn ascii(value: u64) -> [u8; 8] {
    (eight_digits(value) | ASCII_ZEROS).to_le_bytes()
}

/// The eight digits of a number below 10^8, the first in the lowest byte.
#[inline]
fn eight_digits(value: u64) -> u64 {
    // Two lanes of four digits, four of two, eight of one; the factors divide by 100 and 10.
    let fours = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - 10 * tens) << 8)
}

/// Two hexadecimal digits.
#[inline]
pub(crate) fn hex(value: u8) -> [u8; 2] {
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    [digit(value >> 4), digit(value & 15)]
}

#[cfg(test)]
mod tests {
    use super::hour_minute_second;
    use crate::text::written;
    use proptest::prelude::*;

    proptest! {
        /// Ours is what the standard library writes, for every width.
        #[test]
        fn numbers_read_as_the_standard_library_writes_them(
            value in any::<u64>(), shift in 0_u32..64,
        ) {
            let value = value >> shift;
            prop_assert_eq!(written(|line| line.put_u64(value)), value.to_string());
            let short = u32::try_from(value % 1_000_000).unwrap();
            let point = written(|line| line.put_point_and_micros(short));
            prop_assert_eq!(point, format!(".{short:06}"));
            let (hour, minute, second) = (short / 10_000, short / 100 % 100, short % 100);
            let clock = written(|line| line.put(&hour_minute_second(short)));
            prop_assert_eq!(clock, format!("{hour:02}:{minute:02}:{second:02}"));
            let nine = u32::try_from(value % 1_000_000_000).unwrap();
            prop_assert_eq!(written(|line| line.put_nine_digits(nine)), format!("{nine:09}"));
            let byte = value as u8;
            prop_assert_eq!(written(|line| line.put_hex(byte)), format!("{byte:02x}"));
        }
    }

    /// Each power of ten is where the number of digits changes.
    #[test]
    fn powers_of_ten_and_their_neighbours_are_right() {
        for power in 0..20 {
            let value = 10_u64.pow(power);
            for value in [value - 1, value, value + 1] {
                assert_eq!(written(|line| line.put_u64(value)), value.to_string());
            }
        }
        assert_eq!(written(|line| line.put_u64(u64::MAX)), u64::MAX.to_string());
    }
}
