//! What the command writes about a capture. The tests of TLS use it, too.

use flowpin_testkit::product;
use std::collections::BTreeMap;
use std::path::Path;

/// The files of a run with these formats and checksums.
pub(crate) fn files(capture: &Path, format: &str, checksums: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture.to_str().unwrap();
    let output = folder.path().to_str().unwrap();
    let words = ["run", "-q", "--format", format, "--timeouts", "zeek"];
    let paths = ["-k", checksums, "-r", capture, "-l", output];
    let outcome = product::run(&[&words[..], &paths].concat()).unwrap();
    assert!(outcome.analysed(), "{capture}: {}", outcome.stderr);
    let files = product::files(folder.path()).unwrap().into_iter();
    files
        .map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into_owned()))
        .collect()
}
