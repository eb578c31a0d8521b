//! Lines that mark one thing each: where packets come in, files of which each core keeps its own,
//! memory that is there from the start.

use super::pragma::{global, in_parentheses};
use super::stages::statement_end;
use super::{Plan, lex};
use crate::classify::brings_packets;
use crate::model::{Access, Call, FunctionId, GlobalId, Model, Place, Texts};
use std::fmt::Write;

/// `entry source(pcap_loop)`: the statement that follows brings packets, by that function.
pub(super) fn entry(model: &Model, texts: &Texts, start: Place, rest: &str) -> Result<(), String> {
    let source = match rest.strip_prefix("source") {
        Some(text) => Some(in_parentheses(text.trim())?),
        None if rest.is_empty() => None,
        None => return Err("write `entry source(FUNCTION)`".to_owned()),
    };
    let text = texts.of(start.file);
    let end = statement_end(text, start.offset).unwrap_or(text.len());
    let is_here = |call: &&Call| {
        let at = call.name.expanded;
        at.file == start.file && (start.offset..end).contains(&at.offset)
    };
    let is_named = |call: &&Call| {
        let name = &model.function(call.callee).name;
        source.is_none_or(|source| source == name)
    };
    let mut calls = model.calls.iter().filter(is_here).filter(is_named);
    if calls.any(|call| brings_packets(model, call.callee)) {
        return Ok(());
    }
    Err(match source {
        Some(name) => format!("no call of `{name}` that brings packets follows"),
        None => "no call that brings packets follows".to_owned(),
    })
}

/// Memory for a number of records, which each core takes when it starts.
#[derive(Clone, Debug)]
pub(super) struct Reserved {
    unit: usize,
    ty: String,
    count: String,
    line: u32,
}

/// `pool(struct T, COUNT)`.
pub(super) fn reserved(model: &Model, place: Place, rest: &str) -> Result<Reserved, String> {
    let inside = in_parentheses(rest)?;
    let (ty, count) = inside.split_once(',').ok_or(WRITE_POOL)?;
    let (ty, count) = (ty.trim(), count.trim());
    if ty.is_empty() || count.is_empty() {
        return Err(WRITE_POOL.to_owned());
    }
    for (_, word) in lex::identifiers(count.as_bytes()) {
        let word = String::from_utf8_lossy(word);
        if global(model, place.file, &word).is_ok() {
            return Err(format!(
                "`{word}` has no value yet when memory is taken: write a constant"
            ));
        }
    }
    let unit = model.units.iter().position(|unit| unit.file == place.file);
    Ok(Reserved {
        unit: unit.ok_or("write it in a source, not in a header")?,
        ty: ty.to_owned(),
        count: count.to_owned(),
        line: place.line,
    })
}

const WRITE_POOL: &str = "write pool(struct T, COUNT)";

/// Whether a unit has such lines.
pub(super) fn has_reserved(plan: &Plan<'_>, unit: usize) -> bool {
    plan.pragmas.reserved.iter().any(|one| one.unit == unit)
}

/// The function that takes the memory of a unit's lines.
pub(super) fn unit_end(plan: &Plan<'_>, unit: usize) -> String {
    let here = plan.pragmas.reserved.iter().filter(|one| one.unit == unit);
    let lines = here.fold(String::new(), |mut all, one| {
        let _ = writeln!(
            all,
            "  flowpin_reserve(sizeof({}), {}); /* line {} */",
            one.ty, one.count, one.line
        );
        all
    });
    if lines.is_empty() {
        return lines;
    }
    let tag = super::output::tag(plan, unit);
    format!(
        "/* Memory that a core takes when it starts. */\n\
         void flowpin_reserve_{tag}(void) {{\n{lines}}}\n\n"
    )
}

/// Library functions that open a file by its path.
const OPEN: &[&str] = &["fopen", "open", "creat", "pcap_dump_open"];

/// Whether a call opens a file of which each core keeps its own.
pub(super) fn opens_own(plan: &Plan<'_>, function: FunctionId, at: Place) -> bool {
    let own = &plan.pragmas.percore;
    own.iter()
        .any(|id| is_opened_by(plan.model, *id, function, at))
}

/// Whether this call opens what the variable is set to.
fn is_opened_by(model: &Model, id: GlobalId, function: FunctionId, at: Place) -> bool {
    if !OPEN.contains(&model.function(function).name.as_str()) {
        return false;
    }
    let holds = |one: &&crate::model::Statement| {
        one.start.file == at.file && (one.start.offset..one.end).contains(&at.offset)
    };
    let around = model.statements.iter().filter(holds);
    let Some(around) = around.min_by_key(|one| one.end - one.start.offset) else {
        return false;
    };
    model.references.iter().any(|one| {
        let place = one.site.expanded;
        one.global == id
            && one.access == Access::Write
            && place.file == around.start.file
            && (around.start.offset..around.end).contains(&place.offset)
            && place.offset < at.offset
    })
}

/// A variable of `percore` that no such call sets is not what is meant.
pub(super) fn is_opened(model: &Model, id: GlobalId) -> Result<(), String> {
    let is_it = |call: &Call| is_opened_by(model, id, call.callee, call.name.expanded);
    if model.calls.iter().any(is_it) {
        return Ok(());
    }
    Err(format!(
        "`{}` is set by no statement that calls one of {}: name the variable that has the file",
        model.global_name(id),
        OPEN.join(", ")
    ))
}
