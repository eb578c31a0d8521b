//! What is wrong with a rule, and where.

use core::fmt;
use flowpin_rule::Place;

/// What is wrong at a place of a text: an offset in bytes, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where it begins in the rule's text.
    pub(crate) at: usize,
    /// Bytes that are wrong.
    pub(crate) len: usize,
    pub(crate) why: String,
}

impl Fault {
    pub(crate) fn new(at: usize, len: usize, why: impl Into<String>) -> Self {
        Self {
            at,
            len,
            why: why.into(),
        }
    }
}

/// A rule or line that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File, line and column.
    pub place: Place,
    /// The line.
    pub line: String,
    /// How many characters from the column on are wrong.
    pub width: usize,
    /// What is wrong, and what to do.
    pub why: String,
    /// The rule's number, if it could be read.
    pub sid: Option<u32>,
}

/// As compilers show errors: place and reason, the line, a caret below it.
impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { file, line, column } = &self.place;
        write!(out, "{file}:{line}:{column}: {}", self.why)?;
        if self.line.is_empty() {
            return Ok(());
        }
        let before = (*column as usize).saturating_sub(1);
        // Of a long line, what surrounds the place.
        let skipped = before.saturating_sub(BEFORE_MAX);
        let shown = self.line.chars().skip(skipped).take(SHOWN_MAX);
        let shown: String = shown
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let dots = if skipped > 0 { "..." } else { "" };
        writeln!(out, "\n  {dots}{shown}")?;
        let indent = before - skipped + dots.len();
        let room = shown
            .chars()
            .count()
            .saturating_sub(before - skipped)
            .max(1);
        write!(
            out,
            "  {:indent$}{}",
            "",
            "^".repeat(self.width.clamp(1, room))
        )
    }
}

/// Characters of a line before the caret.
const BEFORE_MAX: usize = 50;
/// Characters of a line that are shown.
const SHOWN_MAX: usize = 90;
