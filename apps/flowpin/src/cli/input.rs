//! Options that `run` and `slice` share: what is read, and how connections are told apart.

use super::value;
use clap::{Args, ValueHint};
use flowpin_config::{
    ByteSize, Checksums, ConnectionSettings, InputSettings, OutputSettings, PipelineSettings,
    Timeouts,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is read.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    /// A capture, a directory of captures, or `-` for standard input; may be repeated
    #[arg(short = 'r', long = "read", value_name = "FILE", value_hint = ValueHint::AnyPath)]
    read: Vec<PathBuf>,

    /// Only packets that pass this pcap-filter(7) expression; words without option do the same
    #[arg(short = 'f', long = "filter", value_name = "EXPR")]
    filter: Option<String>,

    /// Stop after that many packets
    #[arg(short = 'n', long = "count", value_name = "COUNT")]
    count: Option<u64>,

    /// Settings in TOML; options here win over them (see --print-config)
    #[arg(short = 'c', long = "config", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

impl InputArgs {
    /// The settings that these options make, with the words that are none: first further
    /// captures (by their names' endings), then the filter.
    ///
    /// # Errors
    /// A filter both by `-f` and by words; a word that is no text.
    pub(crate) fn settings(&self, words: &[OsString]) -> anyhow::Result<InputSettings> {
        let captures = words.iter().take_while(|word| is_capture_name(word));
        let mut read = self.read.clone();
        read.extend(captures.clone().map(PathBuf::from));
        let expression = words.get(captures.count()..).unwrap_or_default();
        let expression: Vec<&str> = expression
            .iter()
            .map(|word| {
                word.to_str()
                    .ok_or_else(|| anyhow::anyhow!("the filter is not valid text: {word:?}"))
            })
            .collect::<Result<_, _>>()?;
        let filter = match (&self.filter, expression.is_empty()) {
            (Some(filter), true) => Some(filter.clone()),
            (None, false) => Some(expression.join(" ")),
            (None, true) => None,
            (Some(_), false) => anyhow::bail!(
                "two filters: `-f` and the words `{}`; give one",
                expression.join(" ")
            ),
        };
        Ok(InputSettings {
            read: (!read.is_empty()).then_some(read),
            filter,
            count: self.count,
        })
    }
}

/// Whether a word is a capture by its name's ending, so that `-r *.pcap` works as meant. No word
/// of the filter language looks like this.
pub(super) fn is_capture_name(word: &OsString) -> bool {
    let path = Path::new(word);
    let is = |path: &Path, endings: &[&str]| {
        path.extension()
            .and_then(|ending| ending.to_str())
            .is_some_and(|ending| endings.contains(&ending.to_ascii_lowercase().as_str()))
    };
    let inner = if is(path, &["gz", "zst", "lz4", "xz"]) {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    is(&inner, &["pcap", "pcapng", "cap", "pcapn", "ntar", "dmp"])
}

/// How connections are told apart and followed.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Connections")]
pub(crate) struct ConnectionArgs {
    /// Verify checksums [default: all]
    #[arg(short = 'k', long = "checksums", value_name = "WHICH")]
    #[arg(value_parser = value::word::<Checksums>())]
    checksums: Option<Checksums>,

    /// After how long without a packet a connection has ended, as which tool [default: zeek]
    #[arg(long, value_name = "WHOSE", value_parser = value::word::<Timeouts>())]
    timeouts: Option<Timeouts>,

    /// Keys uid and flow_id: the same seed, the same identifiers [default: 0]
    #[arg(long, value_name = "N")]
    id_seed: Option<u64>,

    /// For connections and fragments, over all workers [default: 1 GiB]
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,
}

impl ConnectionArgs {
    /// The settings that these options make.
    pub(crate) fn settings(&self) -> (ConnectionSettings, PipelineSettings) {
        let connections = ConnectionSettings {
            checksums: self.checksums,
            timeouts: self.timeouts,
            id_seed: self.id_seed,
            ..ConnectionSettings::default()
        };
        let pipeline = PipelineSettings {
            memory: self.memory,
            ..PipelineSettings::default()
        };
        (connections, pipeline)
    }
}

/// What the names depend on by which connections are asked for, besides the input.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Connections")]
pub(crate) struct NameArgs {
    /// Seed of the Community ID, where one is given [default: 0]
    #[arg(long, value_name = "N")]
    community_seed: Option<u16>,
}

impl NameArgs {
    /// The settings that these options make.
    pub(crate) fn settings(&self) -> OutputSettings {
        OutputSettings {
            community_seed: self.community_seed,
            ..OutputSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::InputArgs;
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use std::ffi::OsString;
    use std::path::Path;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    /// A shell's `*.pcap` puts captures where filter words stand; they must not be taken for one.
    #[test]
    fn captures_before_the_filter_are_read() {
        let args = InputArgs {
            read: vec!["a.pcap".into()],
            ..InputArgs::default()
        };
        let settings = args
            .settings(&words("b.PCAP dir/c.pcapng.zst tcp port 80"))
            .unwrap();
        let read = settings.read.unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!(read[2], Path::new("dir/c.pcapng.zst"));
        assert_eq!(settings.filter.as_deref(), Some("tcp port 80"));
    }

    /// Options may stand anywhere among the words; a number below 0 and what follows `--` are
    /// words.
    #[test]
    fn options_may_follow_words() {
        for line in [
            "run x.pcap -l logs tcp[4:2] -1 > 3 -q",
            "run x.pcap tcp[4:2] -q -1 -l logs > 3",
            "run -q -l logs -- x.pcap tcp[4:2] -1 > 3",
        ] {
            let words = std::iter::once("flowpin").chain(line.split(' '));
            let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else {
                panic!("{line}");
            };
            let settings = args.settings().unwrap();
            assert_eq!(settings.input.read, Some(vec!["x.pcap".into()]), "{line}");
            assert_eq!(settings.input.filter.as_deref(), Some("tcp[4:2] -1 > 3"));
            assert_eq!(settings.output.dir.as_deref(), Some(Path::new("logs")));
            assert!(args.show.quiet, "{line}");
        }
        for line in [
            "slice -r x tcp port 80 -w f",
            "slice x.pcap --uid C1 -w f",
            "streams x.pcap --follow C1",
            "identify x.pcap --format csv",
            "profile x.pcap --json",
        ] {
            let words = std::iter::once("flowpin").chain(line.split(' '));
            Cli::try_parse_from(words).unwrap();
        }
    }

    /// A filter given twice is a mistake, not a conjunction.
    #[test]
    fn two_filters_are_refused() {
        let args = InputArgs {
            filter: Some("udp".into()),
            ..InputArgs::default()
        };
        assert!(args.settings(&words("tcp")).is_err());
        assert!(args.settings(&words("x.pcap")).is_ok());
    }
}
