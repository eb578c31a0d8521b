//! What a cut before a function would divide: which state only the functions before it use, which
//! only those after it, which would have to be forwarded with each packet, and which conflicts.

use crate::classify::{Verdict, decide};
use crate::model::{Access, FunctionId, GlobalId, Model, Texts};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What is known about a cut.
#[derive(Clone, Debug, Serialize)]
pub struct CutReport {
    /// The first function after the cut.
    pub function: String,
    /// How many functions run before it, while packets come.
    pub before: usize,
    /// How many run after it.
    pub after: usize,
    /// Written before, only read after: to be copied along with each packet.
    pub forward: Vec<String>,
    /// Used on both sides, and written after the cut or on both sides.
    pub conflicts: Vec<Conflict>,
    /// Read on both sides, written on none.
    pub read_only: Vec<String>,
}

/// A variable that the cut would tear apart.
#[derive(Clone, Debug, Serialize)]
pub struct Conflict {
    /// Which.
    pub name: String,
    /// Functions before the cut that use it.
    pub before: Vec<String>,
    /// Functions after the cut that use it.
    pub after: Vec<String>,
    /// The call that is to blame: from a function before the cut, into what also runs after it.
    pub calls: Vec<String>,
}

/// Examines a cut before the function of this name.
///
/// # Errors
/// There is no such function, or several, or nothing calls it while packets come; a line
/// `#pragma flowpin targets` names a function that is not there.
pub fn cut(mut model: Model, texts: &Texts, function: &str) -> Result<CutReport, String> {
    let mut calls = std::mem::take(&mut model.pointer_calls);
    crate::rewrite::narrow(&model, texts, &mut calls)?;
    model.pointer_calls = calls;
    let model = &model;
    let named = |id: &FunctionId| {
        let one = model.function(*id);
        one.name == function && one.body.is_some()
    };
    let found: Vec<FunctionId> = (0..model.functions.len()).filter(named).collect();
    let [first] = found.as_slice() else {
        return Err(match found.len() {
            0 => format!("there is no function `{function}` in these sources"),
            _ => format!("`{function}` is the name of several functions"),
        });
    };
    let after = reach(model, [*first], None);
    let before = reach(model, entries(model), Some(*first));
    if before.contains(first) || before.is_empty() {
        return Err(format!(
            "`{function}` is where packets come in: a cut before it has nothing before it"
        ));
    }
    let decisions = decide(model);
    let is_state = |id: &GlobalId| {
        matches!(
            decisions[*id].verdict,
            Verdict::Private | Verdict::SignalFlag
        )
    };
    let left = uses(model, &before);
    let right = uses(model, &after);
    let mut report = CutReport {
        function: function.to_owned(),
        before: before.len(),
        after: after.len(),
        forward: Vec::new(),
        conflicts: Vec::new(),
        read_only: Vec::new(),
    };
    for id in (0..model.globals.len()).filter(is_state) {
        let (Some(here), Some(there)) = (left.get(&id), right.get(&id)) else {
            continue;
        };
        match (here.is_written, there.is_written) {
            (false, false) => report.read_only.push(model.global_name(id)),
            (true, false) => report.forward.push(model.global_name(id)),
            _ => report.conflicts.push(Conflict {
                name: model.global_name(id),
                before: names(model, &here.functions),
                after: names(model, &there.functions),
                calls: blame(model, &before, &after, &here.functions),
            }),
        }
    }
    Ok(report)
}

/// How functions use a variable.
#[derive(Default)]
struct Uses {
    functions: BTreeSet<FunctionId>,
    is_written: bool,
}

fn uses(model: &Model, functions: &HashSet<FunctionId>) -> BTreeMap<GlobalId, Uses> {
    let mut found: BTreeMap<GlobalId, Uses> = BTreeMap::new();
    for one in &model.references {
        let inside = one.inside.filter(|inside| functions.contains(inside));
        if let (Some(inside), true) = (inside, one.access != Access::Unevaluated) {
            let uses = found.entry(one.global).or_default();
            uses.functions.insert(inside);
            uses.is_written |= one.access.may_write();
        }
    }
    found
}

