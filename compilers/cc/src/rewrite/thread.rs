//! The thread backend: `__thread` in each declaration of a private variable, and nothing else.

use super::edits::{Edits, Slot};
use super::lex;
use super::{Plan, Refusal};
use crate::model::Place;

/// All edits of the thread backend but those of units' ends.
pub(super) fn edit(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    for id in 0..model.globals.len() {
        if !plan.is_private(id) {
            continue;
        }
        for declaration in &model.global(id).declarations {
            let text = plan.texts.of(declaration.start.file);
            let place = Place {
                offset: after_storage_class(text, declaration.start.offset),
                ..declaration.start
            };
            edits.insert(model, place, Slot::Argument, "__thread ");
        }
    }
    for function in model.functions.iter().filter(|one| one.name == "main") {
        for declaration in &function.declarations {
            match super::calls::spelled(plan, &declaration.name, "main") {
                Some(place) => edits.replace(model, place, "main".len(), "flowpin_main"),
                None => {
                    let at = model.at(declaration.name.expanded);
                    edits
                        .refused
                        .push(Refusal::new(at, "a macro makes up the name of main"));
                }
            }
        }
    }
    for unit in &model.units {
        let top = Place {
            file: unit.file,
            offset: 0,
            line: 1,
        };
        edits.insert(model, top, Slot::Top, "#include \"flowpin_cc.h\"\n");
    }
}

/// `__thread` stands after `static` and `extern`.
fn after_storage_class(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    for word in [&b"static"[..], b"extern"] {
        if rest.starts_with(word) {
            return lex::skip_blank(text, start + word.len());
        }
    }
    start
}
