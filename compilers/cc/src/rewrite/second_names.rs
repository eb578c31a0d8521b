//! Second names of variables and functions, by attribute or pragma: what is known by another name
//! is not seen to be the same.

use super::edits::Edits;
use super::{Backend, Plan, Refusal, lex};

/// Refuses second names of what is private, and of functions that know a core.
pub(super) fn refuse(plan: &Plan<'_>, edits: &mut Edits) {
    for file in 0..plan.model.files.len() {
        let text = plan.texts.of(file);
        for (at, word) in lex::identifiers(text) {
            let rest = text.get(at..).unwrap_or_default();
            let named: Vec<u8> = match word {
                b"alias" | b"__alias__" | b"weakref" | b"__weakref__" | b"ifunc" | b"__ifunc__" => {
                    let behind = rest.get(word.len()..).unwrap_or_default();
                    let blanks = behind.len() - behind.trim_ascii_start().len();
                    let open = at + word.len() + blanks + 1;
                    if text.get(open - 1) != Some(&b'(') {
                        continue;
                    }
                    let end = lex::closing(text, open).unwrap_or(open);
                    lex::strings(text, open, end)
                }
                b"redefine_extname" => {
                    let line = rest.split(|byte| *byte == b'\n').next();
                    line.unwrap_or_default().to_vec()
                }
                // `int one[2] asm("other")`: others may know it as that.
                b"asm" | b"__asm" | b"__asm__" => {
                    declared(text.get(..at).unwrap_or_default()).to_vec()
                }
                _ => continue,
            };
            // By this, what is declared here and what is defined there are never seen to be one.
            let is_any = word == b"redefine_extname";
            if let Some(what) = first_of(plan, &named, is_any) {
                let place = format!("{}:{}", plan.model.path(file), lex::line_of(text, at));
                let what = format!("{what} has a second name: use one");
                edits.refused.push(Refusal::new(place, what));
            }
        }
    }
}

/// The name that is declared right before a label: behind it there may be lengths or parameters.
fn declared(before: &[u8]) -> &[u8] {
    let begin = before.len().saturating_sub(DECLARATION_MAX);
    let mut before = before.get(begin..).unwrap_or_default().trim_ascii_end();
    while let Some(&last @ (b']' | b')')) = before.last() {
        let first = if last == b']' { b'[' } else { b'(' };
        let mut depth = 0_usize;
        let open = before.iter().rposition(|&byte| {
            depth += usize::from(byte == last);
            depth -= usize::from(byte == first);
            depth == 0
        });
        let Some(open) = open else { return &[] };
        before = before.get(..open).unwrap_or_default().trim_ascii_end();
    }
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let begin = before.iter().rposition(|byte| !is_word(byte));
    before
        .get(begin.map_or(0, |at| at + 1)..)
        .unwrap_or_default()
}

/// What of these words each core has of its own; or (`is_any`) any variable of the program.
fn first_of(plan: &Plan<'_>, words: &[u8], is_any: bool) -> Option<String> {
    let model = plan.model;
    let variable = (0..model.globals.len()).find(|id| {
        let global = model.global(*id);
        let counts = plan.is_private(*id) || is_any && global.is_defined;
        counts && lex::has_word(words, global.name.as_bytes())
    });
    if let Some(id) = variable {
        return Some(format!("the variable `{}`", model.global(id).name));
    }
    let function = (0..model.functions.len()).find(|id| {
        let is_named = lex::has_word(words, model.function(*id).name.as_bytes());
        plan.backend == Backend::Context && is_named && plan.closure.needs(*id)
    });
    function.map(|id| {
        let name = &model.function(id).name;
        format!("`{name}`, which uses private state,")
    })
}

/// Longer declarations have no label.
const DECLARATION_MAX: usize = 4096;
