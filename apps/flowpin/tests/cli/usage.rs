//! Help, settings, refusals.

use crate::program::{assert_refused, capture, code, command, flowpin, stderr, stdout, text};

/// What scripts rely on is in the help: exit codes; what people look for: examples.
#[test]
fn help_has_examples_and_exit_codes() {
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["slice", "--help"],
        &["streams", "--help"],
        &["explain", "--help"],
    ] {
        let output = flowpin(args);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("Examples:"), "{args:?}");
        assert!(stdout(&output).contains("Exit codes:"), "{args:?}");
    }
    let version = flowpin(&["-V"]);
    assert!(stdout(&version).starts_with("flowpin "));
}

/// No line of any help is wider than a document's.
#[test]
fn help_fits_a_hundred_columns() {
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["slice", "--help"],
        &["streams", "--help"],
        &["explain", "--help"],
    ] {
        let output = flowpin(args);
        for line in stdout(&output).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

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
        (&["rnu"], ["'rnu'", "flowpin --help"]),
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

/// Each mistake in a configuration file is one line with file, line and column.
#[test]
fn configuration_errors_name_file_line_and_column() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("flowpin.toml");
    for (content, place) in [
        ("[input]\nfliter = 'tcp'\n", ":2:1: unknown field `fliter`"),
        ("[pipeline]\nmemory = \"lots\"\n", ":2:10: `lots`"),
        ("[output\n", ":1:8: "),
    ] {
        std::fs::write(&file, content).unwrap();
        let output = flowpin(&["run", "-c", text(&file)]);
        let expected = format!("flowpin: {}{place}", file.display());
        assert_refused(&output, 2, &[&expected]);
    }
    let http = capture("http.pcapng");
    for (content, told) in [
        ("[scans]\nports = 0", ":2:9: `ports` must be more than 0"),
        (
            "[pipeline]\ncpus = '0,1000'",
            ":2:8: the list of processors",
        ),
        (
            "[parse]\nprotocols = ['finger']",
            ":2:13: there is no parser for `finger`",
        ),
        (
            "[input]\nfilter = 'tcp prot 80'",
            ":2:10: filter \"tcp prot 80\"",
        ),
        (
            "[identify]\npatterns = ['/none']",
            ":2:12: cannot read patterns",
        ),
        (
            "[parse]\ngrammars = ['/none']",
            ":2:12: /none: No such file",
        ),
        (
            "[parse]\nfix_dictionaries = ['/none']",
            ":2:20: /none: No such file",
        ),
    ] {
        std::fs::write(&file, content).unwrap();
        let output = flowpin(&["run", "-T", "-r", &http, "-c", text(&file)]);
        let expected = format!("flowpin: {}{told}", file.display());
        assert_refused(&output, 2, &[&expected]);
    }
    // An option is named where it has what the file has not.
    std::fs::write(&file, "[parse]\ngrammars = []\nfix_dictionaries = []").unwrap();
    for option in ["--grammar", "--fix-dictionary"] {
        let output = flowpin(&["run", "-T", "-r", &http, "-c", text(&file), option, "/nil"]);
        assert_refused(
            &output,
            2,
            &[&format!("flowpin: {option}: /nil: No such file")],
        );
    }
    std::fs::write(&file, "[input]\nfilter = 'udp'").unwrap();
    let filter = ["run", "-T", "-r", &http, "-c", text(&file), "tcp", "prot"];
    assert_refused(&flowpin(&filter), 2, &["flowpin: filter \"tcp prot\""]);
    let output = flowpin(&["run", "-c", "/does/not/exist.toml"]);
    assert_refused(&output, 2, &["/does/not/exist.toml"]);
}

/// What is named as settings, a grammar, patterns, a dictionary or a profile is read only if it is
/// a file of sane length: no device fills the memory, no pipe without a writer is waited for.
#[test]
fn files_of_settings_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let (long, pipe) = (dir.path().join("long"), dir.path().join("pipe"));
    std::fs::write(&long, vec![b'#'; (16 << 20) + 1]).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let http = capture("http.pcapng");
    for (path, part) in [
        ("/dev/zero", "a device"),
        (text(&pipe), "a named pipe"),
        (text(&long), "longer than 16 MiB"),
    ] {
        for words in [
            &["run", "-T", "-r", &http, "-c", path][..],
            &["run", "-T", "-r", &http, "--grammar", path],
            &["run", "-T", "-r", &http, "--patterns", path],
            &["run", "-T", "-r", &http, "--fix-dictionary", path],
            &["plan", "--gbps", "1", "--packet", "500", "--profile", path],
        ] {
            assert_refused(&flowpin(words), 2, &[path, part]);
        }
    }
}

/// Flags win over the file, the file over the defaults; what is printed can be used as a file.
#[test]
fn flags_win_over_the_file_and_what_is_printed_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("flowpin.toml");
    std::fs::write(&file, "[input]\ncount = 7\nfilter = 'udp'\n").unwrap();
    let first = flowpin(&["run", "-c", text(&file), "-n", "3", "--print-config"]);
    assert_eq!(code(&first), 0, "{}", stderr(&first));
    assert!(stdout(&first).contains("\ncount = 3\n"));
    assert!(stdout(&first).contains("\nfilter = \"udp\"\n"));
    std::fs::write(&file, stdout(&first)).unwrap();
    let again = flowpin(&["run", "-c", text(&file), "--print-config"]);
    assert_eq!(stdout(&again), stdout(&first));
}

