//! How the project's own patterns are written.

use crate::Refusal;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

/// Reads one of the project's own patterns: the `regex` crate's syntax over bytes, without Unicode;
/// `.` is any byte, `$` the end of the bytes, letters are themselves (`(?i)` makes both cases).
///
/// # Errors
/// Where it is not an expression.
pub fn own(expression: &str) -> Result<Hir, Refusal> {
    ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .dot_matches_new_line(true)
        .nest_limit(64)
        .build()
        .parse(expression)
        .map_err(|error| Refusal::Syntax {
            what: "not an expression",
            at: match error {
                regex_syntax::Error::Parse(error) => error.span().start.offset,
                regex_syntax::Error::Translate(error) => error.span().start.offset,
                _ => 0,
            },
        })
}
