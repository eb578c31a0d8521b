//! Signature rules from files: read, reported if refused, added to the plan.

use crate::exit::{Failure, origin};
use crate::tell::tell;
use anyhow::anyhow;
use flowpin_config::{Plan, RulesPlan};
use flowpin_engine::RuleDatabase;
use flowpin_rule::RuleSet;
use flowpin_rules::Loaded;
use flowpin_words::printable;
use std::sync::Arc;

/// Reads the plan's rules. What is refused goes to standard error.
///
/// # Errors
/// A file that cannot be read, a variable that is wrong; with `strict` also a refused rule.
pub(crate) fn load(plan: &mut Plan) -> Result<(), Failure> {
    let source = origin(plan, ["rules", first_given(&plan.rules)]);
    let refused = |why: String| Failure::usage(anyhow!(why)).at(source.clone());
    let Some(loaded) = flowpin_rules::read_for(plan).map_err(refused)? else {
        return Ok(());
    };
    tell_unused(&loaded, &plan.rules.variables);
    tell_classes(&loaded);
    report(&loaded, SHOWN_MAX);
    flowpin_rules::put(loaded, plan).map_err(refused)?;
    match &plan.rules.loaded {
        Some(set) if plan.rules.strict => check_evaluated(set).map_err(refused),
        _ => Ok(()),
    }
}

/// Rules that can be read, but not evaluated: a run tells which it leaves out when it begins.
fn check_evaluated(set: &Arc<RuleSet>) -> Result<(), String> {
    let database = flowpin_engine::rule_database(Arc::clone(set));
    report_unevaluated(&database);
    match database.refused() {
        [] => Ok(()),
        _ => Err("a rule is refused, see above".to_owned()),
    }
}

/// Tells which rules can be read, but not evaluated, and why.
pub(crate) fn report_unevaluated(database: &RuleDatabase) {
    for (number, why) in database.refused() {
        if let Some(rule) = database.set().rules.get(*number) {
            let (place, sid) = (&rule.place, rule.sid);
            let text = format!("{}:{}: sid {sid}: {why}", place.file, place.line);
            tell(printable(text.as_bytes()));
        }
    }
}

/// The option by which rules, or what is around them, come into a plan.
fn first_given(rules: &RulesPlan) -> &'static str {
    let has_reputation = !rules.reputation.is_empty();
    let given = [
        (!rules.files.is_empty(), "files"),
        (!rules.indicators.is_empty(), "indicators"),
        (has_reputation, "reputation"),
        (
            rules.reputation_categories.is_some(),
            "reputation_categories",
        ),
        (rules.xff.is_some(), "xff"),
        (rules.xff_hop.is_some(), "xff_hop"),
    ];
    let found = given.iter().find(|(is_given, _)| *is_given);
    found.map_or("suricata_yaml", |(_, name)| name)
}

/// Tells which variables change nothing.
pub(crate) fn tell_unused(loaded: &Loaded, variables: &[String]) {
    for name in loaded.unused(variables) {
        let name = name.trim_start_matches('$');
        tell(format!("--var {name}: no rule has ${name}"));
    }
}

/// Reports what is refused: each rule up to `most`, then how many more.
pub(crate) fn report(loaded: &Loaded, most: usize) {
    for problem in loaded.problems.iter().take(most) {
        // Lines of a list, or of rules, must not be able to command a terminal.
        tell(printable(problem.to_string().as_bytes()));
    }
    let more = loaded.problems.len().saturating_sub(most);
    if more > 0 {
        let text = format!("{more} more rules refused: `flowpin rules check` shows them all");
        tell(text);
    }
}

/// Tells of classes that no `classification.config` describes.
pub(crate) fn tell_classes(loaded: &Loaded) {
    for (name, &count) in loaded.unknown_classes.iter().take(SHOWN_MAX) {
        tell(format!(
            "classtype {name}: no classification.config has it, so {} priority 3 and no category",
            match count {
                1 => "1 rule has".to_owned(),
                count => format!("{count} rules have"),
            }
        ));
    }
    let more = loaded.unknown_classes.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        tell(format!(
            "{more} more classes that no classification.config has"
        ));
    }
}

/// A run shows so many; `flowpin rules check` shows all.
const SHOWN_MAX: usize = 5;
