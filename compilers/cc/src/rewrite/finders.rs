//! Functions that find the context of their core themselves, because no parameter can be added: a
//! callback cannot pass on any number of arguments, a declaration by a type's name has no list,
//! what a macro makes up has no place in the text, and attributes may give numbers of parameters.
//!
//! They keep their type, so that calls by name and through pointers stay as they are.

use super::Plan;
use super::edits::{Edits, Slot};
use super::lex::{self, Inside};
use crate::model::{FileId, FunctionId, Model, Place, Site, Texts};
use std::collections::HashSet;

/// All functions of the program that would find their core themselves if they needed it.
#[must_use]
pub(crate) fn finders(model: &Model, texts: &Texts) -> HashSet<FunctionId> {
    let name = |id: FunctionId| model.function(id).name.as_str();
    let taken = model.addresses.iter().filter(|one| {
        let is_variadic = model.function(one.function).is_variadic;
        is_variadic || stands(texts, &one.name, name(one.function)).is_none()
    });
    let called = model.calls.iter().filter(|call| {
        let open = after_name(texts, &call.name, name(call.callee));
        open.is_none_or(|(file, open)| {
            let is_empty = matches!(lex::inside(texts.of(file), open), Inside::Nothing);
            // A macro passes on its own arguments, of which there are none.
            call.argument_count == 0 && !is_empty
        })
    });
    let declared = (0..model.functions.len()).filter(|id| {
        let function = model.function(*id);
        let mut names = function.declarations.iter();
        function.numbers_parameters
            || names.any(|one| after_name(texts, &one.name, name(*id)).is_none())
    });
    let all = taken.map(|one| one.function);
    let all = all.chain(called.map(|call| call.callee)).chain(declared);
    let is_ours = |id: &FunctionId| model.function(*id).body.is_some() && name(*id) != "main";
    all.filter(is_ours).collect()
}

/// Where a function's name stands; none if a macro pastes it together.
pub(super) fn stands(texts: &Texts, site: &Site, name: &str) -> Option<Place> {
    let is_there = |place: &Place| {
        let end = place.offset + name.len();
        texts.between(place.file, place.offset, end) == name.as_bytes()
    };
    site.spelled.filter(is_there)
}

/// The byte after the `(` that follows a name: a declaration by a type's name has none, nor has a
/// macro that stands for the name alone.
fn after_name(texts: &Texts, site: &Site, name: &str) -> Option<(FileId, usize)> {
    let place = stands(texts, site, name)?;
    let open = lex::after_open(texts.of(place.file), place.offset + name.len())?;
    Some((place.file, open))
}

/// The context, in the first line of each such function.
pub(super) fn edit(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    let mut all: Vec<FunctionId> = plan.closure.finders.iter().copied().collect();
    all.sort_unstable();
    for id in all {
        match first_byte(plan, id) {
            Some(site) => {
                let blank = if site.is_in_macro() { " " } else { "\n  " };
                let line = format!("{blank}struct flowpin_core *flowpin = flowpin_self();");
                let place = site.spelled.unwrap_or(site.expanded);
                edits.at_site(model, &site, (place, Slot::Argument), 0, &line);
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

/// The byte after the `{` of a definition: in the text, or in the macro that makes it.
fn first_byte(plan: &Plan<'_>, id: FunctionId) -> Option<Site> {
    let open = plan.model.function(id).body?.open?;
    let spelled = open.spelled?;
    let is_there = plan.texts.of(spelled.file).get(spelled.offset) == Some(&b'{');
    let after = |place: Place| Place {
        offset: place.offset + 1,
        ..place
    };
    is_there.then(|| match open.is_in_macro() {
        true => Site {
            spelled: Some(after(spelled)),
            ..open
        },
        false => Site {
            spelled: Some(after(spelled)),
            expanded: after(spelled),
        },
    })
}
