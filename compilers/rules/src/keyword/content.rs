//! `content` and its modifiers.

use super::value;
use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{Content, Operand, Term, buffer};

/// `content:"..."`, in Snort 3 with modifiers behind the text, and `uricontent`.
pub(super) fn content(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let whole = value(option)?;
    let mut parts = whole.split_commas().into_iter();
    let Some(text) = parts.next() else {
        return Ok(());
    };
    let (text, negated) = match text.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (text, false),
    };
    let pattern = pattern(text)?;
    let content = Content {
        pattern,
        negated,
        ..Content::default()
    };
    if option.name.text == "uricontent" {
        builder.push(Term::Content(content));
        let uri = buffer("http.uri").map(|(id, _)| id);
        if let Some(uri) = uri {
            builder.move_content(option, uri)?;
        }
    } else {
        builder.push(Term::Content(content));
    }
    for part in parts {
        let (name, value) = match part.text.split_once(char::is_whitespace) {
            Some((name, _)) => {
                let at = name.len();
                (
                    part.part(0, at),
                    Some(part.part(at, part.text.len()).trim()),
                )
            }
            None => (part, None),
        };
        modifier(builder, &RuleOption { name, value })?;
    }
    Ok(())
}

/// The bytes of a content: text, `|` around hexadecimal digits, `\` before what would end it.
pub(crate) fn pattern(word: Word<'_>) -> Result<Vec<u8>, Fault> {
    let is_quoted = word.text.len() >= 2 && word.text.starts_with('"') && word.text.ends_with('"');
    if !is_quoted {
        return Err(word.fault("a content stands in quotes"));
    }
    let inner = word.part(1, word.text.len() - 1);
    let mut bytes = Vec::with_capacity(inner.text.len());
    let mut hex: Option<(usize, String)> = None;
    let mut chars = inner.text.char_indices();
    while let Some((at, c)) = chars.next() {
        let here = |len: usize| inner.part(at, inner.text.len().min(at + len));
        match (&mut hex, c) {
            (None, '|') => hex = Some((at, String::new())),
            (Some((from, digits)), '|') => {
                bytes.extend(hex_bytes(inner.part(*from, at + 1), digits)?);
                hex = None;
            }
            (Some((_, digits)), c) if c.is_ascii_hexdigit() => digits.push(c),
            (Some(_), c) if c.is_whitespace() => {}
            (Some(_), _) => {
                return Err(here(1).fault("only hexadecimal digits stand between bars"));
            }
            (None, '\\') => match chars.next() {
                Some((_, escaped @ ('"' | '\\' | ';' | ':' | '|'))) => {
                    bytes.push(u8::try_from(escaped).unwrap_or(b'?'));
                }
                _ => return Err(here(2).fault("a backslash stands before \" \\ ; : alone")),
            },
            (None, '"') => return Err(here(1).fault("a quote needs a backslash before it")),
            (None, c) => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    if let Some((from, _)) = hex {
        return Err(inner
            .part(from, inner.text.len())
            .fault("a second | is missing"));
    }
    if bytes.is_empty() {
        return Err(word.fault("the content is empty"));
    }
    if bytes.len() > PATTERN_BYTES_MAX {
        return Err(word.fault(format!("a content has at most {PATTERN_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

fn hex_bytes(word: Word<'_>, digits: &str) -> Result<Vec<u8>, Fault> {
    if !digits.len().is_multiple_of(2) {
        return Err(word.fault("hexadecimal digits come in pairs"));
    }
    let pairs = digits.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| {
        let text = core::str::from_utf8(pair).unwrap_or_default();
        u8::from_str_radix(text, 16).unwrap_or_default()
    });
    Ok(bytes.collect())
}

/// A modifier of the content before it.
pub(super) fn modifier(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let name = option.name.text;
    let operand = match name {
        "offset" | "depth" | "distance" | "within" => {
            Some(super::bytes::operand(builder, value(option)?)?)
        }
        _ => None,
    };
    let content = builder.content(option)?;
    let len = content.pattern.len();
    match name {
        "nocase" => content.nocase = true,
        "startswith" => content.startswith = true,
        "endswith" => content.endswith = true,
        "offset" => content.offset = operand,
        "depth" => content.depth = operand,
        "distance" => content.distance = operand,
        "within" => content.within = operand,
        "fast_pattern" => fast_pattern(content, option)?,
        // Snort 3 has them in fast_pattern's company.
        "fast_pattern_offset" | "fast_pattern_length" => {}
        _ => {
            return Err(option
                .name
                .fault("no modifier of contents that is known here"));
        }
    }
    let is_short = |operand: Option<Operand>| match operand {
        Some(Operand::Value(most)) => most < i64::try_from(len).unwrap_or(i64::MAX),
        _ => false,
    };
    if is_short(content.depth) || is_short(content.within) {
        let why = format!("shorter than the content, which has {len} bytes");
        return Err(option.value.unwrap_or(option.name).fault(why));
    }
    let is_anchored = content.startswith || content.endswith;
    let is_placed = content.offset.is_some() || content.depth.is_some();
    if content.startswith && (is_placed || content.is_relative()) {
        let why = "startswith says already where the content stands";
        return Err(option.name.fault(why));
    }
    if is_placed && content.is_relative() {
        let why = "offset and depth do not go with distance and within";
        return Err(option.name.fault(why));
    }
    if content.fast_only && (is_anchored || content.negated) {
        return Err(option
            .name
            .fault("fast_pattern:only goes with no place and no negation"));
    }
    Ok(())
}

fn fast_pattern(content: &mut Content, option: &RuleOption<'_>) -> Result<(), Fault> {
    content.fast_pattern = true;
    let Some(value) = option.value else {
        return Ok(());
    };
    if value.text == "only" {
        content.fast_only = true;
        return Ok(());
    }
    let Some((offset, len)) = value.split_once(',') else {
        return Err(value.fault("fast_pattern takes \"only\" or an offset and a length"));
    };
    let (from, len): (u16, u16) = (offset.number()?, len.number()?);
    if usize::from(from) + usize::from(len) > content.pattern.len() || len == 0 {
        return Err(value.fault("the content has no such part"));
    }
    content.fast_part = Some((from, len));
    Ok(())
}

/// As in Suricata.
const PATTERN_BYTES_MAX: usize = 4096;
