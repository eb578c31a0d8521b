//! What Flowpin calls the options that people know from other programs.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Puts advice into the error of an option that other programs have, in the place of clap's own,
/// which takes it for a file's name.
pub(crate) fn advise(mut error: Error, command: &str) -> Error {
    if error.kind() != ErrorKind::UnknownArgument || !READING.contains(&command) {
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
    }
    error
}

/// Commands that read captures.
const READING: &[&str] = &["run", "identify", "slice", "streams", "profile"];

/// Options, the commands that they are given to (none: all), and what to do instead.
const ADVICE: &[(&[&str], &[&str], &str)] = &[
    (
        &["-i", "--interface"],
        &[],
        "there is no live capture yet; from another program: `tcpdump -U -i IFACE -w - | flowpin \
         run -r -`",
    ),
    (
        &["-o", "--out", "--outdir", "--output-dir"],
        &["run"],
        "`-l DIR` puts log files into a folder, `--output -` writes JSON lines to standard output",
    ),
    (
        &["-o", "--out", "--output"],
        &["slice", "streams"],
        "`-w` says where to write",
    ),
    (
        &["-w", "--write"],
        &["run"],
        "`flowpin slice -w FILE` writes packets; `-l DIR` is the folder for logs",
    ),
    (
        &["-Y", "--display-filter"],
        &[],
        "packets are chosen by a pcap-filter(7) expression: `-f EXPR`, or the last words",
    ),
];

#[cfg(test)]
mod tests {
    use super::advise;
    use crate::cli::Cli;
    use clap::Parser;

    fn told(words: &[&str]) -> String {
        let all = [&["flowpin"], words].concat();
        let error = Cli::try_parse_from(all).unwrap_err();
        advise(error, words[0]).to_string()
    }

    /// Options of tcpdump, tshark, Zeek and Suricata are answered by what there is here.
    #[test]
    fn options_of_other_programs_are_answered() {
        for (words, part) in [
            (&["run", "-r", "a.pcap", "-o", "x"][..], "`-l DIR`"),
            (&["run", "-i", "eth0"], "no live capture yet"),
            (
                &["run", "-r", "a.pcap", "-w", "b.pcap"],
                "`flowpin slice -w FILE`",
            ),
            (&["identify", "-i", "eth0"], "no live capture yet"),
            (&["slice", "-r", "a", "-o", "b"], "`-w` says where"),
            (&["run", "-r", "a", "-Y", "http"], "pcap-filter(7)"),
        ] {
            let text = told(words);
            assert!(
                text.contains(part) && text.contains(words[words.len() - 2]),
                "{text}"
            );
            assert!(!text.contains("'-- "), "{text}");
        }
        assert!(told(&["run", "--frobnicate"]).contains("'--frobnicate'"));
    }
}
