//! Completions and manual pages, generated from the definition of the command line.

use super::print;
use crate::cli::Cli;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use anyhow::{Context, anyhow};
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use flowpin_disk::{Existing, Output, Reads, check_folder, earlier};
use flowpin_engine::Control;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::Ordering;

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "flowpin", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Prints the main manual page, or that of the command that `what` names; or writes the pages of
/// all commands to the directory that it names.
pub(crate) fn manual(what: Option<&Path>, force: bool) -> Result<Exit, Failure> {
    let pages = pages(Cli::command().disable_help_subcommand(true));
    let word = what.unwrap_or(Path::new("flowpin"));
    if let Some(page) = page_of(&pages, word) {
        let mut text = Vec::new();
        page.render(&mut text).map_err(Failure::failed)?;
        print(&String::from_utf8_lossy(&text))?;
        return Ok(Exit::Done);
    }
    // A misspelt command is not a directory to create.
    let is_path = word.as_os_str().as_encoded_bytes().contains(&b'/');
    if !is_path && !word.is_dir() {
        return Err(Failure::usage(anyhow!(
            "`{0}` is neither a command nor an existing directory; `./{0}` creates one",
            word.display()
        )));
    }
    let existing = match force {
        true => Existing::Replace,
        false => Existing::Refuse,
    };
    let names: Vec<_> = pages.iter().map(Man::get_filename).collect();
    let is_page = |name: &str| names.iter().any(|page| page == name);
    check_folder(word).map_err(Failure::usage)?;
    // All that is in the way is named before anything is written.
    earlier(word, existing, &Reads::default(), is_page).map_err(Failure::usage)?;
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    std::fs::create_dir_all(word)
        .and_then(|()| write_pages(&pages, word, existing, &control))
        .with_context(|| format!("cannot write manual pages to {}", word.display()))
        .map_err(Failure::failed)?;
    Ok(signals.received().map_or(Exit::Done, Exit::Signal))
}

/// The page of a command, by its name (`run`, `gen-http`) or the page's (`flowpin-run`).
fn page_of<'a>(pages: &'a [Man], word: &Path) -> Option<&'a Man> {
    let word = word.to_str()?;
    let names = [format!("{word}.1"), format!("flowpin-{word}.1")];
    pages
        .iter()
        .find(|page| names.contains(&page.get_filename()))
}

/// The pages of a command and of those in it.
fn pages(mut command: clap::Command) -> Vec<Man> {
    command.build();
    let (mut waiting, mut pages) = (vec![command], Vec::new());
    while let Some(command) = waiting.pop() {
        let is_shown = |one: &&clap::Command| !one.is_hide_set();
        waiting.extend(command.get_subcommands().filter(is_shown).cloned());
        pages.push(Man::new(command));
    }
    pages
}

/// Writes pages until a signal comes; each replaces an older one when it is whole.
fn write_pages(pages: &[Man], dir: &Path, existing: Existing, control: &Control) -> io::Result<()> {
    for man in pages {
        if control.stop.load(Ordering::Relaxed) {
            break;
        }
        let mut page = Vec::new();
        man.render(&mut page)?;
        let path = dir.join(man.get_filename());
        let mut file = Output::open(&path, existing, &Reads::default())?;
        file.write_all(&page)?;
        file.keep()?;
    }
    Ok(())
}
