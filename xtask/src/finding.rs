//! What a rule found: an error that fails the step, or a note to think about.

use std::fmt;

/// One place that a rule does not like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Whether the step fails by it.
    pub(crate) is_error: bool,
    /// Path, and line where there is one.
    pub(crate) place: String,
    /// What is wrong.
    pub(crate) text: String,
}

impl Finding {
    pub(crate) fn error(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            place: place.into(),
            text: text.into(),
        }
    }

    pub(crate) fn note(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            is_error: false,
            ..Self::error(place, text)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_error { "error" } else { "note" };
        write!(f, "{kind}: {}: {}", self.place, self.text)
    }
}
