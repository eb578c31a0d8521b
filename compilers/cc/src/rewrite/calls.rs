//! The context as first parameter and first argument; callbacks for what is called by address.

use super::context::declarator;
use super::edits::{Edits, Slot};
use super::lex::{self, Inside};
use super::{Plan, Refusal};
use crate::model::{AddressTaken, FunctionDeclaration, FunctionId, Model, Place, Sink, Site};
use std::fmt::Write;

/// All edits of functions.
pub(super) fn edit(plan: &Plan<'_>, edits: &mut Edits) {
    let mut all: Vec<FunctionId> = plan.closure.all.iter().copied().collect();
    all.sort_unstable();
    for id in &all {
        for declaration in &plan.model.function(*id).declarations {
            parameters(plan, *id, declaration, edits);
        }
    }
    for call in &plan.model.calls {
        let is_handed_on = plan.stages.cut_at(call.name.spelled).is_some();
        if is_handed_on || plan.closure.all.contains(&call.callee) {
            argument(plan, call, edits);
        }
    }
    for taken in &plan.model.addresses {
        if plan.closure.all.contains(&taken.function) {
            address(plan, taken, edits);
        }
    }
}

/// Where a function's name stands; none if a macro pastes it together.
pub(super) fn spelled(plan: &Plan<'_>, site: &Site, name: &str) -> Option<Place> {
    super::finders::stands(plan.texts, site, name)
}

fn parameters(
    plan: &Plan<'_>,
    id: FunctionId,
    declaration: &FunctionDeclaration,
    edits: &mut Edits,
) {
    let model = plan.model;
    let function = model.function(id);
    let Some(place) = spelled(plan, &declaration.name, &function.name) else {
        let what = format!(
            "a macro makes up the name of the function `{}`: write its declaration out",
            function.name
        );
        edits
            .refused
            .push(Refusal::new(model.at(declaration.name.expanded), what));
        return;
    };
    if function.name == "main" {
        edits.replace(model, place, "main".len(), "flowpin_main");
    }
    let text = plan.texts.of(place.file);
    let Some(open) = lex::after_open(text, place.offset + function.name.len()) else {
        let what = format!(
            "`{}` is declared without parentheses, by a type's name: write its parameters out",
            function.name
        );
        edits.refused.push(Refusal::new(model.at(place), what));
        return;
    };
    let at = |offset: usize| Place { offset, ..place };
    match lex::inside(text, open) {
        Inside::Nothing
            if !declaration.is_definition
                && declaration.is_unprototyped
                && !takes_nothing(model, id) => {}
        Inside::Nothing => edits.insert(model, at(open), Slot::Argument, PARAMETER),
        Inside::Void(start, end) => edits.replace(model, at(start), end - start, PARAMETER),
        Inside::Something => {
            let types_follow = declaration
                .is_definition
                .then(|| old_style(text, open, &function.parameter_names))
                .flatten();
            if let Some(close) = types_follow {
                edits.insert(model, at(open), Slot::Argument, "flowpin, ");
                let declared = format!(" {PARAMETER};");
                edits.insert(model, at(close + 1), Slot::Argument, &declared);
                return;
            }
            let parameter = format!("{PARAMETER}, ");
            edits.insert(model, at(open), Slot::Argument, &parameter);
        }
    }
}

/// Whether a function has no parameters, and all calls know it: then `f()` may become a prototype.
fn takes_nothing(model: &Model, id: FunctionId) -> bool {
    let mut calls = model.calls.iter().filter(|call| call.callee == id);
    let function = model.function(id);
    let has_none = function.body.is_some() && function.parameters.is_empty();
    has_none && !function.is_variadic && calls.all(|call| call.argument_count == 0)
}

/// Of a definition with names in parentheses and their types after them (C89): the `)`. A body may
/// come out of a macro, so that what follows the parentheses does not tell.
fn old_style(text: &[u8], open: usize, parameters: &[String]) -> Option<usize> {
    let close = lex::closing(text, open)?;
    let names = String::from_utf8_lossy(text.get(open..close)?).into_owned();
    let next = text.get(lex::skip_blank(text, close + 1)..)?;
    let is_list = names.split(',').map(str::trim).eq(parameters);
    (is_list && !next.starts_with(b"{")).then_some(close)
}

const PARAMETER: &str = "struct flowpin_core *flowpin";

