//! What is generated from the definition of the command line: completions and manual pages.

use super::print;
use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::Path;

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "flowpin", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Prints the main manual page, or writes the pages of all commands into `dir`.
pub(crate) fn manual(dir: Option<&Path>) -> Result<Exit, Failure> {
    let command = Cli::command().disable_help_subcommand(true);
    let Some(dir) = dir else {
        let mut page = Vec::new();
        Man::new(command)
            .render(&mut page)
            .map_err(Failure::failed)?;
        print(&String::from_utf8_lossy(&page))?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(command, dir))
        .with_context(|| format!("cannot write manual pages to {}", dir.display()))
        .map_err(Failure::failed)?;
    Ok(Exit::Done)
}
