//! Numbers that are counted while packets come: event counters, which become sums, and numbers of
//! packets, which no core knows.

use super::gathered::sayers;
use super::library::{formats, only_reads, same_for_same, takes_lists};
use super::order::{Order, brings_packets, has_packets};
use super::{Decision, Verdict};
use crate::clang::Element;
use crate::model::{
    Access, FunctionId, Global, GlobalId, Model, Place, Reference, Scope, Sink, Statement,
    StatementKind, Texts,
};
use std::collections::{BTreeMap, HashSet};

/// A number that is counted while packets come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// Which.
    pub(crate) global: GlobalId,
    /// What becomes of it.
    pub(crate) fate: Fate,
}

/// What becomes of a number that each core counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is only added to while packets come, and read by these statements alone, once they have
    /// ended: the first core runs them, with the sum of all.
    Summed(Vec<Place>),
    /// It is said while packets come: each core would say another number.
    Said(Place),
    /// It is used while packets come.
    Used(Place),
    /// A packet uses what an earlier one left in it.
    Carried(Place),
    /// It is read, or another variable is said, once packets have ended, where it cannot be shown
    /// that a sum is meant.
    Apart(Place, String),
}

/// All numbers that are counted while packets come, of those that each core has.
pub(crate) fn counters(model: &Model, texts: &Texts, decisions: &[Decision]) -> Vec<Counter> {
    if !has_packets(model) {
        return Vec::new();
    }
    let order = Order::of(model);
    let look = Look {
        model,
        order: &order,
        decisions,
        own: own_formatters(model),
        brings: bringing_calls(model),
        says: sayers(model),
    };
    let mut found: Vec<Counter> = Vec::new();
    let mut waiting: BTreeMap<GlobalId, Vec<&Reference>> = BTreeMap::new();
    for id in 0..model.globals.len() {
        match look.counted(texts, id) {
            Some(Ok(reads)) => {
                waiting.insert(id, reads);
            }
            Some(Err(fate)) => found.push(Counter { global: id, fate }),
            None => {}
        }
    }
    // A statement may use several sums: what it uses must all be one.
    loop {
        let summed: Vec<GlobalId> = waiting.keys().copied().collect();
        let refused = waiting.iter().find_map(|(id, reads)| {
            let why = |one: &&&Reference| look.statement(one, &summed).err();
            let mut refused = reads.iter().filter_map(|one| Some((*one, why(&one)?)));
            let (one, why) = refused.next()?;
            Some((*id, Fate::Apart(one.site.expanded, why)))
        });
        let Some((global, fate)) = refused else {
            break;
        };
        waiting.remove(&global);
        found.push(Counter { global, fate });
    }
    let summed: Vec<GlobalId> = waiting.keys().copied().collect();
    for (global, reads) in waiting {
        let starts = reads
            .iter()
            .filter_map(|one| look.statement(one, &summed).ok());
        let mut starts: Vec<Place> = starts.map(|one| one.start).collect();
        starts.sort_unstable();
        starts.dedup();
        if !starts.is_empty() {
            let fate = Fate::Summed(starts);
            found.push(Counter { global, fate });
        }
    }
    found.sort_by_key(|one| one.global);
    found
}

/// Where functions that bring packets say, once these have ended, what a variable of their own has
/// that changed meanwhile (`while (pcap_next_ex(…) > 0) count++;`).
pub(crate) fn said_locals(model: &Model) -> Vec<Place> {
    let order = Order::of(model);
    let own = own_formatters(model);
    let is_apart = |one: &crate::model::LocalUse| {
        order.is_before(model, one.function, one.place)
            || order.is_after(model, one.function, one.place)
    };
    let brings = model.locals.iter().filter(|one| {
        let is_known = order.has_both(one.function);
        is_known && one.access.may_write() && !is_apart(one)
    });
    let changed: Vec<_> = brings.map(|one| (one.function, one.declared)).collect();
    let mut found: Vec<Place> = model
        .locals
        .iter()
        .filter(|one| {
            changed.contains(&(one.function, one.declared))
                && order.is_after(model, one.function, one.place)
                && one.access == Access::Read
                && is_said(model, &own, Some(one.function), one.place)
        })
        .map(|one| one.place)
        .collect();
    found.sort_unstable();
    found.dedup_by_key(|place| (place.file, place.line));
    found
}

