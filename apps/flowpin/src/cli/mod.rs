//! The command line: one definition gives parsing, help, man pages and completions.

mod advice;
mod compile;
mod doctor;
mod explain;
mod flags;
mod help;
mod identify;
mod input;
mod merge;
mod patterns;
mod profile;
mod rules;
mod run;
mod slice;
mod streams;
mod trace;
mod usage;
mod value;

pub(crate) use advice::advise;
pub(crate) use compile::{
    CcCommand, CheckArgs, FlexArgs, Memory, PartKey, ReportArgs, RingKind, ScannerArgs, SourceArgs,
    StateBackend, TransformArgs,
};
pub(crate) use doctor::DoctorArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use identify::{IdentifyArgs, ListFormat};
pub(crate) use input::InputArgs;
pub(crate) use merge::MergeArgs;
pub(crate) use patterns::{PageFormat, PatternsCommand, TestArgs};
pub(crate) use profile::{PlanArgs, ProfileArgs};
pub(crate) use rules::{RuleArgs, RuleProfileArgs, RulesCommand};
pub(crate) use run::RunArgs;
pub(crate) use slice::SliceArgs;
pub(crate) use streams::{Show, StreamsArgs};
pub(crate) use trace::{GenArgs, ReplicateArgs, Target, TraceArgs, What};
pub(crate) use usage::line as usage_line;

