//! Splits bytes into lines: the end of each, the end of its first word, and whether it contains an
//! invalid control byte.
//!
//! ```text
//!  64 bytes ──► three masks: line feeds, controls, ends of names ──► one bit scan a line
//! ```
//!
//! Each byte of a head is loaded once, however many lines it has.

mod lines;
mod masks;

use crate::syntax::{field, might_be_known};
pub(crate) use lines::{Line, Lines};

/// Counts the fields of a head as the parser finds them: for measurements only.
#[doc(hidden)]
pub fn head_fields(bytes: &[u8]) -> usize {
    let mut lines = Lines::new(bytes);
    let mut fields = 0usize;
    while let Some(line) = lines.next() {
        let text = line.text(bytes);
        if text.is_empty() {
            break;
        }
        let stop = line.stop.wrapping_sub(line.start);
        if let Some((name, value)) = text.split_at_checked(stop) {
            let known = might_be_known(name) && field(name).is_some();
            fields = fields.wrapping_add(usize::from(known | line.odd) | value.len().min(1));
        }
    }
    fields
}

/// The lines of a head, each with the text before its first colon, space or control byte: for
/// comparison with other scanners.
#[doc(hidden)]
pub fn head_lines(bytes: &[u8], mut tell: impl FnMut(&[u8], &[u8])) {
    let mut lines = Lines::new(bytes);
    while let Some(line) = lines.next() {
        let name = bytes.get(line.start..line.stop).unwrap_or_default();
        tell(line.text(bytes), name);
    }
}