/// Whether a place is in the arguments of a function that puts them into text.
pub(super) fn is_said(
    model: &Model,
    own: &HashSet<FunctionId>,
    inside: Option<usize>,
    place: Place,
) -> bool {
    model.calls.iter().any(|call| {
        let at = call.name.expanded;
        let callee = model.function(call.callee);
        let is_library = callee.body.is_none() && formats(&callee.name);
        call.caller == inside
            && at.file == place.file
            && (at.offset..call.end).contains(&place.offset)
            && (is_library || own.contains(&call.callee))
    })
}

/// The program's own functions that pass on any number of arguments to what puts them into text.
pub(super) fn own_formatters(model: &Model) -> HashSet<FunctionId> {
    let takes_list = |id: FunctionId| {
        let mut types = model.function(id).parameters.iter();
        types.any(|ty| ty.contains("va_list"))
    };
    let is_candidate = |id: FunctionId| {
        let function = model.function(id);
        function.body.is_some() && (function.is_variadic || takes_list(id))
    };
    let mut found: HashSet<FunctionId> = HashSet::new();
    loop {
        let more = model.calls.iter().find_map(|call| {
            let caller = call.caller.filter(|id| is_candidate(*id))?;
            let name = model.function(call.callee).name.as_str();
            let formats =
                takes_lists(name) || found.contains(&call.callee) && takes_list(call.callee);
            (formats && !found.contains(&caller)).then_some(caller)
        });
        match more {
            Some(caller) => found.insert(caller),
            None => return found,
        };
    }
}

struct Look<'a> {
    model: &'a Model,
    order: &'a Order,
    decisions: &'a [Decision],
    /// The program's own functions that put arguments into text.
    own: HashSet<FunctionId>,
    /// Functions that put something into text, themselves or by those that they call.
    says: HashSet<FunctionId>,
    /// Calls that bring packets.
    brings: Vec<(FunctionId, Place)>,
}

/// Calls by names that bring packets: in which function, and where.
fn bringing_calls(model: &Model) -> Vec<(FunctionId, Place)> {
    let mut known: BTreeMap<FunctionId, bool> = BTreeMap::new();
    let calls = model.calls.iter().filter_map(|call| {
        let is_one = known.entry(call.callee);
        let is_one = is_one.or_insert_with(|| brings_packets(model, call.callee));
        is_one.then_some((call.caller?, call.name.expanded))
    });
    calls.collect()
}

