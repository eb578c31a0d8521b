//! `flowpin rules`: what is read of signature rules, and how they are evaluated.

use super::{print, rules_profile};
use crate::cli::{RuleArgs, RulesCommand};
use crate::exit::{Exit, Failure};
use crate::rules::{report, report_unevaluated, tell_classes, tell_unused};
use anyhow::anyhow;
use flowpin_engine::RuleDatabase;
use flowpin_rule::{Action, BUFFERS, Condition, KEYWORDS, Rule, Status};
use flowpin_rules::Loaded;
use flowpin_words::printable;
use std::fmt::Write;
use std::sync::Arc;

/// Runs `flowpin rules`.
pub(crate) fn rules(what: &RulesCommand) -> Result<Exit, Failure> {
    match what {
        RulesCommand::Check { rules, strict } => check(rules, *strict),
        RulesCommand::List { rules } => list(rules),
        RulesCommand::Explain { sid, rules } => explain(*sid, rules),
        RulesCommand::Profile { profile, rules } => rules_profile::profile(profile, rules),
        RulesCommand::Keywords => keywords(),
    }
}

fn load(args: &RuleArgs) -> Result<(Loaded, RuleDatabase), Failure> {
    let refused = |why: String| Failure::usage(anyhow!(why));
    let loaded = flowpin_rules::read(&args.wanted());
    let mut loaded = loaded.map_err(refused)?;
    tell_unused(&loaded, &args.variables);
    tell_classes(&loaded);
    let set = Arc::new(core::mem::take(&mut loaded.set));
    let database = flowpin_engine::rule_database(set);
    Ok((loaded, database))
}

fn check(args: &RuleArgs, strict: bool) -> Result<Exit, Failure> {
    let (loaded, database) = load(args)?;
    report(&loaded, usize::MAX);
    let rules = &database.set().rules;
    let mut text = String::new();
    report_unevaluated(&database);
    for (place, why) in &loaded.left_out {
        line(
            &mut text,
            format_args!("{}:{}: left out: {why}", place.file, place.line),
        );
    }
    let refused = loaded.problems.len() + database.refused().len();
    let evaluated = rules.len() - database.refused().len();
    line(
        &mut text,
        format_args!(
            "{evaluated} rules from {} files; {refused} refused, {} left out, {} replaced by \
             later revisions",
            loaded.files.len(),
            loaded.left_out.len(),
            loaded.replaced
        ),
    );
    print(&text)?;
    Ok(if strict && refused > 0 {
        Exit::Usage
    } else {
        Exit::Done
    })
}

fn list(args: &RuleArgs) -> Result<Exit, Failure> {
    let (loaded, database) = load(args)?;
    report(&loaded, usize::MAX);
    let mut text = String::new();
    for rule in &database.set().rules {
        let Rule { gid, sid, rev, .. } = rule;
        let message = printable(rule.message.as_bytes());
        line(
            &mut text,
            format_args!(
                "{}\t{gid}:{sid}:{rev}\t{}\t{message}",
                action(rule),
                rule.priority
            ),
        );
    }
    print(&text)?;
    Ok(Exit::Done)
}

fn explain(sid: u32, args: &RuleArgs) -> Result<Exit, Failure> {
    let (loaded, database) = load(args)?;
    let problems = loaded.problems.iter().filter(|one| one.sid == Some(sid));
    let mut text = String::new();
    for problem in problems {
        line(&mut text, format_args!("refused: {problem}"));
    }
    let rules = database.set().rules.iter().enumerate();
    for (number, rule) in rules.filter(|(_, rule)| rule.sid == sid) {
        explain_rule(&mut text, &database, number, rule);
    }
    if text.is_empty() {
        return Err(Failure::usage(anyhow!("no rule has the number {sid}")));
    }
    print(&text)?;
    Ok(Exit::Done)
}

fn explain_rule(text: &mut String, database: &RuleDatabase, number: usize, rule: &Rule) {
    let place = &rule.place;
    let message = printable(rule.message.as_bytes());
    line(
        text,
        format_args!("{}:{}:{}  {message}", rule.gid, rule.sid, rule.rev),
    );
    line(
        text,
        format_args!("  written in      {}:{}", place.file, place.line),
    );
    let class = if rule.class.name.is_empty() {
        "-"
    } else {
        &rule.class.name
    };
    line(
        text,
        format_args!(
            "  does            {}, priority {}, class {class}",
            action(rule),
            rule.priority
        ),
    );
    if let Some((_, why)) = database.refused().iter().find(|(at, _)| *at == number) {
        return line(text, format_args!("  refused         {why}"));
    }
    let Some(found) = database.explain(number) else {
        return;
    };
    line(
        text,
        format_args!("  compared with   {}", found.compared.join(", ")),
    );
    let side = match found.to_server {
        Some(true) => "to the server",
        Some(false) => "to the client",
        None => "either",
    };
    line(text, format_args!("  direction       {side}"));
    match &found.fast_pattern {
        Some((buffer, pattern)) => {
            let shown = printable(pattern);
            line(
                text,
                format_args!("  fast pattern    \"{shown}\" in {buffer}"),
            );
        }
        None => line(
            text,
            format_args!("  fast pattern    none: examined by header alone"),
        ),
    }
    for one in &rule.inspections {
        let (name, terms) = (one.buffer.info().name, one.terms.len());
        let transforms = one.transforms.len();
        line(
            text,
            format_args!("  examines        {name}: {terms} terms, {transforms} transforms"),
        );
    }
    for condition in &rule.conditions {
        match condition {
            // Not all addresses that have a score.
            Condition::Reputation { of, check, .. } => line(
                text,
                format_args!("  condition       Reputation of {of:?}: {check:?}"),
            ),
            condition => line(text, format_args!("  condition       {condition:?}")),
        }
    }
    if found.decided_at_merge {
        line(
            text,
            format_args!("  alerts          decided in the order of keys, over all hosts"),
        );
    }
}

fn keywords() -> Result<Exit, Failure> {
    let mut text = String::new();
    for keyword in KEYWORDS {
        let (what, doc) = match keyword.status {
            Status::Evaluated(doc) => ("evaluated", doc),
            Status::Accepted(doc) => ("accepted", doc),
            Status::Refused(doc) => ("refused", doc),
        };
        line(&mut text, format_args!("{}\t{what}\t{doc}", keyword.name));
    }
    for buffer in BUFFERS {
        let all = [buffer.name]
            .into_iter()
            .chain(buffer.aliases.iter().copied());
        for name in all.chain(buffer.modifiers.iter().copied()) {
            line(&mut text, format_args!("{name}\tevaluated\t{}", buffer.doc));
        }
    }
    for (name, why) in flowpin_rule::refused() {
        line(&mut text, format_args!("{name}\trefused\t{why}"));
    }
    print(&text)?;
    Ok(Exit::Done)
}

const fn action(rule: &Rule) -> &'static str {
    match rule.action {
        Action::Alert => "alert",
        Action::Pass => "pass",
        Action::Drop => "drop",
        Action::Reject => "reject",
    }
}

/// Texts have room for anything.
pub(super) fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{what}");
}
