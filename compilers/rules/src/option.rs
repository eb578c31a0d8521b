//! A rule's options: names and values, with their places.

use crate::problem::Fault;

/// An option: `name` or `name:value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleOption<'a> {
    pub(crate) name: Word<'a>,
    pub(crate) value: Option<Word<'a>>,
}

/// A part of a rule's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    /// Where it stands in the rule's text.
    pub(crate) at: usize,
}

impl<'a> Word<'a> {
    /// Without white space around it.
    pub(crate) fn trim(self) -> Self {
        let text = self.text.trim_start();
        let at = self.at + (self.text.len() - text.len());
        Self {
            text: text.trim_end(),
            at,
        }
    }

    /// What follows a prefix, if it begins so.
    pub(crate) fn strip_prefix(self, prefix: char) -> Option<Self> {
        let text = self.text.strip_prefix(prefix)?;
        Some(Self {
            text,
            at: self.at + prefix.len_utf8(),
        })
    }

    /// From `from` up to `to`.
    pub(crate) fn part(self, from: usize, to: usize) -> Self {
        Self {
            text: self.text.get(from..to).unwrap_or_default(),
            at: self.at + from,
        }
    }

    /// Both sides of the first `separator`.
    pub(crate) fn split_once(self, separator: char) -> Option<(Self, Self)> {
        let at = self.text.find(separator)?;
        let behind = at + separator.len_utf8();
        Some((
            self.part(0, at).trim(),
            self.part(behind, self.text.len()).trim(),
        ))
    }

    /// Its parts between commas that no quotes enclose.
    pub(crate) fn split_commas(self) -> Vec<Self> {
        self.split_outside(',', ('\0', '\0'))
    }

    /// Its parts between separators that neither quotes nor brackets enclose.
    pub(crate) fn split_outside(self, separator: char, (open, close): (char, char)) -> Vec<Self> {
        let mut parts = Vec::new();
        let (mut start, mut depth, mut quoted, mut escaped) = (0, 0_u32, false, false);
        for (at, c) in self.text.char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == '"' {
                quoted = !quoted;
            } else if c == open && !quoted {
                depth += 1;
            } else if c == close && !quoted {
                depth = depth.saturating_sub(1);
            } else if c == separator && !quoted && depth == 0 {
                parts.push(self.part(start, at).trim());
                start = at + c.len_utf8();
            }
        }
        parts.push(self.part(start, self.text.len()).trim());
        parts
    }

    /// Without the quotes around it, if there are any.
    pub(crate) fn unquoted(self) -> Self {
        let word = self.trim();
        let is_quoted = word.text.len() >= 2 && word.text.starts_with('"');
        if is_quoted && word.text.ends_with('"') {
            word.part(1, word.text.len() - 1)
        } else {
            word
        }
    }

    /// It is wrong.
    pub(crate) fn fault(self, why: impl Into<String>) -> Fault {
        Fault::new(self.at, self.text.chars().count().max(1), why)
    }

    /// A number.
    pub(crate) fn number<T: core::str::FromStr>(self) -> Result<T, Fault> {
        let why = || format!("\"{}\" is no number that fits here", self.text);
        self.text.parse().map_err(|_| self.fault(why()))
    }
}

/// Splits what stands between a rule's parentheses. Options end in semicolons; one behind a
/// backslash belongs to its option.
pub(crate) fn options(body: Word<'_>) -> Result<Vec<RuleOption<'_>>, Fault> {
    let mut found = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, c) in body.text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == ';' {
            found.extend(option(body.part(start, at).trim()));
            start = at + 1;
        }
        if found.len() > OPTIONS_MAX {
            return Err(body
                .part(0, 1)
                .fault(format!("more than {OPTIONS_MAX} options")));
        }
    }
    let rest = body.part(start, body.text.len()).trim();
    if !rest.text.is_empty() {
        return Err(rest.fault("a semicolon is missing after the last option"));
    }
    Ok(found)
}

fn option(word: Word<'_>) -> Option<RuleOption<'_>> {
    if word.text.is_empty() {
        return None;
    }
    Some(match word.split_once(':') {
        Some((name, value)) => RuleOption {
            name,
            value: Some(value),
        },
        None => RuleOption {
            name: word,
            value: None,
        },
    })
}

/// Rules of today have at most 60.
const OPTIONS_MAX: usize = 1000;
