//! Whether a macro shows the text of its argument (`#x`): then an edit of the argument would be
//! shown, too, and the use is written out instead, with the text as it was.

use super::Plan;
use super::expand::{DEPTH_MAX, Request, parameters, split, word};
use super::lex;
use crate::model::{Macro, Place};

/// Whether an edit in a macro's argument changes a text that the macro makes of it.
pub(super) fn is_shown(plan: &Plan<'_>, request: &Request) -> bool {
    let (used, place) = (request.used_at, request.place);
    if place.file != used.file || place.offset <= used.offset {
        return false;
    }
    let text = plan.texts.of(used.file);
    let name = word(text, used.offset);
    let name_end = used.offset + name.len();
    let Some(definition) = definition(plan, used, &name) else {
        return false;
    };
    let holds = |range: &(usize, usize)| (range.0..range.1).contains(&place.offset);
    let number = arguments(plan, definition, text, name_end)
        .and_then(|ranges| ranges.iter().position(holds));
    number.is_some_and(|number| shows(plan, definition, number, 0))
}

/// Whether an edit in a macro's body is in an argument of another macro there, which makes a text
/// of it (`#define LIST X(a) X(b)`).
pub(super) fn is_shown_inside(plan: &Plan<'_>, holder: &Macro, request: &Request) -> bool {
    let text = plan.texts.of(holder.place.file);
    let mut at = holder.place.offset + holder.name.len();
    while at < holder.end && at <= request.place.offset {
        let next = lex::skip_blank(text, at);
        let name = word(text, next);
        if name.is_empty() {
            at = next + lex::quoted_len(text, next).unwrap_or(1);
            continue;
        }
        at = next + name.len();
        let inner = definition(plan, request.used_at, &name);
        let passed = inner.and_then(|inner| Some((inner, arguments(plan, inner, text, at)?)));
        let holds = |range: &(usize, usize)| (range.0..range.1).contains(&request.place.offset);
        let is_it = passed.is_some_and(|(inner, ranges)| {
            let number = ranges.iter().position(holds);
            number.is_some_and(|number| shows(plan, inner, number, 0))
        });
        if is_it {
            return true;
        }
    }
    false
}

/// Whether a macro, or one that it uses, shows the text of any argument.
pub(super) fn shows_any(plan: &Plan<'_>, one: &Macro, depth: usize) -> bool {
    let names = names(plan, one);
    (0..names.len()).any(|number| shows(plan, one, number, depth))
}

/// The macro that a name stands for at a place.
fn definition<'a>(plan: &Plan<'a>, at: Place, name: &str) -> Option<&'a Macro> {
    let named = || plan.model.macros.iter().filter(|one| one.name == name);
    let before = |one: &&Macro| one.place.file == at.file && one.place.offset < at.offset;
    named().rfind(before).or_else(|| named().next())
}

/// The names of a macro's parameters; none if it takes none.
fn names(plan: &Plan<'_>, one: &Macro) -> Vec<String> {
    let text = plan.texts.of(one.place.file);
    let open = one.place.offset + one.name.len();
    if text.get(open) != Some(&b'(') {
        return Vec::new();
    }
    let close = lex::closing(text, open + 1);
    let inside = close.and_then(|close| text.get(open + 1..close));
    inside.map_or_else(Vec::new, |inside| parameters(inside).0)
}

/// Where each argument of a use begins and ends.
fn arguments(
    plan: &Plan<'_>,
    one: &Macro,
    text: &[u8],
    name_end: usize,
) -> Option<Vec<(usize, usize)>> {
    let open = lex::after_open(text, name_end)?;
    let close = lex::closing(text, open)?;
    let names = names(plan, one);
    Some(split(text, open, close, names.len(), true))
}

/// Whether a macro shows the text of one of its parameters, itself or by a macro that it uses.
fn shows(plan: &Plan<'_>, one: &Macro, number: usize, depth: usize) -> bool {
    let names = names(plan, one);
    let Some(parameter) = names.get(number).filter(|_| depth < DEPTH_MAX) else {
        return false;
    };
    let text = plan.texts.of(one.place.file);
    let open = one.place.offset + one.name.len() + 1;
    let mut at = lex::closing(text, open).map_or(one.end, |close| close + 1);
    while at < one.end {
        let next = lex::skip_blank(text, at);
        if next != at {
            at = next;
            continue;
        }
        if text.get(at..at + 2) == Some(b"##") {
            at += 2;
            continue;
        }
        if text.get(at) == Some(&b'#') {
            let start = lex::skip_blank(text, at + 1);
            if word(text, start) == *parameter {
                return true;
            }
            at = start;
            continue;
        }
        let name = word(text, at);
        if name.is_empty() {
            at += lex::quoted_len(text, at).unwrap_or(1);
            continue;
        }
        let end = at + name.len();
        let inner = plan.model.macros.iter().find(|it| it.name == name);
        let inner = inner.filter(|it| it.name != one.name);
        let passed = inner.and_then(|inner| Some((inner, arguments(plan, inner, text, end)?)));
        if let Some((inner, ranges)) = passed {
            let has_it = |range: &(usize, usize)| {
                let argument = text.get(range.0..range.1).unwrap_or_default();
                lex::has_word(argument, parameter.as_bytes())
            };
            let mut passed = ranges.iter().enumerate().filter(|(_, range)| has_it(range));
            if passed.any(|(number, _)| shows(plan, inner, number, depth + 1)) {
                return true;
            }
        }
        at = end;
    }
    false
}
