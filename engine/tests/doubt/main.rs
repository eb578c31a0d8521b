//! Verdicts that are taken back: junk in front of what is really spoken, over each transport.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

mod datagrams;
mod servers_word;
mod streams;
mod support;
