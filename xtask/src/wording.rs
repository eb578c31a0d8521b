//! Wording: expressions to avoid in documents, help texts and comments.
//!
//! Covers the folders whose texts were edited; the list grows with them. Matches whole words
//! regardless of case, also across line ends, but not across punctuation.

use crate::finding::Finding;
use crate::source::{Source, texts};
use anyhow::Result;
use std::path::Path;

/// The findings in all texts that are covered.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in texts(root)? {
        let path = source.path.to_string_lossy();
        let is_covered = COVERED.iter().any(|covered| path.starts_with(covered));
        if is_covered && !source.is_generated() {
            check_text(&source, &mut findings);
        }
    }
    Ok(findings)
}

fn check_text(source: &Source, findings: &mut Vec<Finding>) {
    let words = words(&source.text);
    for (expression, instead) in AVOIDED {
        let expected: Vec<&str> = expression.split(' ').collect();
        for found in words.windows(expected.len()) {
            let mut pairs = found.iter().zip(&expected);
            if pairs.all(|(word, expected)| word.text.eq_ignore_ascii_case(expected)) {
                let line = found.first().map_or(0, |word| word.line);
                findings.push(Finding::error(
                    format!("{}:{line}", source.path.display()),
                    format!("avoid \"{expression}\"; write {instead}"),
                ));
            }
        }
    }
}

struct Word<'a> {
    text: &'a str,
    line: usize,
}

/// The words of a text; punctuation is a word of its own, so that no expression spans it.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        // The beginning of a comment and the end of a string that continues are not punctuation.
        let line = line.trim().trim_start_matches(['/', '!', '#', '*', '>']);
        let line = line.strip_suffix('\\').unwrap_or(line);
        let mut rest = line;
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            rest = rest.get(start..).unwrap_or_default();
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
            let len = match rest.find(|c| !is_word(c)) {
                Some(0) => rest.chars().next().map_or(1, char::len_utf8),
                Some(len) => len,
                None => rest.len(),
            };
            let (word, after) = rest.split_at(len);
            words.push(Word {
                text: word,
                line: number,
            });
            rest = after;
        }
    }
    words
}

/// Files and folders that are covered, as the beginnings of paths.
const COVERED: &[&str] = &[
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "docs/glossary.md",
    "docs/user/",
    "apps/flowpin/src/",
    "foundation/config/",
    "foundation/counters/",
];

/// Expressions to avoid, each with what to write instead.
const AVOIDED: &[(&str, &str)] = &[
    (
        "nobody",
        "the component, or \"no parser\", \"no rule\", \"no reader\"",
    ),
    ("somebody", "the component that acts"),
    ("anybody", "the component that acts, or \"any user\""),
    ("everybody", "\"every source\", \"every user\""),
    ("whoever", "the component that acts"),
    (
        "anew",
        "\"again\", or a verb: rebuild, reopen, measure again",
    ),
    ("so many bytes", "\"N bytes\""),
    ("so many packets", "\"N packets\""),
    ("is told of", "\"receives\" or \"is notified of\""),
    ("is told as", "\"is reported as\""),
    ("are told as", "\"are reported as\""),
    ("is told by", "\"is recognised by\" or \"is reported by\""),
    ("is not told", "\"is not reported\""),
    ("are not told", "\"are not reported\""),
    ("what is odd", "\"anomalies\""),
    ("looked at", "\"examined\""),
    ("looks at", "\"examines\""),
    ("put together", "\"reassembled\" or \"combined\""),
    ("goes on as", "\"continues as\""),
    ("gone on with", "\"continued\""),
    ("bytes behind", "\"bytes after\""),
    ("data behind", "\"data after\""),
    ("stages behind", "\"stages after\""),
    ("behind it", "\"after it\""),
    ("behind them", "\"after them\""),
    ("for want of", "\"for lack of\""),
];

#[cfg(test)]
mod tests {
    use super::{AVOIDED, check_text};
    use crate::source::Source;

    fn places(text: &str) -> Vec<String> {
        let source = Source {
            path: "a.md".into(),
            text: text.to_owned(),
        };
        let mut findings = Vec::new();
        check_text(&source, &mut findings);
        findings.into_iter().map(|found| found.place).collect()
    }

    /// Every expression is found, with its line, and the advice does not repeat it.
    #[test]
    fn each_expression_is_found() {
        for (expression, instead) in AVOIDED {
            assert_eq!(places(&format!("A line.\nSo {expression}.\n")), ["a.md:2"]);
            assert_eq!(places(instead), [""; 0], "{instead}");
        }
    }

    /// Case, line ends, comment signs and continued strings do not hide an expression.
    #[test]
    fn expressions_are_found_across_lines() {
        assert_eq!(places("Nobody knows."), ["a.md:1"]);
        assert_eq!(places("/// It is what was looked\n/// at.\n"), ["a.md:1"]);
        assert_eq!(places("\"so many \\\n    bytes\""), ["a.md:1"]);
        assert_eq!(places("- The stages\n  behind the table"), ["a.md:1"]);
    }

    /// Longer words, identifiers and words of different sentences are not the expression.
    #[test]
    fn other_words_are_not_found() {
        for text in [
            "nobody_home",
            "NobodyAtHome",
            "It looked. At noon it ended.",
            "so many, bytes",
            "anewly",
        ] {
            assert_eq!(places(text), [""; 0], "{text}");
        }
    }
}
