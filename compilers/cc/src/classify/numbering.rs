//! Numbers of packets that no variable at file scope holds: in a variable of the function that asks
//! for packets, and in an object that all packets find by the same pointer.
//!
//! Owns where they are said or used while packets come. Deliberately does not follow pointers that
//! change while packets come: what those lead to belongs to a connection, or to nobody knows whom.

use super::counters::{is_said, own_formatters};
use super::order::{Order, brings_packets, has_packets};
use super::{Decision, Verdict};
use crate::model::{
    Access, FunctionId, GlobalId, LocalUse, Model, Place, Repeated, Sink, Texts, Through,
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
    found.sort_by_key(|one| (one.place, !one.is_said));
    found.dedup_by_key(|one| (one.place.file, one.place.line));
    found
}

struct Look<'a> {
    model: &'a Model,
    texts: &'a Texts,
    /// The program's own functions that put arguments into text.
    own: HashSet<FunctionId>,
}

impl Look<'_> {
    fn says(&self, inside: FunctionId, place: Place) -> bool {
        is_said(self.model, &self.own, Some(inside), place)
    }

    /// Variables of functions that ask for packets in a loop: `while (next()) number++;`.
    fn locals(&self) -> Vec<Numbering> {
        let mut found = Vec::new();
        for around in self.loops() {
            let mut uses: BTreeMap<Place, Vec<&LocalUse>> = BTreeMap::new();
            let here =
                |one: &&LocalUse| one.function == around.function && holds(around, one.place);
            for one in self.model.locals.iter().filter(here) {
                // What is declared inside is another one for each packet.
                if let Some(declared) = one.declared.filter(|place| !holds(around, *place)) {
                    uses.entry(declared).or_default().push(one);
                }
            }
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

    /// Loops that ask for packets.
    fn loops(&self) -> Vec<&Repeated> {
        let model = self.model;
        let brings = |one: &&Repeated| {
            model.calls.iter().any(|call| {
                call.caller == Some(one.function)
                    && holds(one, call.name.expanded)
                    && brings_packets(model, call.callee)
            })
        };
        model.repeated.iter().filter(brings).collect()
    }

    /// What a pointer at file scope leads to that is set before packets come, and never after.
    fn pointees(&self, decisions: &[Decision]) -> Vec<Numbering> {
        let model = self.model;
        let order = Order::of(model);
        let mut moving: HashSet<GlobalId> = HashSet::new();
        for one in &model.references {
            if one.access.may_write() && !order.uses_before(model, one) {
                moving.insert(one.global);
            }
        }
        let mut uses: BTreeMap<(GlobalId, &str), Vec<_>> = BTreeMap::new();
        for one in &model.references {
            let is_private = decisions
                .get(one.global)
                .is_some_and(|it| it.verdict == Verdict::Private);
            let is_running = !order.uses_before(model, one) && !order.uses_after(model, one);
            if let (Some(through), Some(inside), true) = (&one.through, one.inside, is_running)
                && is_private
                && !moving.contains(&one.global)
            {
                let list = uses.entry((one.global, &through.path)).or_default();
                list.push((inside, one.site.expanded, through));
            }
        }
        let mut found = Vec::new();
        for ((global, path), uses) in uses {
            let name = shown(&model.global_name(global), path);
            found.extend(self.counted(&name, Some(global), &uses));
        }
        found
    }

    /// What the pointer leads to that a callback of libpcap gets with each packet.
    fn user(&self) -> Vec<Numbering> {
        let model = self.model;
        let mut found = Vec::new();
        for function in callbacks(model) {
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

    /// The first parameter of a callback, and variables that are set to it where they are declared.
    fn aliases(&self, function: FunctionId) -> BTreeSet<Place> {
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
                });
            }
        }
        found
    }

    /// The name that stands at a place.
    fn name_at(&self, place: Place) -> String {
        let text = self.texts.of(place.file);
        let rest = text.get(place.offset..).unwrap_or_default();
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let word: Vec<u8> = rest.iter().take_while(is_word).copied().collect();
        String::from_utf8_lossy(&word).into_owned()
    }
}

/// Whether a packet begins with what the ones before it have left: in the text of the loop, the
/// variable is not set before it is used.
fn is_carried(uses: &[&LocalUse]) -> bool {
    let first = uses.iter().min_by_key(|one| one.place);
    let is_plain = uses.iter().all(|one| one.access != Access::Address);
    is_plain && first.is_some_and(|one| one.access != Access::Write)
}

const DISPATCH: &[u8] = b"pcap_dispatch(";

/// Functions that libpcap calls with each packet.
fn callbacks(model: &Model) -> BTreeSet<FunctionId> {
    let taken = model.addresses.iter().filter(|taken| {
        matches!(
            &taken.sink,
            Sink::Argument { function, .. }
                if matches!(function.as_str(), "pcap_loop" | "pcap_dispatch")
        )
    });
    taken.map(|taken| taken.function).collect()
}

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

fn shown(name: &str, path: &str) -> String {
    match path.strip_prefix('.') {
        Some(path) => format!("{name}->{path}"),
        None => format!("*{name}"),
    }
}

fn holds(around: &Repeated, place: Place) -> bool {
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
