//! What a packet finds as an earlier one left it, in an object that is no table: the name of the
//! last connection in a string, the time of the first packet behind a callback's `user`, or in a
//! variable of the loop that asks for packets.
//!
//! Owns what the text of one function shows: it reads before it sets, or it sets only if something
//! holds. Deliberately does not follow values from function to function.

use super::Decision;
use super::library::{formats, only_reads};
use super::numbering::{Look, Numbering, holds, is_private, shown};
use super::order::Order;
use crate::model::{
    Access, FunctionId, GlobalId, LocalUse, Place, Reference, Sink, StatementKind, Through,
};
use std::collections::{BTreeMap, BTreeSet};

/// A use, as far as it matters here.
#[derive(Clone, Debug)]
struct Use {
    inside: FunctionId,
    place: Place,
    reads: bool,
    writes: bool,
    /// Whether it only adds, so that what was there goes on.
    adds: bool,
    /// Which part of the object; empty for all of it.
    part: String,
}

impl Look<'_> {
    /// All such objects, each where it is read first.
    pub(super) fn earlier(&self, decisions: &[Decision]) -> Vec<Numbering> {
        let order = Order::of(self.model);
        let mut found = self.globals(decisions, &order);
        found.extend(self.of_loops());
        found.extend(self.behind_user());
        found.extend(self.behind_globals(decisions, &order));
        found
    }

    fn globals(&self, decisions: &[Decision], order: &Order) -> Vec<Numbering> {
        let model = self.model;
        let mut found = Vec::new();
        let mut running: BTreeMap<GlobalId, Vec<&Reference>> = BTreeMap::new();
        for one in &model.references {
            if one.access != Access::Unevaluated
                && is_private(decisions, one.global)
                && !order.uses_before(model, one)
                && !order.uses_after(model, one)
            {
                running.entry(one.global).or_default().push(one);
            }
        }
        for (id, running) in running {
            if self.is_table(id) {
                continue;
            }
            let uses: Vec<Use> = (running.into_iter())
                .filter_map(|one| {
                    let (reads, writes) = effect(one.access, one.sink.as_ref());
                    // Of what leads to a table, only what replaces all of it counts.
                    let is_whole = model.global(id).holds_pointer.is_none() || one.is_whole;
                    Some(Use {
                        inside: one.inside?,
                        place: one.site.expanded,
                        reads,
                        writes: writes && is_whole,
                        adds: one.access == Access::Update,
                        part: String::new(),
                    })
                })
                .collect();
            let what = || format!("`{}`", model.global_name(id));
            found.extend(
                self.first_left(&uses)
                    .map(|place| left(what(), Some(id), place)),
            );
        }
        found
    }

    /// Whether packets may find entries of their own in it, or by it. A pointer to text that nobody
    /// changes through it is a name; others are places in buffers.
    fn is_table(&self, id: GlobalId) -> bool {
        let ty = &self.model.global(id).ty;
        let is_name = ty.canonical.starts_with("const char *");
        let plain = ty.canonical.replace("const ", "");
        let is_text = plain.starts_with("char[") || plain.starts_with("char [");
        (ty.is_pointer && !is_name) || (ty.is_array && !is_text)
    }

    /// Variables of functions that ask for packets in a loop.
    fn of_loops(&self) -> Vec<Numbering> {
        let model = self.model;
        let mut found = Vec::new();
        for around in self.loops().iter().filter(|one| self.is_of_packets(one)) {
            let mut uses: BTreeMap<Place, Vec<&LocalUse>> = BTreeMap::new();
            let here =
                |one: &&LocalUse| one.function == around.function && holds(around, one.place);
            for one in model.locals.iter().filter(here) {
                if let Some(declared) = one.declared.filter(|place| !holds(around, *place)) {
                    uses.entry(declared).or_default().push(one);
                }
            }
            for (declared, uses) in uses {
                let is_pointer = |one: &&LocalUse| {
                    one.through.is_some() || one.access == Access::Read && one.sink.is_some()
                };
                if uses.iter().any(is_pointer) {
                    continue;
                }
                let uses: Vec<Use> = uses.iter().map(|one| local(one, String::new())).collect();
                let what = || format!("the variable `{}` of its function", self.name_at(declared));
                found.extend(
                    self.first_left(&uses)
                        .map(|place| left(what(), None, place)),
                );
            }
        }
        found
    }

    /// Parts of what a callback of libpcap gets with each packet, in it and in functions to which
    /// it gives that.
    fn behind_user(&self) -> Vec<Numbering> {
        let model = self.model;
        let mut found = Vec::new();
        let mut owners: BTreeSet<(FunctionId, Place)> = BTreeSet::new();
        for function in self.callbacks() {
            let aliases = self.aliases(function);
            owners.extend(aliases.iter().map(|declared| (function, *declared)));
            for declared in aliases {
                let uses = model
                    .locals
                    .iter()
                    .filter(|one| one.function == function && one.declared == Some(declared));
                let uses: Vec<&LocalUse> = uses.collect();
                owners.extend(super::numbering::holders(model, function, declared, &uses));
            }
        }
        for (function, declared) in owners {
            let uses = model
                .locals
                .iter()
                .filter(|one| one.function == function && one.declared == Some(declared));
            let uses: Vec<&LocalUse> = uses.collect();
            // A pointer that is set is another object's then.
            if uses.iter().any(|one| one.access == Access::Update) {
                continue;
            }
            let parts = uses.iter().filter_map(|one| {
                let through = one.through.as_ref()?;
                Some((one.function, one.place, through))
            });
            found.extend(self.parts(&self.name_at(declared), None, parts));
        }
        found
    }

    /// Parts of what a pointer leads to that is set before packets come, and never after.
    fn behind_globals(&self, decisions: &[Decision], order: &Order) -> Vec<Numbering> {
        let model = self.model;
        let mut found = Vec::new();
        let mut uses: BTreeMap<GlobalId, Vec<_>> = BTreeMap::new();
        for (global, one) in self.through_steady(decisions, order) {
            uses.entry(global).or_default().push(one);
        }
        for (global, uses) in uses {
            let name = model.global_name(global);
            found.extend(self.parts(&name, Some(global), uses.into_iter()));
        }
        found
    }

    /// The parts of one object that a packet leaves for later ones.
    fn parts<'t>(
        &self,
        name: &str,
        global: Option<GlobalId>,
        uses: impl Iterator<Item = (FunctionId, Place, &'t Through)>,
    ) -> Vec<Numbering> {
        let uses: Vec<(FunctionId, Place, &Through)> = uses.collect();
        let mut found: Vec<Numbering> = Vec::new();
        // What leads on may lead to a table.
        let read = uses.iter().filter(|(_, _, it)| !it.is_pointer);
        let paths: BTreeSet<&str> = read.map(|(_, _, it)| it.path.as_str()).collect();
        for path in paths {
            let overlaps = |other: &str| {
                let inside = |long: &str, short: &str| {
                    let rest = long.strip_prefix(short);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                };
                other == "*" || inside(path, other) || inside(other, path)
            };
            let part = uses.iter().filter(|(_, _, it)| overlaps(&it.path));
            let part: Vec<Use> = part
                .map(|(inside, place, it)| {
                    let (reads, writes) = effect(it.access, None);
                    Use {
                        inside: *inside,
                        place: *place,
                        reads: reads && it.path == path,
                        writes,
                        adds: it.access == Access::Update,
                        part: it.path.clone(),
                    }
                })
                .collect();
            let what = format!("`{}`", shown(name, path));
            found.extend(
                self.first_left(&part)
                    .map(|place| left(what, global, place)),
            );
        }
        found.sort_by_key(|one| one.place);
        found.dedup_by_key(|one| (one.place.file, one.place.line));
        found
    }

    /// Where the object is read first as an earlier packet left it.
    fn first_left(&self, uses: &[Use]) -> Option<Place> {
        let is_everywhere = |inside: FunctionId| {
            let mut writes = uses.iter().filter(|one| one.writes);
            writes.all(|one| one.inside == inside)
        };
        let reads = uses.iter().filter(|read| {
            let here = || {
                uses.iter().filter(|one| {
                    one.writes && one.inside == read.inside && one.place.file == read.place.file
                })
            };
            let before = |one: &&Use| one.place.offset < read.place.offset;
            let is_own = |one: &&Use| self.share_statement(read, one);
            let is_sure = |one: &&Use| before(one) && !is_own(one) && !one.adds;
            let is_set = here().any(|one| {
                is_sure(&one) && !(is_everywhere(read.inside) && self.is_chosen(one, read))
            });
            let is_turn = |one: &Use| is_own(&one) && self.is_turn(read, one);
            read.reads && !is_set && here().any(|one| !one.adds && !is_turn(one))
        });
        reads.map(|one| one.place).min()
    }

    /// Whether two uses stand in one expression.
    fn share_statement(&self, one: &Use, other: &Use) -> bool {
        self.model.statements.iter().any(|it| {
            let range = it.start.offset..it.end;
            it.function == one.inside
                && it.kind == StatementKind::Expression
                && it.start.file == one.place.file
                && range.contains(&one.place.offset)
                && range.contains(&other.place.offset)
        })
    }

    /// Whether a variable takes turns (`which = !which`, `at = (at + 1) % 8`), which shows nothing
    /// of other packets; or two parts of an object are set at once.
    fn is_turn(&self, read: &Use, write: &Use) -> bool {
        let (start, end) = match write.place.offset < read.place.offset {
            true => (write.place.offset, read.place.offset),
            false => return read.part != write.part,
        };
        let text = self.texts.of(read.place.file);
        let line = text.get(end..).unwrap_or_default();
        let end = end + line.iter().position(|byte| *byte == b';').unwrap_or(0);
        let text = text.get(start..end).unwrap_or_default();
        text.iter().any(|byte| b"!%&^~".contains(byte))
    }

    /// Whether a use stands in an `if` that the other is behind, and that may do nothing.
    fn is_chosen(&self, write: &Use, read: &Use) -> bool {
        self.model.statements.iter().any(|it| {
            let range = it.start.offset..it.end;
            let text = self.texts.between(it.start.file, it.start.offset, it.end);
            it.function == write.inside
                && it.kind == StatementKind::Choice
                && it.start.file == write.place.file
                && range.contains(&write.place.offset)
                && !range.contains(&read.place.offset)
                && !has_last_else(text)
        })
    }
}

