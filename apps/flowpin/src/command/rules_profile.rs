//! `flowpin rules profile`: what each rule costs on captures.

use super::rules::line;
use super::{cache_folder, damage_reported, plan, print, require_input, sink, tell_losses};
use crate::cli::{RuleArgs, RuleProfileArgs};
use crate::exit::{Exit, Failure};
use crate::progress::Bar;
use crate::rules::load;
use crate::signals::Signals;
use flowpin_config::{Checksums, Format, PipelineShape};
use flowpin_engine::Control;
use flowpin_rule::{CostLedger, Costs, RuleCost, RuleSet};
use flowpin_words::printable;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Compares captures with rules, on one core and without records, and reports what took the time.
pub(super) fn profile(args: &RuleProfileArgs, rules: &RuleArgs) -> Result<Exit, Failure> {
    let mut plan = plan(&args.input, args.input.settings(&[]))?;
    require_input(&plan)?;
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    if args.checksums.as_deref() == Some("none") {
        plan.checksums = Checksums::None;
    }
    plan.pipeline = PipelineShape::Single;
    plan.output.formats = vec![Format::None];
    plan.rules = rules.wanted();
    load(&mut plan)?;
    let ledger = Arc::new(CostLedger::default());
    plan.rules.costs = Some(Arc::clone(&ledger));
    let control = Control::default();
    let signals = Signals::install(&control).map_err(Failure::failed)?;
    let bar = Bar::on_terminal();
    let done = flowpin_engine::run(&plan, &control, sink(bar.as_ref()));
    if let Some(bar) = bar {
        bar.clear();
    }
    let done = done.map_err(|error| Failure::of_run(error, &plan))?;
    let set = plan.rules.loaded.as_deref();
    let Some(set) = set else {
        return Ok(Exit::Done);
    };
    let costs = ledger.sum();
    let mut text = String::new();
    let nanos: u64 = costs.rules.values().map(|cost| cost.nanos).sum();
    let searching: u64 = costs.searches.values().map(|cost| cost.nanos).sum();
    line(
        &mut text,
        format_args!(
            "{} packets in {} of processor time. By the clock, comparisons with rules took {}, \
             searches for their patterns {}; measuring makes both longer.",
            done.packets,
            time(u64::try_from(done.cpu.as_nanos()).unwrap_or(u64::MAX)),
            time(nanos),
            time(searching)
        ),
    );
    the_dearest(&mut text, set, &costs, nanos, args.top);
    by_buffer(&mut text, set, &costs);
    by_search(&mut text, &costs);
    print(&text)?;
    tell_losses(&done);
    Ok(damage_reported(&done, plan.accept_damage, &signals))
}

/// The rules that took most time.
fn the_dearest(text: &mut String, set: &RuleSet, costs: &Costs, sum: u64, top: usize) {
    let compared = costs.rules.len();
    line(
        text,
        format_args!(
            "\nRules  by time, of {compared} that were compared; {} are loaded",
            set.rules.len()
        ),
    );
    let mut rules: Vec<(&u32, &RuleCost)> = costs.rules.iter().collect();
    rules.sort_by_key(|(rule, cost)| (core::cmp::Reverse(cost.nanos), **rule));
    line(
        text,
        format_args!(
            "  {:>6}  {:>9}  {:>10}  {:>9}  {:>9}  rule",
            "share", "time", "checks", "each", "matches"
        ),
    );
    for (&number, cost) in rules.into_iter().take(top) {
        let Some(rule) = set.rules.get(number as usize) else {
            continue;
        };
        line(
            text,
            format_args!(
                "  {:>5.1}%  {:>9}  {:>10}  {:>9}  {:>9}  {}:{} {}",
                share(cost.nanos, sum),
                time(cost.nanos),
                cost.checks,
                time(cost.nanos / cost.checks.max(1)),
                cost.matches,
                rule.gid,
                rule.sid,
                printable(rule.message.as_bytes())
            ),
        );
    }
}

/// Rules by what they examine first.
fn by_buffer(text: &mut String, set: &RuleSet, costs: &Costs) {
    let mut sums: BTreeMap<&str, (u64, RuleCost)> = BTreeMap::new();
    for (&number, cost) in &costs.rules {
        let rule = set.rules.get(number as usize);
        let first = rule.and_then(|rule| rule.inspections.first());
        let name = first.map_or("headers alone", |one| one.buffer.info().name);
        let (rules, sum) = sums.entry(name).or_default();
        *rules += 1;
        sum.checks += cost.checks;
        sum.matches += cost.matches;
        sum.nanos += cost.nanos;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (_, sum))| core::cmp::Reverse(sum.nanos));
    line(
        text,
        format_args!("\nBuffers  by the time of the rules that examine them first"),
    );
    for (name, (rules, sum)) in sums {
        line(
            text,
            format_args!(
                "  {name:<24}  {:>9}  {rules:>6} rules  {:>10} checks  {:>9} matches",
                time(sum.nanos),
                sum.checks,
                sum.matches
            ),
        );
    }
}

/// What is searched for the patterns of all rules at once.
fn by_search(text: &mut String, costs: &Costs) {
    let mut searches: Vec<_> = costs.searches.iter().collect();
    searches.sort_by_key(|(_, cost)| core::cmp::Reverse(cost.nanos));
    line(
        text,
        format_args!("\nSearches  for the fast patterns of all rules of a group"),
    );
    for (name, cost) in searches {
        line(
            text,
            format_args!(
                "  {name:<24}  {:>9}  {:>10} searches  {:>12} bytes",
                time(cost.nanos),
                cost.searches,
                cost.bytes
            ),
        );
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share is shown with one digit"
)]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

/// A time with three digits.
fn time(nanos: u64) -> String {
    let seconds = Duration::from_nanos(nanos).as_secs_f64();
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.1} µs", seconds * 1e6),
        1_000_000..1_000_000_000 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}
