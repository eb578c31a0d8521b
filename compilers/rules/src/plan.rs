//! The rules of a plan: which are read, and what that changes.

use crate::indicators::INDICATOR_GID;
use crate::{DEFAULTS, Loaded, Reader};
use flowpin_config::{HostGroup, HostPolicy, Plan, RulesPlan, Xff, XffHop};
use flowpin_packet::Network;
use flowpin_rule::{ForwardedAs, ForwardedHop};
use std::collections::HashSet;
use std::sync::Arc;

/// Reads the rules that a plan names; none if it names none. [`put`] adds them to it.
///
/// # Errors
/// A file that cannot be read, a variable that is wrong, a plan without what rules need.
pub fn read_for(plan: &Plan) -> Result<Option<Loaded>, String> {
    let wanted = &plan.rules;
    if !has_rules(wanted) {
        return without_rules(plan);
    }
    if !plan.identify.enabled || !plan.streams.enabled || !plan.parse.enabled {
        let why = "rules need streams, identification and parsing: leave --streams, --identify \
                   and --parse on";
        return Err(why.to_owned());
    }
    let (patterns, parse) = (&plan.identify.patterns, &plan.parse);
    let has_others = !patterns.is_empty() || !parse.grammars.is_empty() || !parse.loaded.is_empty();
    read_with(wanted, has_others).map(Some)
}

fn has_rules(wanted: &RulesPlan) -> bool {
    !wanted.files.is_empty() || !wanted.indicators.is_empty()
}

/// Of a plan that names no rules the systems of hosts, which change other records, too.
fn without_rules(plan: &Plan) -> Result<Option<Loaded>, String> {
    let wanted = &plan.rules;
    // A run that goes on may get rules later.
    if !plan.is_live()
        && let Some(what) = of_rules_alone(wanted)
    {
        return Err(format!(
            "{what}: name rules with `-S PATH`, or lists with `--indicators`"
        ));
    }
    let Some(path) = &wanted.suricata_yaml else {
        return Ok(None);
    };
    let mut reader = Reader::default();
    reader.read_settings_alone(path)?;
    Ok(Some(reader.finish()))
}

/// What is given that has no effect without rules.
fn of_rules_alone(wanted: &RulesPlan) -> Option<&'static str> {
    if !wanted.reputation.is_empty() || wanted.reputation_categories.is_some() {
        Some("`--reputation` is what rules ask for with `iprep`")
    } else if wanted.xff.is_some() || wanted.xff_hop.is_some() {
        Some("`--alert-xff` is for the alerts of rules")
    } else {
        None
    }
}

/// Adds rules to a plan; of one that names none only what its settings say.
///
/// # Errors
/// There are none; with `strict` also if one is refused: [`Loaded::problems`] says why. Settings
/// that give a network two systems.
pub fn put(loaded: Loaded, plan: &mut Plan) -> Result<(), String> {
    if plan.rules.strict && !loaded.problems.is_empty() {
        return Err("a rule is refused, see above".to_owned());
    }
    let read = loaded.files.iter().chain(&loaded.beside).cloned();
    plan.live.read_again.extend(read);
    put_hosts(&loaded, plan)?;
    if !has_rules(&plan.rules) {
        return Ok(());
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
    plan.rules.loaded = Some(Arc::new(loaded.set));
    Ok(())
}

/// Reads rules and lists of indicators, with the variables and settings that are given.
///
/// # Errors
/// A file that cannot be read, a variable that is wrong.
pub fn read(wanted: &RulesPlan) -> Result<Loaded, String> {
    read_with(wanted, false)
}

/// `has_other_protocols`: patterns or grammars of the user's may bring protocols of any name.
fn read_with(wanted: &RulesPlan, has_other_protocols: bool) -> Result<Loaded, String> {
    let mut reader = Reader::default();
    reader.context.names.has_other_protocols = has_other_protocols;
    for variable in &wanted.variables {
        let Some((name, value)) = variable.split_once('=') else {
            return Err(format!("{variable}: a variable is NAME=VALUE"));
        };
        reader.set_variable(name.trim(), value);
    }
    reader.check_variables()?;
    if let Some(path) = &wanted.suricata_yaml {
        reader.read_settings_alone(path)?;
    }
    let categories = wanted.reputation_categories.as_deref();
    reader.read_reputation(categories, &wanted.reputation)?;
    for path in &wanted.files {
        reader.read(path)?;
    }
    for path in &wanted.indicators {
        reader.read_indicators(path)?;
    }
    let mut loaded = reader.finish();
    loaded.set.forwarded = forwarded(wanted, loaded.set.forwarded);
    Ok(loaded)
}

/// What alerts do with the client that a proxy names: options count before files.
fn forwarded(
    wanted: &RulesPlan,
    by_files: Option<(ForwardedAs, ForwardedHop)>,
) -> Option<(ForwardedAs, ForwardedHop)> {
    let shown = wanted.xff.map(|one| match one {
        Xff::ExtraData => ForwardedAs::Extra,
        Xff::Overwrite => ForwardedAs::Overwrite,
    });
    let hop = wanted.xff_hop.map(|one| match one {
        XffHop::First => ForwardedHop::First,
        XffHop::Last => ForwardedHop::Last,
    });
    let shown = shown.or(by_files.map(|one| one.0))?;
    let hop = hop.or(by_files.map(|one| one.1));
    Some((shown, hop.unwrap_or_default()))
}

/// Adds systems of hosts to a plan, but for networks of which it knows already.
fn put_hosts(loaded: &Loaded, plan: &mut Plan) -> Result<(), String> {
    let known: HashSet<Network> = plan
        .hosts
        .groups
        .iter()
        .flat_map(|group| group.networks.iter().copied())
        .collect();
    let mut named = HashSet::new();
    for &(network, system) in &loaded.hosts {
        if !named.insert(network) {
            return Err(format!("host-os-policy names {network} twice"));
        }
        if known.contains(&network) {
            continue;
        }
        plan.hosts.groups.push(HostGroup {
            networks: vec![network],
            policy: HostPolicy {
                system: Some(system),
                ..HostPolicy::default()
            },
        });
    }
    Ok(())
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
