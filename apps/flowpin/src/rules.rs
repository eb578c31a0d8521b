//! Signature rules from files: read, reported if refused, added to the plan.

use crate::exit::{Failure, origin};
use crate::tell::tell;
use anyhow::anyhow;
use flowpin_config::{Plan, RulesPlan};
use flowpin_rules::{DEFAULTS, Loaded, Reader};
use std::path::PathBuf;
use std::sync::Arc;

/// Reads the plan's rules. What is refused goes to standard error.
///
/// # Errors
/// A file that cannot be read, a variable that is wrong; with `strict` also a refused rule.
pub(crate) fn load(plan: &mut Plan) -> Result<(), Failure> {
    if plan.rules.files.is_empty() && plan.rules.indicators.is_empty() {
        return Ok(());
    }
    let of_rules = !plan.rules.files.is_empty();
    let source = origin(
        plan,
        ["rules", if of_rules { "files" } else { "indicators" }],
    );
    let refused = |why: String| Failure::usage(anyhow!(why)).at(source.clone());
    if !plan.identify.enabled || !plan.streams.enabled || !plan.parse.enabled {
        let why = "rules need streams, identification and parsing: leave --streams, --identify \
                   and --parse on";
        return Err(refused(why.to_owned()));
    }
    let RulesPlan {
        files,
        indicators,
        variables,
        ..
    } = &plan.rules;
    let loaded = read(files, indicators, variables).map_err(refused)?;
    report(&loaded, SHOWN_MAX);
    if plan.rules.strict && !loaded.problems.is_empty() {
        return Err(refused("a rule is refused, see above".to_owned()));
    }
    if loaded.set.rules.is_empty() {
        return Err(refused("no rule could be read".to_owned()));
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
    plan.rules.loaded = Some(Arc::new(loaded.set));
    Ok(())
}

/// Reads rules with these variables.
pub(crate) fn read(
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
    let loaded = reader.finish();
    for name in variables.iter().filter_map(|one| one.split_once('=')) {
        tell_unused(&loaded, name.0.trim());
    }
    Ok(loaded)
}

/// Tells that a variable changes nothing: its name may be mistyped.
fn tell_unused(loaded: &Loaded, name: &str) {
    let name = name.trim_start_matches('$');
    let is_named = |text: &str| {
        text.split('$')
            .skip(1)
            .any(|rest| rest.strip_prefix(name).is_some_and(ends_name))
    };
    let mut texts = DEFAULTS.iter().map(|(_, value)| *value);
    let mut rules = loaded.set.rules.iter();
    if !texts.any(is_named) && !rules.any(|rule| is_named(&rule.text)) {
        tell(format!("--var {name}: no rule has ${name}"));
    }
}

fn ends_name(rest: &str) -> bool {
    !rest.starts_with(|one: char| one.is_ascii_alphanumeric() || one == '_')
}

/// Reports what is refused: each rule up to `most`, then how many more.
pub(crate) fn report(loaded: &Loaded, most: usize) {
    for problem in loaded.problems.iter().take(most) {
        tell(problem);
    }
    let more = loaded.problems.len().saturating_sub(most);
    if more > 0 {
        let text = format!("{more} more rules refused: `flowpin rules check` shows them all");
        tell(text);
    }
}

/// A run shows so many; `flowpin rules check` shows all.
const SHOWN_MAX: usize = 5;
