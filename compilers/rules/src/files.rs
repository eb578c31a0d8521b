//! Files of rules: one, those of a folder, those that a pattern names.

use crate::Reader;
use std::fs;
use std::path::{Path, PathBuf};

impl Reader {
    /// Reads the rules of a file, of a folder's `*.rules` (with its `classification.config`,
    /// `threshold.config`, and `iprep/categories.txt` with `iprep/*.list`), of all files that a
    /// pattern with `*` names, or those that a
    /// `suricata.yaml` names.
    ///
    /// # Errors
    /// If there is no such file, or one that cannot be read.
    pub fn read(&mut self, path: &Path) -> Result<(), String> {
        let shown = path.display();
        if path
            .extension()
            .is_some_and(|one| one == "yaml" || one == "yml")
        {
            return self.read_settings(path);
        }
        if path.is_dir() {
            let found = rules_in(path, "*.rules")?;
            if found.is_empty() {
                return Err(format!("{shown}: no file in it is called *.rules"));
            }
            self.read_beside(path)?;
            return found.iter().try_for_each(|file| self.read_file(file));
        }
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.contains('*') && !path.exists() {
            let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
            let found = rules_in(folder.unwrap_or(Path::new(".")), name)?;
            if found.is_empty() {
                return Err(format!("{shown}: no file has such a name"));
            }
            return found.iter().try_for_each(|file| self.read_file(file));
        }
        self.read_file(path)
    }

    pub(crate) fn read_file(&mut self, path: &Path) -> Result<(), String> {
        let text = given(path)?;
        self.files.push(path.to_owned());
        self.read_text(&path.display().to_string(), &text);
        Ok(())
    }

    /// Reads what lies beside rules, where it does.
    fn read_beside(&mut self, folder: &Path) -> Result<(), String> {
        let classes = folder.join("classification.config");
        if classes.is_file() {
            self.read_classes(&classes)?;
        }
        let thresholds = folder.join("threshold.config");
        if thresholds.is_file() {
            self.read_thresholds(&thresholds)?;
        }
        self.read_reputation_beside(folder)
    }

    /// Reads a `classification.config`.
    ///
    /// # Errors
    /// If it cannot be read. Lines that are wrong are problems.
    pub fn read_classes(&mut self, path: &Path) -> Result<(), String> {
        let text = given(path)?;
        self.beside.push(path.to_owned());
        let file = path.display().to_string();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let class = line
                .strip_prefix("config classification:")
                .and_then(|rest| {
                    let (name, rest) = rest.split_once(',')?;
                    let (text, priority) = rest.rsplit_once(',')?;
                    let priority = priority.trim().parse().ok().filter(|&one| one > 0)?;
                    Some((name.trim(), text.trim(), priority))
                });
            match class {
                Some((name, text, priority)) => self.context.classes.add(name, text, priority),
                None => {
                    let form = "the form is: config classification: NAME,TEXT,PRIORITY";
                    self.refuse_line(&file, (number, line), form.to_owned());
                }
            }
        }
        Ok(())
    }
}

pub(crate) fn given(path: &Path) -> Result<String, String> {
    given_up_to(path, FILE_LEN_MAX)
}

/// The text of a file that is no longer than `most` bytes.
pub(crate) fn given_up_to(path: &Path, most: u64) -> Result<String, String> {
    let bytes = flowpin_disk::read_given_up_to(path, most);
    let shown = path.display();
    let bytes = bytes.map_err(|error| format!("{shown}: {error}"))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(format!("{shown} is compressed: unpack it first"));
    }
    if bytes.contains(&0) {
        return Err(format!("{shown} is no text: rules and their settings are"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whole rule sets in one file have some 30 MiB.
const FILE_LEN_MAX: u64 = 256 << 20;

/// Files of a folder whose names fit a pattern with `*`, in the order of their names.
pub(crate) fn rules_in(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let wrong = |error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if !fits(pattern, name) || path.is_dir() {
            continue;
        }
        // Not passed over: what lies there is meant to be read.
        let what = fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if !what.is_file() {
            return Err(format!("{} is no file", path.display()));
        }
        found.push(path);
    }
    found.sort();
    Ok(found)
}

/// Whether a name is what a pattern with `*` says.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{fits, given, rules_in};

    /// Files that a folder promises are not passed over; folders and other names are.
    #[cfg(unix)]
    #[test]
    fn links_to_nothing_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a.rules"), "").unwrap();
        std::fs::create_dir(path("b.rules")).unwrap();
        std::os::unix::fs::symlink("nowhere", path("c.list")).unwrap();
        let found = rules_in(folder.path(), "*.rules");
        assert_eq!(found.unwrap(), [path("a.rules")]);
        let why = rules_in(folder.path(), "*.list").unwrap_err();
        assert!(why.contains("c.list: "), "{why}");
    }

    /// What is no text is refused in one line, not line by line.
    #[test]
    fn packed_and_binary_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.rules");
        for (bytes, why) in [(&[0x1f, 0x8b, 8][..], "unpack it"), (b"alert\0", "no text")] {
            std::fs::write(&path, bytes).unwrap();
            assert!(given(&path).unwrap_err().contains(why));
        }
        std::fs::write(&path, "alert").unwrap();
        assert_eq!(given(&path).unwrap(), "alert");
    }

    /// A star stands for any characters, also none.
    #[test]
    fn stars_stand_for_anything() {
        assert!(fits("*.rules", "a.rules") && fits("emerging-*.rules", "emerging-dns.rules"));
        assert!(fits("a*", "a") && fits("*a*b*", "xaybz") && fits("x", "x"));
        assert!(!fits("*.rules", "a.rules.bak") && !fits("a*b", "ab.") && !fits("x", "xy"));
    }
}
