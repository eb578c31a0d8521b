//! What is said, once packets have ended, of an object that packets reach by an address: statistics
//! in a variable of `main`, or behind a pointer, that go with each packet as `user`. Each core has
//! such an object of its own.
//!
//! Owns where that is said. Objects that are found in tables are told elsewhere: they may belong to
//! connections.

use super::counters::own_formatters;
use super::library::formats;
use super::order::{Order, SOURCES, has_packets};
use super::running;
use crate::model::{Access, FunctionId, GlobalId, LocalUse, MemberBase, Model, Place, Sink};
use std::collections::{HashMap, HashSet};

/// A place where such an object is said, and the pointer with static storage that leads to it.
pub(crate) type Behind = (Option<GlobalId>, Place);

/// All such places, one a line.
pub(crate) fn said_behind(model: &Model) -> Vec<Behind> {
    if !has_packets(model) {
        return Vec::new();
    }
    let look = Look::of(model);
    let said = model.members.iter().filter(|one| {
        let is_changed = look.changed.contains(one.field.as_str());
        one.access == Access::Read && is_changed && look.is_said(one.function, one.place)
    });
    let found = said.filter_map(|one| match one.base {
        MemberBase::Local(declared) => {
            let is_reached = look.reached.contains(&(one.function, declared));
            let is_after = look.is_after(one.function, one.place);
            (is_reached && is_after).then_some((None, one.place))
        }
        MemberBase::Global(id) => {
            let is_after = look.order.is_after(model, one.function, one.place);
            is_after.then_some((Some(id), one.place))
        }
        MemberBase::Other => None,
    });
    // A number that is no field: `*count`.
    let plain = model.locals.iter().filter(|one| {
        let through = one.through.as_ref();
        let is_read = through.is_some_and(|it| it.path == "*" && it.access == Access::Read);
        let is_reached = one
            .declared
            .is_some_and(|declared| look.reached.contains(&(one.function, declared)));
        let is_said = is_read && look.is_said(one.function, one.place);
        is_said && is_reached && look.is_after(one.function, one.place)
    });
    let mut found: Vec<Behind> = found.chain(plain.map(|one| (None, one.place))).collect();
    found.sort_by_key(|(_, place)| *place);
    found.dedup_by_key(|(_, place)| (place.file, place.line));
    found
}

struct Look<'a> {
    model: &'a Model,
    order: Order,
    /// Fields that change while packets come.
    changed: HashSet<&'a str>,
    /// Variables that lead to an object that packets reach, by where they are declared: those of
    /// functions that bring packets, and parameters that get them once packets have ended.
    reached: HashSet<(FunctionId, Place)>,
    /// Functions that get one after packets.
    given: HashSet<FunctionId>,
    /// Where each function puts something into text.
    says: HashMap<FunctionId, Vec<(Place, usize)>>,
}

impl<'a> Look<'a> {
    fn of(model: &'a Model) -> Self {
        let order = Order::of(model);
        let is_running = running(model);
        let changed = model.members.iter().filter(|one| {
            let is_apart = order.is_before(model, one.function, one.place)
                || order.is_after(model, one.function, one.place);
            one.access.may_write() && is_running.contains(&one.function) && !is_apart
        });
        let own = own_formatters(model);
        let mut says: HashMap<FunctionId, Vec<(Place, usize)>> = HashMap::new();
        for call in &model.calls {
            let callee = model.function(call.callee);
            let is_library = callee.body.is_none() && formats(&callee.name);
            if let (Some(caller), true) = (call.caller, is_library || own.contains(&call.callee)) {
                let range = (call.name.expanded, call.end);
                says.entry(caller).or_default().push(range);
            }
        }
        let mut look = Self {
            model,
            changed: changed.map(|one| one.field.as_str()).collect(),
            order,
            reached: HashSet::new(),
            given: HashSet::new(),
            says,
        };
        look.reach();
        look
    }

    /// Whether a use is put into text.
    fn is_said(&self, function: FunctionId, place: Place) -> bool {
        let mut ranges = self.says.get(&function).into_iter().flatten();
        ranges.any(|(start, end)| {
            start.file == place.file && (start.offset..*end).contains(&place.offset)
        })
    }

    fn is_after(&self, function: FunctionId, place: Place) -> bool {
        let is_given = self.given.contains(&function);
        is_given || self.order.is_after(self.model, function, place)
    }

    /// Variables of functions that bring packets, whose addresses go to where packets may find
    /// them; then parameters that get them.
    fn reach(&mut self) {
        for one in &self.model.locals {
            let is_after = self.order.is_after(self.model, one.function, one.place);
            if let (Some(declared), true) = (one.declared, self.order.has_both(one.function))
                && !is_after
                && (goes_on(one) || self.is_changed(one))
            {
                self.reached.insert((one.function, declared));
            }
        }
        let mut by_name: HashMap<&str, Vec<FunctionId>> = HashMap::new();
        for (id, function) in self.model.functions.iter().enumerate() {
            if function.body.is_some() {
                by_name.entry(&function.name).or_default().push(id);
            }
        }
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            for one in &self.model.locals {
                let declared = one.declared.filter(|declared| {
                    let is_late = self.given.contains(&one.function)
                        || self.order.is_after(self.model, one.function, one.place);
                    is_late && self.reached.contains(&(one.function, *declared))
                });
                let (
                    Some(_),
                    Some(Sink::Argument {
                        function, number, ..
                    }),
                ) = (declared, &one.sink)
                else {
                    continue;
                };
                for callee in by_name.get(function.as_str()).into_iter().flatten() {
                    let places = &self.model.function(*callee).parameter_places;
                    let parameter = number.checked_sub(1).and_then(|at| places.get(at));
                    if let Some(place) = parameter.copied().flatten() {
                        self.given.insert(*callee);
                        is_new |= self.reached.insert((*callee, place));
                    }
                }
            }
        }
    }

    /// Whether what a pointer leads to is changed while packets come.
    fn is_changed(&self, one: &LocalUse) -> bool {
        let is_before = self.order.is_before(self.model, one.function, one.place);
        let through = one.through.as_ref();
        !is_before && through.is_some_and(|it| it.access.may_write())
    }
}

/// Whether an address goes to where packets may find it: into a variable, to a function of the
/// program's own, or to libpcap, which gives it to a callback.
fn goes_on(one: &LocalUse) -> bool {
    match &one.sink {
        Some(Sink::Stored | Sink::Initialiser) => true,
        Some(Sink::Argument {
            function,
            is_library,
            ..
        }) => !is_library || SOURCES.contains(&function.as_str()),
        _ => false,
    }
}