/// A file of all settings, as printed, changes nothing: bodies are decoded where options ask for
/// their hashes.
#[test]
fn a_file_of_printed_settings_changes_no_hash() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("full.toml");
    std::fs::write(&file, stdout(&flowpin(&["run", "--print-config"]))).unwrap();
    let gzip = capture("http-go.pcap.gz");
    let run = ["run", "-q", "-r", &gzip, "--output", "-", "--hash", "md5"];
    let plain = flowpin(&run);
    assert!(stdout(&plain).contains("\"md5\":"), "{}", stderr(&plain));
    let with_file = flowpin(&[&run[..], &["-c", text(&file)]].concat());
    assert_eq!(stdout(&with_file), stdout(&plain));
}

/// What a file turns on, an option turns off.
#[test]
fn options_take_back_what_the_file_says() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("flowpin.toml");
    let settings = "[parse]\nenabled = false\nprotocols = ['http']\nall_fields = true\n\
        [files]\nmd5 = true\nextract = 'there'\n\
        [output]\ncsv_safe = true\nrotate_every = '1 h'\n";
    std::fs::write(&file, settings).unwrap();
    for (words, lines) in [
        (
            &["--all-fields=off", "--csv-safe=off"][..],
            &["all_fields = false", "csv_safe = false"][..],
        ),
        (&["--all-fields"], &["all_fields = true", "csv_safe = true"]),
        (&["--extract", ""], &["# extract = \"files\""]),
        (&["--hash", "sha1"], &["md5 = false", "sha1 = true"]),
        (&["--hash", "none"], &["md5 = false", "sha256 = false"]),
        (&["--parse", "on"], &["enabled = true", "protocols = []"]),
        (
            &["--rotate", "9 MiB"],
            &["# rotate_every = \"1 h\"", "rotate_size = \"9 MiB\""],
        ),
    ] {
        let args = [&["run", "-c", text(&file), "--print-config"], words].concat();
        let output = flowpin(&args);
        for line in lines {
            let found = stdout(&output).lines().any(|printed| printed == *line);
            assert!(found, "{words:?}: {line}: {}", stderr(&output));
        }
    }
    for words in [&["--all-fields=maybe"][..], &["--hash", "none,md5"]] {
        let output = flowpin(&[&["run", "--print-config"], words].concat());
        assert_eq!(code(&output), 2, "{words:?}");
    }
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

/// Completions and manual pages come from the same definition as the help.
#[test]
fn completions_and_manual_are_generated() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = flowpin(&["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("community-id"), "{shell}");
    }
    let dir = tempfile::tempdir().unwrap();
    let output = flowpin(&["man", text(dir.path())]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let page = std::fs::read_to_string(dir.path().join("flowpin-run.1")).unwrap();
    assert!(
        page.contains("EXIT") || page.contains("Exit codes"),
        "{page}"
    );
    assert!(dir.path().join("flowpin.1").exists());
    assert!(stdout(&flowpin(&["man"])).contains(".TH flowpin 1"));
}

/// A command's name prints its page and makes nothing; a word that is neither is refused; a path
/// with a slash is made.
#[test]
fn manual_of_a_command_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    let man = |word: &str| {
        let mut man = command(&["man", word]);
        man.current_dir(dir.path()).output().unwrap()
    };
    for (word, title) in [
        ("run", ".TH flowpin-run 1"),
        ("gen-http", ".TH flowpin-gen-http 1"),
        ("flowpin-slice", ".TH flowpin-slice 1"),
        ("flowpin", ".TH flowpin 1"),
    ] {
        let output = man(word);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(stdout(&output).contains(title), "{word}");
    }
    assert_refused(&man("rnu"), 2, &["`rnu` is neither a command"]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(code(&man("pages/")), 0);
    assert!(dir.path().join("pages/flowpin-run.1").exists());
}

/// A full standard output gives no advice about directories of logs that there are not.
#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_told_as_that() {
    let http = capture("http.pcapng");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let mut run = command(&["run", "-q", "-r", &http, "--output", "-"]);
    let output = run.stdout(full.unwrap()).output().unwrap();
    assert_refused(&output, 1, &["standard output", "where it goes"]);
    assert!(!stderr(&output).contains("another directory"));
}

/// The length of a body is told as it was sent, whether or not somebody decodes it.
#[test]
fn length_of_a_body_is_that_on_the_wire() {
    let http = capture("http.pcapng");
    let lengths = |more: &[&str]| -> Vec<u64> {
        let args = [&["run", "-q", "-r", &http, "--output", "-"], more].concat();
        let output = flowpin(&args);
        let lines = stdout(&output).lines();
        let events = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let of_http = events.filter(|event| event["event_type"] == "http");
        of_http
            .map(|event| event["http"]["length"].as_u64().unwrap())
            .collect()
    };
    let plain = lengths(&[]);
    assert!(plain.iter().any(|&len| len > 0));
    assert_eq!(lengths(&["--hash", "md5"]), plain);
}