impl<'a> Look<'a> {
    /// None if the variable is not counted while packets come; the places where it is read once
    /// they have ended; or what else becomes of it.
    fn counted(&self, texts: &Texts, id: GlobalId) -> Option<Result<Vec<&'a Reference>, Fate>> {
        let (model, order) = (self.model, self.order);
        let global = model.global(id);
        if self.decisions.get(id)?.verdict != Verdict::Private || global.ty.is_pointer {
            return None;
        }
        let uses = model
            .references
            .iter()
            .filter(|one| one.global == id && one.access != Access::Unevaluated);
        let uses: Vec<&Reference> = uses.collect();
        let is_apart =
            |one: &Reference| order.uses_before(model, one) || order.uses_after(model, one);
        let running: Vec<&Reference> = uses.iter().copied().filter(|one| !is_apart(one)).collect();
        let is_updated = running.iter().any(|one| one.access == Access::Update);
        // What is set to a value while packets come belongs to what is worked on.
        let is_set = |one: &&Reference| matches!(one.access, Access::Write | Access::Address);
        if !is_updated || running.iter().any(is_set) {
            let fate = self.taken_back(&running);
            let fate = fate.or_else(|| self.left_over(&uses));
            return fate.or_else(|| self.carried(id, &running)).map(Err);
        }
        let mut used = running.iter().filter(|one| !one.is_counted);
        if let Some(first) = used.clone().next() {
            let said = used.find(|one| self.is_said(one));
            return Some(Err(match said {
                Some(one) => Fate::Said(one.site.expanded),
                None => Fate::Used(first.site.expanded),
            }));
        }
        let after: Vec<&Reference> = uses
            .iter()
            .copied()
            .filter(|one| order.uses_after(model, one))
            .collect();
        let first = after.first()?.site.expanded;
        Some(match self.obstacle(texts, id, &uses) {
            Some(why) => Err(Fate::Apart(first, why)),
            None => Ok(after),
        })
    }

    /// What one function counts, and another sets back: it is no part of what is worked on.
    fn taken_back(&self, running: &[&Reference]) -> Option<Fate> {
        let sets = |inside: Option<FunctionId>| {
            let mut sets = running.iter().filter(|one| one.access == Access::Write);
            sets.any(|one| one.inside == inside)
        };
        let is_only_set = running.iter().all(|one| one.access != Access::Address);
        let mut counts = running.iter().filter(|one| one.access == Access::Update);
        let is_counted = counts.all(|one| one.is_counted && !sets(one.inside));
        let said = running
            .iter()
            .find(|one| self.is_said(one) && !self.is_set_first(one, running))?;
        (is_only_set && is_counted && running.iter().any(|one| one.is_counted))
            .then_some(Fate::Used(said.site.expanded))
    }

    /// What a packet finds as an earlier one left it, in a variable that is no table: the time of
    /// the last packet, a number that is set back after a while.
    fn carried(&self, id: GlobalId, running: &[&Reference]) -> Option<Fate> {
        let global = self.model.global(id);
        if global.ty.is_array || global.holds_pointer.is_some() {
            return None;
        }
        let is_updated = running.iter().any(|one| one.access == Access::Update);
        let said = running
            .iter()
            .find(|one| is_updated && self.is_said(one) && !self.is_set_first(one, running));
        let read = || running.iter().find(|one| self.is_set_later(one, running));
        let place = said.or_else(read)?.site.expanded;
        Some(Fate::Carried(place))
    }

    /// Whether a function sets what it reads, but only after that.
    fn is_set_later(&self, read: &Reference, running: &[&Reference]) -> bool {
        let at = read.site.expanded;
        let is_before = |one: Place| one.file == at.file && one.offset < at.offset;
        let sets = || {
            let here = running.iter().filter(|one| one.inside == read.inside);
            here.filter(|one| one.access == Access::Write)
        };
        // `which = !which` keeps no more than a turn.
        let is_own = |one: Place| {
            let mut around = self.model.statements.iter().filter(|it| {
                Some(it.function) == read.inside && it.kind == StatementKind::Expression
            });
            around.any(|it| holds(it, at) && holds(it, one))
        };
        read.access == Access::Read
            && !sets().any(|one| is_before(one.site.expanded))
            && sets().any(|one| !is_own(one.site.expanded))
    }

    /// Whether a function may set what it says before it says it, and no packet comes in between:
    /// what others counted is gone then.
    fn is_set_first(&self, said: &Reference, running: &[&Reference]) -> bool {
        let at = said.site.expanded;
        let mut sets = running.iter().filter(|one| {
            let place = one.site.expanded;
            one.access == Access::Write && one.inside == said.inside && place.file == at.file
        });
        sets.any(|one| {
            let place = one.site.expanded;
            let mut loops = self
                .model
                .repeated
                .iter()
                .filter(|it| Some(it.function) == said.inside && it.start.file == at.file);
            let brings = |range: std::ops::Range<usize>| {
                self.brings.iter().any(|(inside, call)| {
                    Some(*inside) == said.inside
                        && call.file == at.file
                        && range.contains(&call.offset)
                })
            };
            let is_first = |range: std::ops::Range<usize>| {
                let holds_both = range.contains(&at.offset) && range.contains(&place.offset);
                holds_both && !brings(range)
            };
            let is_before = place.offset < at.offset && !brings(place.offset..at.offset);
            is_before || loops.any(|it| is_first(it.start.offset..it.end))
        })
    }

    /// What is more than counted, and said once packets have ended: of each core, its own.
    fn left_over(&self, uses: &[&Reference]) -> Option<Fate> {
        let (model, order) = (self.model, self.order);
        let mut changes = uses.iter().filter(|one| one.access.may_write());
        changes.find(|one| !order.uses_before(model, one) && !self.is_said(one))?;
        let mut said = uses
            .iter()
            .filter(|one| order.uses_after(model, one) && (self.is_said(one) || self.decides(one)));
        let place = said.next()?.site.expanded;
        let why = "it is set, or its address is taken, and not only added to";
        Some(Fate::Apart(place, why.to_owned()))
    }

    /// Whether a use stands in an `if` or a loop that says something.
    fn decides(&self, one: &Reference) -> bool {
        let (model, place) = (self.model, one.site.expanded);
        model.statements.iter().any(|it| {
            let is_around = matches!(it.kind, StatementKind::Choice | StatementKind::Loop)
                && Some(it.function) == one.inside
                && holds(it, place);
            is_around
                && model.calls.iter().any(|call| {
                    call.caller == one.inside
                        && holds(it, call.name.expanded)
                        && self.says.contains(&call.callee)
                })
        })
    }

    /// What keeps a counter from being a sum, apart from the statements that read it.
    fn obstacle(&self, texts: &Texts, id: GlobalId, uses: &[&Reference]) -> Option<String> {
        let (model, order) = (self.model, self.order);
        let global = model.global(id);
        if matches!(global.scope, Scope::Local(_)) {
            return Some("it is a function's: move it to file scope".to_owned());
        }
        match global.ty.element {
            Element::Integer if global.ty.canonical.starts_with("_Bool") => {
                return Some("it is no number".to_owned());
            }
            Element::Integer => {}
            Element::Floating => {
                return Some("sums of fractions depend on their order".to_owned());
            }
            Element::Other if global.ty.leaves.is_empty() => {
                return Some("it is no number, nor a record of whole numbers".to_owned());
            }
            Element::Other => {}
        }
        let starts_at_0 = begins_at_0(texts, global);
        if !starts_at_0 {
            return Some("it does not begin at 0".to_owned());
        }
        let early = uses.iter().find(|one| order.uses_before(model, one));
        if let Some(one) = early {
            let at = model.at(one.site.expanded);
            return Some(format!("{at} uses it before packets come"));
        }
        let late = uses.iter().filter(|one| order.uses_after(model, one));
        let mut changes = late.filter(|one| one.access != Access::Read);
        let one = changes.next()?;
        Some(format!("{} may change it", model.at(one.site.expanded)))
    }

    /// Whether a use is an argument of a function that puts it into text.
    fn is_said(&self, one: &Reference) -> bool {
        is_said(self.model, &self.own, one.inside, one.site.expanded)
    }

    /// The statement that reads a sum, if one core may run it for all.
    fn statement(&self, one: &Reference, summed: &[GlobalId]) -> Result<&'a Statement, String> {
        let (model, place) = (self.model, one.site.expanded);
        let found = model
            .statements
            .iter()
            .find(|it| it.is_outermost && Some(it.function) == one.inside && holds(it, place));
        let Some(found) = found.filter(|it| !it.is_in_macro) else {
            return Err("no statement of its own reads it".to_owned());
        };
        let is_plain = matches!(
            found.kind,
            StatementKind::Expression | StatementKind::Choice | StatementKind::Loop
        );
        let is_after = self.order.is_after(model, found.function, found.start);
        if !is_plain || !is_after || !self.is_always_run(found.function) {
            return Err("not every core runs a statement for it".to_owned());
        }
        if model
            .jumps
            .iter()
            .any(|it| it.function == found.function && holds(found, it.place))
        {
            return Err("its statement is left by a jump".to_owned());
        }
        self.calls(found)?;
        self.variables(found, summed)?;
        Ok(found)
    }

    /// Whether every core that does not end before runs a function's outermost statements.
    fn is_always_run(&self, function: usize) -> bool {
        let model = self.model;
        if model.function(function).name == "main" {
            return true;
        }
        let sites = model.calls.iter().filter(|call| call.callee == function);
        let [site] = sites.collect::<Vec<_>>()[..] else {
            return false;
        };
        let place = site.name.expanded;
        let around = model
            .statements
            .iter()
            .find(|it| it.is_outermost && Some(it.function) == site.caller && holds(it, place));
        let is_plain = around.is_some_and(|it| it.kind == StatementKind::Expression);
        is_plain && site.caller.is_some_and(|caller| self.is_always_run(caller))
    }

    fn calls(&self, found: &Statement) -> Result<(), String> {
        let model = self.model;
        for call in &model.calls {
            let name = &model.function(call.callee).name;
            let is_here = call.caller == Some(found.function) && holds(found, call.name.expanded);
            let is_known = model.function(call.callee).body.is_none() && same_for_same(name);
            if is_here && !is_known {
                return Err(format!("its statement calls `{name}`"));
            }
        }
        let mut through = model.pointer_calls.iter();
        match through.any(|call| call.caller == Some(found.function) && holds(found, call.place)) {
            true => Err("its statement calls through a pointer".to_owned()),
            false => Ok(()),
        }
    }

    /// All that the statement uses must be the same in each core, or a sum; it may change nothing.
    fn variables(&self, found: &Statement, summed: &[GlobalId]) -> Result<(), String> {
        let model = self.model;
        for one in &model.references {
            let is_here = one.inside == Some(found.function) && holds(found, one.site.expanded);
            if is_here && !self.is_same(one, summed) {
                let name = model.global_name(one.global);
                return Err(format!("its statement uses `{name}`, which each core has"));
            }
        }
        for one in &model.locals {
            let is_here = one.function == found.function && holds(found, one.place);
            let is_own = one.declared.is_some_and(|place| holds(found, place));
            if is_here && !is_own && !(reads(one.access) && self.is_same_local(one)) {
                return Err("its statement uses a variable of its function".to_owned());
            }
        }
        let odd = model.library_variables.iter().find(|one| {
            let is_output = matches!(one.name.as_str(), "stdout" | "stderr");
            one.inside == Some(found.function) && holds(found, one.site.expanded) && !is_output
        });
        match odd {
            Some(one) => Err(format!("its statement uses `{}`", one.name)),
            None => Ok(()),
        }
    }

    fn is_same(&self, one: &Reference, summed: &[GlobalId]) -> bool {
        let model = self.model;
        if one.access == Access::Unevaluated || summed.contains(&one.global) {
            return matches!(one.access, Access::Unevaluated | Access::Read);
        }
        let only_read = match &one.sink {
            Some(Sink::Argument { function, .. }) => only_reads(function),
            _ => one.access == Access::Read,
        };
        let global = model.global(one.global);
        // An output: each core has its part.
        let is_output = global.ty.canonical == "struct _IO_FILE *";
        let is_set_early = model.references.iter().all(|other| {
            let same = other.global == one.global && other.access.may_write();
            let is_said = matches!(
                &other.sink, Some(Sink::Argument { function, .. }) if only_reads(function)
            );
            !same || is_said || self.order.uses_before(model, other)
        });
        let verdict = self.decisions.get(one.global).map(|it| it.verdict);
        let is_shared = matches!(verdict, Some(Verdict::Shared | Verdict::SetOnce));
        only_read && (is_shared || is_output || (is_set_early && global.is_steady))
    }

    /// Whether a function's own variable is the same in each core: set before packets come alone.
    fn is_same_local(&self, one: &crate::model::LocalUse) -> bool {
        let (model, order) = (self.model, self.order);
        let Some(declared) = one.declared else {
            return false;
        };
        let is_early = |place| order.is_before(model, one.function, place);
        let is_set_early = model.locals.iter().all(|other| {
            let same = other.declared == Some(declared) && other.function == one.function;
            !(same && other.access.may_write()) || is_early(other.place)
        });
        let is_mains = model.function(one.function).name == "main";
        is_mains && one.is_steady && is_early(declared) && is_set_early
    }
}

