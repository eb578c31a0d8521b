//! The command as its users meet it: the real program, its words, files and exit codes.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

mod explain;
mod failures;
mod identify;
mod interface;
#[cfg(all(feature = "kafka", target_os = "linux"))]
mod kafka;
mod live;
#[cfg(all(any(feature = "kafka", feature = "s3"), target_os = "linux"))]
mod namespace;
#[cfg(target_os = "linux")]
mod outputs;
mod profile;
mod program;
mod protocols;
mod readme;
mod recall;
mod recordings;
mod reload;
mod rules;
mod runs;
#[cfg(all(feature = "s3", target_os = "linux"))]
mod s3;
mod safety;
mod shed;
#[cfg(target_os = "linux")]
mod signals;
mod slices;
#[cfg(target_os = "linux")]
mod soak;
#[cfg(target_os = "linux")]
mod stats;
#[cfg(target_os = "linux")]
mod stopped;
mod streams;
mod traces;
mod usage;
#[cfg(target_os = "linux")]
mod wire;
#[cfg(target_os = "linux")]
mod xdp;
