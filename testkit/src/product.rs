//! Runs the command as a user would and gives back all that it did.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What one run of the command did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The exit code; a signal's number is negative.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, as text.
    pub stderr: String,
}

impl Outcome {
    /// Standard output as JSON: the summary of `--json`.
    ///
    /// # Errors
    /// It is no JSON.
    pub fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_slice(&self.stdout)
    }

    /// Whether the run analysed what there was: 0, or 4 for input that is cut or damaged.
    pub fn analysed(&self) -> bool {
        matches!(self.code, 0 | 4)
    }
}

/// The path of the command: `FLOWPIN_BIN`, else built here in the profile of the running test.
///
/// # Errors
/// It cannot be built; the reason is told by cargo.
pub fn command() -> io::Result<&'static Path> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT
        .get_or_init(|| build().map_err(|error| error.to_string()))
        .as_deref()
        .map_err(|error| io::Error::other(error.clone()))
}

/// What is built for tests: the command, the module of the Python package and the C library, always
/// together, and with the test kit. Each alone would have features of its own, and all below it
/// would be built once more. The Python package and the library are tested on Linux.
pub const BUILT: &[&str] = if cfg!(target_os = "linux") {
    &[
        "-p",
        "flowpin",
        "-p",
        "flowpin-testkit",
        "-p",
        "flowpin-python",
        "-p",
        "flowpin-c",
    ]
} else {
    &["-p", "flowpin", "-p", "flowpin-testkit"]
};

fn build() -> io::Result<PathBuf> {
    if let Some(path) = std::env::var_os("FLOWPIN_BIN") {
        return Ok(path.into());
    }
    // …/target/PROFILE/deps/test-1234
    let test = std::env::current_exe()?;
    let profile = test
        .ancestors()
        .nth(2)
        .ok_or_else(|| io::Error::other("the test runs from an unexpected place"))?;
    let is_release = profile.file_name() == Some(OsStr::new("release"));
    let target = profile.parent().unwrap_or(profile);
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let status = Command::new(cargo)
        .args(["build", "-q"])
        .args(BUILT)
        .args(is_release.then_some("--release"))
        .env("CARGO_TARGET_DIR", target)
        .current_dir(crate::corpus::workspace())
        .status()?;
    if !status.success() {
        return Err(io::Error::other("the command cannot be built"));
    }
    Ok(profile.join("flowpin"))
}

/// Runs the command with these words; nothing on standard input, no terminal.
///
/// # Errors
/// It cannot be built or started.
pub fn run<S: AsRef<OsStr>>(words: &[S]) -> io::Result<Outcome> {
    let output = Command::new(command()?)
        .args(words)
        .stdin(Stdio::null())
        .env("NO_COLOR", "1")
        .output()?;
    Ok(Outcome {
        code: code(output.status),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// The exit code, or the negative number of the signal.
pub fn code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status
        .code()
        .unwrap_or_else(|| -status.signal().unwrap_or(0))
}

/// All files below a folder, by relative path.
///
/// # Errors
/// One cannot be read.
pub fn files(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(here) = pending.pop() {
        for entry in fs::read_dir(here)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path);
                found.insert(name.to_string_lossy().into_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(found)
}
