//! What becomes of each global, and why; which functions need the core's context.

mod behind;
mod closure;
mod counters;
mod earlier;
mod gathered;
mod hidden;
mod library;
mod numbering;
mod order;
mod set_once;

pub(crate) use behind::said_behind;
pub use closure::Closure;
pub(crate) use counters::{Counter, Fate, begins_at_0, counters, said_locals};
pub(crate) use gathered::gathered;
pub use hidden::{Hidden, hidden};
pub(crate) use library::{only_reads, same_for_same};
pub(crate) use numbering::{Numbering, numbering};
pub(crate) use order::{Order, brings_packets, has_packets};
pub(crate) use set_once::set_once;

use crate::model::{Access, FunctionId, GlobalId, Model, Reference, Sink};
use serde::Serialize;
use std::collections::HashSet;

/// What becomes of a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Each core has its own.
    Private,
    /// All cores read the same: it is constant, or never written.
    Shared,
    /// All cores read the same: it is set before packets come, and never after.
    SetOnce,
    /// Each thread has its own already.
    PerThread,
    /// A flag between a signal's handler and the program: it stays one for all.
    SignalFlag,
    /// The program only announces it: a library owns it.
    Library,
    /// The program never uses it.
    Unused,
}

/// A verdict, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What becomes of it.
    pub verdict: Verdict,
    /// Why, in a few words.
    pub why: String,
}

/// Decides for all globals; the result has the model's order.
#[must_use]
pub fn decide(model: &Model) -> Vec<Decision> {
    let handlers = handlers(model);
    let running = running(model);
    let order = Order::of(model);
    let mut decisions: Vec<Decision> = (0..model.globals.len())
        .map(|id| decide_one(model, id, (&handlers, &running, &order)))
        .collect();
    // What holds the address of a private variable is private, too: each core has its own.
    loop {
        let holder = model.references.iter().find_map(|reference| {
            let holder = reference.initialises?;
            let is_private = |id: GlobalId| decisions[id].verdict == Verdict::Private;
            let moves = is_private(reference.global)
                && reference.access == Access::Address
                && matches!(decisions[holder].verdict, Verdict::Shared);
            moves.then_some((holder, reference.global))
        });
        let Some((holder, target)) = holder else {
            return decisions;
        };
        decisions[holder] = Decision {
            verdict: Verdict::Private,
            why: format!("holds the address of {}", model.global_name(target)),
        };
    }
}

fn decide_one(
    model: &Model,
    id: GlobalId,
    (handlers, running, order): (&HashSet<FunctionId>, &HashSet<FunctionId>, &Order),
) -> Decision {
    let global = model.global(id);
    let decision = |verdict, why: &str| Decision {
        verdict,
        why: why.to_owned(),
    };
    let uses: Vec<_> = model
        .references
        .iter()
        .filter(|reference| reference.global == id && reference.access != Access::Unevaluated)
        .collect();
    if !global.is_defined {
        return decision(
            Verdict::Library,
            "declared, but not defined in these sources",
        );
    }
    if global.is_thread_local {
        return decision(Verdict::PerThread, "declared for each thread");
    }
    if uses.is_empty() {
        return decision(Verdict::Unused, "never used");
    }
    if global.ty.is_const {
        return decision(Verdict::Shared, "constant");
    }
    let by_handler = |one: &&Reference| one.inside.is_some_and(|inside| handlers.contains(&inside));
    // Each core has a timer: what its handler sets, and the program takes back, is the core's.
    let is_of_timer = has_timer(model)
        && uses.iter().any(|one| {
            one.access.may_write() && !by_handler(one) && !order.uses_before(model, one)
        });
    if global.ty.is_volatile && uses.iter().any(by_handler) && !is_of_timer {
        return decision(
            Verdict::SignalFlag,
            "volatile, and used by a signal's handler",
        );
    }
    let writers = uses.iter().filter(|one| one.access.may_write());
    let mut is_written_while_running = false;
    let mut is_only_address = true;
    let mut count = 0_usize;
    for writer in writers {
        count += 1;
        is_only_address &= writer.access == Access::Address;
        let inside = writer.inside;
        is_written_while_running |= inside.is_some_and(|inside| running.contains(&inside));
    }
    let is_set_once = match count {
        0 => return decision(Verdict::Shared, "never written"),
        _ => set_once(model, order, id),
    };
    match (is_set_once, is_only_address, is_written_while_running) {
        (Ok(why), _, _) => decision(Verdict::SetOnce, &why),
        (_, true, _) => decision(Verdict::Private, "its address is taken"),
        (Err(why), _, false) => {
            let why = format!("not written while packets come, but not shared: {why}");
            decision(Verdict::Private, &why)
        }
        _ => decision(Verdict::Private, "written while packets come"),
    }
}

