//! The inputs: from options, and from the other arguments.

use super::flags::{Flags, Input};
use clap::{Args, ValueHint};
use flowpin_config::Settings;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The inputs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArgs {
    #[command(flatten)]
    flags: Flags<Input>,

    /// Settings in TOML; options override them (see --print-config)
    #[arg(short = 'c', long = "config", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

impl InputArgs {
    /// The settings from these options and from the other arguments: first more captures
    /// (recognised by the endings of their names), then the filter.
    ///
    /// # Errors
    /// A filter both by `-f` and by arguments; an argument that is not valid UTF-8.
    pub(crate) fn settings(&self, words: &[OsString]) -> anyhow::Result<Settings> {
        let mut settings = self.flags.settings();
        let input = &mut settings.input;
        let captures = words.iter().take_while(|word| is_capture_name(word));
        let expression = words.get(captures.clone().count()..).unwrap_or_default();
        let expression: Vec<&str> = expression
            .iter()
            .map(|word| {
                word.to_str()
                    .ok_or_else(|| anyhow::anyhow!("the filter is not valid UTF-8: {word:?}"))
            })
            .collect::<Result<_, _>>()?;
        let mut captures = captures.map(PathBuf::from).peekable();
        if captures.peek().is_some() {
            input.read.get_or_insert_default().extend(captures);
        }
        if let Some(word @ &("on" | "off")) = expression.first() {
            let switch = switch_before(word);
            anyhow::bail!(
                "`{word}` begins no filter: a switch takes its value behind an equals sign, \
                 `{switch}={word}` (a filter that does begin so goes with -f)"
            );
        }
        if !expression.is_empty() {
            let words = expression.join(" ");
            if input.filter.is_some() {
                anyhow::bail!("two filters, `-f` and the arguments `{words}`: give one of them");
            }
            input.filter = Some(words);
        }
        Ok(settings)
    }
}

/// The option that stands before a word on the command line.
fn switch_before(word: &str) -> String {
    let args: Vec<_> = std::env::args_os().collect();
    let mut pairs = args.iter().zip(args.iter().skip(1));
    let found = pairs.find_map(|(option, value)| {
        let option = option.to_str().filter(|_| value == word)?;
        option.starts_with("--").then(|| option.to_owned())
    });
    found.unwrap_or_else(|| "--ja3".to_owned())
}

/// Whether an argument is a capture by the ending of its name, so that `-r *.pcap` works as
/// expected. No word of the filter language has such an ending.
pub(super) fn is_capture_name(word: &OsString) -> bool {
    flowpin_config::Input::is_capture_name(Path::new(word))
}

#[cfg(test)]
mod tests {
    use crate::cli::{Cli, Command};
    use clap::Parser;
    use flowpin_config::Settings;
    use std::path::Path;

    fn settings(line: &str) -> anyhow::Result<Settings> {
        let words = std::iter::once("flowpin").chain(line.split_whitespace());
        let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else {
            panic!("{line}");
        };
        args.settings()
    }

    /// A shell's `*.pcap` puts captures in the place of filter words; they are read as captures.
    #[test]
    fn captures_before_the_filter_are_read() {
        let line = "run -r a.pcap b.PCAP dir/c.pcapng.zst tcp port 80";
        let input = settings(line).unwrap().input;
        let read = input.read.unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!(read[2], Path::new("dir/c.pcapng.zst"));
        assert_eq!(input.filter.as_deref(), Some("tcp port 80"));
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

    /// A filter given twice is an error, not a conjunction.
    #[test]
    fn two_filters_are_refused() {
        assert!(settings("run -f udp tcp").is_err());
        assert!(settings("run -f udp x.pcap").is_ok());
    }

    /// The value of a switch is not taken for a filter without a word.
    #[test]
    fn a_switch_s_value_is_no_filter() {
        for line in [
            "run --ja3 on",
            "run x.pcap --all-fields off",
            "run --ja3 on tcp port 80",
        ] {
            let refused = settings(line).unwrap_err().to_string();
            assert!(refused.contains("behind an equals sign"), "{refused}");
        }
        assert!(settings("run --ja3=on tcp").is_ok());
        assert!(settings("run --scans off tcp").is_ok());
    }
}
