//! Transformed programs, compiled and run: corner cases, programs that read captures, scanners.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

mod captures;
mod configured;
mod corpus;
mod earlier;
mod gathered;
mod mutants;
mod outputs;
mod patterns;
mod scanner;
mod stages;
mod standard;
mod tools;
mod unity;
