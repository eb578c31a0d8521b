//! Numbers of packets that no variable at file scope holds: in a variable of the function that asks
//! for packets, and in an object that all packets find by the same pointer.
//!
//! Owns where they are said or used while packets come. Deliberately does not follow pointers that
//! change while packets come: what those lead to belongs to a connection, or to nobody knows whom.

use super::counters::{is_said, own_formatters};
use super::order::{Order, brings_packets, has_packets};
use super::{Decision, Verdict};
use crate::model::{
    Access, FunctionId, GlobalId, LocalUse, MemberBase, Model, Place, Repeated, Sink, Texts,
    Through,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A number of packets, as each core would count it for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbering {
    /// What it is, in words.
    pub(crate) what: String,
    /// The global pointer that leads to it.
    pub(crate) global: Option<GlobalId>,
    /// Where it is said, or used.
    pub(crate) place: Place,
    /// Whether it is said, rather than used otherwise.
    pub(crate) is_said: bool,
    /// Whether it is no number, but what an earlier packet left.
    pub(crate) is_left: bool,
}

/// Whether each core has it for itself.
pub(super) fn is_private(decisions: &[Decision], global: GlobalId) -> bool {
    let decision = decisions.get(global);
    decision.is_some_and(|it| it.verdict == Verdict::Private)
}

/// All such numbers.
pub(crate) fn numbering(model: &Model, texts: &Texts, decisions: &[Decision]) -> Vec<Numbering> {
    if !has_packets(model) {
        return Vec::new();
    }
    let look = Look {
        model,
        texts,
        own: own_formatters(model),
    };
    let mut found = look.locals();
    found.extend(look.pointees(decisions));
    found.extend(look.user());
    found.extend(look.earlier(decisions));
    found.sort_by_key(|one| {
        (
            one.place.file,
            one.place.line,
            !one.is_said,
            one.is_left,
            one.place,
        )
    });
    found.dedup_by_key(|one| (one.place.file, one.place.line));
    found
}

pub(super) struct Look<'a> {
    pub(super) model: &'a Model,
    pub(super) texts: &'a Texts,
    /// The program's own functions that put arguments into text.
    own: HashSet<FunctionId>,
}

