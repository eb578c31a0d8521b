//! The records of messages, and the secrets that they do not show.

pub(crate) mod all_fields;
pub(crate) mod columns;
pub(crate) mod message;
pub(crate) mod secrets;
