//! Grammars from files: compiled, named when refused, put into the plan.

use crate::exit::Failure;
use flowpin_config::Plan;
use flowpin_grammar::{Limits, compile};
use std::sync::Arc;

/// Compiles the plan's grammars. Warnings go to standard error.
///
/// # Errors
/// A file that cannot be read, a grammar that is refused, with its place.
pub(crate) fn load(plan: &mut Plan) -> Result<(), Failure> {
    for path in &plan.parse.grammars {
        let file = path.display().to_string();
        let refused = |why: String| Failure::usage(anyhow::anyhow!(why));
        let text = std::fs::read(path).map_err(|error| refused(format!("{file}: {error}")))?;
        let compiled = compile(&file, &text, &Limits::default());
        let compiled = compiled.map_err(|why| {
            // With its lines, which an error in one line would lose.
            eprintln!("{why}");
            refused(format!("{file}: this grammar cannot be run"))
        })?;
        for warning in &compiled.warnings {
            eprintln!("{warning}");
        }
        for group in compiled
            .backing_up
            .iter()
            .filter(|group| group.is_unbounded)
        {
            eprintln!("{file}: warning: {group}: slow on hostile input");
        }
        let grammar = compiled.grammar;
        if grammar.protocol.is_empty() {
            return Err(refused(format!(
                "{file}: no %protocol says what this reads"
            )));
        }
        let messages = grammar.program.messages.iter();
        if let Some(taken) = messages
            .map(|message| &message.schema.name)
            .find(|name| TAKEN.contains(&name.as_ref()))
        {
            return Err(refused(format!(
                "{file}: records named {taken} are others already"
            )));
        }
        let name = grammar.protocol.to_string();
        if plan.parse.loaded.iter().any(|known| known.protocol == name) {
            return Err(refused(format!("{file}: {name} has a grammar already")));
        }
        for identify in grammar.identify.iter() {
            let expression = identify.pattern.to_string();
            plan.identify.expressions.push((name.clone(), expression));
        }
        plan.parse.loaded.push(Arc::new(grammar));
    }
    Ok(())
}

/// Kinds of records that native parsers and connections have.
const TAKEN: &[&str] = &[
    "anomaly",
    "conn",
    "conn_long",
    "dns",
    "dns_log",
    "fix",
    "flood",
    "flow",
    "http",
    "llmnr",
    "mdns",
    "quic",
    "scan",
    "stats",
    "ssl",
    "tls",
    "tunnel",
    "weird",
];