/// Input that cannot be read: exit code 3, the path, nothing written.
#[test]
fn unreadable_input_is_one_line_with_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(empty.join("notes.txt"), "no capture").unwrap();
    let notes = empty.join("notes.txt");
    for path in ["/does/not/exist.pcap", text(&empty), text(&notes)] {
        let output = flowpin(&["run", "-r", path, "-l", text(&logs)]);
        assert_refused(&output, 3, &[path]);
        assert!(!logs.exists());
    }
    let output = flowpin(&["run", "-r", "/does/not/exist.pcap"]);
    assert_eq!(stderr(&output).matches("os error").count(), 1);
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

/// `-T` says that all is good, or what is not, and writes nothing.
#[test]
fn test_of_the_configuration_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let logs = dir.path().join("logs");
    let http = capture("http.pcapng");
    let output = flowpin(&["run", "-T", "-r", &http, "-l", text(&logs), "tcp"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("good"));
    assert!(!logs.exists());
    let output = flowpin(&["run", "-T", "-r", "/does/not/exist.pcap"]);
    assert_refused(&output, 3, &["/does/not/exist.pcap"]);
}

/// A grammar that could not do what is meant is refused at the start, or warned of: by file, line
/// and column, with a caret below the place.
#[test]
fn grammars_are_refused_where_they_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.l");
    let capture = capture("redis.pcap");
    let message = |name: &str| format!("%message {name} \"d\" {{\n a text\n}}\n%%\na ;\n");
    for (grammar, expected, end) in [
        (
            format!("%protocol redis\n%identify client \"(a\"\n{}", message("m")),
            [
                ":2:18: error: a group without its end",
                " 2 | %identify",
                "   |                  ^",
            ],
            2,
        ),
        (
            format!("%protocol redis\n{}", message("smtp")),
            [
                ":2:10: error: records named smtp already exist",
                " 2 | ",
                "   |          ^",
            ],
            2,
        ),
        (
            format!("%protocol redis\n{}", message("Files")),
            [
                ":2:10: error: records named Files already exist",
                " 2 | ",
                "   |          ^",
            ],
            2,
        ),
        (
            message("m"),
            [
                ":1:1: error: %protocol is missing: it names the protocol to parse",
                " 1 | ",
                "   | ^",
            ],
            2,
        ),
        (
            format!("%protocol nobody\n{}", message("m")),
            [
                ":1:11: warning: no rule identifies nobody: describe its first bytes by %identify",
                " 1 | %protocol nobody",
                "   |           ^",
            ],
            0,
        ),
        (
            format!("%protocol redis\n{}", message("redis")),
            ["", "", ""],
            0,
        ),
    ] {
        std::fs::write(&path, &grammar).unwrap();
        let args = [
            "run",
            "-q",
            "-r",
            &capture,
            "--grammar",
            text(&path),
            "--output",
            "-",
        ];
        let output = flowpin(&args);
        assert_eq!(code(&output), end, "{grammar}\n{}", stderr(&output));
        let told = stderr(&output);
        for part in expected {
            assert!(told.contains(part), "{part:?} in {told}");
        }
    }
}

/// A file and a folder without permission are named as that; the rest is analysed (exit code 4).
#[test]
#[cfg(target_os = "linux")]
fn what_may_not_be_opened_in_a_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let dir = tempfile::tempdir().unwrap();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let (file, folder) = (dir.path().join("locked.pcap"), dir.path().join("locked"));
    std::fs::copy(capture("http.pcapng"), dir.path().join("open.pcapng")).unwrap();
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir(&folder).unwrap();
    mode(dir.path(), 0o755);
    mode(&dir.path().join("open.pcapng"), 0o644);
    let words = [
        "run",
        "-r",
        text(dir.path()),
        "--format",
        "none",
        "-q",
        "--json",
    ];
    let mut run = command(&words);
    // Root may open everything, so somebody else must try: nobody.
    if std::fs::metadata("/proc/self")
        .unwrap()
        .permissions()
        .mode()
        > 0
        && std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
    {
        run.uid(65534);
    }
    for locked in [&file, &folder] {
        mode(locked, 0o000);
    }
    let outcome = run.output();
    mode(&folder, 0o755);
    let Ok(output) = outcome else {
        return println!("skipped: the program cannot be run as another user");
    };
    let told = stderr(&output);
    assert_eq!(code(&output), 4, "{told}");
    for name in ["locked.pcap", "locked"] {
        let path = dir.path().join(name);
        let line = format!("{}: cannot be opened: Permission denied", text(&path));
        assert!(told.contains(&line), "{told}");
        assert!(told.contains("; the other inputs are analysed"), "{told}");
    }
    assert!(!told.contains("at byte 0"), "{told}");
    // `-q` with `--json` is the summary alone.
    let summary: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    assert!(summary["traffic"]["packets"].as_u64().unwrap() > 0);
}
