//! What runs before the first packet, and what after the last.
//!
//! ```text
//!  main ──┬── what it calls here: before ──┬── pcap_loop, or what calls it ──┬── after ──
//!         └ position < first such call     └ and loops around such calls     └ position >= last
//! ```
//!
//! Guarantees that what is said to be before is run before any packet, once for each core, and
//! what is said to be after is run once no packet comes any more. Whatever is not clear is neither.

use crate::model::{FunctionId, Model, Place, Reference};
use std::collections::{HashMap, HashSet};

/// Which text of which function runs when.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Of functions that run before packets: up to which byte they do.
    before: HashMap<FunctionId, usize>,
    /// Of functions that run after packets: from which byte on they do.
    after: HashMap<FunctionId, usize>,
}

impl Order {
    pub(crate) fn of(model: &Model) -> Self {
        let Some(facts) = Facts::of(model) else {
            return Self::default();
        };
        let before = facts.before();
        let after = facts.after(&before);
        Self { before, after }
    }

    /// Whether text of a function runs before packets only.
    pub(crate) fn is_before(&self, model: &Model, function: FunctionId, place: Place) -> bool {
        let limit = self.before.get(&function);
        limit.is_some_and(|limit| is_in_body(model, function, place) && place.offset < *limit)
    }

    /// Whether a function brings packets, and it is known what of it runs before and after them.
    pub(crate) fn has_both(&self, function: FunctionId) -> bool {
        self.before
            .get(&function)
            .is_some_and(|limit| *limit < usize::MAX)
            && self.after.contains_key(&function)
    }

    /// Whether text of a function runs after packets only, once in each core.
    pub(crate) fn is_after(&self, model: &Model, function: FunctionId, place: Place) -> bool {
        let limit = self.after.get(&function);
        limit.is_some_and(|limit| is_in_body(model, function, place) && place.offset >= *limit)
    }

    /// Whether a use takes place before packets only.
    pub(crate) fn uses_before(&self, model: &Model, one: &Reference) -> bool {
        let inside = one.inside;
        inside.is_some_and(|inside| self.is_before(model, inside, one.site.expanded))
    }

    /// Whether a use takes place after packets only.
    pub(crate) fn uses_after(&self, model: &Model, one: &Reference) -> bool {
        let inside = one.inside;
        inside.is_some_and(|inside| self.is_after(model, inside, one.site.expanded))
    }
}

fn is_in_body(model: &Model, function: FunctionId, place: Place) -> bool {
    let body = model.function(function).body;
    body.is_some_and(|body| body.start.file == place.file)
}

/// Functions of libpcap that bring packets.
pub(super) const SOURCES: &[&str] = &["pcap_loop", "pcap_dispatch", "pcap_next", "pcap_next_ex"];

/// Whether a program asks libpcap for packets at all.
pub(crate) fn has_packets(model: &Model) -> bool {
    let is_source = |id: usize| {
        let one = model.function(id);
        one.body.is_none() && SOURCES.contains(&one.name.as_str())
    };
    (0..model.functions.len()).any(is_source)
}

/// Whether a function is one of libpcap's that bring packets, or calls one by names.
pub(crate) fn brings_packets(model: &Model, function: FunctionId) -> bool {
    let mut seen = HashSet::new();
    let mut work = vec![function];
    while let Some(id) = work.pop() {
        let one = model.function(id);
        if one.body.is_none() && SOURCES.contains(&one.name.as_str()) {
            return true;
        }
        if seen.insert(id) {
            let calls = model.calls.iter().filter(|call| call.caller == Some(id));
            work.extend(calls.map(|call| call.callee));
        }
    }
    false
}

/// Functions after which a function's text may run a second time.
const RETURNS_TWICE: &[&str] = &["setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "vfork"];

struct Facts<'a> {
    model: &'a Model,
    main: FunctionId,
    /// Where each function calls what may bring packets.
    brings: HashMap<FunctionId, Vec<Place>>,
    /// Where each function is called by name: by whom, and where.
    calls: HashMap<FunctionId, Vec<(FunctionId, Place)>>,
    /// Functions that may be called from places that nobody sees.
    hidden: HashSet<FunctionId>,
}

