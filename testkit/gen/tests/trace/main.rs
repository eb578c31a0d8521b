//! Traces measured back: by readers that share no code with what makes them.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

mod characteristics;
mod http;
mod measure;
mod oracles;
mod truth;
