//! The shared corpus of public captures, where it is there: which captures are in which category.
//!
//! A stranger's clone has none: tests that need it say so and pass.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A capture of the corpus.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CorpusCapture {
    /// Its category in the manifest, such as `D tunnels`.
    pub category: String,
    /// Its path inside the corpus.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
}

/// The workspace's root folder.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
}

/// The folder of shared test material (`FLOWPIN_SHARED`, else beside the workspace), if it is
/// there; otherwise says why `what` is skipped.
pub fn shared_dir(what: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("FLOWPIN_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => workspace().parent()?.join("shared"),
    };
    if folder.join("corpus/MANIFEST").is_file() {
        return Some(folder);
    }
    skip(what, &format!("{} is not there", folder.display()));
    None
}

/// Says that a check is left out and why, on the real standard error, so that it is seen for
/// passing tests too.
pub fn skip(what: &str, why: &str) {
    let line = format!("skipped: {what}: {why}\n");
    // Nothing can be done about a closed standard error.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Whether the long form of the tests was asked for (`./x test --long`).
pub fn is_long() -> bool {
    std::env::var_os("FLOWPIN_TEST_LONG").is_some_and(|value| value != "0")
}

/// The captures whose category starts with one of `categories` (all, if none is given), in the
/// manifest's order. Empty, with the reason told, where there is no corpus.
pub fn captures(categories: &[&str], what: &str) -> Vec<CorpusCapture> {
    let Some(corpus) = shared_dir(what).map(|shared| shared.join("corpus")) else {
        return Vec::new();
    };
    let manifest = fs::read_to_string(corpus.join("MANIFEST")).unwrap_or_default();
    let mut category = String::new();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix("# category: ") {
            name.clone_into(&mut category);
        } else if !line.starts_with('#') && is_capture(line) && seen.insert(line) {
            let wanted = categories.iter().any(|start| category.starts_with(start));
            if wanted || categories.is_empty() {
                found.push(CorpusCapture {
                    category: category.clone(),
                    name: line.to_owned(),
                    path: corpus.join(line),
                });
            }
        }
    }
    found
}

/// The bundled captures, which are always there, in name order.
pub fn bundled() -> Vec<PathBuf> {
    let folder = workspace().join("testkit/captures");
    let mut found: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_capture(&path.to_string_lossy()))
        .collect();
    found.sort();
    found
}

/// Whether a name is that of a capture: expected results lie beside captures.
fn is_capture(name: &str) -> bool {
    if name.contains("/Baseline/") {
        return false;
    }
    let mut name = name;
    for packed in [".gz", ".zst", ".lz4", ".xz"] {
        name = name.strip_suffix(packed).unwrap_or(name);
    }
    [".pcap", ".pcapng", ".cap", ".trace", ".ntar", ".dmp"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The demo and most tests need the bundled captures; each has its ground truth beside it.
    #[test]
    fn every_bundled_capture_has_its_truth() {
        let found = bundled();
        assert!(found.len() >= 20, "{found:?}");
        for path in found {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let truth = path.with_file_name(format!("{}.json", name.split('.').next().unwrap()));
            assert!(truth.is_file(), "{}", truth.display());
        }
    }

    /// Expected results must not be taken for captures.
    #[test]
    fn results_are_no_captures() {
        assert!(is_capture("a/b.pcap") && is_capture("c.pcapng.gz"));
        assert!(!is_capture("result/fix2.pcap.out") && !is_capture("x/Baseline/y/conn.log"));
    }
}