impl<'a> Facts<'a> {
    /// None if nothing is known about this program's order.
    fn of(model: &'a Model) -> Option<Self> {
        let is_main = |id: &FunctionId| {
            let one = model.function(*id);
            one.name == "main" && one.body.is_some()
        };
        let main = (0..model.functions.len()).find(is_main)?;
        let mut hidden: HashSet<FunctionId> =
            model.addresses.iter().map(|one| one.function).collect();
        hidden.extend((0..model.functions.len()).filter(|id| {
            let attributes = &model.function(*id).attributes;
            let ties = ["constructor", "destructor", "alias", "ifunc", "weak"];
            let is_tied = |one: &String| ties.iter().any(|word| one.contains(word));
            attributes.iter().any(is_tied)
        }));
        let mut calls: HashMap<FunctionId, Vec<(FunctionId, Place)>> = HashMap::new();
        for call in &model.calls {
            match call.caller {
                Some(caller) => {
                    let site = (caller, call.name.expanded);
                    calls.entry(call.callee).or_default().push(site);
                }
                None => {
                    hidden.insert(call.callee);
                }
            }
        }
        let mut facts = Self {
            model,
            main,
            brings: HashMap::new(),
            calls,
            hidden,
        };
        facts.find_sources();
        // A library that calls back what brings packets may do so at any time.
        let is_hidden = facts.brings.keys().any(|id| facts.hidden.contains(id));
        let is_called = facts.calls.contains_key(&main) || facts.hidden.contains(&main);
        (!facts.brings.is_empty() && !is_hidden && !is_called).then_some(facts)
    }

    /// All calls that may bring packets, from libpcap's upwards.
    fn find_sources(&mut self) {
        let model = self.model;
        let mut work: Vec<FunctionId> = (0..model.functions.len())
            .filter(|id| {
                let one = model.function(*id);
                one.body.is_none() && SOURCES.contains(&one.name.as_str())
            })
            .collect();
        // A call through a pointer that nobody knows may be of what has its address taken. The
        // program's own functions among these end the analysis (`of`).
        let unknown = model
            .pointer_calls
            .iter()
            .filter(|one| one.targets.is_empty());
        let is_taken = work.iter().any(|id| self.hidden.contains(id));
        for call in unknown.filter(|_| is_taken) {
            if let Some(caller) = call.caller {
                self.brings.entry(caller).or_default().push(call.place);
                work.push(caller);
            }
        }
        let mut seen = HashSet::new();
        while let Some(function) = work.pop() {
            if !seen.insert(function) {
                continue;
            }
            for (caller, place) in self.calls.get(&function).cloned().unwrap_or_default() {
                self.brings.entry(caller).or_default().push(place);
                work.push(caller);
            }
            let through = model
                .pointer_calls
                .iter()
                .filter(|call| call.targets.contains(&function));
            for call in through {
                if let Some(caller) = call.caller {
                    self.brings.entry(caller).or_default().push(call.place);
                    work.push(caller);
                }
            }
        }
    }

    /// The text that runs with a call: its statement, because C orders no less, and what may run
    /// again with it. Where that begins, and where it ends; all of the function if that is not
    /// known.
    fn around(&self, function: FunctionId, place: Place) -> (usize, usize) {
        let model = self.model;
        let Some(mut range) = self.statement(function, place) else {
            return (0, usize::MAX);
        };
        let again = model.repeated.iter().filter(|one| {
            one.function == function && one.start.file == place.file && one.end > place.offset
        });
        for one in again.filter(|one| one.start.offset <= place.offset) {
            range.0 = range.0.min(one.start.offset);
            range.1 = range.1.max(one.end);
        }
        range
    }

    /// The innermost statement in braces around a place.
    fn statement(&self, function: FunctionId, place: Place) -> Option<(usize, usize)> {
        let here = self.model.statements.iter().filter(|one| {
            let range = one.start.offset..one.end;
            one.function == function
                && one.start.file == place.file
                && range.contains(&place.offset)
        });
        let ranges = here.map(|one| (one.start.offset, one.end));
        ranges.min_by_key(|(start, end)| end - start)
    }

    /// Whether nothing but its statement runs again with a call.
    fn is_once(&self, function: FunctionId, place: Place) -> bool {
        Some(self.around(function, place)) == self.statement(function, place)
    }