/// Functions that libraries call with packets: what libpcap gets; else all that libraries call.
pub(crate) fn entries(model: &Model) -> Vec<FunctionId> {
    use crate::model::Sink;
    let gets = |wanted: &dyn Fn(&str) -> bool| -> Vec<FunctionId> {
        let taken = model.addresses.iter().filter(|taken| match &taken.sink {
            Sink::Argument { function, .. } => wanted(function),
            _ => false,
        });
        taken.map(|taken| taken.function).collect()
    };
    let handlers = gets(&|name| matches!(name, "pcap_loop" | "pcap_dispatch"));
    if !handlers.is_empty() {
        return handlers;
    }
    let asks = |name: &str| matches!(name, "pcap_next" | "pcap_next_ex");
    let calls = model
        .calls
        .iter()
        .filter(|call| asks(&model.function(call.callee).name));
    calls.filter_map(|call| call.caller).collect()
}

/// All functions that these may call, but for what is called through `stop` alone.
fn reach(
    model: &Model,
    from: impl IntoIterator<Item = FunctionId>,
    stop: Option<FunctionId>,
) -> HashSet<FunctionId> {
    let mut found = HashSet::new();
    let mut work: Vec<FunctionId> = from.into_iter().collect();
    while let Some(function) = work.pop() {
        let has_body = model.function(function).body.is_some();
        if Some(function) != stop && has_body && found.insert(function) {
            work.extend(callees(model, function).map(|(callee, _)| callee));
        }
    }
    found
}

/// What a function may call, each with the place of the call.
fn callees(
    model: &Model,
    function: FunctionId,
) -> impl Iterator<Item = (FunctionId, crate::model::Place)> {
    let direct = model
        .calls
        .iter()
        .filter(move |call| call.caller == Some(function));
    let direct = direct.map(|call| (call.callee, call.name.expanded));
    let pointers = model
        .pointer_calls
        .iter()
        .filter(move |call| call.caller == Some(function));
    let through = pointers.flat_map(|call| call.targets.iter().map(move |id| (*id, call.place)));
    direct.chain(through)
}

fn names(model: &Model, functions: &BTreeSet<FunctionId>) -> Vec<String> {
    functions
        .iter()
        .map(|id| model.function(*id).name.clone())
        .collect()
}

/// Calls from what runs before the cut only into what runs on both sides, if these lead to one of
/// the functions that use the variable; the functions themselves if they run before it only.
fn blame(
    model: &Model,
    before: &HashSet<FunctionId>,
    after: &HashSet<FunctionId>,
    users: &BTreeSet<FunctionId>,
) -> Vec<String> {
    let mut calls = BTreeSet::new();
    for function in before.iter().filter(|id| !after.contains(id)) {
        if users.contains(function) {
            calls.insert(format!("{} itself", model.function(*function).name));
        }
        for (callee, place) in callees(model, *function) {
            let leads = before.contains(&callee)
                && after.contains(&callee)
                && !reach(model, [callee], None).is_disjoint(&users.iter().copied().collect());
            if leads {
                let name = &model.function(callee).name;
                calls.insert(format!("{}: the call of {name}", model.at(place)));
            }
        }
    }
    calls.into_iter().collect()
}

/// The report as text.
#[must_use]
pub fn cut_text(report: &CutReport) -> String {
    use std::fmt::Write;
    let list = |names: &[String]| match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    };
    let mut out = format!(
        "A cut before {}: {} functions run before it, {} after it\n\
         forward with each packet (written before, only read after): {}\n\
         read on both sides, written on none: {}\n",
        report.function,
        report.before,
        report.after,
        list(&report.forward),
        list(&report.read_only),
    );
    if report.conflicts.is_empty() {
        out.push_str("no state is torn apart\n");
    }
    for conflict in &report.conflicts {
        let _ = writeln!(
            out,
            "CONFLICT {}: used before the cut by {}, after it by {}",
            conflict.name,
            conflict.before.join(", "),
            conflict.after.join(", ")
        );
        for call in &conflict.calls {
            let _ = writeln!(out, "    because of {call}");
        }
    }
    out
}
