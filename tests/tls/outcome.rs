//! What the command writes about a capture.

use flowpin_testkit::product;
use std::path::Path;

/// A file of a run; empty if there is none.
pub(crate) fn file(capture: &Path, format: &str, name: &str, checksums: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture.to_str().unwrap();
    let output = folder.path().to_str().unwrap();
    let words = ["run", "-q", "--format", format, "--timeouts", "zeek"];
    let paths = ["-k", checksums, "-r", capture, "-l", output];
    let outcome = product::run(&[&words[..], &paths].concat()).unwrap();
    assert!(outcome.analysed(), "{capture}: {}", outcome.stderr);
    let mut files = product::files(folder.path()).unwrap();
    let bytes = files.remove(name).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
