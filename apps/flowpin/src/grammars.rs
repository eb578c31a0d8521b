//! Grammars from files: compiled, reported if refused, added to the plan.

use crate::conversation::printable;
use crate::exit::{Failure, origin};
use flowpin_config::{Plan, PlannedExpression};
use flowpin_grammar::{Compiled, Diagnostic, Direction, Limits, Severity, compile};
use std::sync::Arc;

/// Compiles the plan's grammars. Warnings go to standard error.
///
/// # Errors
/// A file that cannot be read, a grammar that is refused, with its place.
pub(crate) fn load(plan: &mut Plan) -> Result<(), Failure> {
    let paths = plan.parse.grammars.clone();
    let source = origin(plan, ["parse", "grammars"]);
    for path in &paths {
        let file = path.display().to_string();
        let refused = |why: String| Failure::usage(anyhow::anyhow!(why)).at(source.clone());
        let text = flowpin_disk::read_given(path);
        let text = text.map_err(|error| refused(format!("{file}: {error}")))?;
        let compiled = compile(&file, &text, &Limits::default());
        let compiled = compiled
            .map_err(|why| why.to_string())
            .and_then(|compiled| {
                check(&compiled, plan).map_err(|why| why.to_string())?;
                Ok(compiled)
            });
        let compiled = compiled.map_err(|why| {
            // In several lines, which the error in one line would lose.
            tell(&why);
            refused(format!("{file}: the grammar is refused, see above"))
        })?;
        warn(&file, &compiled, plan);
        let grammar = compiled.grammar;
        let name = grammar.protocol.to_string();
        for identify in grammar.identify.iter() {
            plan.identify.expressions.push(PlannedExpression {
                protocol: name.clone(),
                expression: identify.pattern.to_string(),
                sides: [Direction::Client, Direction::Server]
                    .map(|side| [side, Direction::Both].contains(&identify.direction)),
            });
        }
        plan.parse.loaded.push(Arc::new(grammar));
    }
    Ok(())
}

/// Conflicts of a grammar with other parsers.
fn check(compiled: &Compiled, plan: &Plan) -> Result<(), Box<Diagnostic>> {
    let grammar = &compiled.grammar;
    let places = &compiled.places;
    let error = |place: &Diagnostic, text| Box::new(place.saying(Severity::Error, text));
    let protocol = grammar.protocol.as_ref();
    if protocol.is_empty() {
        let text = "%protocol is missing: it names the protocol to parse".to_owned();
        return Err(error(&places.protocol, text));
    }
    let loaded = &plan.parse.loaded;
    if loaded.iter().any(|known| known.protocol == protocol) {
        let text = format!("{protocol} already has a grammar");
        return Err(error(&places.protocol, text));
    }
    let of_others = loaded.iter().flat_map(|one| one.program.messages.iter());
    let others = of_others.flat_map(|one| [&one.schema.name, &one.schema.file_stem]);
    let others: Vec<&str> = others.map(AsRef::as_ref).collect();
    // A grammar replaces the built-in one for its protocol.
    let built_in = BUILT_IN.iter().filter(|&&name| name != protocol);
    let of_parsers = flowpin_engine::record_names();
    let taken: Vec<&str> = TAKEN
        .iter()
        .chain(built_in)
        .copied()
        .chain(of_parsers.iter().map(String::as_str))
        .chain(others)
        .collect();
    let is_taken = |name: &str| taken.iter().any(|taken| taken.eq_ignore_ascii_case(name));
    let places_of = places.messages.iter().zip(&places.files);
    for (message, (place, file)) in grammar.program.messages.iter().zip(places_of) {
        let (name, stem) = (&message.schema.name, &message.schema.file_stem);
        if is_taken(name) {
            return Err(error(place, format!("records named {name} already exist")));
        }
        if is_taken(stem) {
            return Err(error(file, format!("files named {stem} already exist")));
        }
    }
    for (identify, place) in grammar.identify.iter().zip(&places.identify) {
        if let Some(why) = flowpin_engine::refused_expression(protocol, &identify.pattern) {
            return Err(error(place, why));
        }
    }
    Ok(())
}

/// Warnings of the compiler, and whether nothing identifies the protocol.
fn warn(file: &str, compiled: &Compiled, plan: &Plan) {
    for warning in &compiled.warnings {
        tell(warning);
    }
    for group in compiled
        .backing_up
        .iter()
        .filter(|group| group.is_unbounded)
    {
        tell(format_args!(
            "{file}: warning: {group}: slow on hostile input"
        ));
    }
    let protocol = compiled.grammar.protocol.as_ref();
    let may_be_found = flowpin_engine::finds(protocol)
        || !compiled.grammar.identify.is_empty()
        || !plan.identify.patterns.is_empty();
    if !may_be_found {
        let text = format!("no rule identifies {protocol}: describe its first bytes by %identify");
        let place = &compiled.places.protocol;
        tell(place.saying(Severity::Warning, text));
    }
}

/// To standard error, without control characters: a grammar may be hostile.
fn tell(text: impl std::fmt::Display) {
    crate::tell::tell(printable(text.to_string().as_bytes()));
}

/// Kinds of records that do not come from a parser.
const TAKEN: &[&str] = &[
    "anomaly",
    "conn",
    "conn_long",
    "eve",
    "flood",
    "flow",
    "flow_interim",
    "host_pair",
    "host_pairs",
    "scan",
    "stats",
    "tunnel",
    "weird",
];

/// Those of the built-in grammars, each named after its protocol.
const BUILT_IN: &[&str] = &["redis", "sip", "smtp"];
