//! What a division tears apart: state that two stages use.

use super::super::Refusal;
use super::super::pragma::narrow;
use super::{Stages, parameter_name};
use crate::classify::{Decision, Verdict, running};
use crate::model::{Access, FunctionId, GlobalId, Model, Place, PointerCall, Sink, Texts};
use crate::report::entries;
use std::collections::{BTreeMap, BTreeSet, HashSet};

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
    forwarded(stages, question, &uses, &mut found);
    torn(stages, question, &graph, &uses, &mut found);
    files(stages, question, &graph, &mut found);
    keyed(stages, question, &uses, &mut found);
    pointers(stages, model, &mut found);
    refused.append(&mut found);
}

/// A function's uses of state, by variable: by whom, and whether one of them may write it.
#[derive(Default)]
struct Use {
    functions: BTreeSet<FunctionId>,
    writes: Option<Place>,
}

type Uses = BTreeMap<GlobalId, Use>;

/// Which functions run in each stage.
struct Graph<'a> {
    model: &'a Model,
    calls: &'a [PointerCall],
    reach: Vec<HashSet<FunctionId>>,
}

impl<'a> Graph<'a> {
    fn new(stages: &Stages, question: &Question<'a>, calls: &'a [PointerCall]) -> Self {
        let mut graph = Self {
            model: question.model,
            calls,
            reach: Vec::new(),
        };
        for stage in 0..stages.all.len() {
            let mut from: Vec<FunctionId> = match stage {
                0 => entries(question.model),
                _ => Vec::new(),
            };
            let into = stages.cuts.iter().filter(|cut| cut.to == stage);
            from.extend(into.map(|cut| cut.callee));
            from.extend(question.tick.filter(|_| stages.tick == stage));
            let reach = graph.from(stages, stage, from);
            graph.reach.push(reach);
        }
        graph
    }

    fn from(
        &self,
        stages: &Stages,
        stage: usize,
        mut work: Vec<FunctionId>,
    ) -> HashSet<FunctionId> {
        let mut found = HashSet::new();
        while let Some(function) = work.pop() {
            if self.model.function(function).body.is_some() && found.insert(function) {
                work.extend(
                    self.callees(stages, stage, function)
                        .iter()
                        .map(|one| one.0),
                );
            }
        }
        found
    }

    /// What a function may call in a stage, and where.
    fn callees(
        &self,
        stages: &Stages,
        stage: usize,
        function: FunctionId,
    ) -> Vec<(FunctionId, Place)> {
        let mut found = Vec::new();
        for call in self
            .model
            .calls
            .iter()
            .filter(|call| call.caller == Some(function))
        {
            let at = call.name.expanded;
            let is_handed = stages
                .cut_at(call.name.spelled)
                .is_some_and(|cut| stages.cuts.get(cut).is_some_and(|cut| cut.from == stage));
            if !is_handed && stages.region(at).is_none_or(|other| other == stage) {
                found.push((call.callee, at));
            }
        }
        for call in self
            .calls
            .iter()
            .filter(|call| call.caller == Some(function))
        {
            if stages.region(call.place).is_none_or(|other| other == stage) {
                found.extend(call.targets.iter().map(|target| (*target, call.place)));
            }
        }
        // What a library's function gets, it may call.
        for taken in &self.model.addresses {
            let Sink::Argument {
                function: to,
                is_library,
                ..
            } = &taken.sink
            else {
                continue;
            };
            if taken.inside == Some(function) && *is_library && !to.starts_with("pcap_") {
                found.push((taken.function, taken.name.expanded));
            }
        }
        found
    }

    fn uses(&self, stages: &Stages, stage: usize) -> Uses {
        let mut found = Uses::new();
        for one in &self.model.references {
            let inside = one
                .inside
                .filter(|inside| self.reach[stage].contains(inside));
            let at = one.site.expanded;
            let runs = stages.region(at).is_none_or(|other| other == stage);
            if let (Some(inside), true, true) = (inside, runs, one.access != Access::Unevaluated) {
                let uses = found.entry(one.global).or_default();
                uses.functions.insert(inside);
                if one.access.may_write() {
                    uses.writes.get_or_insert(at);
                }
            }
        }
        found
    }

    /// The calls through which a stage gets to functions that another one also runs.
    fn blame(
        &self,
        stages: &Stages,
        stage: usize,
        other: usize,
        users: &BTreeSet<FunctionId>,
    ) -> String {
        let mut found = BTreeSet::new();
        let users: HashSet<FunctionId> = users.iter().copied().collect();
        for function in &self.reach[stage] {
            if self.reach[other].contains(function) {
                continue;
            }
            if users.contains(function) {
                found.insert(format!("{} itself", self.model.function(*function).name));
            }
            for (callee, place) in self.callees(stages, stage, *function) {
                let shared = self.reach[other].contains(&callee);
                if shared && !self.from(stages, stage, vec![callee]).is_disjoint(&users) {
                    let name = &self.model.function(callee).name;
                    found.insert(format!("the call of {name} at {}", self.model.at(place)));
                }
            }
        }
        let found: Vec<String> = found.into_iter().take(4).collect();
        found.join(", ")
    }
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
                let is_separate = stages.cuts.iter().any(|cut| cut.separate.contains(id));
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

/// `files(…)` of a stage: its functions with state run there alone.
fn files(stages: &Stages, question: &Question<'_>, graph: &Graph<'_>, refused: &mut Vec<Refusal>) {
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
fn keyed(stages: &Stages, question: &Question<'_>, uses: &[Uses], refused: &mut Vec<Refusal>) {
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
fn undivided(stages: &Stages, question: &Question<'_>, refused: &mut Vec<Refusal>) {
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
fn pointers(stages: &Stages, model: &Model, refused: &mut Vec<Refusal>) {
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
