//! Runs the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program with arguments, its standard input empty.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowpin"));
    command.args(args).stdin(Stdio::null());
    // Not the user's own.
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// What a run of the program leaves.
pub(crate) fn flowpin(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

/// Its exit code.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Its standard output.
pub(crate) fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

/// Its standard error.
pub(crate) fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

/// The path of a bundled capture; of their folder for an empty name.
pub(crate) fn capture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../testkit/captures")
        .join(name);
    text(&path).to_owned()
}

/// What a `flow` event says that the connection speaks, by our own name.
pub(crate) fn app(flow: &serde_json::Value) -> &serde_json::Value {
    let own = &flow["flowpin"]["app"];
    if own.is_null() {
        &flow["app_proto"]
    } else {
        own
    }
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The one line of an error: which exit code, and what it says.
#[track_caller]
pub(crate) fn assert_refused(output: &Output, exit: i32, parts: &[&str]) {
    assert_eq!(code(output), exit, "{}", stderr(output));
    assert_eq!(stderr(output).lines().count(), 1, "{}", stderr(output));
    for part in parts {
        assert!(stderr(output).contains(part), "{part}: {}", stderr(output));
    }
}

/// The machine's summary of a run without records.
#[track_caller]
pub(crate) fn summary(args: &[&str]) -> serde_json::Value {
    let output = flowpin(&[&["run", "--format", "none", "--json"], args].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}