fn argument(plan: &Plan<'_>, call: &crate::model::Call, edits: &mut Edits) {
    let model = plan.model;
    let name = &model.function(call.callee).name;
    let refused = |what: &str| {
        let place = model.at(call.name.expanded);
        Refusal::new(place, format!("the call of `{name}` {what}: write it out"))
    };
    let Some(place) = spelled(plan, &call.name, name) else {
        edits
            .refused
            .push(refused("has a name that a macro makes up"));
        return;
    };
    if name == "main" {
        let slot = (place, Slot::Replace);
        edits.at_site(model, &call.name, slot, name.len(), "flowpin_main");
    }
    let text = plan.texts.of(place.file);
    let Some(open) = lex::after_open(text, place.offset + name.len()) else {
        edits.refused.push(refused("has its arguments in a macro"));
        return;
    };
    let passed = match lex::inside(text, open) {
        Inside::Nothing => "flowpin",
        _ if call.argument_count == 0 => {
            edits.refused.push(refused(
                "passes a macro's arguments, of which there are none",
            ));
            return;
        }
        _ => "flowpin, ",
    };
    let at = Place {
        offset: open,
        ..place
    };
    edits.at_site(model, &call.name, (at, Slot::Argument), 0, passed);
}

/// The name of a function's callback.
pub(super) fn callback(name: &str) -> String {
    format!("flowpin_callback_{name}")
}

fn address(plan: &Plan<'_>, taken: &AddressTaken, edits: &mut Edits) {
    let model = plan.model;
    let function = model.function(taken.function);
    let name = &function.name;
    let refuse = |what: String| Refusal::new(model.at(taken.name.expanded), what);
    if function.body.is_none() || name == "main" {
        edits
            .refused
            .push(refuse(format!("the address of `{name}` is taken")));
        return;
    }
    let Some(place) = spelled(plan, &taken.name, name) else {
        edits.refused.push(refuse(format!(
            "a macro makes up the name of the function `{name}`, whose address is taken"
        )));
        return;
    };
    let slot = (place, Slot::Replace);
    edits.at_site(model, &taken.name, slot, name.len(), &callback(name));
    let declaration = format!("{};\n", prototype(model, taken.function));
    edits.append(taken.definition, Slot::Callback, &declaration);
}

/// Refuses functions with private state that something calls where no core is known.
pub(super) fn refuse_other_threads(plan: &Plan<'_>, edits: &mut Edits) {
    for id in plan.closure.all.iter().chain(&plan.closure.finders) {
        let function = plan.model.function(*id);
        let tied = function.attributes.iter().find(|attribute| {
            let ties = ["constructor", "destructor", "alias", "ifunc", "weak"];
            ties.iter().any(|word| attribute.contains(word))
        });
        if let (Some(attribute), Some(body)) = (tied, function.body) {
            let what = format!(
                "`{}` uses private state and has the attribute {attribute}: what calls it knows no \
                 core",
                function.name
            );
            edits
                .refused
                .push(Refusal::new(plan.model.at(body.start), what));
        }
    }
    for taken in &plan.model.addresses {
        let Sink::Argument { function: to, .. } = &taken.sink else {
            continue;
        };
        if plan.closure.needs(taken.function) && OTHER_THREADS.contains(&to.as_str()) {
            let name = &plan.model.function(taken.function).name;
            let what =
                format!("{to} may call `{name}`, which uses private state, where no core is known");
            let place = plan.model.at(taken.name.expanded);
            edits.refused.push(Refusal::new(place, what));
        }
    }
}

/// Library functions whose callbacks run on other threads, or between two instructions.
const OTHER_THREADS: &[&str] = &[
    "on_exit",
    "pthread_create",
    "pthread_atfork",
    "thrd_create",
    "g_thread_create_full",
    "g_thread_new",
    "timer_create",
];

/// A callback's declaration: the function's old parameters.
pub(super) fn prototype(model: &Model, id: FunctionId) -> String {
    let function = model.function(id);
    let linkage = if function.is_static { "static " } else { "" };
    let types = function.parameters.iter().enumerate();
    let mut parameters: Vec<String> = types
        .map(|(number, ty)| declarator(ty, &format!("a{number}")))
        .collect();
    // What is declared as `f()` may be passed on as any function: a signal's handler, say.
    let is_open = function.declarations.iter().all(|one| one.is_unprototyped);
    if parameters.is_empty() && !is_open {
        parameters.push("void".to_owned());
    }
    let head = format!("{}({})", callback(&function.name), parameters.join(", "));
    format!("{linkage}{}", declarator(&function.result, &head))
}

/// Callbacks of a unit's functions, for its end.
pub(super) fn callbacks(plan: &Plan<'_>, unit: usize) -> String {
    let model = plan.model;
    let mut out = String::new();
    let mut taken: Vec<FunctionId> = model.addresses.iter().map(|one| one.function).collect();
    taken.sort_unstable();
    taken.dedup();
    for id in taken {
        let function = model.function(id);
        if !plan.closure.all.contains(&id) || function.unit != unit || function.body.is_none() {
            continue;
        }
        let arguments: String = (0..function.parameters.len()).fold(String::new(), |mut all, n| {
            let _ = write!(all, ", a{n}");
            all
        });
        let returns = if function.result == "void" {
            ""
        } else {
            "return "
        };
        let _ = write!(
            out,
            "{} {{\n  {returns}{}(flowpin_self(){arguments});\n}}\n\n",
            prototype(model, id),
            function.name
        );
    }
    out
}
