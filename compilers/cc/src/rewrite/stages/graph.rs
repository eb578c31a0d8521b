//! Which functions run in which stage, and what state they use there.

use super::Stages;
use super::check::Question;
use crate::model::{Access, FunctionId, GlobalId, Model, Place, PointerCall, Sink};
use crate::report::entries;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A function's uses of state, by variable: by whom, and whether one of them may write it.
#[derive(Default)]
pub(super) struct Use {
    pub(super) functions: BTreeSet<FunctionId>,
    pub(super) writes: Option<Place>,
}

pub(super) type Uses = BTreeMap<GlobalId, Use>;

/// Which functions run in each stage.
pub(super) struct Graph<'a> {
    model: &'a Model,
    calls: &'a [PointerCall],
    pub(super) reach: Vec<HashSet<FunctionId>>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(stages: &Stages, question: &Question<'a>, calls: &'a [PointerCall]) -> Self {
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

    pub(super) fn uses(&self, stages: &Stages, stage: usize) -> Uses {
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
    pub(super) fn blame(
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
