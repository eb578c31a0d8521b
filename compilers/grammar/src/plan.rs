//! A grammar as one more parser of a plan: what it must not share with others, and what it adds.

use crate::{Compiled, Diagnostic, Direction, Severity};
use flowpin_config::{Plan, PlannedExpression};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the program that runs grammars knows of its own parsers.
#[derive(Clone, Debug)]
pub struct Others {
    /// Names of their records and files.
    pub records: BTreeSet<String>,
    /// Why an expression (the second) cannot identify a protocol (the first), if it cannot.
    pub refuses: fn(&str, &str) -> Option<String>,
    /// Whether a protocol is identified without a grammar's help.
    pub finds: fn(&str) -> bool,
}

impl Compiled {
    /// Adds the grammar to a plan.
    ///
    /// # Errors
    /// Where it is in the way of another parser, and why.
    pub fn put(self, plan: &mut Plan, others: &Others) -> Result<(), Box<Diagnostic>> {
        self.check(plan, others)?;
        let grammar = self.grammar;
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
        Ok(())
    }

    /// What its author should know, as the command tells it: warnings of the compiler, and whether
    /// nothing identifies the protocol in this plan.
    pub fn notes(&self, file: &str, plan: &Plan, others: &Others) -> Vec<String> {
        let mut notes: Vec<_> = self.warnings.iter().map(ToString::to_string).collect();
        let unbounded = self.backing_up.iter().filter(|group| group.is_unbounded);
        notes.extend(
            unbounded.map(|group| format!("{file}: warning: {group}: slow on hostile input")),
        );
        let protocol = self.grammar.protocol.as_ref();
        let may_be_found = (others.finds)(protocol)
            || !self.grammar.identify.is_empty()
            || !plan.identify.patterns.is_empty();
        if !may_be_found && !protocol.is_empty() {
            let text =
                format!("no rule identifies {protocol}: describe its first bytes by %identify");
            let place = &self.places.protocol;
            notes.push(place.saying(Severity::Warning, text).to_string());
        }
        notes
    }

    /// Conflicts with other parsers.
    fn check(&self, plan: &Plan, others: &Others) -> Result<(), Box<Diagnostic>> {
        let (grammar, places) = (&self.grammar, &self.places);
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
        let of_loaded = loaded.iter().flat_map(|one| one.program.messages.iter());
        let of_loaded = of_loaded.flat_map(|one| [&one.schema.name, &one.schema.file_stem]);
        let of_loaded: Vec<&str> = of_loaded.map(AsRef::as_ref).collect();
        // A grammar replaces the built-in one for its protocol.
        let built_in = BUILT_IN.iter().filter(|&&name| name != protocol);
        let taken: Vec<&str> = TAKEN
            .iter()
            .chain(built_in)
            .copied()
            .chain(others.records.iter().map(String::as_str))
            .chain(of_loaded)
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
            if let Some(why) = (others.refuses)(protocol, &identify.pattern) {
                return Err(error(place, why));
            }
        }
        Ok(())
    }
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
