//! What is appended to a unit: initial values, callbacks, sums, ticks.

use super::context::{holds_private, template_name};
use super::edits::{Edits, Slot};
use super::{Backend, Plan};
use crate::model::{GlobalId, Passed, Place, Scope};
use std::fmt::Write;

/// Appends to each unit that needs it.
pub(super) fn edit(plan: &Plan<'_>, edits: &mut Edits) {
    for unit in 0..plan.model.units.len() {
        let file = plan.model.units[unit].file;
        let end = Place {
            file,
            offset: plan.texts.of(file).len(),
            line: 0,
        };
        let mut text = String::new();
        if plan.backend == Backend::Context {
            text.push_str(&super::calls::callbacks(plan, unit));
            text.push_str(&initial_values(plan, unit));
        }
        text.push_str(&super::set_once::unit_end(plan, unit));
        text.push_str(&plan.pragmas.unit_end(plan, unit));
        text.push_str(&plan.stages.unit_end(plan, unit));
        if !text.is_empty() {
            edits.insert(
                plan.model,
                end,
                Slot::End(0),
                &format!("\n{}", text.trim_end()),
            );
            edits.insert(plan.model, end, Slot::End(1), "\n");
        }
    }
}

/// Whether a unit has state of its own.
pub(super) fn has_state(plan: &Plan<'_>, unit: usize) -> bool {
    !members(plan, unit).is_empty()
}

fn members(plan: &Plan<'_>, unit: usize) -> Vec<GlobalId> {
    let structures = plan.layout.structures.iter().filter(|one| one.unit == unit);
    let mut all: Vec<GlobalId> = structures.flat_map(|one| one.members.clone()).collect();
    let is_here = |id: &&GlobalId| plan.model.global(**id).unit == unit;
    all.extend(plan.layout.externals.iter().filter(is_here));
    all
}

/// The function that gives a fresh context its initial values.
fn initial_values(plan: &Plan<'_>, unit: usize) -> String {
    let members = members(plan, unit);
    if members.is_empty() {
        return String::new();
    }
    let tag = &plan.layout.tags[unit];
    let mut out = format!(
        "/* Initial values of a core's state. */\n\
         void flowpin_init_{tag}(struct flowpin_core *flowpin) {{\n"
    );
    for id in members {
        out.push_str(&initial_value(plan, id));
    }
    out.push_str("}\n\n");
    out
}

fn initial_value(plan: &Plan<'_>, id: GlobalId) -> String {
    let global = plan.model.global(id);
    let target = plan.layout.accessors.get(&id).map_or("", String::as_str);
    let is_local = matches!(global.scope, Scope::Local(_));
    // What is named for its type only, compilers call unused.
    let named = match is_local {
        true => String::new(),
        false => format!("  (void)&{};\n", global.name),
    };
    let Some((start, end)) = global.initialiser else {
        // The context is zero.
        return named;
    };
    if !holds_private(plan, id) {
        let from = template_name(plan, id);
        return format!(
            "  __builtin_memcpy((void *)&{target}, (const void *)&{from}, sizeof({target}));\n"
        );
    }
    // What cannot be written was refused before.
    let names = super::initialisers::names(plan, id).unwrap_or_default();
    let value = Edits::part(plan.texts, start, end, &names);
    let mut out = named;
    let is_list = global.ty.is_array || Passed::of(&global.ty.canonical) == Passed::Record;
    let is_literal = value.trim_start().starts_with('(');
    // A list may come out of a macro.
    if value.trim_start().starts_with('{') || (is_list && !is_literal) {
        let ty = match is_local {
            true => global.ty.spelling.clone(),
            false => global.name.clone(),
        };
        let _ = writeln!(
            out,
            "  __builtin_memcpy((void *)&{target}, &(__typeof__({ty})){value}, sizeof({target}));"
        );
    } else {
        let _ = writeln!(out, "  {target} = {value};");
    }
    out
}
