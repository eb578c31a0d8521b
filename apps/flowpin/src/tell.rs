//! What is told on standard error.
//!
//! That it cannot be told (a full disk, a reader that left) changes nothing: what was done is done,
//! and the exit code says how it went.

use std::fmt::Display;
use std::io::Write;

/// Writes a line.
pub(crate) fn tell(line: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Writes whole lines.
pub(crate) fn tell_text(text: impl Display) {
    let _ = write!(anstream::stderr().lock(), "{text}");
}
