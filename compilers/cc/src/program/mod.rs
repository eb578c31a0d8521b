//! Which sources make the program, and with which flags: `compile_commands.json`, or a list.

use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A source and how it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceUnit {
    /// The source.
    pub file: PathBuf,
    /// Where relative paths begin.
    pub directory: PathBuf,
    /// Flags that matter to a parser: `-I`, `-D`, `-std`, ….
    pub flags: Vec<String>,
}

/// The sources of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// All translation units.
    pub units: Vec<SourceUnit>,
}

/// Why the sources are not known.
#[derive(Debug, thiserror::Error)]
pub enum SourcesError {
    /// The file cannot be read.
    #[error("cannot read {}: {why}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// It is not a compilation database.
    #[error("{} is no compilation database: {why}", path.display())]
    NotADatabase {
        /// Which.
        path: PathBuf,
        /// Why.
        why: serde_json::Error,
    },
    /// Nothing to compile.
    #[error("no C source is named")]
    Empty,
}

#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

impl Sources {
    /// Sources that are all compiled in `directory` with the same flags.
    ///
    /// # Errors
    /// [`SourcesError::Empty`], or a source that is not there.
    pub fn of_files(
        directory: &Path,
        files: &[PathBuf],
        flags: &[String],
    ) -> Result<Self, SourcesError> {
        let unit = |file: &PathBuf| SourceUnit {
            file: file.clone(),
            directory: directory.to_owned(),
            flags: flags.to_vec(),
        };
        Self::checked(files.iter().map(unit).collect())
    }

    /// The sources of a compilation database (`compile_commands.json`).
    ///
    /// # Errors
    /// [`SourcesError`]: it cannot be read, or is not one.
    pub fn of_database(path: &Path) -> Result<Self, SourcesError> {
        let text = fs::read(path).map_err(|why| SourcesError::Unreadable {
            path: path.to_owned(),
            why,
        })?;
        let entries: Vec<Entry> =
            serde_json::from_slice(&text).map_err(|why| SourcesError::NotADatabase {
                path: path.to_owned(),
                why,
            })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let is_c = |entry: &Entry| entry.file.extension().is_some_and(|ending| ending == "c");
        let unit = |entry: Entry| {
            let words = entry
                .arguments
                .unwrap_or_else(|| words(&entry.command.unwrap_or_default()));
            SourceUnit {
                flags: parser_flags(&words, &entry.file),
                directory: folder.join(entry.directory),
                file: entry.file,
            }
        };
        Self::checked(entries.into_iter().filter(is_c).map(unit).collect())
    }

    /// Real paths; an error for a source that is not there, or twice.
    fn checked(mut units: Vec<SourceUnit>) -> Result<Self, SourcesError> {
        let real = |path: &Path| {
            path.canonicalize().map_err(|why| SourcesError::Unreadable {
                path: path.to_owned(),
                why,
            })
        };
        for unit in &mut units {
            unit.directory = real(&unit.directory)?;
            unit.file = real(&unit.directory.join(&unit.file))?;
        }
        // Build systems compile a source twice, with and without -fPIC.
        let mut seen = std::collections::HashSet::new();
        units.retain(|unit| seen.insert(unit.file.clone()));
        if units.is_empty() {
            return Err(SourcesError::Empty);
        }
        Ok(Self { units })
    }
}

/// Of a compiler's command line, what a parser needs.
fn parser_flags(words: &[String], source: &Path) -> Vec<String> {
    let mut flags = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let takes_word = [
            "-I",
            "-D",
            "-U",
            "-include",
            "-isystem",
            "-iquote",
            "-idirafter",
        ];
        if takes_word.contains(&word.as_str()) {
            flags.push(word.clone());
            flags.extend(words.next().cloned());
        } else if ["-o", "-MF", "-MT", "-MQ"].contains(&word.as_str()) {
            words.next();
        } else if KEPT.iter().any(|kept| word.starts_with(kept)) && Path::new(word) != source {
            flags.push(word.clone());
        }
    }
    flags
}

/// Beginnings of flags that change what a source means.
const KEPT: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-std=",
    "-isystem",
    "-iquote",
    "-include",
    "-m",
    "-fcommon",
    "-fno-common",
    "-funsigned-char",
    "-fsigned-char",
    "-pthread",
    "-ansi",
];

/// Splits a command as a shell would: quotes, and backslashes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::{parser_flags, words};
    use std::path::Path;

    /// POSIX shell quoting, as build tools write it into databases.
    #[test]
    fn commands_are_split_as_a_shell_would() {
        let command = r#"cc -DNAME=\"a\ b\" '-DX=1 2' -I "in c" -c x.c"#;
        let want = ["cc", "-DNAME=\"a b\"", "-DX=1 2", "-I", "in c", "-c", "x.c"];
        assert_eq!(words(command), want);
    }

    /// Outputs, optimisation and the source itself are not the parser's business.
    #[test]
    fn flags_of_the_parser_are_kept() {
        let given = words("cc -O2 -g -I. -D A=1 -MF x.d -o x.o -std=gnu89 -Wall -c x.c");
        let want = ["-I.", "-D", "A=1", "-std=gnu89"];
        assert_eq!(parser_flags(&given, Path::new("x.c")), want);
    }
}
