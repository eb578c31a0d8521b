//! Numbers that are counted while packets come: sums that nobody had to ask for, and numbers that
//! would be another in each core.

use super::Refusal;
use super::pragma::Pragmas;
use crate::classify::{
    Counter, Decision, Fate, Numbering, counters, gathered, has_packets, numbering, said_behind,
    said_locals,
};
use crate::model::{Model, Place, Texts};

/// Reduces event counters, refuses numbers of packets that are said, and returns a line for each
/// number that each core has for itself.
pub(super) fn apply(
    model: &Model,
    texts: &Texts,
    decisions: &mut [Decision],
    pragmas: &mut Pragmas,
    refused: &mut Vec<Refusal>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if !has_packets(model) {
        warnings.push(NO_PACKETS.to_owned());
    }
    warnings.extend(locals(model));
    warnings.extend(behind(model, pragmas));
    let counters = counters(model, texts, decisions);
    warnings.extend(left(model, decisions, pragmas, &counters));
    for one in numbers(model, texts, decisions, &counters) {
        if one.global.is_some_and(|id| pragmas.says_of(id)) {
            continue;
        }
        match one.is_said {
            true => refused.push(Refusal::new(model.at(one.place), numbered(model, &one))),
            false => warnings.push(format!(
                "{}: {}",
                model.at(one.place),
                numbered(model, &one)
            )),
        }
    }
    for counter in counters {
        let id = counter.global;
        if pragmas.says_of(id) {
            continue;
        }
        match &counter.fate {
            Fate::Summed(statements) => {
                decisions[id].why = summed(model, statements);
                pragmas.sum(id, statements);
            }
            Fate::Said(place) => {
                let what = said(model, id);
                refused.push(Refusal::new(model.at(*place), what));
            }
            fate => warnings.extend(warning(model, id, fate)),
        }
    }
    warnings
}

/// Numbers that no variable at file scope holds, and what packets leave for later ones, apart from
/// what is told of a variable already.
fn numbers(
    model: &Model,
    texts: &Texts,
    decisions: &[Decision],
    counters: &[Counter],
) -> Vec<Numbering> {
    let mut found = numbering(model, texts, decisions);
    let is_told = |id: usize| counters.iter().any(|it| it.global == id);
    found.retain(|one| !one.is_left || !one.global.is_some_and(is_told));
    found
}

/// What is told of a program whose packets nobody divides.
const NO_PACKETS: &str = "no source calls a function of libpcap that brings packets: each core \
     would run the whole program; name the sources of the library that does";

/// Functions' own variables that packets change, and that are said after them.
fn locals(model: &Model) -> impl Iterator<Item = String> {
    said_locals(model).into_iter().map(|place| {
        format!(
            "{}: what is said here when packets have ended is of a function's own variable that \
             changes while they come: each core says its own; move it to file scope",
            model.at(place)
        )
    })
}

/// Objects that packets reach by an address, and that are said after them.
fn behind(model: &Model, pragmas: &Pragmas) -> Vec<String> {
    let all = said_behind(model).into_iter();
    let known = said_locals(model);
    let all = all.filter(|(global, place)| {
        let is_same = |it: &Place| (it.file, it.line) == (place.file, place.line);
        !global.is_some_and(|id| pragmas.says_of(id)) && !known.iter().any(is_same)
    });
    let lines = all.map(|(_, place)| {
        format!(
            "{}: what is said here when packets have ended is of an object that packets change \
             behind a pointer: each core says its own; numbers that are to be sums belong in \
             variables at file scope",
            model.at(place)
        )
    });
    lines.collect()
}

/// What packets have left in tables and lists, and is said after them. Numbers are told apart.
fn left(
    model: &Model,
    decisions: &[Decision],
    pragmas: &Pragmas,
    counters: &[Counter],
) -> Vec<String> {
    let is_told = |id: usize| {
        let is_counter = counters.iter().any(|one| one.global == id);
        is_counter || pragmas.says_of(id)
    };
    let left = gathered(model, decisions).into_iter();
    let left = left.filter(|(id, _)| !is_told(*id));
    let lines = left.map(|(id, place)| {
        format!(
            "{}: what packets left in `{}` is said here when they have ended: each core says what \
             its own packets left, which is all of it only where it belongs to one connection; \
             `flowpin cc check` compares, `#pragma flowpin private {}` says that this is meant",
            model.at(place),
            model.global_name(id),
            model.global(id).name
        )
    });
    lines.collect()
}

