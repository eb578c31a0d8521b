//! What is made of bodies that somebody asked for. All others are skipped.

mod coding;

pub(crate) use coding::encoding;
