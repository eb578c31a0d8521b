//! Usage errors as one line: the argument concerned, the reason, and what to do.
//!
//! clap explains an error in several paragraphs and repeats the usage. Scripts and logs want one
//! line, as for every other error; the help is one command away, and the line names it.

use super::Cli;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};
use std::ffi::OsString;

/// The line for this error; none if it is not an error, but a request for help or the version.
pub(crate) fn line(error: &Error, args: &[OsString]) -> Option<String> {
    let kind = error.kind();
    if !error.use_stderr() || kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return None;
    }
    let (message, has_advice) = match refused_value(error) {
        // The reason describes a valid value.
        Some(message) => (message, true),
        // Without context, it is a text of Flowpin's own.
        None if error.context().next().is_none() => joined(error),
        None => joined(&without_controls(error)),
    };
    if has_advice {
        return Some(message);
    }
    Some(format!("{message}; see `{} --help`", command(args)))
}

/// An invalid value with the reason from its parser. The reason may quote the value, so it cannot
/// be split into paragraphs.
fn refused_value(error: &Error) -> Option<String> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let reason = std::error::Error::source(error)?;
    let (value, argument) = (quoted(error, ContextKind::InvalidValue)?, {
        quoted(error, ContextKind::InvalidArg)?
    });
    Some(format!(
        "invalid value '{value}' for '{argument}': {reason}"
    ))
}

fn quoted(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Replaces control characters in quoted arguments: a line break would look like clap's own.
fn without_controls(error: &Error) -> Error {
    let clean = |text: &String| text.replace(char::is_control, ".");
    let mut plain = Error::new(error.kind()).with_cmd(&Cli::command());
    for (kind, value) in error.context() {
        let value = match value {
            ContextValue::String(text) => ContextValue::String(clean(text)),
            ContextValue::Strings(texts) => {
                ContextValue::Strings(texts.iter().map(clean).collect())
            }
            other => other.clone(),
        };
        plain.insert(kind, value);
    }
    plain
}

/// clap's paragraphs as one line, without the usage; and whether they say what to do.
fn joined(error: &Error) -> (String, bool) {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let mut line = String::new();
    let mut has_advice = false;
    for paragraph in text.split("\n\n") {
        let paragraph = paragraph.trim();
        let is_usage = paragraph.starts_with("Usage:");
        if is_usage || paragraph.starts_with("For more information") || paragraph.is_empty() {
            continue;
        }
        for (index, part) in paragraph.lines().map(str::trim).enumerate() {
            let advice = part.strip_prefix("tip: ");
            // Further words are a filter, so this advice of clap's would mislead.
            if advice.is_some_and(|advice| advice.starts_with("to pass ")) {
                continue;
            }
            has_advice |= advice.is_some() || part.starts_with('[');
            if !line.is_empty() {
                line.push_str(if index == 0 || advice.is_some() {
                    "; "
                } else {
                    " "
                });
            }
            line.push_str(advice.unwrap_or(part));
        }
    }
    (line, has_advice)
}

/// The command whose help describes these arguments: `flowpin gen http`.
fn command(args: &[OsString]) -> String {
    let mut words = vec!["flowpin".to_owned()];
    let mut command = Cli::command();
    for arg in args {
        let Some(next) = arg.to_str().and_then(|name| command.find_subcommand(name)) else {
            break;
        };
        words.push(next.get_name().to_owned());
        command = next.clone();
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::line;
    use crate::cli::{Cli, advise};
    use clap::Parser;
    use std::ffi::OsString;

    fn refused(words: &[&str]) -> Option<String> {
        let all = [&["flowpin"], words].concat();
        let error = Cli::try_parse_from(all).unwrap_err();
        let error = advise(error, words.first().copied().unwrap_or_default());
        let args: Vec<OsString> = words.iter().map(OsString::from).collect();
        line(&error, &args)
    }

    /// Every kind of usage error is one line with the argument and the way on.
    #[test]
    fn usage_errors_are_one_line() {
        for (words, expected) in [
            (
                &["run", "--xyzzy"][..],
                "unexpected argument '--xyzzy' found; see `flowpin run --help`",
            ),
            (
                &["run", "--formt", "csv"],
                "unexpected argument '--formt' found; a similar argument exists: '--format'",
            ),
            (
                &["run", "--scans", "maybe"],
                "invalid value 'maybe' for '--scans <on|off>' [possible values: on, off]",
            ),
            (
                &["run", "--format", "cvs"],
                "invalid value 'cvs' for '--format <FORMAT>' [possible values: eve, zeek, \
                 zeek-json, csv, parquet, none]",
            ),
            (
                &["run", "--memory", "64"],
                "invalid value '64' for '--memory <SIZE>': `64` needs a unit, such as \
                 \"64 MiB\"",
            ),
            (
                &["run", "-q", "-v"],
                "the argument '--quiet' cannot be used with '--verbose'; see `flowpin run --help`",
            ),
            (
                &["gen", "http", "--packets", "5"],
                "the following required arguments were not provided: --write <FILE>; see \
                 `flowpin gen http --help`",
            ),
            (
                &["run", "--hash", "none,md5"],
                "--hash: `none` cannot be combined with a hash; see `flowpin run --help`",
            ),
            (
                &["run", "--hash", "md6"],
                "invalid value 'md6' for '--hash <NAMES>' [possible values: md5, sha1, sha256, \
                 none]; a similar value exists: 'md5'",
            ),
            (
                &["run", "--community-seed", "65536"],
                "invalid value '65536' for '--community-seed <N>': needs a whole number from 0 to \
                 65535",
            ),
            // Suricata's name of it, and one that suggests itself.
            (
                &["run", "--community-id-seed", "1"],
                "unexpected argument '--community-id-seed' found; a similar argument exists: \
                 '--community-seed'",
            ),
            (
                &["run", "--fix-all-fields"],
                "unexpected argument '--fix-all-fields' found; a similar argument exists: \
                 '--all-fields'",
            ),
            (
                &["rnu"],
                "unrecognized subcommand 'rnu'; a similar subcommand exists: 'run'",
            ),
            (
                &["xyzzy"],
                "unrecognized subcommand 'xyzzy'; see `flowpin --help`",
            ),
            (
                &["run", "--append", "a"],
                "unexpected argument '--append' found; logs are never appended to: choose another \
                 directory with `-l DIR`, or replace the existing logs with `--force`",
            ),
            (
                &["run", "-r"],
                "a value is required for '--read <FILE>' but none was supplied; see `flowpin \
                 run --help`",
            ),
        ] {
            assert_eq!(refused(words).as_deref(), Some(expected));
        }
    }

    /// An argument cannot pose as clap's text, nor write on the terminal.
    #[test]
    fn quoted_arguments_stay_in_their_line() {
        for words in [
            &["run", "--a\n\nUsage: b\n\u{1b}[2J"][..],
            &["x\n\ntip: y", "z"],
            &["run", "--format", "a\n\nb"],
        ] {
            let text = refused(words).unwrap();
            assert!(!text.contains(char::is_control), "{text:?}");
            let quoted = words.iter().find(|word| word.contains('\n')).unwrap();
            let quoted = quoted.replace(char::is_control, ".");
            assert!(text.contains(&quoted), "{text:?}");
        }
    }

    /// Help and version are not errors.
    #[test]
    fn help_is_not_an_error() {
        for words in [&["--help"][..], &["run", "-h"], &["-V"], &[], &["gen"]] {
            assert_eq!(refused(words), None, "{words:?}");
        }
    }
}
