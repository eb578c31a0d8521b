//! Initialisers that hold the address of private variables: their text for a core's own.
//!
//! The original text stays as it is, for the original variable; a core's comes at the unit's end,
//! with what macros stand for written out where their bodies name a variable.

use super::edits::{Edits, Slot};
use super::expand::{Pasted, Request, write_out};
use super::{Plan, Refusal, calls, context};
use crate::model::{Access, GlobalId, Place};
use std::collections::BTreeMap;

/// A part of an initialiser and what stands there instead: first byte, length, text.
pub(super) type Name = (usize, usize, String);

/// What is asked of one use of a macro.
#[derive(Default)]
struct Asked {
    requests: Vec<Request>,
    pasted: Vec<Pasted>,
}

/// All parts of a variable's initialiser that differ for a core.
pub(super) fn names(plan: &Plan<'_>, id: GlobalId) -> Result<Vec<Name>, Refusal> {
    let Some((start, end)) = plan.model.global(id).initialiser else {
        return Ok(Vec::new());
    };
    let is_inside =
        |place: &Place| place.file == start.file && (start.offset..end).contains(&place.offset);
    let mut names = Vec::new();
    let mut macros: BTreeMap<Place, Asked> = BTreeMap::new();
    let mut ask = |spelled: Place, used_at: Place, len: usize, text: String| {
        if is_inside(&spelled) {
            names.push((spelled.offset, len, text));
            return;
        }
        macros.entry(used_at).or_default().requests.push(Request {
            place: spelled,
            slot: Slot::Replace,
            len,
            text,
            name: spelled,
            used_at,
        });
    };
    let mut pasted = Vec::new();
    for one in &plan.model.references {
        let is_here = one.initialises == Some(id) && one.access != Access::Unevaluated;
        let Some(text) = plan.layout.accessors.get(&one.global).filter(|_| is_here) else {
            continue;
        };
        let name = &plan.model.global(one.global).name;
        match context::spelled(plan, one) {
            Some(place) => ask(place, one.site.expanded, name.len(), text.clone()),
            None => pasted.push(Pasted {
                name: name.clone(),
                text: text.clone(),
                used_at: one.site.expanded,
                refusal: refusal(plan, id, one.site.expanded),
            }),
        }
    }
    for one in &plan.model.addresses {
        let is_ours = plan.closure.all.contains(&one.function) && is_inside(&one.name.expanded);
        let name = &plan.model.function(one.function).name;
        if let Some(place) = calls::spelled(plan, &one.name, name).filter(|_| is_ours) {
            ask(place, one.name.expanded, name.len(), calls::callback(name));
        }
    }
    for one in pasted {
        macros.entry(one.used_at).or_default().pasted.push(one);
    }
    for (place, asked) in macros {
        written_out(plan, place, &asked, &mut names).ok_or_else(|| refusal(plan, id, place))?;
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// Replaces one use of a macro, with what its arguments name.
fn written_out(plan: &Plan<'_>, place: Place, asked: &Asked, names: &mut Vec<Name>) -> Option<()> {
    let mut edits = Edits::default();
    for (offset, len, text) in names.iter() {
        let at = Place {
            offset: *offset,
            ..place
        };
        edits.replace(plan.model, at, *len, text);
    }
    let pasted: Vec<&Pasted> = asked.pasted.iter().collect();
    let (len, text) = write_out(plan, place, &asked.requests, &pasted, &edits)?;
    let is_argument = |one: &Name| (place.offset..place.offset + len).contains(&one.0);
    names.retain(|one| !is_argument(one));
    names.push((place.offset, len, text));
    Some(())
}

fn refusal(plan: &Plan<'_>, id: GlobalId, place: Place) -> Refusal {
    let what = format!(
        "a macro in the initialiser of `{}` makes up the name of a private variable: write it out",
        plan.model.global_name(id)
    );
    Refusal::new(plan.model.at(place), what)
}
