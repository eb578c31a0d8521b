//! Configuration: what is set before packets come, and never after, is one for all cores.
//!
//! Shown here: every write runs before the first packet, and each core would compute the same.
//! Cores start one after another; the run-time gives each of them the first value to start with,
//! and compares what it has set with what the first core has. So a difference that is not seen
//! here ends the run with its name, and is never used.

use super::library::{only_reads, same_for_same};
use super::order::Order;
use crate::clang::Element;
use crate::model::{Access, GlobalId, Model, Reference, Scope, Sink};

/// Why a variable may be one for all cores.
///
/// # Errors
/// Why it cannot be shown that it may.
pub(crate) fn set_once(model: &Model, order: &Order, id: GlobalId) -> Result<String, String> {
    let global = model.global(id);
    if matches!(global.scope, Scope::Local(_)) {
        return Err("it is a function's".to_owned());
    }
    if global.ty.element == Element::Other || global.ty.is_volatile || global.ty.size == 0 {
        return Err("it is no number, and no array of numbers".to_owned());
    }
    if !global.attributes.is_empty() || global.other_type.is_some() {
        return Err("its declarations say more than its type".to_owned());
    }
    let uses = || {
        let here = model.references.iter().filter(|one| one.global == id);
        here.filter(|one| one.access != Access::Unevaluated)
    };
    if let Some(escape) = uses().find(|one| escapes(model, one)) {
        let at = model.at(escape.site.expanded);
        return Err(format!("its address is taken at {at}"));
    }
    let mut first = None;
    for one in uses().filter(|one| writes(one)) {
        if !order.uses_before(model, one) {
            let at = model.at(one.site.expanded);
            return Err(format!(
                "it is not shown that {at} runs before packets come"
            ));
        }
        first = first.or(Some(one.site.expanded));
    }
    if !global.is_steady {
        return Err("each core may compute another value".to_owned());
    }
    match first {
        Some(place) => Ok(format!(
            "set before packets come, at {}, and never after",
            model.at(place)
        )),
        None => Err("it is never set".to_owned()),
    }
}

/// Whether a use may change the variable, where it stands.
fn writes(one: &Reference) -> bool {
    match &one.sink {
        Some(Sink::Argument { function, .. }) if one.access == Access::Address => {
            !only_reads(function)
        }
        _ => one.access.may_write(),
    }
}

/// Whether a use gives the variable's address to something that may keep it.
fn escapes(model: &Model, one: &Reference) -> bool {
    if one.access != Access::Address {
        return false;
    }
    let Some(Sink::Argument {
        function,
        number,
        is_library: true,
    }) = &one.sink
    else {
        return true;
    };
    if only_reads(function) {
        return false;
    }
    // What fills its first argument returns it, too: only if nobody takes that.
    let is_filled = FILLS.contains(&function.as_str()) && same_for_same(function);
    let at = one.site.expanded;
    let mut calls = model.calls.iter();
    let is_dropped = *number > 1
        || calls.any(|call| {
            let from = call.name.expanded;
            call.is_dropped
                && call.caller == one.inside
                && from.file == at.file
                && (from.offset..call.end).contains(&at.offset)
                && model.function(call.callee).name == *function
        });
    !(is_filled && is_dropped)
}

/// What writes behind an argument, and keeps no address.
const FILLS: &[&str] = &[
    "memcpy",
    "memmove",
    "memset",
    "bzero",
    "strcpy",
    "strncpy",
    "strlcpy",
    "strcat",
    "strncat",
    "snprintf",
    "sprintf",
    "sscanf",
    "__isoc99_sscanf",
    "inet_aton",
    "inet_pton",
];
