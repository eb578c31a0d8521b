//! The repository's own checks: `cargo xtask ci`, or `cargo xtask ci --quick`.
//!
//! Each step is a command or a rule over the tree; all are run, then those that failed are named.
//! Owns the rules about layout, sizes, words, layers and licences; the code's own tests are the
//! crates'.

mod ci;
mod finding;
mod grammars;
mod layers;
mod licences;
mod source;
mod tidy;

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let is_quick = match words.as_slice() {
        ["ci"] => false,
        ["ci", "--quick"] => true,
        ["grammars"] => {
            grammars::write(&root()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => bail!(
            "usage: cargo xtask ci            format, rules, lints, tests, documentation\n       \
             cargo xtask ci --quick    format, rules and lints only\n       \
             cargo xtask grammars      writes the grammars that come along as Rust"
        ),
    };
    ci::run(&root()?, is_quick)
}

/// The repository's root: the folder above this crate.
fn root() -> Result<PathBuf> {
    match Path::new(env!("CARGO_MANIFEST_DIR")).parent() {
        Some(root) => Ok(root.to_owned()),
        None => bail!("this crate has no folder above it"),
    }
}
