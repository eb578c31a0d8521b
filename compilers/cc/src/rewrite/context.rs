//! The context backend: names, structures, and what local statics become.

use super::edits::{Edits, Slot};
use super::expand::Pasted;
use super::layout::{Structure, alignment};
use super::lex;
use super::{Plan, Refusal};
use crate::model::{Access, GlobalId, Place, Reference, Scope};
use std::fmt::Write;

/// All edits of the context backend but those of units' ends.
pub(super) fn edit(plan: &Plan<'_>, edits: &mut Edits) {
    names(plan, edits);
    local_statics(plan, edits);
    structures(plan, edits);
    super::calls::edit(plan, edits);
    super::finders::edit(plan, edits);
}

/// Each use of a private variable.
fn names(plan: &Plan<'_>, edits: &mut Edits) {
    for one in &plan.model.references {
        let is_use = one.initialises.is_none() && plan.model.needs_state(one);
        if !is_use || !plan.is_private(one.global) {
            continue;
        }
        match spelled(plan, one) {
            Some(place) => {
                let len = plan.model.global(one.global).name.len();
                let text = plan.layout.accessors.get(&one.global);
                let text = text.map_or("", String::as_str);
                edits.at_site(plan.model, &one.site, (place, Slot::Replace), len, text);
            }
            None => edits.pasted.push(Pasted {
                name: plan.model.global(one.global).name.clone(),
                text: plan
                    .layout
                    .accessors
                    .get(&one.global)
                    .cloned()
                    .unwrap_or_default(),
                used_at: one.site.expanded,
                refusal: pasted(plan, one),
            }),
        }
    }
}

/// Where the name stands in the text; none if a macro pastes it together.
pub(super) fn spelled(plan: &Plan<'_>, one: &Reference) -> Option<Place> {
    let name = plan.model.global(one.global).name.as_bytes();
    let place = one.site.spelled?;
    let text = plan
        .texts
        .between(place.file, place.offset, place.offset + name.len());
    (text == name).then_some(place)
}

fn pasted(plan: &Plan<'_>, one: &Reference) -> Refusal {
    let what = format!(
        "a macro makes up the name of the private variable `{}`: write its use out",
        plan.model.global_name(one.global)
    );
    Refusal::new(plan.model.at(one.site.expanded), what)
}

/// Declarations of local statics are taken out; their initial values move before the function.
fn local_statics(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    for id in 0..model.globals.len() {
        let global = model.global(id);
        let (Scope::Local(function), true) = (global.scope, plan.is_private(id)) else {
            continue;
        };
        let Some(declaration) = global.declarations.first() else {
            continue;
        };
        let start = declaration.start;
        let text = plan.texts.of(start.file);
        let group = model.globals.iter().flat_map(|one| &one.declarations);
        let same = group.filter(|one| one.start == start);
        let end = same.map(|one| one.end).max().unwrap_or(declaration.end);
        let semicolon = lex::skip_blank(text, end);
        // What a macro declares is refused elsewhere.
        if text.get(semicolon) != Some(&b';') && declaration.is_in_macro {
            continue;
        }
        if text.get(semicolon) != Some(&b';') {
            let what = format!("the declaration of `{}` is not understood", global.name);
            edits.refused.push(Refusal::new(model.at(start), what));
            continue;
        }
        edits.replace(model, start, semicolon + 1 - start.offset, "");
        let is_rebased = holds_private(plan, id);
        if let (Some((first, end)), false, Some(body)) = (
            global.initialiser,
            is_rebased,
            model.function(function).body,
        ) {
            let value = plan.texts.between(first.file, first.offset, end);
            let template = format!(
                "static {} = {};\n",
                declarator(&global.ty.spelling, &template_name(plan, id)),
                String::from_utf8_lossy(value)
            );
            edits.append(body.start, Slot::Template, &template);
        }
    }
}

/// Where a local static's initial value is kept.
pub(super) fn template_name(plan: &Plan<'_>, id: GlobalId) -> String {
    let global = plan.model.global(id);
    match global.scope {
        Scope::Local(_) => plan.layout.fields.get(&id).cloned().unwrap_or_default(),
        _ => global.name.clone(),
    }
}

/// Whether the initialiser holds the address of a private variable.
pub(super) fn holds_private(plan: &Plan<'_>, id: GlobalId) -> bool {
    plan.model.references.iter().any(|one| {
        one.initialises == Some(id)
            && one.access != Access::Unevaluated
            && plan.is_private(one.global)
    })
}

/// A declaration of `name` with a type as written.
pub(super) fn declarator(ty: &str, name: &str) -> String {
    if ty.contains(['(', '[']) {
        format!("__typeof__({ty}) {name}")
    } else if ty.ends_with('*') {
        format!("{ty}{name}")
    } else {
        format!("{ty} {name}")
    }
}

fn structures(plan: &Plan<'_>, edits: &mut Edits) {
    for structure in &plan.layout.structures {
        let text = structure_text(plan, structure);
        edits.insert(plan.model, structure.place, Slot::Structure, &text);
    }
}

fn structure_text(plan: &Plan<'_>, structure: &Structure) -> String {
    let name = &structure.name;
    let file = plan.model.path(plan.model.units[structure.unit].file);
    let file = file.rsplit('/').next().unwrap_or_default().to_owned();
    let mut out = format!("/* The state of {file}, one for each core. */\nstruct {name} {{\n");
    for id in &structure.members {
        let global = plan.model.global(*id);
        let field = plan.layout.fields.get(id).map_or("", String::as_str);
        let line = match global.scope {
            Scope::Local(_) => declarator(&global.ty.spelling, field),
            _ => format!("__typeof__({}) {field}", global.name),
        };
        let aligned = match alignment(global) {
            align if align > global.ty.align.max(1) => format!("_Alignas({align}) "),
            _ => String::new(),
        };
        let _ = writeln!(out, "  {aligned}{line};");
    }
    let _ = write!(
        out,
        "}};\n\
         #define {name}_p ((struct {name} *)(void *)flowpin->{name})\n\
         _Static_assert(sizeof(struct {name}) <= sizeof(((struct flowpin_core *)0)->{name}),\n\
         \x20              \"flowpin: the compiler laid {name} out differently\");\n\n"
    );
    out
}

/// The header, in each unit that changes or that includes a file that changes.
pub(super) fn tops(plan: &Plan<'_>, edits: &mut Edits) {
    let changed = edits.files();
    for (number, unit) in plan.model.units.iter().enumerate() {
        let has_state = plan.layout.structures.iter().any(|one| one.unit == number);
        let has_external = plan
            .layout
            .externals
            .iter()
            .any(|id| plan.model.global(*id).unit == number);
        if has_state || has_external || unit.files.iter().any(|file| changed.contains(file)) {
            let top = Place {
                file: unit.file,
                offset: 0,
                line: 1,
            };
            edits.insert(plan.model, top, Slot::Top, "#include \"flowpin_cc.h\"\n");
        }
    }
}