use clap::{Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;

/// The whole command line.
#[derive(Parser, Debug)]
#[command(
    name = "flowpin",
    version,
    about = "Network traffic analysis on every core, with the same answer every time",
    long_about = help::ABOUT,
    after_long_help = help::MAIN_AFTER,
    after_help = "`flowpin run --help` lists all options; `flowpin --help` shows examples.",
    max_term_width = 100,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Analyse captures and write records as EVE JSON, Zeek logs, CSV or Parquet
    #[command(long_about = help::RUN_ABOUT, after_long_help = help::RUN_AFTER)]
    #[command(after_help = "Examples, formats and exit codes: `flowpin run --help`.")]
    Run(Box<RunArgs>),
    /// List connections with their protocols, identified by content and not by port
    #[command(long_about = help::IDENTIFY_ABOUT, after_long_help = help::IDENTIFY_AFTER)]
    #[command(after_help = "Examples and exit codes: `flowpin identify --help`.")]
    Identify(Box<IdentifyArgs>),
    /// Make one log of the files that `run --output-files` has written
    #[command(long_about = merge::ABOUT, after_long_help = merge::AFTER)]
    Merge(MergeArgs),
    /// Write the packets of some connections to a capture
    #[command(long_about = help::SLICE_ABOUT, after_long_help = help::SLICE_AFTER)]
    Slice(Box<SliceArgs>),
    /// Write the bytes of TCP streams to files, or show one conversation
    #[command(long_about = help::STREAMS_ABOUT, after_long_help = help::STREAMS_AFTER)]
    #[command(after_help = "Examples, names and exit codes: `flowpin streams --help`.")]
    Streams(Box<StreamsArgs>),
    /// Explain what each stage saw of a packet and decided, and why
    #[command(long_about = explain::ABOUT, after_long_help = explain::AFTER)]
    #[command(after_help = "Examples and exit codes: `flowpin explain --help`.")]
    #[command(mut_arg("read", explain::of_files))]
    Explain(Box<ExplainArgs>),
    /// Test l7-filter patterns on captures, or list the built-in protocols
    #[command(subcommand, long_about = help::PATTERNS_ABOUT)]
    Patterns(PatternsCommand),
    /// Check signature rules, list them, or explain how one is evaluated
    #[command(subcommand, long_about = help::RULES_ABOUT)]
    Rules(RulesCommand),
    /// Measure the cost of each stage, and predict the speed on more cores
    #[command(long_about = help::PROFILE_ABOUT, after_long_help = help::PROFILE_AFTER)]
    Profile(Box<ProfileArgs>),
    /// Calculate how many cores a link needs, from a saved profile
    #[command(after_long_help = help::PLAN_AFTER)]
    Plan(PlanArgs),
    /// Make a sequential C program that analyses packets run on many cores
    #[command(subcommand, long_about = compile::ABOUT)]
    Cc(CcCommand),
    /// Look at what on this system costs packets, and say what to type
    #[command(long_about = doctor::ABOUT, after_long_help = doctor::AFTER)]
    Doctor(DoctorArgs),
    /// Generate a trace with chosen characteristics and its ground truth
    #[command(long_about = help::GEN_ABOUT, after_long_help = help::GEN_AFTER)]
    Gen(Box<GenArgs>),
    /// Repeat the measurements of the papers, beside their figures
    #[command(long_about = help::BENCH_ABOUT, after_long_help = help::BENCH_AFTER)]
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Bench {
        /// Tables and options for `flowpin-bench`; without any, it lists its tables
        #[arg(
            value_name = "WORD",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<OsString>,
    },
    /// Print a completion script for a shell
    #[command(after_long_help = help::COMPLETIONS_AFTER)]
    Completions {
        /// The shell
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Print a manual page, or write the pages of all commands to a directory
    #[command(after_long_help = help::MAN_AFTER)]
    Man {
        /// A command whose page to print (run, gen-http); or a directory for flowpin.1,
        /// flowpin-run.1, …: an existing one, or a path with a slash, created if missing
        #[arg(value_name = "COMMAND|DIR", value_hint = ValueHint::DirPath)]
        what: Option<PathBuf>,
        /// Replace pages that are in the directory already
        #[arg(long, requires = "what")]
        force: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::{Cli, Command};
    use clap::{CommandFactory, Parser};
    use flowpin_config::Settings;
    use std::collections::BTreeSet;

    /// Clap's own checks: no flag twice, no default that its parser refuses.
    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Options of `flowpin run` without a key in the file, and why.
    const NO_KEYS: &[(&str, &str)] = &[
        ("config", "names the file itself"),
        ("force", "destroys files, so each run has to ask for it"),
        ("json", "concerns the terminal output of one run"),
        ("verbose", "concerns the terminal output of one run"),
        ("quiet", "concerns the terminal output of one run"),
        ("test-config", "does not run"),
        ("print-config", "does not run"),
        ("help", "does not run"),
    ];

    /// Every option has a key in the file, or there is a reason why not; and `flowpin run` has
    /// every flag of the tables, except `--depth`.
    #[test]
    fn each_option_has_a_key_or_a_reason_to_have_none() {
        let command = Cli::command();
        let shown = |name: &str| -> BTreeSet<String> {
            let mut command = command.find_subcommand(name).unwrap().clone();
            command.build();
            let longs = command.get_arguments().filter_map(|arg| arg.get_long());
            longs.map(str::to_owned).collect()
        };
        let flags = Settings::options()
            .into_iter()
            .filter_map(|option| option.flag);
        let mut known: BTreeSet<String> = flags.map(|flag| flag.long.to_owned()).collect();
        assert!(known.remove("depth") && shown("streams").contains("depth"));
        known.extend(NO_KEYS.iter().map(|&(name, _)| name.to_owned()));
        assert_eq!(shown("run"), known);
    }

    /// Each flag changes the settings, by one of its values, and the printed plan leads back to the
    /// same plan.
    #[test]
    fn each_flag_is_read_and_printed() {
        let options = Settings::options().into_iter();
        let flags = options.filter_map(|option| option.flag.filter(|flag| !flag.is_shared));
        for flag in flags.filter(|flag| flag.long != "depth") {
            let option = format!("--{}", flag.long);
            let words = [
                "2x3",
                "0-1",
                "7",
                "9 MiB",
                "9 s",
                "eve",
                "[::1]:9",
                "tcp://[::1]:9",
                "alert",
                "there",
            ];
            let words = flag.choices.iter().map(|choice| choice.0).chain(words);
            let lines: Vec<Vec<&str>> = match flag.value {
                Some(_) => words.map(|word| vec![&*option, word]).collect(),
                None => vec![vec![&*option]],
            };
            let said = lines.into_iter().find_map(|line| {
                let line = ["flowpin", "run"].into_iter().chain(line);
                let Command::Run(args) = Cli::try_parse_from(line).ok()?.command else {
                    return None;
                };
                args.settings().ok()
            });
            let said = said.unwrap_or_else(|| panic!("{option}"));
            assert_ne!(said, Settings::default(), "{option}");
            let plan = match said.into_plan() {
                Ok(plan) => plan,
                // The file is read when the plan is made, and there is none of that name.
                Err(_) if flag.long == "filter-file" => continue,
                Err(error) => panic!("{option}: {error}"),
            };
            let printed = Settings::from(&plan).to_commented_toml().unwrap();
            let again = Settings::from_toml(&printed).unwrap().into_plan().unwrap();
            assert_eq!(again, plan, "{option}");
        }
    }

    /// A name that is not in a table would not appear in any help.
    #[test]
    fn flags_of_headings_are_in_the_tables() {
        for flags in super::flags::ALL {
            for long in *flags {
                let mut all = Settings::options().into_iter();
                let is_it = |flag: &flowpin_config::Flag| flag.long == *long && !flag.is_shared;
                assert!(
                    all.any(|option| option.flag.as_ref().is_some_and(is_it)),
                    "{long}"
                );
            }
        }
    }
}
