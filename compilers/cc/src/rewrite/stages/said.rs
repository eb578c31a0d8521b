//! What the lines of a program say about its stages: files, keys of state, copies.

use super::check::Question;
use super::graph::{Graph, Uses};
use super::{Cut, Stages, parameter_name};
use crate::classify::{Verdict, running};
use crate::model::{FunctionId, Model};
use crate::rewrite::Refusal;

/// `files(…)` of a stage: its functions with state run there alone.
pub(super) fn files(
    stages: &Stages,
    question: &Question<'_>,
    graph: &Graph<'_>,
    refused: &mut Vec<Refusal>,
) {
    let model = question.model;
    for (number, stage) in stages.all.iter().enumerate() {
        let is_here = |file: usize| {
            let path = model.path(file);
            stage
                .files
                .iter()
                .any(|name| path == *name || path.ends_with(&format!("/{name}")))
        };
        for other in (0..stages.all.len()).filter(|other| *other != number) {
            let mut functions: Vec<FunctionId> = graph.reach[other].iter().copied().collect();
            functions.sort_unstable();
            for function in functions {
                let body = model.function(function).body;
                let Some(body) = body.filter(|body| is_here(body.start.file)) else {
                    continue;
                };
                let has_state = model.references.iter().any(|one| {
                    one.inside == Some(function)
                        && question.decisions[one.global].verdict == Verdict::Private
                        && is_here(model.global(one.global).place.file)
                });
                if has_state {
                    let what = format!(
                        "`{}` belongs to the stage `{}` by its files, but `{}` runs it: put a cut \
                         before its call",
                        model.function(function).name,
                        stage.name,
                        stages.name(other)
                    );
                    refused.push(Refusal::new(model.at(body.start), what));
                }
            }
        }
    }
}

/// State by host in a stage that is divided by connection.
pub(super) fn keyed(
    stages: &Stages,
    question: &Question<'_>,
    uses: &[Uses],
    refused: &mut Vec<Refusal>,
) {
    let model = question.model;
    for one in &stages.keyed {
        for (stage, used) in uses.iter().enumerate() {
            let Some(used) = used.get(&one.global) else {
                continue;
            };
            let keys = stages.key_of(stage, question.key);
            if stages.all[stage].ways == Some(1) || keys.iter().all(|key| *key == one.key) {
                continue;
            }
            let user = used.functions.iter().next();
            let user = user.map_or("", |user| model.function(*user).name.as_str());
            let what = format!(
                "`{}` is kept by {}, but {user} uses it in the stage `{}`, which is divided by {}: \
                 give it a stage of its own with key({})",
                model.global_name(one.global),
                one.key,
                stages.name(stage),
                keys.join(", "),
                one.key
            );
            refused.push(Refusal::new(model.at(one.place), what));
        }
    }
}

/// The same for a program that is not divided: all that runs while packets come.
pub(super) fn undivided(stages: &Stages, question: &Question<'_>, refused: &mut Vec<Refusal>) {
    let model = question.model;
    let running = running(model);
    for one in stages.keyed.iter().filter(|one| one.key != question.key) {
        let used = model.references.iter().find(|use_| {
            let is_running = use_.inside.is_some_and(|inside| running.contains(&inside));
            use_.global == one.global && is_running
        });
        let Some(used) = used else { continue };
        let what = format!(
            "`{}` is kept by {}, but is used at {}, where packets are divided by {}: give it a \
             stage of its own, with a cut that has key({})",
            model.global_name(one.global),
            one.key,
            model.at(used.site.expanded),
            question.key,
            one.key
        );
        refused.push(Refusal::new(model.at(one.place), what));
    }
}

/// What a pointer points to stays on the other core, unless it is copied.
pub(super) fn pointers(stages: &Stages, model: &Model, refused: &mut Vec<Refusal>) {
    for cut in &stages.cuts {
        let callee = model.function(cut.callee);
        for (number, ty) in callee.parameters.iter().enumerate() {
            let name = parameter_name(model, cut.callee, number);
            let is_copied = cut.copies.iter().any(|one| one.name == name);
            if (ty.contains('*') || ty.contains('[')) && !ty.contains('(') && !is_copied {
                let what = format!(
                    "`{name}` of `{}` is a pointer, whose target stays on the other core: add \
                     copy({name}: BYTES) or copy(*{name})",
                    callee.name
                );
                refused.push(Refusal::new(model.at(cut.place), what));
            }
        }
        held(cut, model, refused);
        for copy in &cut.copies {
            let is_parameter = (0..callee.parameters.len())
                .any(|number| parameter_name(model, cut.callee, number) == copy.name);
            let is_forwarded = cut
                .forward
                .iter()
                .any(|id| model.global(*id).name == copy.name);
            if !is_parameter && !is_forwarded {
                let what = format!(
                    "`{}` is neither a parameter of `{}` nor forwarded",
                    copy.name, callee.name
                );
                refused.push(Refusal::new(model.at(cut.place), what));
            }
        }
    }
}

/// What goes along may hold pointers itself: what those point to stays on the other core, too.
fn held(cut: &Cut, model: &Model, refused: &mut Vec<Refusal>) {
    let callee = model.function(cut.callee);
    let parameters = callee.parameter_pointers.iter().enumerate();
    let parameters = parameters.map(|(number, held)| {
        let name = parameter_name(model, cut.callee, number);
        (name, held)
    });
    let forwarded = cut.forward.iter().map(|id| {
        let global = model.global(*id);
        (global.name.clone(), &global.holds_pointer)
    });
    for (name, held) in parameters.chain(forwarded) {
        let Some(field) = held else { continue };
        if cut.unchecked.contains(&name) {
            continue;
        }
        let what = format!(
            "`{name}` goes to the stage with the pointer `{field}` in it, whose target stays on \
             the other core: hand on what is needed of it, or add unchecked({name}) if `{}` does \
             not follow it",
            callee.name
        );
        refused.push(Refusal::new(model.at(cut.place), what));
    }
}
