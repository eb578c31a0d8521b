//! What the compiler knows about a program, as text and as JSON.

mod cut;
mod text;

pub(crate) use cut::entries;
pub use cut::{Conflict, CutReport, cut, cut_text};
pub use text::text;

use crate::classify::{Closure, Decision, Hidden, Verdict, decide, hidden};
use crate::model::{Access, Model, Scope, Sink};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that `flowpin cc report` says.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Translation units.
    pub units: Vec<String>,
    /// How much there is.
    pub counts: Counts,
    /// Every variable with static storage.
    pub globals: Vec<GlobalReport>,
    /// Functions that need the core's context.
    pub functions: Vec<FunctionReport>,
    /// Calls through pointers, and what they may reach.
    pub pointer_calls: Vec<PointerCallReport>,
    /// Addresses of functions that a library gets.
    pub callbacks: Vec<CallbackReport>,
    /// Calls of functions with hidden state.
    pub hidden_state: Vec<HiddenReport>,
    /// Private variables whose names stand in text that is not compiled with these flags.
    pub not_compiled: Vec<String>,
    /// Numbers that each core counts for itself, though the program may mean one of all packets.
    pub counted: Vec<String>,
}

/// Sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Functions with a body.
    pub functions: usize,
    /// Variables with static storage that the program defines.
    pub globals: usize,
    /// Of these, those that become private.
    pub private: usize,
    /// Functions that use a private variable themselves.
    pub direct: usize,
    /// These, and all that call them.
    pub with_context: usize,
    /// Uses of private variables.
    pub references: usize,
    /// Of these, those through a macro.
    pub references_in_macros: usize,
    /// Calls that pass the context.
    pub calls: usize,
    /// Calls through pointers.
    pub pointer_calls: usize,
}

/// A variable.
#[derive(Clone, Debug, Serialize)]
pub struct GlobalReport {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub place: String,
    /// `extern`, `static`, or the function whose static it is.
    pub scope: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// What becomes of it.
    pub verdict: Verdict,
    /// Why.
    pub why: String,
    /// Functions that use it, each with how.
    pub used_by: BTreeMap<String, BTreeSet<Access>>,
    /// How often.
    pub references: usize,
    /// Macros that use it.
    pub macros: BTreeSet<String>,
    /// Library functions that get its address.
    pub escapes: BTreeSet<String>,
}

/// A function that needs the context.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionReport {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub place: String,
    /// Whether it uses a private variable itself.
    pub is_direct: bool,
    /// Whether its address is taken, so that it gets a callback.
    pub has_callback: bool,
    /// Whether it keeps its type, and finds the context of its core itself.
    pub finds_core: bool,
}

/// A call through a pointer.
#[derive(Clone, Debug, Serialize)]
pub struct PointerCallReport {
    /// Where.
    pub place: String,
    /// In which function.
    pub caller: String,
    /// The pointer.
    pub pointer: String,
    /// What it may reach; empty if that is not known.
    pub targets: Vec<String>,
}

/// A function that a library calls.
#[derive(Clone, Debug, Serialize)]
pub struct CallbackReport {
    /// Which.
    pub function: String,
    /// Where its address is handed over.
    pub place: String,
    /// To what.
    pub library_function: String,
}

/// A call of a function with hidden state.
#[derive(Clone, Debug, Serialize)]
pub struct HiddenReport {
    /// Which.
    pub function: String,
    /// What it keeps.
    pub state: &'static str,
    /// `per_core`, `process`, `at_start` or `refused`.
    pub treatment: &'static str,
    /// Where.
    pub places: Vec<String>,
}

/// Makes the report.
#[must_use]
pub fn report(model: &Model, texts: &crate::model::Texts) -> Report {
    let mut decisions = decide(model);
    let counted = crate::rewrite::reported(model, texts, &mut decisions);
    let is_private = |id: usize| decisions[id].verdict == Verdict::Private;
    let closure = Closure::of(
        model,
        is_private,
        std::iter::empty(),
        &crate::rewrite::finders(model, texts),
    );
    Report {
        units: model
            .units
            .iter()
            .map(|unit| model.path(unit.file))
            .collect(),
        counts: counts(model, &decisions, &closure),
        globals: globals(model, &decisions),
        functions: functions(model, &closure),
        pointer_calls: pointer_calls(model),
        callbacks: callbacks(model),
        hidden_state: hidden_state(model),
        not_compiled: crate::rewrite::not_compiled(model, texts, &decisions),
        counted,
    }
}

