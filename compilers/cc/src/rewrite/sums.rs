//! What a unit has for variables that are reduced: one value of all cores' values.

use super::Plan;
use super::pragma::Operation;
use crate::clang::Leaf;
use crate::model::{GlobalId, Model};
use std::fmt::Write;

/// A number that is reduced: a variable, or a field of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) global: GlobalId,
    /// How the variable's name continues: `.frames`; nothing for all of it.
    pub(super) path: String,
    pub(super) operation: Operation,
}

impl Sum {
    /// Whether it says what becomes of a leaf of its variable.
    fn covers(&self, leaf: &Leaf) -> bool {
        let rest = leaf.path.strip_prefix(&self.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// `NAME.FIELD`: the variable's name, and how it continues.
pub(super) fn split(text: &str) -> (&str, &str) {
    match text.find('.') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

/// Whether a path names a number, or a record of numbers, in a variable.
pub(super) fn has_field(model: &Model, id: GlobalId, path: &str) -> bool {
    let probe = Sum {
        global: id,
        path: path.to_owned(),
        operation: Operation::Sum,
    };
    let leaves = &model.global(id).ty.leaves;
    path.is_empty() || leaves.iter().any(|leaf| probe.covers(leaf))
}

/// Fields that no line reduces, of variables of which some field is: each core would keep its own,
/// and the first core's would be taken for all.
pub(super) fn left_out(model: &Model, sums: &[Sum]) -> Vec<(GlobalId, String)> {
    let mut found = Vec::new();
    for id in ids(sums) {
        let of_it = || sums.iter().filter(|one| one.global == id);
        let leaves = model.global(id).ty.leaves.iter();
        let left = leaves.filter(|leaf| !of_it().any(|one| one.covers(leaf)));
        found.extend(left.map(|leaf| (id, leaf.path.clone())));
    }
    found
}

/// Each variable once.
pub(super) fn ids(sums: &[Sum]) -> Vec<GlobalId> {
    let mut found: Vec<GlobalId> = sums.iter().map(|one| one.global).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The function that adds a core's values, and that takes the result.
pub(super) fn reductions(plan: &Plan<'_>, sums: &[Sum], unit: usize, out: &mut String) {
    let mut here = ids(sums);
    here.retain(|id| plan.model.global(*id).unit == unit);
    for id in &here {
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
    for id in here {
        one(plan, id, sums, &tag, out);
    }
    let _ = write!(out, "  flowpin_has_total_{tag} = step == 0;\n}}\n\n");
}

fn one(plan: &Plan<'_>, id: GlobalId, sums: &[Sum], tag: &str, out: &mut String) {
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
        // The line that names a field most closely counts.
        let covering = sums
            .iter()
            .filter(|one| one.global == id && one.covers(leaf));
        if let Some(sum) = covering.max_by_key(|one| one.path.len()) {
            number(name, own, leaf, sum.operation, tag, out);
        }
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