    /// Up to which byte a function's text runs before the packets that it brings.
    fn limit(&self, function: FunctionId) -> usize {
        let body = self.model.function(function).body;
        let calls = self.brings.get(&function).into_iter().flatten();
        let in_body = |place: &Place| body.is_some_and(|body| body.start.file == place.file);
        let mut limit = usize::MAX;
        for place in calls {
            let start = if in_body(place) {
                self.around(function, *place).0
            } else {
                0
            };
            limit = limit.min(start);
        }
        if self.returns_twice(function) {
            0
        } else {
            limit
        }
    }

    fn returns_twice(&self, function: FunctionId) -> bool {
        self.model.calls.iter().any(|call| {
            let name = self.model.function(call.callee).name.as_str();
            call.caller == Some(function) && RETURNS_TWICE.contains(&name)
        })
    }

    /// Of all functions that run before packets, up to which byte they do.
    fn before(&self) -> HashMap<FunctionId, usize> {
        let ids = 0..self.model.functions.len();
        let is_candidate = |id: &FunctionId| {
            let has_body = self.model.function(*id).body.is_some();
            let is_called = self.calls.contains_key(id) || *id == self.main;
            has_body && is_called && !self.hidden.contains(id)
        };
        let mut found: HashMap<FunctionId, usize> = ids
            .filter(is_candidate)
            .map(|id| (id, self.limit(id)))
            .collect();
        // What is called from anywhere else is taken out, until nothing changes.
        loop {
            let strange = found
                .keys()
                .copied()
                .find(|id| *id != self.main && !self.is_called_before(*id, &found));
            match strange {
                Some(id) => found.remove(&id),
                None => return found,
            };
        }
    }

    fn is_called_before(&self, id: FunctionId, found: &HashMap<FunctionId, usize>) -> bool {
        let sites = self.calls.get(&id).map_or(&[][..], Vec::as_slice);
        let is_before = |(caller, place): &(FunctionId, Place)| {
            let limit = found.get(caller);
            limit.is_some_and(|limit| {
                is_in_body(self.model, *caller, *place) && place.offset < *limit
            })
        };
        if sites.iter().all(is_before) {
            return true;
        }
        // The one call that brings packets: its own text up to there is run once, too.
        let [(caller, place)] = sites else {
            return false;
        };
        let start = self.around(*caller, *place).0;
        let sources = self.brings.get(caller).into_iter().flatten();
        let same = sources.filter(|other| self.around(*caller, **other).0 == start);
        found.get(caller) == Some(&start)
            && same.count() == 1
            && self.brings.contains_key(&id)
            && self.is_once(*caller, *place)
    }

    /// Of all functions that run after packets, from which byte on they do.
    fn after(&self, before: &HashMap<FunctionId, usize>) -> HashMap<FunctionId, usize> {
        let mut found = HashMap::new();
        let mut work = vec![self.main];
        while let Some(function) = work.pop() {
            let from = self.last(function);
            let is_known = before.contains_key(&function) || !self.brings.contains_key(&function);
            if !is_known || self.returns_twice(function) || found.contains_key(&function) {
                continue;
            }
            found.insert(function, from);
            let below = self.model.calls.iter().filter(|call| {
                let place = call.name.expanded;
                let is_after = place.offset >= from || self.is_only_source(function, place);
                call.caller == Some(function) && is_in_body(self.model, function, place) && is_after
            });
            for call in below {
                let sites = self.calls.get(&call.callee).map_or(0, Vec::len);
                let has_body = self.model.function(call.callee).body.is_some();
                let is_once = self.is_once(function, call.name.expanded);
                if has_body && sites == 1 && is_once && !self.hidden.contains(&call.callee) {
                    work.push(call.callee);
                }
            }
        }
        found
    }

    /// From which byte on a function brings no packets any more.
    fn last(&self, function: FunctionId) -> usize {
        let calls = self.brings.get(&function).into_iter().flatten();
        let mut last = 0;
        for place in calls {
            let end = self.around(function, *place).1;
            last = last.max(if is_in_body(self.model, function, *place) {
                end
            } else {
                usize::MAX
            });
        }
        last
    }

    /// Whether this is the only call with which a function brings packets.
    fn is_only_source(&self, function: FunctionId, place: Place) -> bool {
        self.brings
            .get(&function)
            .is_some_and(|all| all.as_slice() == [place])
    }
}
