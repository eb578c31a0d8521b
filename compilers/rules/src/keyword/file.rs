//! Keywords about files, beside the buffers of their names and bytes.

use super::{numbers, value};
use crate::builder::Builder;
use crate::option::RuleOption;
use crate::problem::Fault;
use flowpin_rule::{Content, Term, buffer};

/// Reads an option of these.
pub(super) fn read(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let mut word = value(option)?;
    let mut side = None;
    if builder.rule.header.transactional
        && let Some((first, rest)) = word.split_once(',')
    {
        side = match first.text {
            "to_server" => Some(true),
            "to_client" => Some(false),
            _ => return Err(first.fault("a side is to_server or to_client")),
        };
        word = rest;
    }
    let (of, term) = if option.name.text == "filesize" {
        ("file.size", Term::Number(numbers::check(word)?))
    } else {
        let (word, negated) = match word.strip_prefix('!') {
            Some(rest) => (rest.trim(), true),
            None => (word, false),
        };
        let text = word.unquoted();
        if text.text.is_empty() {
            return Err(word.fault("the name is empty"));
        }
        let is_ending = option.name.text == "fileext";
        let dot = if is_ending { "." } else { "" };
        let content = Content {
            pattern: format!("{dot}{}", text.text).into_bytes(),
            nocase: true,
            negated,
            endswith: is_ending,
            ..Content::default()
        };
        ("file.name", Term::Content(content))
    };
    let Some((id, _)) = buffer(of) else {
        return Err(option.name.fault("it has no buffer"));
    };
    builder.push_to_side(id, side, term);
    Ok(())
}
