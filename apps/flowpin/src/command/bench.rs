//! `flowpin bench`: the papers' tables. A separate program measures, so that this one does not
//! contain generated traces, peers and pictures.

use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use anyhow::anyhow;
use clap::CommandFactory;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "flowpin-bench";

/// Starts it with the remaining arguments, and returns its exit code.
pub(crate) fn bench(words: &[OsString]) -> Result<Exit, Failure> {
    let program =
        beside(std::env::current_exe().ok().as_deref()).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let status = Command::new(&program).args(words).status();
    let is_missing = matches!(&status, Err(error) if error.kind() == ErrorKind::NotFound);
    if is_missing && words.iter().any(|word| word == "--help" || word == "-h") {
        return help();
    }
    let status = status.map_err(|error| {
        let missing = anyhow!(error).context(format!(
            "{PROGRAM} is neither in the directory of this program nor on the PATH; in the source \
             tree, `cargo build --release -p {PROGRAM}` builds it"
        ));
        Failure::failed(missing)
    })?;
    match status.code() {
        Some(0) => Ok(Exit::Done),
        Some(2) => Ok(Exit::Usage),
        _ => Ok(Exit::Failed),
    }
}

/// Its help, if the program itself is missing.
fn help() -> Result<Exit, Failure> {
    let mut command = Cli::command();
    command.build();
    let bench = command.find_subcommand_mut("bench");
    let text = bench.map(|bench| bench.render_long_help().ansi().to_string());
    super::print(&text.unwrap_or_default())?;
    Ok(Exit::Done)
}

/// The program in the folder of this one, if it is there.
fn beside(own: Option<&Path>) -> Option<PathBuf> {
    let mut path = own?.parent()?.join(PROGRAM);
    path.set_extension(std::env::consts::EXE_EXTENSION);
    path.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::{PROGRAM, beside};

    /// The two are built and installed together.
    #[test]
    fn the_program_is_looked_for_beside_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("flowpin");
        assert_eq!(beside(Some(&own)), None);
        let bench = folder
            .path()
            .join(PROGRAM)
            .with_extension(std::env::consts::EXE_EXTENSION);
        std::fs::write(&bench, "").unwrap();
        assert_eq!(beside(Some(&own)), Some(bench));
    }
}
