//! Mistakes on the command line: one line that says what would do.

use crate::program::{assert_refused, capture, code, flowpin, stdout};

/// Usage errors: exit code 2, one line with the option and what to do.
#[test]
fn usage_errors_are_one_line() {
    for (words, parts) in [
        (&["run", "--xyzzy"][..], ["'--xyzzy'", "flowpin run --help"]),
        (&["run", "--formt", "csv"], ["'--formt'", "'--format'"]),
        (&["run", "--format", "xml"], ["'xml'", "zeek-json"]),
        (&["run", "-q", "-v"], ["'--quiet'", "'--verbose'"]),
        (
            &["slice", "-r", "x.pcap"],
            ["--write", "flowpin slice --help"],
        ),
        (&["gen", "http"], ["--write", "flowpin gen http --help"]),
        (&["rnu"], ["'rnu'", "'run'"]),
        (&["version"], ["'version'", "`flowpin --version`"]),
        (&["xyzzy"], ["'xyzzy'", "flowpin --help"]),
        (&["run", "-r", "a", "--ja3", "on"], ["`on`", "`--ja3=on`"]),
        (
            &["run", "a\nb", "--c\n\nUsage: d"],
            ["'--c..Usage: d'", "--help"],
        ),
    ] {
        let output = flowpin(words);
        assert_refused(&output, 2, &["flowpin: "]);
        assert_refused(&output, 2, &parts);
        assert!(stdout(&output).is_empty(), "{words:?}");
    }
}

/// A value that cannot be read is shown with what would do.
#[test]
fn values_need_units_and_known_shapes() {
    for (args, part) in [
        (["--memory", "64"], "needs a unit"),
        (["--interim", "soon"], "not a number with a unit"),
        (["--interim", "10 minutes"], "use ns, us, ms, s, min"),
        (["--rotate", "10 minutes"], "units are ns, us, ms, s, min"),
        (["--memory", "5 giga"], "also K, M, G, T"),
        (["--pipeline", "4x4"], "2xN"),
        (["--cpus", "0-"], "list of processors"),
    ] {
        let output = flowpin(&["run", "-r", "x.pcap", args[0], args[1]]);
        assert_refused(&output, 2, &[part, args[0]]);
    }
}

/// A processor that is not there, or not for us, is told with those that are.
#[test]
fn processors_that_cannot_be_used_are_a_usage_error() {
    let http = capture("http.pcapng");
    for check in [
        &["run", "-r", &http, "--cpus", "0,1000"][..],
        &["run", "-T", "-r", &http, "--cpus", "1000"],
    ] {
        let output = flowpin(check);
        assert_refused(&output, 2, &["--cpus", " names 1000", "it may use "]);
    }
}

/// Without an input there is nothing to do, and the way out is said.
#[test]
fn no_input_is_a_usage_error() {
    assert_refused(&flowpin(&["run"]), 2, &["no input", "-r"]);
    assert_refused(
        &flowpin(&["slice", "-r", "x.pcap", "-w", "y.pcap"]),
        2,
        &["--uid", "--filter"],
    );
}

/// Pipes take EVE JSON only, and a log directory contradicts a pipe.
#[test]
fn contradicting_outputs_are_usage_errors() {
    let http = capture("http.pcapng");
    for format in ["zeek", "zeek-json", "csv", "parquet", "none", "eve,csv"] {
        let output = flowpin(&["run", "-r", &http, "--output", "-", "--format", format]);
        assert_refused(&output, 2, &["takes only EVE JSON lines", "`-l DIR`"]);
        assert!(stdout(&output).is_empty(), "{format}");
    }
    let output = flowpin(&["run", "-r", "x", "--output", "-", "-l", "logs"]);
    assert_eq!(code(&output), 2);
}

/// A filter that does not compile is the user's to correct: exit code 2, the expression shown.
#[test]
fn filter_that_does_not_compile_is_a_usage_error() {
    let http = capture("http.pcapng");
    let output = flowpin(&["run", "-r", &http, "tcp", "prot", "80"]);
    assert_refused(&output, 2, &["tcp prot 80"]);
    let output = flowpin(&["run", "-T", "-r", &http, "tcp", "prot", "80"]);
    assert_refused(&output, 2, &["tcp prot 80"]);
}