/// Whether a variable, or each number of an array or a record, begins at 0: it has no initialiser,
/// or one that holds zeros alone.
pub(crate) fn begins_at_0(texts: &Texts, global: &Global) -> bool {
    global.initialiser.is_none_or(|(start, end)| {
        let text = texts.between(start.file, start.offset, end);
        holds_zeros_alone(&String::from_utf8_lossy(text))
    })
}

fn holds_zeros_alone(initialiser: &str) -> bool {
    let is_between = |c: char| c.is_ascii_whitespace() || "{},()".contains(c);
    let mut words = initialiser.split(is_between).filter(|it| !it.is_empty());
    words.all(|word| {
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        !digits.is_empty() && digits.bytes().all(|byte| byte == b'0')
    })
}

fn reads(access: Access) -> bool {
    matches!(access, Access::Read | Access::Unevaluated)
}

fn holds(statement: &Statement, place: Place) -> bool {
    let range = statement.start.offset..statement.end;
    statement.start.file == place.file && range.contains(&place.offset)
}

#[cfg(test)]
mod tests {
    use super::holds_zeros_alone;

    /// A sum of all cores counts each core's start: only zeros add nothing.
    #[test]
    fn zeros_are_told_from_other_starts() {
        for zeros in ["0", "0UL", "{0}", "{}", "{ 0, {0, 0x00} }", "(0)"] {
            assert!(holds_zeros_alone(zeros), "{zeros}");
        }
        for other in [
            "1",
            "{0, 2}",
            "ZERO",
            "{ .a = 0 }",
            "0x",
            "{-0}",
            "0 /* or 1 */",
        ] {
            assert!(!holds_zeros_alone(other), "{other}");
        }
    }
}