impl Look<'_> {
    fn says(&self, inside: FunctionId, place: Place) -> bool {
        is_said(self.model, &self.own, Some(inside), place)
    }

    /// Variables of functions that ask for packets in a loop: `while (next()) number++;`.
    fn locals(&self) -> Vec<Numbering> {
        let mut found = self.members();
        for around in &self.loops() {
            let mut uses: BTreeMap<Place, Vec<&LocalUse>> = BTreeMap::new();
            let here =
                |one: &&LocalUse| one.function == around.function && holds(around, one.place);
            for one in self.model.locals.iter().filter(here) {
                // What is declared inside is another one for each packet.
                if let Some(declared) = one.declared.filter(|place| !holds(around, *place)) {
                    uses.entry(declared).or_default().push(one);
                }
            }
            found.extend(self.said_behind_loop(around, &uses));
            for (declared, uses) in uses {
                let is_updated = uses.iter().any(|one| one.access == Access::Update);
                let is_set =
                    |one: &&LocalUse| matches!(one.access, Access::Write | Access::Address);
                if uses.iter().any(|one| self.is_dispatched(one)) {
                    let said = uses.iter().filter(|one| self.says(one.function, one.place));
                    found.extend(said.map(|one| Numbering {
                        what: "what pcap_dispatch returned".to_owned(),
                        global: None,
                        place: one.place,
                        is_said: false,
                        is_left: false,
                    }));
                }
                let is_reset = uses.iter().any(is_set);
                if is_updated && (!is_reset || is_carried(&uses)) {
                    let name = self.name_at(declared);
                    let what = format!("the variable `{name}` of its function");
                    let places = uses
                        .iter()
                        .map(|one| (one.place, one.access != Access::Read));
                    let mut used = self.used(around.function, what, None, places);
                    // What is set back now and then is told, as such a global is.
                    used.iter_mut().for_each(|one| one.is_said &= !is_reset);
                    found.extend(used);
                }
            }
        }
        found
    }

    /// What a loop has counted, and its function says after it, but before other packets come: the
    /// number of each of several files.
    fn said_behind_loop(
        &self,
        around: &Repeated,
        uses: &BTreeMap<Place, Vec<&LocalUse>>,
    ) -> Vec<Numbering> {
        let model = self.model;
        let again = model.repeated.iter().filter(|one| {
            one.function == around.function && holds(one, around.start) && one.end > around.end
        });
        let again: Vec<&Repeated> = again.collect();
        if !self.is_of_packets(around) {
            return Vec::new();
        }
        let said = model.locals.iter().filter(|one| {
            let is_counted = one.declared.and_then(|declared| uses.get(&declared));
            let is_counted =
                is_counted.is_some_and(|uses| uses.iter().any(|it| it.access == Access::Update));
            one.function == around.function
                && is_counted
                && one.access == Access::Read
                && one.place.offset >= around.end
                && again.iter().any(|it| holds(it, one.place))
                && self.says(one.function, one.place)
        });
        let found = said.map(|one| Numbering {
            what: format!(
                "the variable `{}` of its function",
                one.declared.map_or_else(String::new, |it| self.name_at(it))
            ),
            global: None,
            place: one.place,
            is_said: false,
            is_left: false,
        });
        found.collect()
    }

    /// Whether a variable is set to a number of packets that came at once.
    fn is_dispatched(&self, one: &LocalUse) -> bool {
        let text = self.texts.of(one.place.file);
        let rest = text.get(one.place.offset..).unwrap_or_default();
        let call = rest.windows(DISPATCH.len()).position(|it| it == DISPATCH);
        let between = call.and_then(|at| rest.get(..at));
        let is_set = |text: &[u8]| {
            let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" =()_".contains(byte);
            text.contains(&b'=') && text.iter().all(is_plain)
        };
        one.access == Access::Write && between.is_some_and(is_set)
    }

    /// Loops that ask for packets. Of those that ask for one at a time, without what runs once
    /// before (`for (n = 0;`); others may be of files.
    pub(super) fn loops(&self) -> Vec<Repeated> {
        let model = self.model;
        let brings = |one: &&Repeated| {
            model.calls.iter().any(|call| {
                call.caller == Some(one.function)
                    && holds(one, call.name.expanded)
                    && brings_packets(model, call.callee)
            })
        };
        let found = model.repeated.iter().filter(brings).copied();
        let found = found.map(|mut one| {
            if self.is_of_packets(&one) {
                one.start.offset += self.begins_after(&one);
            }
            one
        });
        found.collect()
    }

    /// Whether each time that the text runs is one packet's.
    pub(super) fn is_of_packets(&self, around: &Repeated) -> bool {
        let model = self.model;
        model.calls.iter().any(|call| {
            let at = call.name.expanded;
            call.caller == Some(around.function)
                && holds(around, at)
                && is_innermost(model, around, at)
                && brings_one(model, call.callee, 0)
        })
    }

    /// Of a loop: how many bytes of its text run once alone.
    fn begins_after(&self, around: &Repeated) -> usize {
        let text = self
            .texts
            .between(around.start.file, around.start.offset, around.end);
        let open = text.iter().position(|byte| *byte == b'(').unwrap_or(0);
        let is_for = text
            .get(..open)
            .is_some_and(|word| word.trim_ascii() == b"for");
        let end = text.iter().position(|byte| *byte == b';');
        end.filter(|_| is_for).map_or(0, |end| end + 1)
    }

    /// Fields of one object of a function that asks for packets, which it or what it calls counts
    /// (`while (next(&capture)) printf("%d", capture.number);`).
    fn members(&self) -> Vec<Numbering> {
        let model = self.model;
        let mut found = Vec::new();
        for around in self.loops().iter().filter(|one| self.is_of_packets(one)) {
            let inside = |place: Place| holds(around, place);
            let of_it = |one: &&LocalUse| one.function == around.function && inside(one.place);
            for one in &model.members {
                let MemberBase::Local(declared) = one.base else {
                    continue;
                };
                let is_read = one.function == around.function
                    && one.access == Access::Read
                    && inside(one.place)
                    && !inside(declared)
                    && self.says(one.function, one.place);
                if !is_read {
                    continue;
                }
                let uses = model.locals.iter().filter(of_it);
                let uses: Vec<&LocalUse> =
                    uses.filter(|it| it.declared == Some(declared)).collect();
                let is_pointer = uses.iter().any(|it| it.through.is_some());
                let holders = holders(model, around.function, declared, &uses);
                let changes = |access: Access| {
                    model.members.iter().any(|it| {
                        let base = match it.base {
                            MemberBase::Local(base) => base,
                            _ => return false,
                        };
                        let is_here = it.function != around.function || inside(it.place);
                        it.field == one.field
                            && it.access == access
                            && is_here
                            && holders.contains(&(it.function, base))
                    })
                };
                let is_moved = is_pointer && uses.iter().any(|it| it.access.may_write());
                let is_set = changes(Access::Write) || changes(Access::Address);
                if changes(Access::Update) && !is_set && !is_moved {
                    let name = self.name_at(declared);
                    found.push(Numbering {
                        what: format!("a number in the variable `{name}` of its function"),
                        global: None,
                        place: one.place,
                        is_said: true,
                        is_left: false,
                    });
                }
            }
        }
        found
    }

    /// What a pointer at file scope leads to that is set before packets come, and never after.
    fn pointees(&self, decisions: &[Decision]) -> Vec<Numbering> {
        let model = self.model;
        let order = Order::of(model);
        let mut uses: BTreeMap<(GlobalId, &str), Vec<_>> = BTreeMap::new();
        for (global, (inside, place, through)) in self.through_steady(decisions, &order) {
            let list = uses.entry((global, &through.path)).or_default();
            list.push((inside, place, through));
        }
        let mut found = Vec::new();
        for ((global, path), uses) in uses {
            let name = shown(&model.global_name(global), path);
            found.extend(self.counted(&name, Some(global), &uses));
        }
        found
    }

    /// Uses, while packets come, of what private pointers at file scope lead to that are set
    /// before, and never after.
    pub(super) fn through_steady(
        &self,
        decisions: &[Decision],
        order: &Order,
    ) -> impl Iterator<Item = (GlobalId, (FunctionId, Place, &Through))> {
        let model = self.model;
        let moving = self.moving(order);
        model.references.iter().filter_map(move |one| {
            let is_running = !order.uses_before(model, one) && !order.uses_after(model, one);
            let is_steady = is_private(decisions, one.global) && !moving.contains(&one.global);
            let (through, inside) = (one.through.as_ref()?, one.inside?);
            (is_running && is_steady).then_some((one.global, (inside, one.site.expanded, through)))
        })
    }

    /// Variables that change once packets come.
    pub(super) fn moving(&self, order: &Order) -> HashSet<GlobalId> {
        let changes = self
            .model
            .references
            .iter()
            .filter(|one| one.access.may_write() && !order.uses_before(self.model, one));
        changes.map(|one| one.global).collect()
    }

    /// What the pointer leads to that a callback of libpcap gets with each packet.
    fn user(&self) -> Vec<Numbering> {
        let model = self.model;
        let mut found = Vec::new();
        for function in self.callbacks() {
            let aliases = self.aliases(function);
            let mut uses: BTreeMap<(Place, &str), Vec<_>> = BTreeMap::new();
            for one in model.locals.iter().filter(|one| one.function == function) {
                let declared = one.declared.filter(|place| aliases.contains(place));
                if let (Some(declared), Some(through)) = (declared, &one.through) {
                    let list = uses.entry((declared, &through.path)).or_default();
                    list.push((function, one.place, through));
                }
            }
            for ((declared, path), uses) in uses {
                let name = shown(&self.name_at(declared), path);
                found.extend(self.counted(&name, None, &uses));
            }
        }
        found
    }

    /// Functions that libpcap calls with each packet.
    pub(super) fn callbacks(&self) -> BTreeSet<FunctionId> {
        let taken = self.model.addresses.iter().filter(|taken| {
            matches!(
                &taken.sink,
                Sink::Argument { function, .. }
                    if matches!(function.as_str(), "pcap_loop" | "pcap_dispatch")
            )
        });
        taken.map(|taken| taken.function).collect()
    }

    /// The first parameter of a callback, and variables that are set to it where they are declared.
    pub(super) fn aliases(&self, function: FunctionId) -> BTreeSet<Place> {
        let model = self.model;
        let Some(body) = model.function(function).body else {
            return BTreeSet::new();
        };
        let name = model.function(function).parameter_names.first();
        let name = name.map_or("", String::as_str);
        let text = self.texts.of(body.start.file);
        let mut found = BTreeSet::new();
        for one in model.locals.iter().filter(|one| one.function == function) {
            let is_parameter = one.declared.is_some_and(|it| self.name_at(it) == name);
            let Some(declared) = one.declared.filter(|_| is_parameter && !name.is_empty()) else {
                continue;
            };
            found.insert(declared);
            let before = text.get(..one.place.offset).unwrap_or_default();
            if let Some(offset) = set_by_cast(before) {
                let is_it = |it: &&LocalUse| {
                    it.declared.is_some_and(|place| place.offset == offset)
                        && it.function == function
                };
                found.extend(model.locals.iter().find(is_it).and_then(|it| it.declared));
            }
        }
        found
    }

    /// A part of an object that is only added to, if it is said or used meanwhile.
    fn counted(
        &self,
        name: &str,
        global: Option<GlobalId>,
        uses: &[(FunctionId, Place, &Through)],
    ) -> Vec<Numbering> {
        let is_updated = uses.iter().any(|(_, _, it)| it.access == Access::Update);
        let is_set = |it: &Through| matches!(it.access, Access::Write | Access::Address);
        if !is_updated || uses.iter().any(|(_, _, it)| is_set(it)) {
            return Vec::new();
        }
        let what = format!("`{name}`, which all packets find by the same pointer,");
        let mut found = Vec::new();
        for (inside, place, through) in uses {
            let one = [(*place, through.is_counted)];
            found.extend(self.used(*inside, what.clone(), global, one.into_iter()));
        }
        found
    }

    /// Uses that tell one number from another: all but those that only add to it.
    fn used(
        &self,
        inside: FunctionId,
        what: String,
        global: Option<GlobalId>,
        uses: impl Iterator<Item = (Place, bool)>,
    ) -> Vec<Numbering> {
        let mut found = Vec::new();
        for (place, is_counted) in uses {
            let is_said = self.says(inside, place);
            if is_said || !is_counted {
                found.push(Numbering {
                    what: what.clone(),
                    global,
                    place,
                    is_said,
                    is_left: false,
                });
            }
        }
        found
    }

    /// The name that stands at a place.
    pub(super) fn name_at(&self, place: Place) -> String {
        let text = self.texts.of(place.file);
        let rest = text.get(place.offset..).unwrap_or_default();
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let word: Vec<u8> = rest.iter().take_while(is_word).copied().collect();
        String::from_utf8_lossy(&word).into_owned()
    }
}

