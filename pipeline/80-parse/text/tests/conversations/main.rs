//! Conversations in the built-in grammars, whole and cut anywhere.

#![expect(clippy::unwrap_used, reason = "a test")]

mod columns;
mod events;
mod files;
mod folding;
mod limits;
mod mail;
mod mail_gaps;
mod redis;
mod sip;
mod smtp;
mod smuggling;
mod support;
