//! Bytes as text: hexadecimal, base 32 and 64, quoted strings, dates.

/// Appends lower-case hexadecimal digits.
pub(super) fn put_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    for &byte in bytes {
        out.push(digit(HEX, byte >> 4));
        out.push(digit(HEX, byte & 15));
    }
}

/// Appends an IPv4 address in decimal.
// PERF: most responses contain one, and formatting with the standard library takes ten times as
// long.
pub(super) fn put_ipv4(out: &mut Vec<u8>, bytes: [u8; 4]) {
    for (at, byte) in bytes.into_iter().enumerate() {
        if at > 0 {
            out.push(b'.');
        }
        if byte >= 100 {
            out.push(b'0'.wrapping_add(byte / 100));
        }
        if byte >= 10 {
            out.push(b'0'.wrapping_add(byte / 10 % 10));
        }
        out.push(b'0'.wrapping_add(byte % 10));
    }
}

/// Appends pairs of hexadecimal digits, separated by a byte.
pub(super) fn put_separated(out: &mut Vec<u8>, bytes: &[u8], between: u8) {
    for (at, byte) in bytes.iter().enumerate() {
        if at > 0 {
            out.push(between);
        }
        put_hex(out, core::slice::from_ref(byte));
    }
}

/// Appends groups of four hexadecimal digits, separated by `:`.
pub(super) fn put_groups(out: &mut Vec<u8>, bytes: &[u8]) {
    for (at, two) in bytes.chunks(2).enumerate() {
        if at > 0 {
            out.push(b':');
        }
        put_hex(out, two);
    }
}

/// RFC 4648 §4, with padding.
pub(super) fn put_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    for three in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|at| three.get(at).copied().unwrap_or(0));
        let six = [a >> 2, a << 4 | b >> 4, b << 2 | c >> 6, c];
        for (at, bits) in six.into_iter().enumerate() {
            let is_there = at <= three.len();
            out.push(if is_there {
                digit(BASE64, bits & 63)
            } else {
                b'='
            });
        }
    }
}

/// RFC 4648 §7 in lower case without padding, as RFC 5155 §3.3 requires.
pub(super) fn put_base32(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut bits = 0u32;
    let mut count = 0u32;
    for &byte in bytes {
        bits = bits << 8 | u32::from(byte);
        count = count.saturating_add(8);
        while count >= 5 {
            count = count.saturating_sub(5);
            out.push(digit(BASE32, low(bits >> count) & 31));
        }
    }
    if count > 0 {
        let left = 5u32.saturating_sub(count);
        out.push(digit(BASE32, low(bits << left) & 31));
    }
}

/// Appends a quoted string; quotes and backslashes in it get a backslash (RFC 1035 §5.1).
pub(super) fn put_quoted(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    for &byte in bytes {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Appends seconds since 1970 as YYYYMMDDHHmmSS (RFC 4034 §3.2).
pub(super) fn put_time(out: &mut Vec<u8>, seconds: u32) {
    let (year, month, day) = date(seconds / 86_400);
    let rest = seconds % 86_400;
    let parts = [month, day, rest / 3600, rest / 60 % 60, rest % 60];
    for two in [year / 100, year % 100].into_iter().chain(parts) {
        out.push(digit(HEX, low(two / 10)));
        out.push(digit(HEX, low(two % 10)));
    }
}

/// Converts days since 1970 to a date of the Gregorian calendar. Years start in March, so that the
/// leap day is the last day of a year.
fn date(days: u32) -> (u32, u32, u32) {
    let days = days.saturating_add(719_468);
    let era = days / 146_097;
    let of_era = days % 146_097;
    let leap = of_era / 1_460;
    let century = of_era / 36_524;
    let last = of_era / 146_096;
    let year = of_era
        .saturating_add(century)
        .saturating_sub(leap)
        .saturating_sub(last)
        / 365;
    let before = (year.saturating_mul(365)).saturating_add(year / 4);
    let of_year = of_era.saturating_add(year / 100).saturating_sub(before);
    let month = of_year.saturating_mul(5).saturating_add(2) / 153;
    let begin = month.saturating_mul(153).saturating_add(2) / 5;
    let day = of_year.saturating_sub(begin).saturating_add(1);
    let january = month >= 10;
    let month = if january {
        month.saturating_sub(9)
    } else {
        month.saturating_add(3)
    };
    let year = era
        .saturating_mul(400)
        .saturating_add(year)
        .saturating_add(january.into());
    (year, month, day)
}

fn digit(digits: &[u8], at: u8) -> u8 {
    digits.get(usize::from(at)).copied().unwrap_or(b'?')
}

fn low(number: u32) -> u8 {
    let [low, ..] = number.to_le_bytes();
    low
}

const HEX: &[u8] = b"0123456789abcdef";
const BASE32: &[u8] = b"0123456789abcdefghijklmnopqrstuv";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::{put_base32, put_base64, put_ipv4, put_time};
    use core::net::Ipv4Addr;

    fn with(put: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        put(&mut out);
        String::from_utf8(out).unwrap()
    }

    /// The result is that of the standard library.
    #[test]
    fn addresses_are_in_plain_decimals() {
        for byte in 0..=u8::MAX {
            let bytes = [byte, 0, byte.wrapping_mul(7), 255];
            let expected = Ipv4Addr::from(bytes).to_string();
            assert_eq!(with(|out| put_ipv4(out, bytes)), expected);
        }
    }

    /// RFC 4648 §10, test vectors.
    #[test]
    fn bases_are_those_of_rfc_4648() {
        let cases = [
            ("", "", ""),
            ("f", "Zg==", "co"),
            ("fo", "Zm8=", "cpng"),
            ("foo", "Zm9v", "cpnmu"),
            ("foob", "Zm9vYg==", "cpnmuog"),
            ("fooba", "Zm9vYmE=", "cpnmuoj1"),
            ("foobar", "Zm9vYmFy", "cpnmuoj1e8"),
        ];
        for (text, base64, base32) in cases {
            assert_eq!(with(|out| put_base64(out, text.as_bytes())), base64);
            assert_eq!(with(|out| put_base32(out, text.as_bytes())), base32);
        }
    }

    /// RFC 4034 §3.2: the times of signatures, with leap years and ends of months.
    #[test]
    fn times_are_dates() {
        let cases = [
            (0, "19700101000000"),
            (951_782_400, "20000229000000"),
            (1_077_926_399, "20040227235959"),
            (1_709_164_800, "20240229000000"),
            (4_107_542_399, "21000228235959"),
            (4_107_542_400, "21000301000000"),
            (u32::MAX, "21060207062815"),
        ];
        for (seconds, text) in cases {
            assert_eq!(with(|out| put_time(out, seconds)), text);
        }
    }
}
