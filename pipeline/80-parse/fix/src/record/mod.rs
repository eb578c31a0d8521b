//! What is told of a message, and what is not.

pub(crate) mod all_fields;
pub(crate) mod columns;
pub(crate) mod secrets;