fn counts(model: &Model, decisions: &[Decision], closure: &Closure) -> Counts {
    let is_private = |id: usize| decisions[id].verdict == Verdict::Private;
    let references = model.references.iter().filter(|one| is_private(one.global));
    let in_macros = references.clone().filter(|one| one.site.is_in_macro());
    let passes = |callee| closure.all.contains(&callee);
    Counts {
        functions: model
            .functions
            .iter()
            .filter(|one| one.body.is_some())
            .count(),
        globals: model.globals.iter().filter(|one| one.is_defined).count(),
        private: (0..model.globals.len())
            .filter(|id| is_private(*id))
            .count(),
        direct: closure.direct.len(),
        with_context: closure.all.len() + closure.finders.len(),
        references: references.clone().count(),
        references_in_macros: in_macros.count(),
        calls: model
            .calls
            .iter()
            .filter(|call| passes(call.callee))
            .count(),
        pointer_calls: model.pointer_calls.len(),
    }
}

fn globals(model: &Model, decisions: &[Decision]) -> Vec<GlobalReport> {
    let mut found: Vec<GlobalReport> = Vec::new();
    for (id, decision) in decisions.iter().enumerate() {
        let global = model.global(id);
        let mut report = GlobalReport {
            name: global.name.clone(),
            place: model.at(global.place),
            scope: match global.scope {
                Scope::External => "extern".to_owned(),
                Scope::Static => "static".to_owned(),
                Scope::Local(function) => model.function(function).name.clone(),
            },
            ty: global.ty.spelling.clone(),
            verdict: decision.verdict,
            why: decision.why.clone(),
            used_by: BTreeMap::new(),
            references: 0,
            macros: BTreeSet::new(),
            escapes: BTreeSet::new(),
        };
        for reference in model.references.iter().filter(|one| one.global == id) {
            report.references += 1;
            let user = reference
                .inside
                .map(|inside| model.function(inside).name.clone());
            let accesses = report.used_by.entry(user.unwrap_or_default()).or_default();
            accesses.insert(reference.access);
            report.macros.extend(macro_at(model, &reference.site));
            if let Some(Sink::Argument {
                function,
                number,
                is_library: true,
            }) = &reference.sink
            {
                report
                    .escapes
                    .insert(format!("{function} (argument {number})"));
            }
        }
        found.push(report);
    }
    found
}

/// The macro whose body holds the name.
fn macro_at(model: &Model, site: &crate::model::Site) -> Option<String> {
    let spelled = site.spelled?;
    let holds = |one: &&crate::model::Macro| {
        one.place.file == spelled.file && (one.place.offset..one.end).contains(&spelled.offset)
    };
    model.macros.iter().find(holds).map(|one| one.name.clone())
}

fn functions(model: &Model, closure: &Closure) -> Vec<FunctionReport> {
    let both = closure.all.iter().chain(&closure.finders);
    let mut ids: Vec<_> = both.copied().collect();
    ids.sort_unstable();
    ids.iter()
        .map(|id| {
            let function = model.function(*id);
            FunctionReport {
                name: function.name.clone(),
                place: function
                    .body
                    .map_or_else(String::new, |body| model.at(body.start)),
                is_direct: closure.direct.contains(id),
                has_callback: closure.all.contains(id)
                    && model.addresses.iter().any(|one| one.function == *id),
                finds_core: closure.finders.contains(id),
            }
        })
        .collect()
}

fn pointer_calls(model: &Model) -> Vec<PointerCallReport> {
    let name = |id: &usize| model.function(*id).name.clone();
    let calls = model.pointer_calls.iter().map(|call| PointerCallReport {
        place: model.at(call.place),
        caller: call.caller.as_ref().map(name).unwrap_or_default(),
        pointer: call.text.clone(),
        targets: call.targets.iter().map(name).collect(),
    });
    calls.collect()
}

fn callbacks(model: &Model) -> Vec<CallbackReport> {
    let callbacks = model
        .addresses
        .iter()
        .filter_map(|taken| match &taken.sink {
            Sink::Argument {
                function,
                is_library: true,
                ..
            } => Some(CallbackReport {
                function: model.function(taken.function).name.clone(),
                place: model.at(taken.name.expanded),
                library_function: function.clone(),
            }),
            _ => None,
        });
    callbacks.collect()
}

fn hidden_state(model: &Model) -> Vec<HiddenReport> {
    let mut by_name: BTreeMap<&str, HiddenReport> = BTreeMap::new();
    for call in &model.calls {
        let function = model.function(call.callee);
        let known = if function.body.is_some() {
            None
        } else {
            hidden(&function.name)
        };
        let (state, treatment) = match known {
            Some(Hidden::PerCore(state)) => (state, "per_core"),
            Some(Hidden::Process(state)) => (state, "process"),
            Some(Hidden::AtStart(state)) => (state, "at_start"),
            Some(Hidden::Refused(state)) => (state, "refused"),
            None => continue,
        };
        let report = by_name
            .entry(&function.name)
            .or_insert_with(|| HiddenReport {
                function: function.name.clone(),
                state,
                treatment,
                places: Vec::new(),
            });
        report.places.push(model.at(call.name.expanded));
    }
    by_name.into_values().collect()
}
