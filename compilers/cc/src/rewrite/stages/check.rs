//! What a division tears apart: state that two stages use.

use super::super::Refusal;
use super::super::pragma::narrow;
use super::graph::{Graph, Uses};
use super::said::{files, keyed, pointers, undivided};
use super::{Copied, Stages};
use crate::classify::{Decision, Verdict};
use crate::model::{FunctionId, GlobalId, Model, Place, Texts};
use std::collections::BTreeSet;

/// What the check reads.
pub(in super::super) struct Question<'a> {
    pub(in super::super) model: &'a Model,
    pub(in super::super) texts: &'a Texts,
    pub(in super::super) decisions: &'a [Decision],
    /// Variables that are reduced at the end, over all stages.
    pub(in super::super) reduced: Vec<GlobalId>,
    /// The function that time is passed to.
    pub(in super::super) tick: Option<FunctionId>,
    /// The key of the first stage.
    pub(in super::super) key: &'static str,
}

/// Refuses what cannot be divided; finds what is forwarded, and which stage time is for.
pub(in super::super) fn check(
    stages: &mut Stages,
    question: &Question<'_>,
    refused: &mut Vec<Refusal>,
) {
    if stages.all.is_empty() {
        undivided(stages, question, refused);
        return;
    }
    let model = question.model;
    let mut calls = model.pointer_calls.clone();
    if let Err(what) = narrow(model, question.texts, &mut calls) {
        refused.push(Refusal::new(model.at(stages.all[0].place), what));
    }
    for (number, stage) in stages.all.iter().enumerate().skip(1) {
        if stages.before(number) == 0 {
            let what = format!("no cut leads to the stage `{}`", stage.name);
            refused.push(Refusal::new(model.at(stage.place), what));
        }
    }
    ticked(stages, question, refused);
    let graph = Graph::new(stages, question, &calls);
    let uses: Vec<Uses> = (0..stages.all.len())
        .map(|stage| graph.uses(stages, stage))
        .collect();
    let mut found = Vec::new();
    perpacket(stages, model, &uses, &mut found);
    forwarded(stages, question, &uses, &mut found);
    torn(stages, question, &graph, &uses, &mut found);
    files(stages, question, &graph, &mut found);
    keyed(stages, question, &uses, &mut found);
    pointers(stages, model, &mut found);
    refused.append(&mut found);
}

/// Time is for the stage whose statement calls the function, or that runs it anyway.
fn ticked(stages: &mut Stages, question: &Question<'_>, refused: &mut Vec<Refusal>) {
    let model = question.model;
    for number in 0..stages.inside.len() {
        let one = &stages.inside[number];
        let range = one.start.offset..one.end;
        let is_here = |place: Place| place.file == one.start.file && range.contains(&place.offset);
        let called = model
            .calls
            .iter()
            .filter(|call| is_here(call.name.expanded));
        let strange = called
            .filter(|call| Some(call.callee) != question.tick)
            .map(|call| model.function(call.callee).name.clone())
            .next();
        let writes = model
            .references
            .iter()
            .any(|one| is_here(one.site.expanded) && one.access.may_write());
        let (stage, start) = (one.stage, one.start);
        if strange.is_some() || writes {
            let what = format!(
                "only the call of a `tick` function can be left to the stage `{}`, which runs it \
                 as packet time passes",
                stages.name(stage)
            );
            refused.push(Refusal::new(model.at(start), what));
        }
        stages.tick = stage;
    }
}

/// Variables that each packet sets go along to each stage that uses them, with what they point to.
fn perpacket(stages: &mut Stages, model: &Model, uses: &[Uses], refused: &mut Vec<Refusal>) {
    for (id, place) in stages.perpacket.clone() {
        let global = model.global(id);
        let name = &global.name;
        let pointee = global.ty.canonical.strip_suffix('*').map(str::trim);
        let is_bytes = pointee.is_some_and(|ty| BYTES.iter().any(|word| ty.ends_with(word)));
        for to in (1..uses.len()).rev() {
            let is_later = stages
                .cuts
                .iter()
                .any(|cut| cut.from == to && cut.forward.contains(&id));
            if !is_later && !uses[to].contains_key(&id) {
                continue;
            }
            for cut in stages.cuts.iter_mut().filter(|cut| cut.to == to) {
                if !cut.forward.contains(&id) {
                    cut.forward.push(id);
                }
                let is_copied = cut.copies.iter().any(|one| one.name == *name);
                if is_bytes && !is_copied {
                    let what = format!(
                        "`{name}` points to bytes, and nothing says how many belong to a packet: \
                         add copy({name}: BYTES) to the cut at {}",
                        model.at(cut.place)
                    );
                    refused.push(Refusal::new(model.at(place), what));
                } else if pointee.is_some() && !is_copied {
                    cut.copies.push(Copied {
                        name: name.clone(),
                        length: format!("sizeof(*{name})"),
                    });
                }
            }
        }
    }
}

