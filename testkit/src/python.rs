//! Python packages for tests: in an environment of their own, so that nothing of the machine's is
//! changed.

use crate::corpus;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Packages that tests need, and where they are installed.
#[derive(Clone, Copy, Debug)]
pub struct Environment<'a> {
    /// The folder of the environment, below the target folder.
    pub folder: &'a Path,
    /// What pip is asked for.
    pub packages: &'a [&'a str],
    /// What Python can import once they are there: `duckdb, pandas`.
    pub modules: &'a str,
    /// What is left out without them.
    pub what: &'a str,
}

impl Environment<'_> {
    /// The path of a Python that has the packages; otherwise says why there is none.
    pub fn python(&self) -> Option<PathBuf> {
        let python = self.folder.join("bin/python");
        if self.is_complete(&python) {
            return Some(python);
        }
        let made = Command::new("python3")
            .args(["-m", "venv"])
            .arg(self.folder)
            .output();
        if !made.is_ok_and(|output| output.status.success()) {
            corpus::skip(self.what, "python3 with venv is not installed");
            return None;
        }
        let installed = Command::new(&python)
            .args(["-m", "pip", "install", "-q", "--disable-pip-version-check"])
            .args(["--timeout", "10", "--retries", "1"])
            .args(self.packages)
            .output();
        if self.is_complete(&python) {
            return Some(python);
        }
        let why = installed.map_or_else(
            |error| error.to_string(),
            |output| String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        let line = why.lines().last().unwrap_or("pip failed").to_owned();
        corpus::skip(self.what, &format!("cannot install the packages: {line}"));
        None
    }

    /// Whether this Python can import the modules.
    fn is_complete(&self, python: &Path) -> bool {
        has(python, self.modules)
    }
}

/// Whether a Python can import these modules.
pub fn has(python: &Path, modules: &str) -> bool {
    let done = Command::new(python)
        .args(["-c", &format!("import {modules}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|status| status.success())
}
