//! Variables that are one for all cores because they are set before packets come: what the
//! run-time needs to give each core the first value, and to compare what the cores have set.

use super::{Plan, output};
use crate::classify::Verdict;
use crate::model::GlobalId;
use std::fmt::Write;

/// The variables of a unit.
fn members(plan: &Plan<'_>, unit: usize) -> Vec<GlobalId> {
    let is_here = |id: &GlobalId| {
        let is_set_once = plan.decisions[*id].verdict == Verdict::SetOnce;
        is_set_once && plan.model.global(*id).unit == unit
    };
    (0..plan.model.globals.len()).filter(is_here).collect()
}

/// Whether a unit has such variables.
pub(super) fn has_some(plan: &Plan<'_>, unit: usize) -> bool {
    !members(plan, unit).is_empty()
}

/// What a unit's end has because of them.
pub(super) fn unit_end(plan: &Plan<'_>, unit: usize) -> String {
    let members = members(plan, unit);
    if members.is_empty() {
        return String::new();
    }
    let mut out = String::from("/* What is set before packets come is the same in all cores. */\n");
    let names: Vec<&str> = members
        .iter()
        .map(|id| plan.model.global(*id).name.as_str())
        .collect();
    for name in &names {
        let _ = writeln!(
            out,
            "static char flowpin_first_{name}[sizeof({name})], flowpin_set_{name}[sizeof({name})];"
        );
    }
    let tag = output::tag(plan, unit);
    let _ = write!(
        out,
        "/* Step 0 keeps the first values, 1 sets them again, 2 keeps what the first core has set; \
         3 names\n * what another core has set to something else. */\n\
         const char *flowpin_set_once_{tag}(int step) {{\n"
    );
    for name in names {
        let _ = write!(
            out,
            "  if (step == 0) __builtin_memcpy(flowpin_first_{name}, &{name}, sizeof({name}));\n\
             \x20 if (step == 1) __builtin_memcpy(&{name}, flowpin_first_{name}, sizeof({name}));\n\
             \x20 if (step == 2) __builtin_memcpy(flowpin_set_{name}, &{name}, sizeof({name}));\n\
             \x20 if (step == 3 && __builtin_memcmp(flowpin_set_{name}, &{name}, sizeof({name})))\n\
             \x20   return \"{name}\";\n"
        );
    }
    out.push_str("  return 0;\n}\n\n");
    out
}
