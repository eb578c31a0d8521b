//! The rules of a run, which all workers share: compiled once, before the first packet.

use super::patterns;
use crate::exchange::Exchange;
use crate::output::messages;
use crate::run::stage_options;
use crate::worker::parse::registry;
use crate::{ProgressSink, RunError};
use flowpin_config::{IdentifyPlan, Plan};
use flowpin_detect::Database;
use flowpin_identify::{Identifier, Names};
use flowpin_parser::ParserSetup;
use flowpin_pattern::l7::PatternFileError;
use std::path::Path;
use std::sync::Arc;

/// The compiled rules, their names, and the set-up of the parsers that verdicts bind.
#[derive(Clone, Debug)]
pub(crate) struct IdentifyRules {
    pub(crate) identifier: Arc<Identifier>,
    pub(crate) names: Arc<Names>,
    /// The user's patterns that were refused: each with file, line, reason and advice.
    pub(crate) refused: Vec<String>,
    /// The set-up of the parsers.
    pub(crate) parsers: Arc<ParserSetup>,
    /// The signature rules, and those that replace them.
    pub(crate) detect: Option<Exchange>,
}

impl IdentifyRules {
    /// The rules that a plan asks for; none if it asks for no identification.
    ///
    /// # Errors
    /// A built-in rule that does not compile: a defect. A path to patterns or a dictionary that
    /// cannot be read.
    pub(crate) fn of(plan: &Plan) -> Result<Option<Self>, RunError> {
        messages::check(plan)?;
        let mut parsers = stage_options::parsers(plan);
        registry::prepare(&mut parsers)?;
        let detect = database(plan).map(|database| Exchange::new(Arc::new(database)));
        let plan = &plan.identify;
        if !plan.enabled {
            return Ok(None);
        }
        let cache = plan.cache.as_deref().filter(|path| path != &Path::new(""));
        if let Some(folder) = cache {
            // Without the folder, nothing is cached.
            let _ = std::fs::create_dir_all(folder);
        }
        let mut identifier = match cache {
            Some(folder) => Identifier::cached(&folder.join(CACHE_FILE), &registry::protocols()),
            None => Identifier::with(&registry::protocols()),
        }
        .map_err(RunError::Rule)?;
        let (mut files, mut refused) = (Vec::new(), Vec::new());
        if !plan.patterns.is_empty() {
            let cached = cache.map(|folder| folder.join(PATTERNS_FILE));
            let loaded = patterns::load(plan, cached.as_deref())?;
            identifier = identifier.with_patterns(loaded.set);
            files = loaded.files;
            refused = loaded.refused.iter().map(explained).collect();
        }
        if !plan.expressions.is_empty() {
            identifier = with_expressions(identifier, plan)?;
        }
        let names = Arc::new(Names::of(&identifier, &files));
        let identifier = Arc::new(identifier);
        Ok(Some(Self {
            identifier,
            names,
            refused,
            parsers: Arc::new(parsers),
            detect,
        }))
    }

    /// Reports the patterns that were refused.
    pub(crate) fn report_refused(&self, to: &dyn ProgressSink) {
        for refused in &self.refused {
            to.note(&format!("pattern left out: {refused}"));
        }
        if let Some(rules) = &self.detect {
            left_out(&rules.current()).for_each(|line| to.note(&line));
        }
    }
}

/// The rules of a plan, prepared.
pub(crate) fn database(plan: &Plan) -> Option<Database> {
    let rules = &plan.rules;
    let database = Database::new(Arc::clone(rules.loaded.as_ref()?));
    let database = database.with_excerpts(rules.payload_bytes, rules.packet);
    Some(database.with_costs(rules.costs.clone()))
}

/// A line for each rule that cannot be evaluated.
pub(crate) fn left_out(database: &Database) -> impl Iterator<Item = String> {
    database.refused().iter().filter_map(|(number, why)| {
        let rule = database.set().rules.get(*number)?;
        let (place, sid) = (&rule.place, rule.sid);
        let at = format!("{}:{}", place.file, place.line);
        Some(format!("rule left out: {at}: sid {sid}: {why}"))
    })
}

/// Adds the expressions that grammars have for the first bytes of their protocols.
fn with_expressions(identifier: Identifier, plan: &IdentifyPlan) -> Result<Identifier, RunError> {
    let refused = |why: String| RunError::PatternRefused(why);
    let read = patterns::expressions(plan);
    let all =
        read.map_err(|(protocol, error)| refused(format!("{protocol}: {}", explained(&error))))?;
    let found = identifier.with_expressions(&all);
    found.map_err(|refusal| refused(format!("%identify: {refusal}; {}", refusal.advice())))
}

/// Why a pattern is refused, and what to do about it.
fn explained(error: &PatternFileError) -> String {
    format!("{error}; {}", error.advice())
}

/// The cached rules.
const CACHE_FILE: &str = "protocols";

/// The cached patterns of the user.
const PATTERNS_FILE: &str = "patterns";