/// Whether an `if` ends with an `else` that is no `else if`.
fn has_last_else(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut rest = text.split("else").skip(1);
    rest.any(|after| {
        let after = after.trim_start();
        !after.starts_with("if")
    })
}

fn left(what: String, global: Option<GlobalId>, place: Place) -> Numbering {
    Numbering {
        what,
        global,
        place,
        is_said: false,
        is_left: true,
    }
}

fn local(one: &LocalUse, part: String) -> Use {
    let (reads, writes) = effect(one.access, one.sink.as_ref());
    Use {
        inside: one.function,
        place: one.place,
        reads,
        writes,
        adds: one.access == Access::Update,
        part,
    }
}

/// Whether a use reads, and whether it writes. What is not known is taken to set first.
fn effect(access: Access, sink: Option<&Sink>) -> (bool, bool) {
    match access {
        Access::Unevaluated => (false, false),
        Access::Read => (true, false),
        Access::Write => (false, true),
        // Numbers that are counted are told apart.
        Access::Update => (false, true),
        Access::Address => match sink {
            Some(Sink::Argument {
                function,
                number,
                is_library: true,
            }) => handed(function, *number),
            Some(Sink::Returned) => (false, false),
            _ => (false, true),
        },
    }
}

/// What a function of a library does with a text, or a record.
fn handed(function: &str, number: usize) -> (bool, bool) {
    let plain = function.strip_prefix("__builtin_").unwrap_or(function);
    let is_first = number == 1;
    match plain {
        "strcat" | "strncat" if is_first => (true, true),
        "strcpy" | "strncpy" | "memcpy" | "memmove" | "stpcpy" | "strlcpy" => (!is_first, is_first),
        "sprintf" | "snprintf" => (!is_first, is_first),
        _ if only_reads(plain) || formats(plain) => (true, false),
        "strncmp" | "strstr" | "strchr" | "strrchr" | "memchr" => (true, false),
        _ => (false, true),
    }
}

#[cfg(test)]
mod tests {
    use super::has_last_else;

    /// A chain of `else if` may do nothing.
    #[test]
    fn the_last_else_is_found() {
        assert!(!has_last_else(b"if (a) b = 1;"));
        assert!(!has_last_else(b"if (a) b = 1; else if (c) b = 2;"));
        assert!(has_last_else(
            b"if (a) b = 1; else if (c) b = 2; else b = 3;"
        ));
    }
}