/// Why a variable is a sum.
fn summed(model: &Model, statements: &[Place]) -> String {
    let places: Vec<String> = statements.iter().map(|place| model.at(*place)).collect();
    format!(
        "an event counter: only added to while packets come, and read after them alone; {} is run \
         once, with the sum of all cores",
        places.join(" and ")
    )
}

/// Of a number that no variable at file scope holds.
fn numbered(model: &Model, one: &Numbering) -> String {
    if one.is_left {
        return match one.global {
            Some(id) => earlier(&one.what, &model.global(id).name),
            None => format!(
                "{} is used here as an earlier packet left it: each core sees its own packets \
                 alone",
                one.what
            ),
        };
    }
    let how = if one.is_said { "said" } else { "used" };
    let meant = match one.global {
        Some(id) => format!("add `#pragma flowpin private {}`", model.global(id).name),
        None => "move it to file scope, and add `#pragma flowpin private` with its name".to_owned(),
    };
    format!(
        "{} is counted by all packets, and {how} here while they come: each core counts its own; \
         if that is meant, {meant}",
        one.what
    )
}

fn said(model: &Model, id: usize) -> String {
    let name = model.global_name(id);
    let at = model.at(model.global(id).place);
    format!(
        "`{name}` ({at}) is counted by all packets, and said here where they may still come: each \
         core would say numbers of its own; if that is meant, add `#pragma flowpin private {}`",
        model.global(id).name
    )
}

/// What an earlier packet left, in a variable with this name.
fn earlier(what: &str, name: &str) -> String {
    format!(
        "{what} is used here as an earlier packet left it: each core sees its own packets alone; \
         `#pragma flowpin private {name}` says that this is meant"
    )
}

fn warning(model: &Model, id: usize, fate: &Fate) -> Option<String> {
    let name = model.global_name(id);
    let short = &model.global(id).name;
    Some(match fate {
        Fate::Used(place) => format!(
            "{}: `{name}` is counted while packets come and used here: each core counts its own \
             packets; `#pragma flowpin private {short}` says that this is meant",
            model.at(*place)
        ),
        Fate::Carried(place) => format!(
            "{}: {}",
            model.at(*place),
            earlier(&format!("`{name}`"), short)
        ),
        Fate::Apart(place, why) => format!(
            "{}: `{name}` changes while packets come, and is read here when they have ended: each \
             core has its own, and not the sum ({why}); see `reduce`, `once` and `private`",
            model.at(*place)
        ),
        Fate::Summed(_) | Fate::Said(_) => return None,
    })
}

/// What a report says of such numbers.
pub(crate) fn reported(model: &Model, texts: &Texts, decisions: &mut [Decision]) -> Vec<String> {
    let pragmas = Pragmas::read(model, texts, &mut Vec::new());
    let mut lines = Vec::new();
    if !has_packets(model) {
        lines.push(NO_PACKETS.to_owned());
    }
    lines.extend(locals(model));
    lines.extend(behind(model, &pragmas));
    let counters = counters(model, texts, decisions);
    lines.extend(left(model, decisions, &pragmas, &counters));
    for one in numbers(model, texts, decisions, &counters) {
        let is_meant = one.global.is_some_and(|id| pragmas.says_of(id));
        let refused = if one.is_said { "refused: " } else { "" };
        let line = format!(
            "{}: {refused}{}",
            model.at(one.place),
            numbered(model, &one)
        );
        lines.extend((!is_meant).then_some(line));
    }
    for counter in counters {
        let id = counter.global;
        if pragmas.says_of(id) {
            continue;
        }
        match &counter.fate {
            Fate::Summed(statements) => decisions[id].why = summed(model, statements),
            Fate::Said(place) => {
                lines.push(format!(
                    "{}: refused: {}",
                    model.at(*place),
                    said(model, id)
                ));
            }
            fate => lines.extend(warning(model, id, fate)),
        }
    }
    lines
}