/// Whether no loop inside of `around` holds a place.
fn is_innermost(model: &Model, around: &Repeated, place: Place) -> bool {
    let mut others = model.repeated.iter();
    !others.any(|one| {
        let is_inside = holds(around, one.start) && one.end < around.end;
        one.function == around.function && holds(one, place) && is_inside
    })
}

/// Whether a function is one of libpcap's that bring a packet at a time, or calls one by names
/// outside of loops.
fn brings_one(model: &Model, function: FunctionId, depth: u32) -> bool {
    let one = model.function(function);
    if one.body.is_none() {
        let names = ["pcap_next", "pcap_next_ex", "pcap_dispatch"];
        return names.contains(&one.name.as_str());
    }
    depth < CALLS_MAX
        && model.calls.iter().any(|call| {
            let at = call.name.expanded;
            let is_repeated = |it: &Repeated| it.function == function && holds(it, at);
            call.caller == Some(function)
                && !model.repeated.iter().any(is_repeated)
                && brings_one(model, call.callee, depth + 1)
        })
}

/// Functions around libpcap's are not nested deeper than this.
const CALLS_MAX: u32 = 4;

/// A variable, and the parameters that get it, or its address, where it is used like this.
pub(super) fn holders(
    model: &Model,
    function: FunctionId,
    declared: Place,
    uses: &[&LocalUse],
) -> Vec<(FunctionId, Place)> {
    let mut found = vec![(function, declared)];
    for one in uses {
        let Some(Sink::Argument {
            function, number, ..
        }) = &one.sink
        else {
            continue;
        };
        for (id, callee) in model.functions.iter().enumerate() {
            let place = number.checked_sub(1);
            let place = place.and_then(|at| callee.parameter_places.get(at).copied().flatten());
            if let Some(place) = place.filter(|_| callee.name == *function) {
                found.push((id, place));
            }
        }
    }
    found
}

