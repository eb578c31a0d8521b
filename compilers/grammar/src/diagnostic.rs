//! Errors and warnings: where, what, and the line with a caret.

use core::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// There is no scanner.
    Error,
    /// There is one; it may not do what is meant.
    Warning,
}

/// Something about a grammar, at a place in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The grammar's file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, in a sentence without a full stop.
    pub message: String,
    /// The line that it is about.
    pub source_line: String,
}

impl Diagnostic {
    /// The same place, and what it is about.
    #[must_use]
    pub fn saying(&self, severity: Severity, message: String) -> Self {
        Self {
            severity,
            message,
            ..self.clone()
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(
            f,
            "{}:{}:{}: {severity}: {}",
            printable(&self.file),
            self.line,
            self.column,
            printable(&self.message)
        )?;
        let gutter = self.line.to_string();
        writeln!(f, " {gutter} | {}", printable(&self.source_line))?;
        // Tabs stay tabs, so that the caret stands below its byte.
        let indent: String = self
            .source_line
            .chars()
            .take(self.column.saturating_sub(1))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        write!(f, " {} | {indent}^", " ".repeat(gutter.len()))
    }
}

/// A text without what would move a terminal's cursor or turn its text around: a grammar may come
/// from anywhere. Tabs stay.
fn printable(text: &str) -> String {
    let is_odd = |c: char| {
        c.is_control() && c != '\t'
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
            || matches!(c, '\u{2066}'..='\u{2069}')
    };
    let shown = text.chars().map(|c| if is_odd(c) { '.' } else { c });
    shown.collect()
}

/// Why a grammar has no scanner: at least one error, perhaps warnings before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refused {
    /// All that was found.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, diagnostic) in self.diagnostics.iter().enumerate() {
            if nth > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

/// An error within a pass: the byte of the grammar's text that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
        }
    }
}

/// A grammar's text, and where its lines begin.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a [u8],
}

impl Source<'_> {
    pub(crate) fn line_of(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or(self.text);
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }

    pub(crate) fn diagnostic(&self, failure: &Failure, severity: Severity) -> Diagnostic {
        let at = failure.at.min(self.text.len());
        let (before, after) = self.text.split_at(at);
        let from = before.iter().rposition(|&byte| byte == b'\n');
        let from = from.map_or(0, |newline| newline + 1);
        let to = after
            .iter()
            .position(|&byte| byte == b'\n' || byte == b'\r');
        let to = to.map_or(self.text.len(), |len| at + len);
        let line = self.text.get(from..to).unwrap_or_default();
        // A line of megabytes is not repeated.
        let shown = line.get(..LINE_SHOWN_MAX).unwrap_or(line);
        Diagnostic {
            file: self.file.to_owned(),
            line: self.line_of(at),
            column: at - from + 1,
            severity,
            message: failure.message.clone(),
            source_line: String::from_utf8_lossy(shown).into_owned(),
        }
    }
}

const LINE_SHOWN_MAX: usize = 400;
