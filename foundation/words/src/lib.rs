//! How people read numbers, times and texts: in summaries, tables and explanations.
//!
//! Owns the forms of single values. Guarantees that no text of a capture reaches a terminal as a
//! command. Decides nothing about what is said, nor about layout.

pub mod number;
mod printable;

pub use printable::printable;
