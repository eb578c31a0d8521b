//! Bytes to lines: where each ends, where its first colon stands, and whether it holds a control
//! byte that none should hold.
//!
//! ```text
//!  64 bytes ──► three masks: line feeds, colons, controls ──► one bit scan a line
//! ```
//!
//! Knows nothing of HTTP but that. Each byte of a head is loaded once, however many lines it has.

mod lines;
mod masks;

pub(crate) use lines::{Line, Lines};
