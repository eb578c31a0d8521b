//! The files of the tree that rules read.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// A source file, its path from the root and its text.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Source {
    /// Whether all of it is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("tests.rs")
            || self
                .path
                .components()
                .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "benches")
    }

    /// Whether a program wrote it: then no rules about lines or words apply.
    pub(crate) fn is_generated(&self) -> bool {
        let mut head = self.text.lines().take(5);
        head.any(|line| line.starts_with("// @generated") || line.starts_with("<!-- @generated"))
    }

    /// The number of lines before the test module, which stands last.
    pub(crate) fn line_count_without_tests(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().collect();
        lines
            .windows(2)
            .position(|pair| {
                pair.first() == Some(&"#[cfg(test)]")
                    && pair
                        .last()
                        .is_some_and(|line| line.starts_with("mod tests {"))
            })
            .unwrap_or(lines.len())
    }
}

/// All Rust sources below `root`, by path.
pub(crate) fn rust_sources(root: &Path) -> Result<Vec<Source>> {
    with_endings(root, &["rs"])
}

/// All Rust sources and documents below `root`, by path.
pub(crate) fn texts(root: &Path) -> Result<Vec<Source>> {
    with_endings(root, &["rs", "md"])
}

fn with_endings(root: &Path, endings: &[&str]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in files(root)? {
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| endings.contains(&ending)) {
            let text = fs::read_to_string(root.join(&path))
                .with_context(|| format!("cannot read {}", path.display()))?;
            sources.push(Source { path, text });
        }
    }
    Ok(sources)
}

/// All shell scripts below `root`: by ending or by first line.
pub(crate) fn shell_scripts(root: &Path) -> Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    for path in files(root)? {
        let is_candidate = match path.extension() {
            Some(ending) => ending == "sh",
            None => starts_as_shell(&root.join(&path)),
        };
        if is_candidate {
            scripts.push(path);
        }
    }
    Ok(scripts)
}

fn starts_as_shell(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| {
        let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
        first.starts_with(b"#!") && first.ends_with(b"sh")
    })
}

/// All folders below `root` that hold sources, with the number of their entries.
pub(crate) fn folders(root: &Path) -> Result<Vec<(PathBuf, usize)>> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = SOURCE_FOLDERS.iter().map(PathBuf::from).collect();
    while let Some(folder) = waiting.pop() {
        let entries = entries(root, &folder)?;
        found.push((folder, entries.len()));
        waiting.extend(
            entries
                .into_iter()
                .filter(|entry| root.join(entry).is_dir()),
        );
    }
    found.sort();
    Ok(found)
}

fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        for entry in entries(root, &folder)? {
            if root.join(&entry).is_dir() {
                waiting.push(entry);
            } else {
                found.push(entry);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What lies in a folder, apart from what is not ours: hidden, built, or fetched.
fn entries(root: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let absolute = root.join(folder);
    if !absolute.is_dir() {
        return Ok(found);
    }
    let listing =
        fs::read_dir(&absolute).with_context(|| format!("cannot list {}", absolute.display()))?;
    for entry in listing {
        let entry = entry?;
        let name = entry.file_name();
        let is_hidden = name.as_encoded_bytes().starts_with(b".") && name != ".ci";
        let is_link = entry.file_type()?.is_symlink();
        if !is_hidden && !is_link && !NOT_OURS.iter().any(|other| name == **other) {
            found.push(folder.join(name));
        }
    }
    found.sort();
    Ok(found)
}

const SOURCE_FOLDERS: &[&str] = &[
    "apps",
    "bindings",
    "engine",
    "foundation",
    "pipeline",
    "testkit",
    "tests",
    "xtask",
];
const NOT_OURS: &[&str] = &[
    "target",
    "shared",
    "corpus",
    "artifacts",
    "captures",
    "data",
    "node_modules",
    "__pycache__",
];

#[cfg(test)]
mod tests {
    use super::Source;

    /// Test modules stand last and do not count towards a file's size.
    #[test]
    fn lines_of_the_test_module_do_not_count() {
        let source = Source {
            path: "a/src/b.rs".into(),
            text: "//! x\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n}\n".to_owned(),
        };
        assert_eq!(source.line_count_without_tests(), 3);
        assert!(!source.is_test());
    }
}