/// Whether the program asks for a signal when time has passed.
fn has_timer(model: &Model) -> bool {
    let mut names = model
        .calls
        .iter()
        .map(|call| &model.function(call.callee).name);
    names.any(|name| matches!(name.as_str(), "alarm" | "ualarm" | "setitimer"))
}

/// Functions that signals call.
fn handlers(model: &Model) -> HashSet<FunctionId> {
    let to_signal = |sink: &Sink| match sink {
        Sink::Argument { function, .. } => INSTALL.contains(&function.as_str()),
        _ => false,
    };
    // By way of a function of the program's own.
    let is_passed_on = |sink: &Sink| match sink {
        Sink::Argument { function, .. } => model
            .functions
            .iter()
            .any(|one| one.body.is_some() && one.name == *function),
        _ => false,
    };
    let mut found: HashSet<FunctionId> = model
        .addresses
        .iter()
        .filter(|taken| to_signal(&taken.sink))
        .map(|taken| taken.function)
        .collect();
    let calls = |name: &str| {
        let mut callees = model.calls.iter().map(|call| call.callee);
        callees.any(|id| model.function(id).name == name)
    };
    if calls("sigaction") || INSTALL.iter().any(|name| calls(name)) {
        // The structure's field is the library's: what is stored while it is called may be it.
        let stored = model.addresses.iter().filter(|taken| {
            let is_it = taken.sink == Sink::Stored && calls("sigaction");
            let takes_signal = takes_signal(&model.function(taken.function).parameters);
            (is_it || is_passed_on(&taken.sink)) && takes_signal
        });
        found.extend(stored.map(|taken| taken.function));
    }
    found
}

/// Functions that make one of the program's own a signal's handler.
const INSTALL: &[&str] = &["signal", "bsd_signal", "sysv_signal", "sigset"];

/// `void handler(int)`, or with the information that `SA_SIGINFO` asks for.
fn takes_signal(parameters: &[String]) -> bool {
    matches!(parameters.len(), 1 | 3) && parameters.first().is_some_and(|ty| ty == "int")
}

/// Functions that may run while packets come: those whose address is taken, those that ask for
/// packets, and all that they call.
#[must_use]
pub(crate) fn running(model: &Model) -> HashSet<FunctionId> {
    let mut work: Vec<FunctionId> = model.addresses.iter().map(|one| one.function).collect();
    for call in &model.calls {
        let name = model.function(call.callee).name.as_str();
        if SOURCES.contains(&name) {
            work.extend(call.caller);
        }
    }
    // Without a source of packets, everything may run at any time.
    if work.is_empty() {
        work.extend(0..model.functions.len());
    }
    let mut found = HashSet::new();
    while let Some(function) = work.pop() {
        if !found.insert(function) {
            continue;
        }
        let direct = model
            .calls
            .iter()
            .filter(|call| call.caller == Some(function));
        work.extend(direct.map(|call| call.callee));
        let through = model
            .pointer_calls
            .iter()
            .filter(|call| call.caller == Some(function));
        work.extend(through.flat_map(|call| call.targets.iter().copied()));
    }
    found
}

/// Functions of libpcap that return while packets are still to come.
const SOURCES: &[&str] = &["pcap_next", "pcap_next_ex", "pcap_dispatch"];
