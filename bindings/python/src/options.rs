//! From keyword arguments to a plan: they are the options of `flowpin run`.

use crate::error::Failure;
use flowpin_config::{Flag, Format, Plan, Settings};
use std::ffi::OsStr;
use std::path::PathBuf;

/// An option: its name, and its values as text.
pub(crate) type Words = (String, Vec<String>);

/// The plan from the paths of captures, a configuration file, and options.
///
/// # Errors
/// A name that no option has, a value that an option does not take, options that contradict each
/// other.
pub(crate) fn plan(
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
    if !plan.parse.grammars.is_empty() {
        let text = "grammars are read by the command only; leave `grammars` out of the file";
        return Err(Failure::option("grammar", text));
    }
    // These would change the interpreter's own rights, for good.
    (plan.live.confine, plan.live.user, plan.live.metrics) = (false, None, None);
    plan.identify.cache = plan.identify.cache.or_else(cache_folder);
    Ok(plan)
}

/// The names of all options, as keyword arguments.
pub(crate) fn names() -> Vec<String> {
    let options = Settings::options().into_iter();
    let flags = options.filter_map(|option| option.flag);
    let own = flags.filter(|flag| !flag.is_shared && refusal(flag.long).is_none());
    own.map(|flag| flag.long.replace('-', "_")).collect()
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
        "grammar" => "grammars are read by the command only",
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
