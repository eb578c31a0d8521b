//! The wire format: a cursor that reports every failure, names, and whole messages.

pub(crate) mod codes;
pub(crate) mod cursor;
pub(crate) mod message;
pub(crate) mod name;
pub(crate) mod suffixes;
pub(crate) mod text;
