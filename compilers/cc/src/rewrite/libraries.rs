//! Library functions that keep state: the run-time's, one for each core; or refused.

use super::edits::{Edits, Slot};
use super::lex;
use super::{Alloc, Plan, Refusal};
use crate::classify::{Hidden, hidden, running};
use crate::model::{FunctionId, Place, Site};

/// Renames what the run-time replaces, and refuses what cannot be.
pub(super) fn edit(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    let running = running(model);
    let is_running = |caller: Option<FunctionId>| caller.is_none_or(|one| running.contains(&one));
    let calls = model
        .calls
        .iter()
        .map(|call| (call.callee, call.name, is_running(call.caller)));
    let addresses = model
        .addresses
        .iter()
        .map(|one| (one.function, one.name, true));
    for (id, site, is_running) in calls.chain(addresses) {
        library_name(plan, id, &site, is_running, edits);
    }
    for (name, ours) in STREAMS {
        let mut variables = model.library_variables.iter();
        if variables.any(|variable| variable.name == *name) {
            stream(plan, edits, name, ours);
        }
    }
}

fn library_name(plan: &Plan<'_>, id: FunctionId, site: &Site, is_running: bool, edits: &mut Edits) {
    let function = plan.model.function(id);
    if function.body.is_some() {
        return;
    }
    let place = site.expanded;
    let is_pooled = plan.choices.alloc == Alloc::Pool;
    let known = match POOLED.contains(&function.name.as_str()) {
        true if is_pooled => Some(Hidden::PerCore("its pool")),
        _ => hidden(&function.name),
    };
    if is_pooled && REALLOCATES.contains(&function.name.as_str()) {
        let what = format!(
            "{} may free memory of the program's, which the C library cannot with --alloc pool",
            function.name
        );
        edits.refused.push(Refusal::new(plan.model.at(place), what));
    }
    match known {
        Some(Hidden::PerCore(_)) => {
            let stands = |place: &Place| {
                let end = place.offset + function.name.len();
                plan.texts.between(place.file, place.offset, end) == function.name.as_bytes()
            };
            // Some are macros of the C library: then the name stands where they are used.
            let spelled = site.spelled.filter(stands).or(Some(place).filter(stands));
            match spelled {
                Some(place) => {
                    let ours = match super::marked::opens_own(plan, id, site.expanded) {
                        true => format!("(flowpin_each_core(), flowpin_{})", function.name),
                        false => format!("flowpin_{}", function.name),
                    };
                    let slot = (place, Slot::Replace);
                    edits.at_site(plan.model, site, slot, function.name.len(), &ours);
                }
                None => {
                    let what = format!("a macro makes up the name of {}", function.name);
                    edits.refused.push(Refusal::new(plan.model.at(place), what));
                }
            }
        }
        Some(Hidden::AtStart(why)) if is_running => {
            let what = format!(
                "{} has {why}, and is called while packets come",
                function.name
            );
            edits.refused.push(Refusal::new(plan.model.at(place), what));
        }
        Some(Hidden::Refused(why)) => {
            let what = format!("{} {why}", function.name);
            edits.refused.push(Refusal::new(plan.model.at(place), what));
        }
        Some(Hidden::AtStart(_) | Hidden::Process(_)) | None => {}
    }
}

/// What a core's pool stands for.
const POOLED: &[&str] = &["malloc", "calloc", "realloc", "free", "strdup"];

/// Library functions that free or extend what they are given.
const REALLOCATES: &[&str] = &["getline", "getdelim", "reallocarray", "posix_memalign"];

/// Streams of which each core has its own.
const STREAMS: &[(&str, &str)] = &[
    ("stdout", "flowpin_stdout()"),
    ("stderr", "flowpin_stderr()"),
];

/// These are macros of the C library, so that their uses have no place of their own: each token of
/// that name is one.
fn stream(plan: &Plan<'_>, edits: &mut Edits, name: &str, ours: &str) {
    for file in 0..plan.model.files.len() {
        let text = plan.texts.of(file);
        for (offset, found) in lex::identifiers(text) {
            if found == name.as_bytes() {
                let line = u32::try_from(lex::line_of(text, offset)).unwrap_or(0);
                let place = Place { file, offset, line };
                edits.replace(plan.model, place, name.len(), ours);
            }
        }
    }
}
