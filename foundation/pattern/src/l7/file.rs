//! The file format: which line is what.

use super::parse_expression;
use crate::{Limits, Refusal};
use regex_syntax::hir::Hir;
use std::path::{Path, PathBuf};

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
}

/// Why a file gives no pattern.
#[derive(Debug, thiserror::Error)]
pub enum PatternFileError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// A name or an expression is missing.
    #[error("{0}: has no {1}")]
    Incomplete(PathBuf, &'static str),
    /// The expression is refused.
    #[error("{0}: {1}")]
    Refused(PathBuf, Refusal),
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
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(pattern) = line.strip_prefix("userspace pattern=") {
            userspace = Some(pattern.to_owned());
        } else if line.starts_with("userspace ") {
            // Flags of the userspace filter's library.
        } else if name.is_none() {
            name = Some(line.trim().to_owned());
        } else if expression.is_none() {
            expression = Some(line.to_owned());
        }
    }
    let missing = |what| PatternFileError::Incomplete(path.to_owned(), what);
    let name = name.ok_or_else(|| missing("name"))?;
    let expression = expression.ok_or_else(|| missing("expression"))?;
    let hir = parse_expression(&expression, limits)
        .map_err(|refusal| PatternFileError::Refused(path.to_owned(), refusal))?;
    Ok(L7Pattern {
        name,
        expression,
        hir,
        userspace,
    })
}

/// Reads all `.pat` files of a folder, by name.
///
/// # Errors
/// Only if the folder cannot be read: files that give no pattern are listed beside those that do.
pub fn read_folder(
    folder: &Path,
    limits: &Limits,
) -> std::io::Result<(Vec<L7Pattern>, Vec<PatternFileError>)> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "pat") {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut patterns, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        let read = std::fs::read(&path);
        let read = read.map_err(|error| PatternFileError::Unreadable(path.clone(), error));
        match read.and_then(|text| parse(&path, &text, limits)) {
            Ok(pattern) => patterns.push(pattern),
            Err(error) => errors.push(error),
        }
    }
    Ok((patterns, errors))
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

    #[test]
    fn a_file_without_expression_is_named() {
        let error = parse(Path::new("a/b.pat"), b"b\n", &Limits::default()).unwrap_err();
        assert_eq!(error.to_string(), "a/b.pat: has no expression");
    }
}
