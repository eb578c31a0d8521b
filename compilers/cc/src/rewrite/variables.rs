//! Private variables that cannot be made private, and why.

use super::edits::Edits;
use super::layout::{ALIGNMENT_MAX, alignment};
use super::{Backend, Plan, Refusal, lex};
use crate::classify::{Decision, Verdict};
use crate::model::{Access, GlobalId, Model, Scope};
use std::collections::HashMap;

/// One declaration of several local statics moves as a whole: if one of them is private, all are.
pub(super) fn keep_groups_together(model: &Model, decisions: &mut [Decision]) {
    let mut groups: HashMap<(usize, usize), Vec<GlobalId>> = HashMap::new();
    for (id, global) in model.globals.iter().enumerate() {
        if let (Scope::Local(_), Some(first)) = (global.scope, global.declarations.first()) {
            let key = (first.start.file, first.start.offset);
            groups.entry(key).or_default().push(id);
        }
    }
    for group in groups.values() {
        let is_private = |id: &GlobalId| decisions[*id].verdict == Verdict::Private;
        if let Some(private) = group.iter().copied().find(|id| is_private(id)) {
            let name = model.global(private).name.clone();
            for id in group {
                if decisions[*id].verdict != Verdict::Private {
                    decisions[*id] = Decision {
                        verdict: Verdict::Private,
                        why: format!("declared together with {name}"),
                    };
                }
            }
        }
    }
}

/// Refuses what has no place in a structure.
pub(super) fn refuse(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    for id in 0..model.globals.len() {
        if plan.is_private(id)
            && let Some(what) = obstacle(plan, id)
        {
            let place = model.at(model.global(id).place);
            let what = format!("`{}` {what}", model.global_name(id));
            edits.refused.push(Refusal::new(place, what));
        }
    }
    initialisers(plan, edits);
    nameless(plan, edits);
    assembler(plan, edits);
}

/// Objects without a name, which would stay one for all cores.
fn nameless(plan: &Plan<'_>, edits: &mut Edits) {
    for one in &plan.model.nameless {
        let is_used = plan.decisions.get(one.holder);
        if is_used.is_some_and(|it| it.verdict == Verdict::Unused) {
            continue;
        }
        let what = format!(
            "`{}` points to an object without a name, which would be one for all cores: give it a \
             name, or make it const, and what points to it",
            plan.model.global_name(one.holder)
        );
        let place = plan.model.at(one.place);
        edits.refused.push(Refusal::new(place, what));
    }
}

/// Assembler names a variable by its symbol, which stays the one that all cores have.
fn assembler(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    for file in 0..model.files.len() {
        let text = plan.texts.of(file);
        for (at, word) in lex::identifiers(text) {
            if !matches!(word, b"asm" | b"__asm" | b"__asm__") {
                continue;
            }
            let rest = text.get(at..).unwrap_or_default();
            let Some(open) = rest.iter().position(|byte| *byte == b'(') else {
                continue;
            };
            let open = at + open + 1;
            let end = lex::closing(text, open).unwrap_or(open);
            let strings = lex::strings(text, open, end);
            let named = (0..model.globals.len()).find(|id| {
                let name = model.global(*id).name.as_bytes();
                plan.is_private(*id) && lex::has_word(&strings, name)
            });
            if let Some(id) = named {
                let place = format!("{}:{}", model.path(file), lex::line_of(text, at));
                let what = format!(
                    "assembler names the private variable `{}`: pass it as an operand",
                    model.global(id).name
                );
                edits.refused.push(Refusal::new(place, what));
            }
        }
    }
}

/// What keeps a variable from being private.
fn obstacle(plan: &Plan<'_>, id: GlobalId) -> Option<String> {
    let global = plan.model.global(id);
    if let Some((other, place)) = &global.other_type {
        let at = plan.model.at(*place);
        return Some(format!(
            "is `{}` here and `{other}` at {at}: give it one type",
            global.ty.spelling
        ));
    }
    let tied = global.attributes.iter().find(|attribute| {
        let ties = ["alias", "weak", "section", "cleanup", "common"];
        ties.iter().any(|word| attribute.contains(word))
    });
    if let Some(attribute) = tied {
        return Some(format!(
            "has the attribute {attribute}, which ties it to one place"
        ));
    }
    if alignment(global) > ALIGNMENT_MAX && plan.backend == Backend::Context {
        let what = "is aligned to more than 64 bytes, which no core's copy would be";
        return Some(what.to_owned());
    }
    if let (Some(name), Backend::Context) = (&global.local_name, plan.backend) {
        return Some(format!(
            "begins with `{name}`, which only its function knows: move that to file scope"
        ));
    }
    if global.is_extended && plan.backend == Backend::Context {
        let what = "ends with an array whose length its initialiser alone says: give it a length";
        return Some(what.to_owned());
    }
    if global.ty.size == 0 {
        return Some("has a type of unknown size".to_owned());
    }
    let definitions = global.declarations.iter().filter(|one| !one.is_extern);
    let is_common = definitions
        .clone()
        .any(|one| one.start.file != global.place.file);
    if is_common && plan.backend == Backend::Thread {
        return Some("is defined in two files, and would be two variables of each thread".into());
    }
    let is_local = matches!(global.scope, Scope::Local(_));
    let is_in_macro = global.declarations.iter().any(|one| one.is_in_macro);
    if is_in_macro && (is_local || plan.backend == Backend::Thread) {
        return Some("is declared by a macro: write its declaration out".to_owned());
    }
    let is_nameless =
        global.ty.spelling.contains("(unnamed") || global.ty.spelling.contains("(anon");
    if is_local && (global.ty.is_local || is_nameless) && plan.backend == Backend::Context {
        return Some(
            "has a type that only its function knows: move the type to file scope".to_owned(),
        );
    }
    None
}

/// Initialisers that hold the address of a private variable.
fn initialisers(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    for one in &model.references {
        let Some(holder) = one
            .initialises
            .filter(|_| one.access != Access::Unevaluated)
        else {
            continue;
        };
        if !plan.is_private(one.global) {
            continue;
        }
        let (name, holder_name) = (model.global_name(one.global), model.global_name(holder));
        let what = if plan.backend == Backend::Thread {
            format!(
                "the initialiser of `{holder_name}` needs the address of `{name}`, which each \
                     thread has elsewhere"
            )
        } else if let Err(refusal) = super::initialisers::names(plan, holder) {
            edits.refused.push(refusal);
            continue;
        } else if !plan.is_private(holder) && plan.decisions[holder].verdict != Verdict::Unused {
            format!(
                "`{holder_name}` is one for all cores, and holds the address of the private \
                     `{name}`"
            )
        } else {
            continue;
        };
        edits
            .refused
            .push(Refusal::new(model.at(one.site.expanded), what));
    }
}
