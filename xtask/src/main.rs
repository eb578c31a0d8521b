//! The repository's own checks: `cargo xtask ci`, or `cargo xtask ci --quick`.
//!
//! Each step is a command or a rule over the tree. All steps run, then the failed ones are listed.
//! Owns the rules about layout, sizes, wording, layers and licences; tests belong to their crates.

mod ci;
mod finding;
mod grammars;
mod layers;
mod licences;
mod source;
mod tidy;
mod wording;

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["ci", options @ ..] if options.iter().all(|word| CI_OPTIONS.contains(word)) => {
            let has = |option| options.contains(&option);
            ci::run(&root()?, has("--quick"), has("--notes"))
        }
        ["grammars"] => {
            grammars::write(&root()?)?;
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!(
            "usage: cargo xtask ci            format, rules, lints, tests, documentation\n       \
             cargo xtask ci --quick    format, rules and lints only\n       \
             cargo xtask ci --notes    also lists long files and large folders\n       \
             cargo xtask grammars      generates the Rust code of built-in grammars"
        ),
    }
}

const CI_OPTIONS: &[&str] = &["--quick", "--notes"];

/// The repository's root: the folder above this crate.
fn root() -> Result<PathBuf> {
    match Path::new(env!("CARGO_MANIFEST_DIR")).parent() {
        Some(root) => Ok(root.to_owned()),
        None => bail!("this crate has no folder above it"),
    }
}
