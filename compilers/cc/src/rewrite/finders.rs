//! Functions that find the context of their core themselves, because no parameter can be added: a
//! callback cannot pass on any number of arguments, and a declaration by a type's name has no list.
//!
//! They keep their type, so that calls by name and through pointers stay as they are.

use super::edits::{Edits, Slot};
use super::{Plan, calls, lex};
use crate::model::{FunctionId, Model, Place, Texts};
use std::collections::HashSet;

/// All functions of the program that would find their core themselves if they needed it.
#[must_use]
pub(crate) fn finders(model: &Model, texts: &Texts) -> HashSet<FunctionId> {
    let is_taken = |id: FunctionId| model.addresses.iter().any(|one| one.function == id);
    let is_finder = |id: &FunctionId| {
        let function = model.function(*id);
        let keeps_type = (function.is_variadic && is_taken(*id)) || is_by_type(model, texts, *id);
        function.body.is_some() && function.name != "main" && keeps_type
    };
    (0..model.functions.len()).filter(is_finder).collect()
}

/// Whether a declaration has no parentheses after the name, as `operation add;`.
fn is_by_type(model: &Model, texts: &Texts, id: FunctionId) -> bool {
    let function = model.function(id);
    let declarations = function.declarations.iter();
    let mut names = declarations.filter_map(|one| one.name.spelled.filter(|_| !one.is_definition));
    names.any(|place| {
        let end = place.offset + function.name.len();
        let text = texts.of(place.file);
        let is_name = text.get(place.offset..end) == Some(function.name.as_bytes());
        is_name && lex::after_open(text, end).is_none()
    })
}

/// The context, in the first line of each such function.
pub(super) fn edit(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    let mut all: Vec<FunctionId> = plan.closure.finders.iter().copied().collect();
    all.sort_unstable();
    for id in all {
        match first_byte(plan, id) {
            Some(place) => {
                let line = "\n  struct flowpin_core *flowpin = flowpin_self();";
                edits.insert(model, place, Slot::Argument, line);
            }
            None => edits.refused.push(super::Refusal::new(
                model
                    .function(id)
                    .body
                    .map_or_else(String::new, |body| model.at(body.start)),
                format!(
                    "a macro makes up the definition of `{}`: write it out",
                    model.function(id).name
                ),
            )),
        }
    }
}

/// The byte after the `{` of a definition.
fn first_byte(plan: &Plan<'_>, id: FunctionId) -> Option<Place> {
    let function = plan.model.function(id);
    let definition = function.declarations.iter().find(|one| one.is_definition)?;
    let name = calls::spelled(plan, &definition.name, &function.name)?;
    let is_plain = !definition.name.is_in_macro();
    let text = plan.texts.of(name.file);
    let open = lex::after_open(text, name.offset + function.name.len()).filter(|_| is_plain)?;
    let mut at = lex::closing(text, open)? + 1;
    // Attributes, and the types of parameters whose names stand in the parentheses.
    loop {
        at = lex::skip_blank(text, at);
        match text.get(at)? {
            b'{' => {
                return Some(Place {
                    offset: at + 1,
                    ..name
                });
            }
            b'(' => at = lex::closing(text, at + 1)? + 1,
            _ => at += 1,
        }
    }
}
