//! The file format: which line is what.

use super::parse_expression;
use crate::{Limits, Refusal};
use regex_syntax::hir::Hir;
use std::path::{Path, PathBuf};

/// Letters of a name, at most: it stands in every record.
const NAME_LEN_MAX: usize = 48;

/// A pattern as its file has it.
#[derive(Clone, Debug)]
pub struct L7Pattern {
    /// The protocol's name.
    pub name: String,
    /// The expression as written.
    pub expression: String,
    /// Read.
    pub hir: Hir,
    /// For the userspace filter, if the file has one of its own; told, not used.
    pub userspace: Option<String>,
    /// Its file.
    pub path: PathBuf,
    /// The expression's line, from 1.
    pub line: usize,
}

/// Why a file gives no pattern.
#[derive(Debug, thiserror::Error)]
pub enum PatternFileError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A name or an expression is missing.
    #[error("{}: has no {what}", path.display())]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// What is missing.
        what: &'static str,
    },
    /// The name or the expression is refused.
    #[error("{}:{line}: {refusal}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        refusal: Refusal,
    },
}

impl PatternFileError {
    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Unreadable { path, .. }
            | Self::Incomplete { path, .. }
            | Self::Refused { path, .. } => path,
        }
    }

    /// What its author can do.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Unreadable { error, .. }
                if error.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                "check its permissions"
            }
            Self::Unreadable { .. } => "name a file of one pattern, or a folder of such files",
            Self::Incomplete { .. } => {
                "the first line that is not empty and no comment is the name, the second the \
                 expression"
            }
            Self::Refused { refusal, .. } => refusal.advice(),
        }
    }
}

impl L7Pattern {
    /// The error that this pattern is refused, where it stands.
    pub fn refused(&self, refusal: Refusal) -> PatternFileError {
        PatternFileError::Refused {
            path: self.path.clone(),
            line: self.line,
            refusal,
        }
    }
}

/// Reads one file's text.
///
/// # Errors
/// Names the file and the reason.
pub fn parse(path: &Path, text: &[u8], limits: &Limits) -> Result<L7Pattern, PatternFileError> {
    // Some files hold bytes above 127; a byte is a character.
    let text: String = text.iter().map(|&byte| char::from(byte)).collect();
    let mut name = None;
    let mut expression = None;
    let mut userspace = None;
    for (line, number) in text.lines().map(str::trim_end).zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(pattern) = line.strip_prefix("userspace pattern=") {
            userspace = Some(pattern.to_owned());
        } else if line.starts_with("userspace ") {
            // Flags of the userspace filter's library.
        } else if name.is_none() {
            name = Some((line.trim().to_owned(), number));
        } else if expression.is_none() {
            expression = Some((line.to_owned(), number));
        }
    }
    let missing = |what| PatternFileError::Incomplete {
        path: path.to_owned(),
        what,
    };
    let refused = |line, refusal| PatternFileError::Refused {
        path: path.to_owned(),
        line,
        refusal,
    };
    let (name, named) = name.ok_or_else(|| missing("name"))?;
    if !is_name(&name) {
        return Err(refused(named, Refusal::Name(NAME_LEN_MAX)));
    }
    let (expression, line) = expression.ok_or_else(|| missing("expression"))?;
    let hir = parse_expression(&expression, limits).map_err(|why| refused(line, why))?;
    Ok(L7Pattern {
        name,
        expression,
        hir,
        userspace,
        path: path.to_owned(),
        line,
    })
}

/// Whether records of every format can hold it as it is.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"\\,".contains(&byte);
    (1..=NAME_LEN_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

/// What files hold: patterns, and why others give none.
pub type PatternFiles = (Vec<L7Pattern>, Vec<PatternFileError>);

/// Reads files, whatever they are called, and all `.pat` files in folders and below, by name.
///
/// # Errors
/// Only if a path is not there, or a file that is named or a folder cannot be read, with its path:
/// files that give no pattern are listed beside those that do.
pub fn read_paths(
    paths: &[PathBuf],
    limits: &Limits,
) -> Result<PatternFiles, (PathBuf, std::io::Error)> {
    let files = files(paths)?;
    let (mut patterns, mut errors) = (Vec::new(), Vec::new());
    for path in files {
        let read = match flowpin_disk::read_given(&path) {
            // Who names a file wants that one.
            Err(error) if paths.contains(&path) => return Err((path, error)),
            read => read,
        };
        let unreadable = |error| PatternFileError::Unreadable {
            path: path.clone(),
            error,
        };
        match read
            .map_err(unreadable)
            .and_then(|text| parse(&path, &text, limits))
        {
            Ok(pattern) => patterns.push(pattern),
            Err(error) => errors.push(error),
        }
    }
    Ok((patterns, errors))
}

/// The files of patterns that paths stand for.
///
/// # Errors
/// A path that is not there or cannot be listed.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, (PathBuf, std::io::Error)> {
    let mut files = Vec::new();
    for path in paths {
        let failed = |error| (path.clone(), error);
        if std::fs::metadata(path).map_err(failed)?.is_dir() {
            files.extend(files_of(path).map_err(failed)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// The `.pat` files of a folder and of those in it, each folder's by name. Links to folders are not
/// followed, so that there is an end.
fn files_of(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let (mut paths, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            folders.push(path);
        } else if path.extension().is_some_and(|extension| extension == "pat") {
            paths.push(path);
        }
    }
    paths.sort();
    folders.sort();
    for folder in folders {
        paths.extend(files_of(&folder)?);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::Limits;
    use std::path::Path;

    /// A comment may stand anywhere; lines for the userspace filter are no expressions.
    #[test]
    fn name_and_expression_are_the_first_two_lines_that_count() {
        let text =
            b"# Mail\n\nsmtp\n# why\n^220 .*smtp\nuserspace pattern=^220\nuserspace flags=X\n";
        let pattern = parse(Path::new("smtp.pat"), text, &Limits::default()).unwrap();
        assert_eq!(
            (pattern.name.as_str(), pattern.expression.as_str()),
            ("smtp", "^220 .*smtp")
        );
        assert_eq!(pattern.userspace.as_deref(), Some("^220"));
    }

    /// The line is where an editor goes to.
    #[test]
    fn what_is_refused_is_named_with_its_line() {
        let error = |text: &[u8]| {
            let error = parse(Path::new("a.pat"), text, &Limits::default()).unwrap_err();
            assert!(!error.advice().is_empty());
            error.to_string()
        };
        let bad = error(b"# one\na\n\n(b\n");
        assert_eq!(bad, "a.pat:4: a group without its end at byte 2");
        assert!(error(b"a,b\nc\n").starts_with("a.pat:1: has a name"));
        assert!(error(b"a b\nc\n").starts_with("a.pat:1: has a name"));
    }

    #[test]
    fn a_file_without_expression_is_named() {
        let error = parse(Path::new("a/b.pat"), b"b\n", &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), "a/b.pat: has no expression");
    }
}