/// Types of bytes; how many follow is not known from the type.
const BYTES: &[&str] = &["char", "void"];

/// Variables that an earlier stage writes and a later one reads: forwarded, or refused.
fn forwarded(
    stages: &mut Stages,
    question: &Question<'_>,
    uses: &[Uses],
    refused: &mut Vec<Refusal>,
) {
    let model = question.model;
    // From the last stage to the first: what a stage reads, those before it must have.
    for to in (1..uses.len()).rev() {
        let mut wanted: BTreeSet<GlobalId> = uses[to].keys().copied().collect();
        let later = stages.cuts.iter().filter(|cut| cut.from == to);
        wanted.extend(later.flat_map(|cut| cut.forward.clone()));
        for id in wanted {
            let is_state = question.decisions[id].verdict == Verdict::Private;
            let here = uses[to].get(&id).is_some_and(|one| one.writes.is_some());
            let before =
                (0..to).find(|from| uses[*from].get(&id).is_some_and(|one| one.writes.is_some()));
            let (true, false, Some(writer)) = (is_state, here, before) else {
                continue;
            };
            if question.reduced.contains(&id) {
                continue;
            }
            let global = model.global(id);
            let is_number = super::super::pragma::is_number(&global.ty.canonical);
            for cut in stages.cuts.iter_mut().filter(|cut| cut.to == to) {
                if cut.forward.contains(&id) || cut.separate.contains(&id) {
                    continue;
                }
                if is_number {
                    cut.forward.push(id);
                    continue;
                }
                let writer = stages.all.get(writer).map_or("", |one| one.name.as_str());
                let what = format!(
                    "the stage `{}` reads `{}`, which `{writer}` writes: add forward({1}), and \
                     copy(*{1}) if what it points to changes",
                    stages.all.get(to).map_or("", |one| one.name.as_str()),
                    model.global_name(id)
                );
                refused.push(Refusal::new(model.at(cut.place), what));
            }
        }
    }
}

/// State that two stages use, and a later one writes.
fn torn(
    stages: &Stages,
    question: &Question<'_>,
    graph: &Graph<'_>,
    uses: &[Uses],
    refused: &mut Vec<Refusal>,
) {
    let model = question.model;
    for first in 0..uses.len() {
        for second in first + 1..uses.len() {
            for (id, here) in &uses[first] {
                let Some(there) = uses[second].get(id) else {
                    continue;
                };
                let global = model.global(*id);
                let is_state = question.decisions[*id].verdict == Verdict::Private;
                let is_separate = stages.cuts.iter().any(|cut| cut.separate.contains(id))
                    || stages.perpacket.iter().any(|(one, _)| one == id);
                if !is_state || is_separate || question.reduced.contains(id) {
                    continue;
                }
                let is_pointer = global.ty.canonical.contains('*')
                    && !global.ty.canonical.contains('(')
                    && !global.ty.canonical.starts_with("const ");
                let both = here.writes.is_some() && there.writes.is_some();
                let why = match (both, there.writes, is_pointer) {
                    (true, Some(place), _) => {
                        format!("which both write ({})", model.at(place))
                    }
                    (false, Some(place), _) => format!(
                        "which `{}` writes at {}",
                        stages.name(second),
                        model.at(place)
                    ),
                    // Forwarded, or refused, above.
                    _ if here.writes.is_some() => continue,
                    (_, None, true) => "whose target may change".to_owned(),
                    _ => continue,
                };
                let cut = stages.cuts.iter().find(|cut| cut.to == second);
                let place = cut.map_or(global.place, |cut| cut.place);
                let what = format!(
                    "the stages `{}` and `{}` use `{}`, {why}, because of {}: move the cut, or \
                     add separate({}) if each may have its own",
                    stages.name(first),
                    stages.name(second),
                    model.global_name(*id),
                    graph.blame(stages, first, second, &here.functions),
                    global.name,
                );
                refused.push(Refusal::new(model.at(place), what));
            }
        }
    }
}
