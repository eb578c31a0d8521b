//! Options that are settings: read, shown and completed as `flowpin_config` describes them.
//!
//! This module defines where each appears: the headings of the help, and the flags below each.

use clap::builder::{
    PathBufValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser,
    ValueParser,
};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};
use flowpin_config::{Flag, Hint, Settings};
use std::ffi::OsString;
use std::marker::PhantomData;

/// Some flags, under one heading of the help.
pub(crate) trait Shown {
    const HEADING: &'static str;
    const FLAGS: &'static [&'static str];
    /// The help of the flag, if it differs from that of other commands.
    const HELP: Option<&'static str> = None;
}

macro_rules! shown {
    ($($name:ident $heading:literal [$($flag:literal),*] $($help:literal)?;)*) => { $(
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum $name {}

        impl Shown for $name {
            const HEADING: &'static str = $heading;
            const FLAGS: &'static [&'static str] = &[$($flag),*];
            $(const HELP: Option<&'static str> = Some($help);)?
        }
    )*
        /// The flags of every heading.
        #[cfg(test)]
        pub(super) const ALL: &[&[&str]] = &[$($name::FLAGS),*];
    };
}

shown! {
    Input "Input" ["read", "filter", "filter-file", "count", "since", "until",
        "accept-damage"];
    Live "Live capture" ["interface", "capture", "write", "write-rotate", "write-keep",
        "write-total", "record-if", "record-before", "snaplen", "promiscuous", "ring", "rings",
        "latency", "shed", "user", "metrics", "confine"];
    Directory "Output" ["log-dir"];
    Output "Output" ["format", "output", "spool", "spool-size", "kafka-config",
        "rotate", "output-max",
        "output-files"];
    Cores "Cores" ["pipeline", "cut", "cpus", "seed"];
    Connections "Connections" ["checksums", "timeouts", "id-seed", "memory"];
    Stages "Analysis" ["streams", "identify", "patterns", "parse", "all-fields", "ja3", "roots",
        "extract", "hash", "grammar", "fix-dictionary", "scans", "rules", "var", "indicators",
        "strict-rules", "suricata-yaml", "reputation-categories", "reputation",
        "alert-payload", "alert-packet", "alert-xff", "alert-xff-hop"];
    Patterns "Analysis" ["patterns"];
    Rules "Rules" ["rules", "var", "indicators", "suricata-yaml", "reputation-categories",
        "reputation"];
    Records "Records" ["interim", "community-id", "community-seed", "host-pairs", "netflow",
        "stats", "stats-every", "csv-safe", "parquet-time"];
    Texts "Records" ["interim", "community-id", "community-seed", "csv-safe"];
    Measured "Records" ["format"] "Formats to measure, separated by commas or repeated \
        [default: eve]";
    Names "Connections" ["community-seed"] "Seed of the Community ID, if it names a connection \
        [default: 0]";
    Lines "Output" ["format"] "Formats whose lines are shown, separated by commas or repeated; \
        parquet has none [default: eve]";
    Workers "Cores" ["pipeline"] "Also name the worker that has the packet in this pipeline";
    Depth "Selection" ["depth"];
}

/// The settings from some flags.
#[derive(Clone, Debug)]
pub(crate) struct Flags<S> {
    settings: Settings,
    shown: PhantomData<S>,
}

impl<S> Flags<S> {
    /// Those settings.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.clone()
    }
}

impl<S: Shown> Args for Flags<S> {
    fn augment_args(command: Command) -> Command {
        command.args(of(S::FLAGS).map(|(flag, help)| {
            let help = S::HELP.map_or(help, str::to_owned);
            arg(flag, help).help_heading(S::HEADING)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Shown> FromArgMatches for Flags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Settings::default();
        for (flag, _) in of(S::FLAGS) {
            let refused = |text| clap::Error::raw(clap::error::ErrorKind::InvalidValue, text);
            for text in matches
                .get_many::<OsString>(flag.long)
                .into_iter()
                .flatten()
            {
                flag.set(&mut settings, text).map_err(refused)?;
            }
        }
        Ok(Self {
            settings,
            shown: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let more = Self::from_arg_matches(matches)?;
        self.settings = more.settings.over(self.settings.clone());
        Ok(())
    }
}

/// The flags of these names, in that order, with their help.
fn of(names: &[&str]) -> impl Iterator<Item = (Flag, String)> {
    let options = Settings::options();
    names.iter().filter_map(move |name| {
        options.iter().find_map(|option| {
            let flag = option.flag.as_ref()?;
            let is_it = flag.long == *name && !flag.is_shared;
            is_it.then(|| (flag.clone(), option.help(flag)))
        })
    })
}

/// The option for clap.
fn arg(flag: Flag, help: String) -> Arg {
    let arg = Arg::new(flag.long).long(flag.long).help(help);
    let arg = match flag.short {
        Some(letter) => arg.short(letter),
        None => arg,
    };
    let Some(value) = flag.value else {
        return switch(arg);
    };
    let arg = match flag.conflicts {
        Some(other) => arg.conflicts_with(other),
        None => arg,
    };
    let arg = match flag.by_comma {
        true => arg.value_delimiter(','),
        false => arg,
    };
    let hint = match flag.hint {
        Hint::None => ValueHint::Unknown,
        Hint::File => ValueHint::FilePath,
        Hint::Directory => ValueHint::DirPath,
        Hint::Path => ValueHint::AnyPath,
    };
    let action = match flag.is_list {
        true => ArgAction::Append,
        false => ArgAction::Set,
    };
    arg.value_name(value)
        .action(action)
        .value_hint(hint)
        .hide_possible_values(flag.hides_choices)
        .value_parser(parser(flag))
}

/// A flag without a value; `=off` resets the value in the file.
fn switch(arg: Arg) -> Arg {
    let words = ["on", "off"].map(PossibleValue::new);
    arg.value_name("on|off")
        .action(ArgAction::Set)
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("on")
        .hide_possible_values(true)
        .value_parser(PossibleValuesParser::new(words).map(OsString::from))
}

/// Values are passed on as they are written, after they were checked.
fn parser(flag: Flag) -> ValueParser {
    if flag.may_be_empty {
        return ValueParser::os_string();
    }
    if flag.is_path {
        return PathBufValueParser::new().map(OsString::from).into();
    }
    if flag.choices.is_empty() {
        let texts = StringValueParser::new().try_map(move |text| {
            let text = OsString::from(text);
            flag.set(&mut Settings::default(), &text).map(|()| text)
        });
        return texts.into();
    }
    let words = flag.choices.iter().map(|&(word, meaning)| {
        let word = PossibleValue::new(word);
        match meaning {
            "" => word,
            meaning => word.help(meaning),
        }
    });
    PossibleValuesParser::new(words).map(OsString::from).into()
}
