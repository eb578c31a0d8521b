//! Library functions that keep state: the run-time's, one for each core; or refused.

use super::edits::{Edits, Slot};
use super::lex;
use super::{Alloc, Plan, Refusal};
use crate::classify::{Hidden, Order, has_packets, hidden, running};
use crate::model::{FunctionId, Place, Site};

/// Renames what the run-time replaces, and refuses what cannot be.
pub(super) fn edit(plan: &Plan<'_>, edits: &mut Edits) {
    let model = plan.model;
    let running = running(model);
    let is_running = |caller: Option<FunctionId>| caller.is_none_or(|one| running.contains(&one));
    let calls = model
        .calls
        .iter()
        .map(|call| (call.callee, call.name, is_running(call.caller)));
    let addresses = model
        .addresses
        .iter()
        .map(|one| (one.function, one.name, true));
    for (id, site, is_running) in calls.chain(addresses) {
        library_name(plan, id, &site, is_running, edits);
    }
    for (name, ours) in STREAMS {
        let mut variables = model.library_variables.iter();
        if variables.any(|variable| variable.name == *name) {
            stream(plan, edits, name, ours, &|_| true);
        }
    }
    input(plan, edits, &is_running);
}

fn library_name(plan: &Plan<'_>, id: FunctionId, site: &Site, is_running: bool, edits: &mut Edits) {
    let function = plan.model.function(id);
    if function.body.is_some() {
        return;
    }
    let place = site.expanded;
    let is_pooled = plan.choices.alloc == Alloc::Pool;
    let known = match POOLED.contains(&function.name.as_str()) {
        true if is_pooled => Some(Hidden::PerCore("its pool")),
        _ => hidden(&function.name),
    };
    if is_pooled && REALLOCATES.contains(&function.name.as_str()) {
        let what = format!(
            "{} may free memory of the program's, which the C library cannot with --alloc pool",
            function.name
        );
        edits.refused.push(Refusal::new(plan.model.at(place), what));
    }
    match known {
        Some(Hidden::PerCore(_)) => {
            let stands = |place: &Place| {
                let end = place.offset + function.name.len();
                plan.texts.between(place.file, place.offset, end) == function.name.as_bytes()
            };
            // Some are macros of the C library: then the name stands where they are used.
            let spelled = site.spelled.filter(stands).or(Some(place).filter(stands));
            match spelled {
                Some(place) => {
                    let ours = match super::marked::opens_own(plan, id, site.expanded) {
                        true => format!("(flowpin_each_core(), flowpin_{})", function.name),
                        false => format!("flowpin_{}", function.name),
                    };
                    let slot = (place, Slot::Replace);
                    edits.at_site(plan.model, site, slot, function.name.len(), &ours);
                }
                None => {
                    let what = format!("a macro makes up the name of {}", function.name);
                    edits.refused.push(Refusal::new(plan.model.at(place), what));
                }
            }
        }
        None if writes_by_itself(plan, &function.name, place) => {
            let what = format!(
                "{} opens a file of which no core would have a part: open it with fopen or open",
                function.name
            );
            edits.refused.push(Refusal::new(plan.model.at(place), what));
        }
        Some(Hidden::AtStart(why)) if is_running => {
            let what = format!(
                "{} has {why}, and is called while packets come",
                function.name
            );
            edits.refused.push(Refusal::new(plan.model.at(place), what));
        }
        Some(Hidden::Refused(why)) => {
            let what = format!("{} {why}", function.name);
            edits.refused.push(Refusal::new(plan.model.at(place), what));
        }
        Some(Hidden::AtStart(_) | Hidden::Process(_)) | None => {}
    }
}

/// Standard input: each core reads all of it, unless it may be the capture.
fn input(plan: &Plan<'_>, edits: &mut Edits, is_running: &dyn Fn(Option<FunctionId>) -> bool) {
    let model = plan.model;
    let is_capture = model.calls.iter().any(|call| {
        let name = &model.function(call.callee).name;
        name.starts_with("pcap_fopen_offline")
    });
    let mut variables = model.library_variables.iter();
    if is_capture || !variables.any(|one| one.name == "stdin") {
        return;
    }
    let order = Order::of(model);
    let taker = |place: Place| {
        let around = model.calls.iter().filter(|call| {
            let at = call.name.expanded;
            at.file == place.file && (at.offset..call.end).contains(&place.offset)
        });
        let innermost = around.min_by_key(|call| call.end - call.name.expanded.offset);
        innermost.map_or("", |call| model.function(call.callee).name.as_str())
    };
    for one in &model.library_variables {
        let place = one.site.expanded;
        let is_apart = one.inside.is_some_and(|inside| {
            order.is_before(model, inside, place) || order.is_after(model, inside, place)
        });
        let is_read = one.name == "stdin" && READS.contains(&taker(place));
        let is_read = is_read && has_packets(model);
        if is_read && is_running(one.inside) && !is_apart {
            let what = "standard input is read while packets come, and is one for all cores: read \
                        it before they come";
            let refusal = Refusal::new(model.at(place), what);
            edits.refused.push(refusal);
        }
    }
    let is_meant = |place: Place| !READ_NOTHING.contains(&taker(place));
    stream(plan, edits, "stdin", "flowpin_stdin()", &is_meant);
}

/// What reads a stream.
const READS: &[&str] = &[
    "fgets", "fgetc", "getc", "fread", "getline", "getdelim", "fscanf", "vfscanf",
];

/// What closes or changes a stream, and reads nothing of it.
const READ_NOTHING: &[&str] = &[
    "fclose", "freopen", "fileno", "fflush", "setbuf", "setvbuf", "clearerr",
];

/// What a core's pool stands for.
const POOLED: &[&str] = &["malloc", "calloc", "realloc", "free", "strdup"];

/// Library functions that free or extend what they are given.
const REALLOCATES: &[&str] = &["getline", "getdelim", "reallocarray", "posix_memalign"];

/// Functions of libraries that open a file by themselves, and write it if their second argument
/// says so: it is a text that begins with `r` where they read.
const OPENERS: &[&str] = &["gzopen", "gzopen64", "gzdopen", "BZ2_bzopen", "BZ2_bzdopen"];

fn writes_by_itself(plan: &Plan<'_>, name: &str, place: Place) -> bool {
    let text = plan.texts.of(place.file);
    let arguments = || {
        let open = lex::after_open(text, place.offset + name.len())?;
        text.get(open..lex::closing(text, open)?)
    };
    let mode = arguments().and_then(|inside| {
        let comma = inside.iter().rposition(|byte| *byte == b',')?;
        inside.get(comma + 1..)
    });
    let is_read = mode.is_some_and(|mode| mode.trim_ascii().starts_with(b"\"r"));
    OPENERS.contains(&name) && !is_read
}

/// Streams of which each core has its own.
const STREAMS: &[(&str, &str)] = &[
    ("stdout", "flowpin_stdout()"),
    ("stderr", "flowpin_stderr()"),
];

/// These are macros of the C library, so that their uses have no place of their own: each token of
/// that name is one.
fn stream(
    plan: &Plan<'_>,
    edits: &mut Edits,
    name: &str,
    ours: &str,
    is_meant: &dyn Fn(Place) -> bool,
) {
    for file in 0..plan.model.files.len() {
        let text = plan.texts.of(file);
        for (offset, found) in lex::identifiers(text) {
            if found == name.as_bytes() {
                let line = u32::try_from(lex::line_of(text, offset)).unwrap_or(0);
                let place = Place { file, offset, line };
                if is_meant(place) {
                    edits.replace(plan.model, place, name.len(), ours);
                }
            }
        }
    }
}
