//! `pcre`: the expression, its flags, and the buffer that a flag names.

use super::value;
use crate::builder::Builder;
use crate::option::RuleOption;
use crate::problem::Fault;
use flowpin_rule::{Pcre, Term, buffer};

/// `pcre:[!]"/EXPRESSION/FLAGS"`.
pub(super) fn pcre(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    let (word, negated) = match word.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (word, false),
    };
    let inner = word.unquoted();
    let form = || inner.fault("the form is pcre:\"/EXPRESSION/FLAGS\"");
    let (inner, delimiter) = match inner.strip_prefix('m') {
        Some(rest) if !inner.text.starts_with('/') => {
            let delimiter = rest.text.chars().next().ok_or_else(form)?;
            (rest, delimiter)
        }
        _ => (inner, '/'),
    };
    let body = inner.strip_prefix(delimiter).ok_or_else(form)?;
    let end = body.text.rfind(delimiter).ok_or_else(form)?;
    let flags = body.part(end + delimiter.len_utf8(), body.text.len());
    let expression = body.part(0, end);
    if expression.text.is_empty() || expression.text.len() > EXPRESSION_BYTES_MAX {
        return Err(form());
    }
    let mut found = Pcre {
        pattern: expression.text.to_owned(),
        negated,
        ..Pcre::default()
    };
    let mut of = None;
    for (at, flag) in flags.text.char_indices() {
        let place = flags.part(at, at + flag.len_utf8());
        match flag {
            'i' => found.caseless = true,
            's' => found.dotall = true,
            'm' => found.multiline = true,
            'x' => found.extended = true,
            'A' => found.anchored = true,
            'E' => found.dollar_endonly = true,
            'G' => found.ungreedy = true,
            'R' => found.relative = true,
            // Payloads are never changed; limits always hold.
            'B' | 'O' => {}
            ',' => return Err(place.fault("captures into variables are not supported")),
            _ => {
                let name = BUFFERS.iter().find(|(one, _)| *one == flag);
                let name = name.ok_or_else(|| place.fault(format!("no flag \"{flag}\"")))?;
                of = buffer(name.1).map(|(id, _)| id);
            }
        }
    }
    match of {
        Some(id) if !builder.is_in_buffer() => builder.push_to(id, Term::Pcre(found)),
        _ => builder.push(Term::Pcre(found)),
    }
    Ok(())
}

/// Flags that name a buffer.
const BUFFERS: [(char, &str); 13] = [
    ('U', "http.uri"),
    ('I', "http.uri.raw"),
    ('P', "http.request_body"),
    ('Q', "http.response_body"),
    ('H', "http.header"),
    ('D', "http.header.raw"),
    ('M', "http.method"),
    ('C', "http.cookie"),
    ('S', "http.stat_code"),
    ('Y', "http.stat_msg"),
    ('V', "http.user_agent"),
    ('W', "http.host"),
    ('Z', "http.host.raw"),
];

/// Expressions of rule sets have up to 800.
pub(super) const EXPRESSION_BYTES_MAX: usize = 8192;
