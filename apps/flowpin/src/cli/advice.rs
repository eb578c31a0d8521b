//! Advice for options that other programs, or other commands of Flowpin, have.

use super::Cli;
use super::input::is_capture_name;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};
use core::num::{ParseFloatError, ParseIntError};

/// Adds advice to the error of an option that other programs have, in place of clap's own advice,
/// which reads it as a file name.
pub(crate) fn advise(mut error: Error, command: &str) -> Error {
    if error.kind() == ErrorKind::InvalidSubcommand && is_capture_name(&command.into()) {
        let advice = format!("to analyse this capture: `flowpin run -r {command}`");
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![advice.into()]),
        );
        return error;
    }
    if error.kind() == ErrorKind::InvalidSubcommand {
        return with_command_meant(error, command);
    }
    if error.kind() == ErrorKind::ValueValidation {
        return in_plain_words(error);
    }
    if error.kind() != ErrorKind::UnknownArgument || !ADVISED.contains(&command) {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let known = ADVICE.iter().find(|(options, commands, _)| {
        options.contains(&option.as_str()) && (commands.is_empty() || commands.contains(&command))
    });
    if let Some((.., advice)) = known {
        let advice = ContextValue::StyledStrs(vec![(*advice).into()]);
        error.insert(ContextKind::Suggested, advice);
        // An option that merely looks similar.
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

/// Names the command that a misspelt one stands for, also where clap finds none that is like it.
fn with_command_meant(mut error: Error, command: &str) -> Error {
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    if let Some((_, advice)) = WORDS.iter().find(|(word, _)| word == wrong) {
        let advice = ContextValue::StyledStrs(vec![(*advice).into()]);
        error.insert(ContextKind::Suggested, advice);
        error.remove(ContextKind::SuggestedSubcommand);
        return error;
    }
    let root = Cli::command();
    let group = root.find_subcommand(command).unwrap_or(&root);
    let names = group.get_subcommands().map(clap::Command::get_name);
    let nearest = names.map(|name| (edits(wrong, name), name)).min();
    let near = nearest.filter(|(edits, name)| *edits <= name.len() / 3);
    if error.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some((_, name)) = near
    {
        let name = ContextValue::Strings(vec![name.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, name);
    }
    error
}

/// How many letters were left out, added, exchanged or swapped with the next one.
fn edits(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut rows: [Vec<usize>; 2] = [Vec::new(), (0..=to.len()).collect()];
    for (at, letter) in from.iter().enumerate() {
        let [older, old] = &rows;
        let mut row = vec![at + 1];
        for (other_at, other) in to.iter().enumerate() {
            let value = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let changed = value(old, other_at) + usize::from(letter != other);
            let one_side = value(old, other_at + 1).min(value(&row, other_at)) + 1;
            let mut best = changed.min(one_side);
            if at > 0
                && other_at > 0
                && from.get(at - 1) == Some(other)
                && to.get(other_at - 1) == Some(letter)
            {
                best = best.min(value(older, other_at - 1) + 1);
            }
            row.push(best);
        }
        rows = [core::mem::take(&mut rows[1]), row];
    }
    rows[1].last().copied().unwrap_or_default()
}

/// Words that are commands elsewhere.
const WORDS: &[(&str, &str)] = &[
    ("version", "`flowpin --version` prints the version"),
    ("read", "`flowpin run -r FILE` analyses a capture"),
    ("analyze", "`flowpin run -r FILE` analyses a capture"),
    ("analyse", "`flowpin run -r FILE` analyses a capture"),
];

/// Replaces the standard library's message about digits by the kind of number that is needed.
fn in_plain_words(error: Error) -> Error {
    let needed = match std::error::Error::source(&error) {
        Some(source) if source.is::<ParseIntError>() => "a whole number is needed",
        Some(source) if source.is::<ParseFloatError>() => "a number is needed, such as 1.5",
        _ => return error,
    };
    let mut plain = Error::new(error.kind()).with_cmd(&Cli::command());
    for (kind, value) in error.context() {
        plain.insert(kind, value.clone());
    }
    let advice = ContextValue::StyledStrs(vec![needed.into()]);
    plain.insert(ContextKind::Suggested, advice);
    plain
}

/// The commands with such advice: those that read captures, and `gen`.
const ADVISED: &[&str] = &["run", "identify", "slice", "streams", "profile", "gen"];

/// Options, the commands that they are given to (if empty: all), and what to do instead.
const ADVICE: &[(&[&str], &[&str], &str)] = &[
    (
        &["-i", "--interface"],
        &[],
        "`flowpin run -i IFACE` captures; with `-w FILE` it also records, for every other command",
    ),
    (
        &["-o", "--out", "--outdir", "--output-dir"],
        &["run"],
        "`-l DIR` names the directory for logs, `--output -` writes JSON lines to standard output",
    ),
    (
        &["-o", "--out", "--output"],
        &["slice", "streams"],
        "`-w` names the output",
    ),
    (
        &["-a", "--append"],
        &["run"],
        "logs are never appended to: choose another directory with `-l DIR`, or replace the \
         existing logs with `--force`",
    ),
    (
        &["-t", "-j", "--jobs", "--threads", "--workers", "--cores"],
        &["run"],
        "`--pipeline 2xN` uses one thread that reads and N that analyse",
    ),
    (
        &["-j", "--jobs", "--threads", "--workers"],
        &["identify", "slice", "streams"],
        "this command uses one thread; `flowpin run --pipeline 2xN` uses more",
    ),
    (
        &["--flow-id", "--flow_id", "--community-id", "--id"],
        &["slice"],
        "`--uid ID` takes a uid, a flow_id or a Community ID",
    ),
    (
        &["--uid", "--flow-id", "--flow_id", "--community-id", "--id"],
        &["streams"],
        "`--follow ID` takes a uid, a flow_id or a Community ID",
    ),
    (
        &["--uid", "--flow-id", "--community-id"],
        &["run"],
        "`flowpin slice --uid ID` takes a uid, a flow_id or a Community ID, and writes the packets",
    ),
    (
        &["--hosts", "--targets", "--victims"],
        &["gen"],
        "`--clients COUNT` and `--servers COUNT` set the numbers of hosts",
    ),
    (
        &["--json"],
        &["identify"],
        "`--format json` writes JSON lines",
    ),
    (
        &["-Y", "--display-filter"],
        &[],
        "packets are selected by a pcap-filter(7) expression: `-f EXPR`, or the last arguments",
    ),
];

#[cfg(test)]
mod tests {
    use super::advise;
    use crate::cli::Cli;
    use clap::Parser;

    fn advice_for(words: &[&str]) -> String {
        let all = [&["flowpin"], words].concat();
        let error = Cli::try_parse_from(all).unwrap_err();
        advise(error, words[0]).to_string()
    }

    /// The error for a value that is not a number describes the number that is needed.
    #[test]
    fn errors_describe_the_number_that_is_needed() {
        for (words, needed) in [
            (&["gen", "scan", "--seed", "x"][..], "a whole number"),
            (&["gen", "scan", "--clients", ""], "a whole number"),
            (&["gen", "scan", "--rate", "x"], "such as 1.5"),
            (&["profile", "-r", "a", "--cores", "x"], "a whole number"),
            (
                &["streams", "-w", "d", "--files-max", "x"],
                "a whole number",
            ),
            (&["run", "--seed", "x"], "a whole number"),
        ] {
            let text = advice_for(words);
            let option = words[words.len() - 2];
            assert!(text.contains(needed) && text.contains(option), "{text}");
            for word in ["digit", "literal", "parse"] {
                assert!(!text.contains(word), "{text}");
            }
        }
    }

    /// A misspelt command, and one of another program, leads to the one that was meant.
    #[test]
    fn commands_that_are_meant_are_named() {
        for (words, part) in [
            (&["rnu", ""][..], "'run'"),
            (&["rn", ""], "'run'"),
            (&["sliec", ""], "'slice'"),
            (&["indentify", ""], "'identify'"),
            (&["version", ""], "`flowpin --version`"),
            (&["gen", "htpp"], "'http'"),
        ] {
            let text = advice_for(words);
            assert!(text.contains(part), "{text}");
        }
        assert!(!advice_for(&["xyzzy", ""]).contains("similar"));
    }

    /// Options of tcpdump, tshark, Zeek and Suricata get advice about those of Flowpin.
    #[test]
    fn options_of_other_programs_get_advice() {
        for (words, part) in [
            (&["run", "-r", "a.pcap", "-o", "x"][..], "`-l DIR`"),
            (&["identify", "-i", "eth0"], "`flowpin run -i IFACE`"),
            (&["slice", "-r", "a", "-o", "b"], "`-w` names the output"),
            (&["run", "-r", "a", "-Y", "http"], "pcap-filter(7)"),
            (&["run", "--append", "a"], "`--force`"),
            (&["run", "--threads", "4"], "`--pipeline 2xN`"),
            (&["slice", "--threads", "4"], "one thread"),
            (&["slice", "--flow-id", "4"], "`--uid ID` takes"),
            (&["slice", "--community-id", "4"], "`--uid ID` takes"),
            (&["streams", "--uid", "4"], "`--follow ID` takes"),
            (&["run", "--uid", "4"], "`flowpin slice --uid ID`"),
            (&["gen", "scan", "--hosts", "4"], "`--servers COUNT`"),
            (&["identify", "--json", "a"], "`--format json`"),
            (&["big.pcap", ""], "`flowpin run -r big.pcap`"),
            (&["d/b.pcap.gz", "-q"], "`flowpin run -r d/b.pcap.gz`"),
        ] {
            let text = advice_for(words);
            let wrong = words[words.len() - 2];
            assert!(text.contains(part) && text.contains(wrong), "{text}");
            assert!(!text.contains("'-- "), "{text}");
        }
        assert!(advice_for(&["run", "--frobnicate"]).contains("'--frobnicate'"));
    }
}
