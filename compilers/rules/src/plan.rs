//! The rules of a plan: which are read, and what that changes.

use crate::indicators::INDICATOR_GID;
use crate::{DEFAULTS, Loaded, Reader};
use flowpin_config::Plan;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads the rules that a plan names; none if it names none. [`put`] adds them to it.
///
/// # Errors
/// A file that cannot be read, a variable that is wrong, a plan without what rules need.
pub fn read_for(plan: &Plan) -> Result<Option<Loaded>, String> {
    let wanted = &plan.rules;
    if wanted.files.is_empty() && wanted.indicators.is_empty() {
        return Ok(None);
    }
    if !plan.identify.enabled || !plan.streams.enabled || !plan.parse.enabled {
        let why = "rules need streams, identification and parsing: leave --streams, --identify \
                   and --parse on";
        return Err(why.to_owned());
    }
    read(&wanted.files, &wanted.indicators, &wanted.variables).map(Some)
}

/// Adds rules to a plan.
///
/// # Errors
/// There are none; with `strict` also if one is refused: [`Loaded::problems`] says why.
pub fn put(loaded: Loaded, plan: &mut Plan) -> Result<(), String> {
    if plan.rules.strict && !loaded.problems.is_empty() {
        return Err("a rule is refused, see above".to_owned());
    }
    // Lists of indicators are no substitute for rules that were named.
    let is_own = |rule: &flowpin_rule::Rule| rule.gid != INDICATOR_GID;
    let lacks_own = !plan.rules.files.is_empty() && !loaded.set.rules.iter().any(is_own);
    if loaded.set.rules.is_empty() || lacks_own {
        return Err("no rule could be read".to_owned());
    }
    for inspection in loaded.set.rules.iter().flat_map(|rule| &rule.inspections) {
        match inspection.buffer.info().name {
            "file.md5" => plan.files.md5 = true,
            "file.sha1" => plan.files.sha1 = true,
            "file.sha256" => plan.files.sha256 = true,
            name if name.starts_with("ja3") => plan.parse.ja3 = true,
            _ => {}
        }
    }
    let read = loaded.files.iter().chain(&loaded.beside).cloned();
    plan.live.read_again.extend(read);
    plan.rules.loaded = Some(Arc::new(loaded.set));
    Ok(())
}

/// Reads rules and lists of indicators, with these variables, each `NAME=VALUE`.
///
/// # Errors
/// A file that cannot be read, a variable that is wrong.
pub fn read(
    paths: &[PathBuf],
    indicators: &[PathBuf],
    variables: &[String],
) -> Result<Loaded, String> {
    let mut reader = Reader::default();
    for variable in variables {
        let Some((name, value)) = variable.split_once('=') else {
            return Err(format!("{variable}: a variable is NAME=VALUE"));
        };
        reader.set_variable(name.trim(), value);
    }
    reader.check_variables()?;
    for path in paths {
        reader.read(path)?;
    }
    for path in indicators {
        reader.read_indicators(path)?;
    }
    Ok(reader.finish())
}

impl Loaded {
    /// Those of these variables that change nothing: their names may be mistyped.
    pub fn unused<'a>(&self, variables: &'a [String]) -> Vec<&'a str> {
        let names = variables.iter().filter_map(|one| one.split_once('='));
        names
            .map(|(name, _)| name.trim())
            .filter(|name| !self.names(name.trim_start_matches('$')))
            .collect()
    }

    fn names(&self, name: &str) -> bool {
        let is_named = |text: &str| {
            text.split('$')
                .skip(1)
                .any(|rest| rest.strip_prefix(name).is_some_and(ends_name))
        };
        let mut texts = DEFAULTS.iter().map(|(_, value)| *value);
        let mut rules = self.set.rules.iter();
        texts.any(is_named) || rules.any(|rule| is_named(&rule.text))
    }
}

fn ends_name(rest: &str) -> bool {
    !rest.starts_with(|one: char| one.is_ascii_alphanumeric() || one == '_')
}
