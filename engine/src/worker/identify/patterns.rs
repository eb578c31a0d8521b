//! The user's patterns: read, then compiled or loaded from the cache.

use crate::RunError;
use flowpin_config::{IdentifyPlan, PlannedExpression};
use flowpin_identify::Expression;
use flowpin_pattern::l7::{self, L7Pattern, PatternFileError};
use flowpin_pattern::{Automaton, Limits, PatternSet, Rewrite, Source, cache};
use std::path::Path;

/// Compiled patterns and the files that they come from.
pub(super) struct UserPatterns {
    pub(super) set: PatternSet,
    /// By pattern of the set: its file's name.
    pub(super) files: Vec<String>,
    pub(super) refused: Vec<PatternFileError>,
}

/// Reads and compiles the plan's patterns. `cached`: the file of the compiled set, if it is
/// cached.
///
/// # Errors
/// A path that is not there or cannot be read.
pub(super) fn load(plan: &IdentifyPlan, cached: Option<&Path>) -> Result<UserPatterns, RunError> {
    let limits = Limits::default();
    let read = l7::read_paths(&plan.patterns, &limits);
    let (patterns, mut refused) =
        read.map_err(|(path, source)| RunError::Patterns { path, source })?;
    let sources: Vec<Source> = patterns
        .iter()
        .map(|one| Source {
            name: one.name.clone(),
            hir: one.hir.clone(),
        })
        .collect();
    let mut text = String::new();
    for one in &patterns {
        text.extend([one.name.as_str(), "\n", &one.expression, "\n"]);
    }
    let key = cache::text_key(&text, Rewrite::Exact, &limits);
    let stored = cached.and_then(|path| PatternSet::load(path, key));
    let set = stored.unwrap_or_else(|| {
        let (set, broken) = PatternSet::build(&sources, Rewrite::Exact, &limits);
        // An incomplete set is compiled again each time, so that each time the others are named.
        if let (Some(path), true) = (cached, broken.is_empty()) {
            let _ = set.store(path, key);
        }
        let errors = broken.into_iter().filter_map(|(number, refusal)| {
            patterns.get(number).map(|pattern| pattern.refused(refusal))
        });
        refused.extend(errors);
        set
    });
    let file = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into());
    let files = set
        .patterns
        .iter()
        .map(|one| patterns.get(usize::from(one.source)))
        .map(|one| one.and_then(|one| file(&one.path)).unwrap_or_default())
        .collect();
    Ok(UserPatterns {
        set,
        files,
        refused,
    })
}

/// The expressions that grammars have for the first bytes of their protocols.
pub(super) fn expressions(
    plan: &IdentifyPlan,
) -> Result<Vec<Expression>, (String, PatternFileError)> {
    let limits = Limits::default();
    let read = |one: &PlannedExpression| {
        let read = of_grammar(&one.protocol, &one.expression, &limits);
        let hir = read.map_err(|error| (one.protocol.clone(), error))?.hir;
        Ok(Expression {
            protocol: one.protocol.clone(),
            hir,
            sides: one.sides,
        })
    };
    plan.expressions.iter().map(read).collect()
}

/// Reads an expression of a grammar as if it stood in a file of patterns.
fn of_grammar(
    name: &str,
    expression: &str,
    limits: &Limits,
) -> Result<L7Pattern, PatternFileError> {
    let text = format!("{name}\n{expression}\n");
    l7::parse_file(Path::new("grammar"), text.as_bytes(), limits)
}

/// Why a grammar's expression is refused, if it is.
pub(crate) fn refused_expression(name: &str, expression: &str) -> Option<String> {
    let limits = Limits::default();
    let refusal = match of_grammar(name, expression, &limits) {
        Ok(pattern) => Automaton::build(&[pattern.hir], false, &limits).err()?,
        Err(PatternFileError::Refused { refusal, .. }) => refusal,
        Err(other) => return Some(other.to_string()),
    };
    Some(format!("{refusal}; {}", refusal.advice()))
}
