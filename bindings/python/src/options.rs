//! From keyword arguments to a plan: they are the options of `flowpin run`.

use crate::error::Failure;
use crate::grammar::{self, Grammar};
use flowpin_config::{Flag, Format, Hint, Plan, Settings};
use std::ffi::OsStr;
use std::path::PathBuf;

/// An option: its name, and its values as text.
pub(crate) type Words = (String, Vec<String>);

/// What options make.
pub(crate) struct Planned {
    pub(crate) plan: Plan,
    /// What rules and grammars give cause for: the name of the warning's class, and a line.
    pub(crate) warnings: Vec<(&'static str, String)>,
}

/// The plan from the paths of captures, a configuration file, options, and grammars that were
/// compiled before; and the rules that it names, unless they are not needed.
///
/// # Errors
/// A name that no option has, a value that an option does not take, options that contradict each
/// other; rules or a grammar that are refused.
pub(crate) fn plan(
    paths: Vec<PathBuf>,
    config: Option<PathBuf>,
    options: &[Words],
    grammars: &[&Grammar],
    needs_rules: bool,
) -> Result<Planned, Failure> {
    let mut warnings = Vec::new();
    let mut plan = without_files(paths, config, options)?;
    add_grammars(&mut plan, grammars, &mut warnings)?;
    if needs_rules {
        add_rules(&mut plan, &mut warnings)?;
    }
    Ok(Planned { plan, warnings })
}

fn without_files(
    paths: Vec<PathBuf>,
    config: Option<PathBuf>,
    options: &[Words],
) -> Result<Plan, Failure> {
    let mut settings = Settings::default();
    for (name, words) in options {
        let flag = find(name)?;
        if flag.is_list {
            for word in words {
                set(&mut settings, &flag, name, word)?;
            }
        } else {
            set(&mut settings, &flag, name, &words.join(","))?;
        }
    }
    if !paths.is_empty() {
        settings.input.read = Some(paths);
    }
    settings.output.formats = Some(vec![Format::Parquet]);
    settings.output.stdout = Some(false);
    let plan = match config {
        Some(path) => settings.into_plan_over_file(&path),
        None => settings.into_plan(),
    };
    let mut plan = plan.map_err(|error| Failure::options(error.to_string()))?;
    // These would change the interpreter's own rights, for good.
    (plan.live.confine, plan.live.user, plan.live.metrics) = (false, None, None);
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    Ok(plan)
}

/// Adds the grammars of the plan's files, and those that were compiled before.
fn add_grammars(
    plan: &mut Plan,
    given: &[&Grammar],
    warnings: &mut Vec<(&'static str, String)>,
) -> Result<(), Failure> {
    let paths = core::mem::take(&mut plan.parse.grammars);
    let read = paths.iter().map(|path| Grammar::of_file(path));
    let read = read.collect::<Result<Vec<_>, _>>()?;
    if read.is_empty() && given.is_empty() {
        return Ok(());
    }
    let others = grammar::others();
    for one in read.iter().chain(given.iter().copied()) {
        let (name, compiled) = (one.name(), one.compiled());
        for note in compiled.notes(name, plan, &others) {
            // Its first line says where and what.
            let line = note.lines().next().unwrap_or_default().to_owned();
            warnings.push(("GrammarWarning", line));
        }
        let put = compiled.clone().put(plan, &others);
        put.map_err(|why| {
            let line = format!("{}:{}:{}: {}", why.file, why.line, why.column, why.message);
            Failure::grammar(name, line, &why.to_string())
        })?;
    }
    Ok(())
}

/// Adds the rules that the plan names.
fn add_rules(plan: &mut Plan, warnings: &mut Vec<(&'static str, String)>) -> Result<(), Failure> {
    let refused = |why: String| Failure::option("rules", why);
    let Some(loaded) = flowpin_rules::read_for(plan).map_err(refused)? else {
        return Ok(());
    };
    for name in loaded.unused(&plan.rules.variables) {
        warnings.push(("RuleWarning", format!("var {name}: no rule has ${name}")));
    }
    let mut lines = loaded.problems.iter().map(|problem| {
        let place = &problem.place;
        format!(
            "{}:{}:{}: {}",
            place.file, place.line, place.column, problem.why
        )
    });
    if plan.rules.strict
        && let Some(first) = lines.next()
    {
        return Err(refused(first));
    }
    warnings.extend(
        lines
            .by_ref()
            .take(SHOWN_MAX)
            .map(|line| ("RuleWarning", line)),
    );
    match lines.count() {
        0 => {}
        more => {
            let text = format!("{more} more rules refused; `flowpin rules check` shows them all");
            warnings.push(("RuleWarning", text));
        }
    }
    flowpin_rules::put(loaded, plan).map_err(refused)
}

/// So many refused rules are told.
const SHOWN_MAX: usize = 5;

/// The names of all options, as keyword arguments.
pub(crate) fn names() -> Vec<String> {
    named(|_| true)
}

/// Those that name files.
pub(crate) fn names_of_files() -> Vec<String> {
    named(|flag| flag.hint != Hint::None)
}

fn named(is_wanted: impl Fn(&Flag) -> bool) -> Vec<String> {
    let options = Settings::options().into_iter();
    let flags = options.filter_map(|option| option.flag);
    let own = flags.filter(|flag| !flag.is_shared && refusal(flag.long).is_none());
    let wanted = own.filter(is_wanted);
    wanted.map(|flag| flag.long.replace('-', "_")).collect()
}

fn find(name: &str) -> Result<Flag, Failure> {
    let long = name.replace('_', "-");
    if let Some(why) = refusal(&long) {
        return Err(Failure::option(
            name,
            format!("no option `{name}` here: {why}"),
        ));
    }
    let mut flags = Settings::options().into_iter().filter_map(|one| one.flag);
    let found = flags.find(|flag| flag.long == long && !flag.is_shared);
    found.ok_or_else(|| {
        let text = format!(
            "there is no option `{name}`; flowpin.options() lists them, and docs/user/options.md \
             explains them"
        );
        Failure::option(name, text)
    })
}

/// Why an option of the command has no meaning for tables.
fn refusal(long: &str) -> Option<&'static str> {
    Some(match long {
        "read" => "captures are the first argument",
        "log-dir" | "format" | "output" | "rotate" | "output-max" | "csv-safe" => {
            "records go to readers, not to files; write_parquet() writes files"
        }
        "user" | "confine" | "metrics" => "it would change the whole interpreter",
        "depth" => "it belongs to `flowpin streams`",
        _ => return None,
    })
}

fn set(settings: &mut Settings, flag: &Flag, name: &str, word: &str) -> Result<(), Failure> {
    let refused = |why: String| Failure::option(name, format!("{name}={word:?}: {why}"));
    flag.set_word(settings, OsStr::new(word)).map_err(refused)
}

/// The user's cache folder (XDG base directories), as the command has it.
fn cache_folder() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = of("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(of("HOME")?.join(".cache")));
    cache
        .filter(|path| path.is_absolute())
        .map(|path| path.join("flowpin"))
}
