//! What is made of bodies that somebody asked for: decoded, hashed, kept as files. All others are
//! skipped.
//!
//! ```text
//!  bytes of a body ──► other codings ──► decoder ──► limits ──► hashes, first bytes, file
//! ```

mod bodies;
mod coding;
mod decoder;
mod kept;
mod magic;
#[cfg(test)]
mod tests;
mod transfer;
mod work;

pub(crate) use bodies::Bodies;
pub(crate) use coding::Encodings;
pub(crate) use work::Work;
