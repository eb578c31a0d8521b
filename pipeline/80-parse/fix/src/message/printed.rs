//! Printed messages: `|` or `^A` in place of SOH.

use crate::message::fields::SOH;

/// Converts a line of a log to the bytes on the wire: `|` and `^A` become SOH.
///
/// Only where a field begins: a `|` within a value stays unless digits and `=` follow.
///
/// ```
/// assert_eq!(flowpin_fix::from_printed(b"8=FIX.4.2|9=5|35=0|58=a|b|10=1|"),
///     b"8=FIX.4.2\x019=5\x0135=0\x0158=a|b\x0110=1\x01");
/// assert_eq!(flowpin_fix::from_printed(b"35=0^A34=1^A"), b"35=0\x0134=1\x01");
/// ```
pub fn from_printed(line: &[u8]) -> Vec<u8> {
    let line = line.trim_ascii_end();
    let mut wire = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after_byte)) = rest.split_first() {
        let after = match byte {
            b'|' => Some(after_byte),
            b'^' => after_byte.strip_prefix(b"A"),
            _ => None,
        };
        match after.filter(|after| begins_field(after)) {
            Some(after) => {
                wire.push(SOH);
                rest = after;
            }
            None => {
                wire.push(byte);
                rest = after_byte;
            }
        }
    }
    wire
}

/// Converts a message to text, with `|` in place of SOH.
///
/// ```
/// assert_eq!(flowpin_fix::to_printed(b"35=0\x0134=1\x01"), b"35=0|34=1|");
/// ```
pub fn to_printed(wire: &[u8]) -> Vec<u8> {
    let shown = wire
        .iter()
        .map(|&byte| if byte == SOH { b'|' } else { byte });
    shown.collect()
}

/// Whether a field may begin here, or the line ends.
fn begins_field(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest.is_empty() || (digits > 0 && rest.get(digits) == Some(&b'='))
}
