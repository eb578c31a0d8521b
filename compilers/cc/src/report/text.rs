//! The report as text: sections with aligned columns.

use super::{Counts, GlobalReport, Report};
use crate::classify::Verdict;
use crate::model::Access;
use std::fmt::Write;

/// The report as text.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    counts(&mut out, &report.counts, report.units.len());
    for (verdict, title) in TITLES {
        let found: Vec<_> = report
            .globals
            .iter()
            .filter(|one| one.verdict == *verdict)
            .collect();
        if !found.is_empty() {
            let _ = writeln!(out, "\n{title}");
            found.iter().for_each(|global| one_global(&mut out, global));
        }
    }
    functions(&mut out, report);
    pointers(&mut out, report);
    rest(&mut out, report);
    out
}

const TITLES: &[(Verdict, &str)] = &[
    (Verdict::Private, "Private: each core has its own"),
    (
        Verdict::SignalFlag,
        "Flags of signal handlers: one for all cores",
    ),
    (Verdict::PerThread, "Of each thread already"),
    (Verdict::Shared, "Shared: never written"),
    (
        Verdict::SetOnce,
        "Shared: set before packets come, and never after",
    ),
    (Verdict::Library, "Of libraries"),
    (Verdict::Unused, "Never used"),
];

fn counts(out: &mut String, counts: &Counts, units: usize) {
    let _ = writeln!(
        out,
        "{units} sources, {} functions, {} variables with static storage\n\
         {} private, used by {} functions; with their callers {} get the context\n\
         {} uses of private variables to rewrite ({} through macros), {} calls; {} calls through \
         pointers",
        counts.functions,
        counts.globals,
        counts.private,
        counts.direct,
        counts.with_context,
        counts.references,
        counts.references_in_macros,
        counts.calls,
        counts.pointer_calls,
    );
}

fn one_global(out: &mut String, global: &GlobalReport) {
    let scope = match global.scope.as_str() {
        "extern" | "static" => global.scope.clone(),
        function => format!("static in {function}"),
    };
    let _ = writeln!(
        out,
        "  {}  {}  {scope} {}: {}",
        global.name, global.place, global.ty, global.why
    );
    if matches!(global.verdict, Verdict::Shared | Verdict::Unused) {
        return;
    }
    let users: Vec<String> = global
        .used_by
        .iter()
        .map(|(name, accesses)| {
            let words: Vec<_> = accesses.iter().map(|one| word(*one)).collect();
            let name = if name.is_empty() {
                "an initialiser"
            } else {
                name
            };
            format!("{name} ({})", words.join(", "))
        })
        .collect();
    let _ = writeln!(out, "      used by {}", users.join(", "));
    if !global.macros.is_empty() {
        let macros: Vec<_> = global.macros.iter().cloned().collect();
        let _ = writeln!(out, "      through macros {}", macros.join(", "));
    }
    if !global.escapes.is_empty() {
        let escapes: Vec<_> = global.escapes.iter().cloned().collect();
        let _ = writeln!(out, "      its address goes to {}", escapes.join(", "));
    }
}

fn word(access: Access) -> &'static str {
    match access {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::Update => "updates",
        Access::Address => "takes its address",
        Access::Unevaluated => "sizeof",
    }
}

fn functions(out: &mut String, report: &Report) {
    let _ = writeln!(out, "\nFunctions that get the context");
    for function in &report.functions {
        let direct = if function.is_direct {
            ""
        } else {
            "  by what it calls"
        };
        let callback = if function.has_callback {
            "  has a callback"
        } else if function.finds_core {
            "  finds its core itself"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "  {}  {}{direct}{callback}",
            function.name, function.place
        );
    }
}

fn pointers(out: &mut String, report: &Report) {
    if report.pointer_calls.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nCalls through pointers");
    for call in &report.pointer_calls {
        let targets = match call.targets.is_empty() {
            true => "not known".to_owned(),
            false => call.targets.join(", "),
        };
        let _ = writeln!(
            out,
            "  {}  {} in {}: {targets}",
            call.place, call.pointer, call.caller
        );
    }
}

fn rest(out: &mut String, report: &Report) {
    if !report.callbacks.is_empty() {
        let _ = writeln!(out, "\nFunctions that libraries call");
        for one in &report.callbacks {
            let _ = writeln!(
                out,
                "  {}  {} by {}",
                one.place, one.function, one.library_function
            );
        }
    }
    if !report.hidden_state.is_empty() {
        let _ = writeln!(out, "\nLibrary functions with state of their own");
        for one in &report.hidden_state {
            let treatment = match one.treatment {
                "per_core" => "replaced, one for each core",
                "at_start" => "allowed before packets come",
                "process" => "left as it is, for the whole process",
                _ => "refused",
            };
            let places = one.places.join(" ");
            let _ = writeln!(
                out,
                "  {}  {}: {treatment}  {places}",
                one.function, one.state
            );
        }
    }
    if !report.counted.is_empty() {
        let _ = writeln!(
            out,
            "\nNumbers of packets, which each core would count for itself"
        );
        for line in &report.counted {
            let _ = writeln!(out, "  {line}");
        }
    }
    if !report.not_compiled.is_empty() {
        let _ = writeln!(out, "\nNot compiled with these flags, and left as it is");
        for line in &report.not_compiled {
            let _ = writeln!(out, "  {line}");
        }
    }
}
