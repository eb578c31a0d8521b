//! `docs/user/recipes.md`: each command is run, and prints what the page shows.
//!
//! `UPDATE_RECIPES=1` writes what they print into the page.

use crate::page::{Piece, joined, pieces};
use flowpin_testkit::{corpus, product};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

#[test]
fn recipes_print_what_the_page_shows() {
    let path = corpus::workspace().join("docs/user/recipes.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let kitchen = Kitchen::new();
    let mut pieces = pieces(&page);
    let mut printed = None;
    for piece in &mut pieces {
        match piece {
            Piece::Prose(_) => {}
            Piece::Command(command) => printed = kitchen.shell(command),
            Piece::Program(program) => printed = kitchen.python(program),
            Piece::Output(output) => {
                if let Some(printed) = printed.take() {
                    *output = printed;
                }
            }
        }
    }
    let fresh = joined(&pieces);
    if std::env::var_os("UPDATE_RECIPES").is_some() {
        std::fs::write(path, fresh).unwrap();
        return;
    }
    let stale = page.lines().zip(fresh.lines());
    let stale: Vec<_> = stale.filter(|(shown, printed)| shown != printed).collect();
    assert!(
        page == fresh,
        "docs/user/recipes.md is stale, update it with UPDATE_RECIPES=1: {:#?}",
        stale.first()
    );
}

/// Where commands are run: in a folder with the bundled captures, with Flowpin and the environment
/// of Python on the path.
struct Kitchen {
    folder: tempfile::TempDir,
    path: OsString,
    has_jq: bool,
}

impl Kitchen {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let captures = corpus::workspace().join("testkit");
        std::os::unix::fs::symlink(captures, folder.path().join("testkit")).unwrap();
        let flowpin = product::command().unwrap().canonicalize().unwrap();
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let folders = [flowpin.parent(), crate::python().and_then(Path::parent)];
        let folders = folders.into_iter().flatten().map(Path::to_owned);
        let path = std::env::join_paths(folders.chain(std::env::split_paths(&usual))).unwrap();
        let has_jq = Command::new("jq").arg("--version").output().is_ok();
        if !has_jq {
            corpus::skip("recipes with jq", "it is not installed");
        }
        Self {
            folder,
            path,
            has_jq,
        }
    }

    /// What a line of a shell prints; none if what it needs is not there.
    fn shell(&self, command: &str) -> Option<String> {
        let needs = |tool: &str| command.split_whitespace().any(|word| word == tool);
        let lacks_python = needs("duckdb") && crate::python().is_none();
        if lacks_python || (needs("jq") && !self.has_jq) {
            return None;
        }
        Some(self.printed(Command::new("sh").args(["-c", command]), command))
    }

    /// Likewise a Python program.
    fn python(&self, program: &str) -> Option<String> {
        let python = crate::python()?;
        Some(self.printed(Command::new(python).args(["-c", program]), program))
    }

    fn printed(&self, run: &mut Command, what: &str) -> String {
        let output = run
            .current_dir(self.folder.path())
            .env("PATH", &self.path)
            .env("TZ", "UTC")
            .env("LC_ALL", "C")
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what}\n{errors}");
        String::from_utf8(output.stdout).unwrap()
    }
}
