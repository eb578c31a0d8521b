//! What a unit has for variables that are reduced: one value of all cores' values.

use super::Plan;
use super::pragma::Operation;
use crate::clang::Leaf;
use crate::model::GlobalId;
use std::fmt::Write;

/// The function that adds a core's values, and that takes the result.
pub(super) fn reductions(
    plan: &Plan<'_>,
    sums: &[(GlobalId, Operation)],
    unit: usize,
    out: &mut String,
) {
    let is_here = |one: &&(GlobalId, Operation)| plan.model.global(one.0).unit == unit;
    let here: Vec<_> = sums.iter().filter(is_here).collect();
    for (id, _) in &here {
        let name = &plan.model.global(*id).name;
        let _ = writeln!(out, "static __typeof__({name}) flowpin_total_{name};");
    }
    let tag = super::output::tag(plan, unit);
    let _ = write!(
        out,
        "static int flowpin_has_total_{tag};\n\
         /* All cores' values become one: step 0 adds a core's, step 1 takes the result. */\n\
         void flowpin_reduce_{tag}(struct flowpin_core *flowpin, int step) {{\n\
         \x20 (void)flowpin;\n"
    );
    for (id, operation) in here {
        one(plan, *id, *operation, &tag, out);
    }
    let _ = write!(out, "  flowpin_has_total_{tag} = step == 0;\n}}\n\n");
}

fn one(plan: &Plan<'_>, id: GlobalId, operation: Operation, tag: &str, out: &mut String) {
    let global = plan.model.global(id);
    let name = &global.name;
    let own = plan.layout.accessors.get(&id).unwrap_or(name);
    let whole = Leaf {
        path: String::new(),
        element: global
            .ty
            .canonical
            .split('[')
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned(),
        is_array: global.ty.is_array,
    };
    let leaves = match global.ty.leaves.as_slice() {
        [] => std::slice::from_ref(&whole),
        leaves => leaves,
    };
    for leaf in leaves {
        number(name, own, leaf, operation, tag, out);
    }
}

/// A number, an array of numbers, or such a field of a record.
fn number(name: &str, own: &str, leaf: &Leaf, operation: Operation, tag: &str, out: &mut String) {
    let Leaf { path, element, .. } = leaf;
    let mut own = format!("{own}{path}");
    let mut total = format!("flowpin_total_{name}{path}");
    let is_first = format!("!flowpin_has_total_{tag}");
    if leaf.is_array {
        let _ = writeln!(
            out,
            "  for (unsigned long at = 0; at < sizeof({total}) / sizeof({element}); at++)"
        );
        own = format!("(({element} *)(void *)&{own})[at]");
        total = format!("(({element} *)(void *)&{total})[at]");
    }
    let step = match operation {
        Operation::Sum => format!("{total} += {own}, {own} = 0"),
        Operation::Or => format!("{total} = {is_first} ? {own} : ({total} | {own})"),
        Operation::And => format!("{total} = {is_first} ? {own} : ({total} & {own})"),
        Operation::Least => format!("{total} = {is_first} || {own} < {total} ? {own} : {total}"),
        Operation::Most => format!("{total} = {is_first} || {own} > {total} ? {own} : {total}"),
    };
    let _ = writeln!(
        out,
        "  if (step == 0) {step};\n  else {own} = {total}, {total} = 0;"
    );
}
