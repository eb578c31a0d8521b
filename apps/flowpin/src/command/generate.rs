//! What is generated from the definition of the command line: completions and manual pages.

use super::print;
use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use flowpin_disk::{Existing, Reads, create};
use std::io::{self, Write};
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
        .and_then(|()| write_pages(command, dir))
        .with_context(|| format!("cannot write manual pages to {}", dir.display()))
        .map_err(Failure::failed)?;
    Ok(Exit::Done)
}

/// Writes the pages of a command and of those in it. Pages of before are replaced: they are made
/// of the program alone.
fn write_pages(mut command: clap::Command, dir: &Path) -> io::Result<()> {
    command.build();
    let mut waiting = vec![command];
    while let Some(command) = waiting.pop() {
        let is_shown = |one: &&clap::Command| !one.is_hide_set();
        waiting.extend(command.get_subcommands().filter(is_shown).cloned());
        let man = Man::new(command);
        let mut page = Vec::new();
        man.render(&mut page)?;
        let path = dir.join(man.get_filename());
        create(&path, Existing::Replace, &Reads::default())?.write_all(&page)?;
    }
    Ok(())
}