/// Whether a packet begins with what the ones before it have left: in the text of the loop, the
/// variable is not set before it is used.
fn is_carried(uses: &[&LocalUse]) -> bool {
    let first = uses.iter().min_by_key(|one| one.place);
    let is_plain = uses.iter().all(|one| one.access != Access::Address);
    is_plain && first.is_some_and(|one| one.access != Access::Write)
}

const DISPATCH: &[u8] = b"pcap_dispatch(";

/// Of text that ends before a name: where the name begins that is set to it, through casts alone.
fn set_by_cast(before: &[u8]) -> Option<usize> {
    let equals = before.iter().rposition(|byte| *byte == b'=')?;
    let is_cast = |byte: &u8| byte.is_ascii_alphanumeric() || b" \t\n()*_".contains(byte);
    before
        .get(equals + 1..)?
        .iter()
        .all(is_cast)
        .then_some(())?;
    let left = before.get(..equals)?.trim_ascii_end();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = left.iter().rposition(|byte| !is_word(byte))? + 1;
    (start < left.len()).then_some(start)
}

pub(super) fn shown(name: &str, path: &str) -> String {
    match path.strip_prefix('.') {
        Some(path) => format!("{name}->{path}"),
        None => format!("*{name}"),
    }
}

pub(super) fn holds(around: &Repeated, place: Place) -> bool {
    let range = around.start.offset..around.end;
    around.start.file == place.file && range.contains(&place.offset)
}

#[cfg(test)]
mod tests {
    use super::set_by_cast;

    /// `T *a = (T *)b`: a is what b is.
    #[test]
    fn a_variable_that_is_set_by_a_cast_is_found() {
        let at = |text: &str| set_by_cast(text.as_bytes());
        assert_eq!(at("int *n = (int *)"), Some(5));
        assert_eq!(at("struct a *n=(struct a*) (void *)"), Some(10));
        assert_eq!(at("n = f(1 + "), None);
        assert_eq!(at("f("), None);
    }
}
