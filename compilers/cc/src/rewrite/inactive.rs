//! Text that these flags leave out, and macros that nothing uses: what they would do with private
//! variables is not known.

use super::lex;
use crate::classify::{Decision, Verdict};
use crate::model::{Model, Texts};
use std::collections::HashSet;

/// One line for each place in text that is not compiled that names a private variable.
#[must_use]
pub(crate) fn not_compiled(model: &Model, texts: &Texts, decisions: &[Decision]) -> Vec<String> {
    let private: HashSet<&str> = (0..model.globals.len())
        .filter(|id| decisions[*id].verdict == Verdict::Private)
        .map(|id| model.globals[id].name.as_str())
        .collect();
    let mut lines = Vec::new();
    for (file, start, end) in &model.skipped {
        let text = texts.between(*file, *start, *end);
        let mut named = HashSet::new();
        for (offset, name) in lex::identifiers(text) {
            let name = String::from_utf8_lossy(name);
            if private.contains(name.as_ref()) && named.insert(name.clone().into_owned()) {
                let line = lex::line_of(texts.of(*file), start + offset);
                lines.push(format!("{}:{line}: {name}", model.path(*file)));
            }
        }
    }
    lines.sort();
    lines.dedup();
    lines
}
