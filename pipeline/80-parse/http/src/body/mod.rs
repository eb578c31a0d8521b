//! What is made of bodies that somebody asked for: decoded, hashed, kept as files. All others are
//! skipped.
//!
//! ```text
//!  bytes of a body ──► decoder ──► limits ──► hashes, first bytes, file
//! ```

mod bodies;
mod coding;
mod decoder;
mod gzip;
mod kept;
mod magic;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use bodies::Bodies;
pub(crate) use coding::{UNKNOWN, both, encoding};
pub(crate) use work::Work;
