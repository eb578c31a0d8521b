//! What packets leave behind (tables, lists, trees), and what is said of it when they have ended:
//! each core says what its own packets left, which is the whole only where it belongs to a
//! connection.
//!
//! Guarantees nothing about programs that say it otherwise: only a loop or a statement that uses it
//! and puts something into text, once packets have ended, counts; or one that uses it to set what
//! is said afterwards.

use super::counters::own_formatters;
use super::library::formats;
use super::order::{Order, has_packets};
use super::{Decision, Verdict};
use crate::model::{
    Access, FunctionId, GlobalId, Model, Place, Reference, Statement, StatementKind,
};
use std::collections::HashSet;

/// Variables of which each core has its own, that hold what packets left, and where that is said.
pub(crate) fn gathered(model: &Model, decisions: &[Decision]) -> Vec<(GlobalId, Place)> {
    if !has_packets(model) {
        return Vec::new();
    }
    let order = Order::of(model);
    let says = sayers(model);
    let mut found: Vec<(GlobalId, Place)> = Vec::new();
    for one in &model.references {
        let id = one.global;
        let is_private = decisions
            .get(id)
            .is_some_and(|it| it.verdict == Verdict::Private);
        let is_known = found.iter().any(|(known, _)| *known == id);
        let is_late = order.uses_after(model, one) || is_called_after(model, &order, one);
        if is_private
            && !is_known
            && one.access != Access::Unevaluated
            && is_late
            && (is_said_in_a_loop(model, &says, one) || is_said_at_once(model, &says, one))
            && holds_more_than_a_number(model, id)
            && is_filled_by_packets(model, &order, id)
        {
            found.push((id, one.site.expanded));
        }
    }
    found.sort_by_key(|(id, _)| *id);
    found
}

/// Functions that put something into text, themselves or by those that they call.
pub(super) fn sayers(model: &Model) -> HashSet<FunctionId> {
    let mut found: HashSet<FunctionId> = own_formatters(model);
    found.extend((0..model.functions.len()).filter(|id| {
        let one = model.function(*id);
        one.body.is_none() && formats(&one.name)
    }));
    loop {
        let more = model.calls.iter().find_map(|call| {
            let caller = call.caller?;
            let is_new = found.contains(&call.callee) && !found.contains(&caller);
            is_new.then_some(caller)
        });
        match more {
            Some(caller) => found.insert(caller),
            None => return found,
        };
    }
}

/// Whether a use, and a call that puts something into text, are run again and again together.
fn is_said_in_a_loop(model: &Model, says: &HashSet<FunctionId>, one: &Reference) -> bool {
    let place = one.site.expanded;
    let loops = model.repeated.iter().filter(|it| {
        let range = it.start.offset..it.end;
        Some(it.function) == one.inside
            && it.start.file == place.file
            && range.contains(&place.offset)
    });
    loops.into_iter().any(|it| {
        model.calls.iter().any(|call| {
            let at = call.name.expanded;
            call.caller == one.inside
                && at.file == it.start.file
                && (it.start.offset..it.end).contains(&at.offset)
                && says.contains(&call.callee)
        })
    })
}

/// Whether a statement uses it and puts something into text (`printf("%d", size(root))`), or sets a
/// variable by it, and the function says one later (`struct entry *at = table;`).
fn is_said_at_once(model: &Model, says: &HashSet<FunctionId>, one: &Reference) -> bool {
    // Single numbers behind a pointer are told apart.
    let Some(inside) = one.inside.filter(|_| one.through.is_none()) else {
        return false;
    };
    is_in_text(model, says, inside, one.site.expanded)
        || model.calls.iter().any(|call| {
            // What the function finds out is said by who calls it.
            let at = call.name.expanded;
            let caller = call
                .caller
                .filter(|_| call.callee == inside && !call.is_dropped);
            caller.is_some_and(|caller| is_in_text(model, says, caller, at))
        })
        || is_handed_on(model, says, inside, one.site.expanded)
}

/// Whether a place stands in an expression that puts something into text.
fn is_in_text(model: &Model, says: &HashSet<FunctionId>, inside: FunctionId, place: Place) -> bool {
    let kinds = [StatementKind::Expression, StatementKind::Choice];
    let mut around = model
        .statements
        .iter()
        .filter(|it| it.function == inside && kinds.contains(&it.kind) && holds(it, place));
    around.any(|it| {
        let says_here = model.calls.iter().any(|call| {
            call.caller == Some(inside)
                && holds(it, call.name.expanded)
                && says.contains(&call.callee)
        });
        // `twalk(root, show)`.
        let shows = model.addresses.iter().any(|taken| {
            let at = taken.name.expanded;
            taken.inside == Some(inside) && holds(it, at) && says.contains(&taken.function)
        });
        says_here || shows
    })
}

/// Whether a variable of the function is set where something is used, and said later.
fn is_handed_on(
    model: &Model,
    says: &HashSet<FunctionId>,
    inside: FunctionId,
    place: Place,
) -> bool {
    let kinds = [
        StatementKind::Expression,
        StatementKind::Declaration,
        StatementKind::Loop,
    ];
    let mut around = model
        .statements
        .iter()
        .filter(|it| it.function == inside && kinds.contains(&it.kind) && holds(it, place));
    around.any(|it| {
        let set = model.locals.iter().filter_map(|one| {
            let declared = one.declared?;
            let is_set = one.access.may_write() && holds(it, one.place) || holds(it, declared);
            (one.function == inside && is_set).then_some(declared)
        });
        let set: HashSet<Place> = set.collect();
        model.locals.iter().any(|one| {
            let is_it = one.declared.is_some_and(|declared| set.contains(&declared));
            one.function == inside
                && is_it
                && one.place.offset >= it.end
                && is_in_text(model, says, inside, one.place)
        })
    })
}

fn holds(statement: &Statement, place: Place) -> bool {
    let range = statement.start.offset..statement.end;
    statement.start.file == place.file && range.contains(&place.offset)
}

/// Whether the function that uses something is called by names alone, after packets alone.
fn is_called_after(model: &Model, order: &Order, one: &Reference) -> bool {
    let Some(inside) = one.inside else {
        return false;
    };
    let is_taken = model.addresses.iter().any(|taken| taken.function == inside);
    let mut calls = model
        .calls
        .iter()
        .filter(|call| call.callee == inside)
        .peekable();
    !is_taken
        && calls.peek().is_some()
        && calls.all(|call| {
            let caller = call.caller;
            caller.is_some_and(|caller| order.is_after(model, caller, call.name.expanded))
        })
}

/// Tables, lists, records: neither a number nor a text, nor what a library keeps for itself.
fn holds_more_than_a_number(model: &Model, id: GlobalId) -> bool {
    const OTHERS: &[&str] = &[
        "char *",
        "struct _IO_FILE *",
        "struct pcap *",
        "struct pcap_dumper *",
    ];
    let ty = &model.global(id).ty;
    let plain = ty.canonical.replace("const ", "");
    let is_record = plain.starts_with("struct ") || plain.starts_with("union ");
    (ty.is_pointer || ty.is_array || is_record) && !OTHERS.contains(&plain.as_str())
}

/// Whether it may change while packets come; of a pointer, what it points to.
fn is_filled_by_packets(model: &Model, order: &Order, id: GlobalId) -> bool {
    let is_pointer = model.global(id).ty.is_pointer;
    model.references.iter().any(|one| {
        one.global == id
            && (one.access.may_write() || is_pointer && one.access == Access::Read)
            && !order.uses_before(model, one)
            && !order.uses_after(model, one)
    })
}
