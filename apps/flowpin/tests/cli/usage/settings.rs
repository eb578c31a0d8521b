//! Settings from files: what is wrong in them, and what wins over them.

use crate::program::{assert_refused, capture, code, flowpin, stderr, stdout, text};

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

/// A grammar's files are in the folder for logs, and no other log's.
#[test]
fn a_grammar_writes_into_the_folder_for_logs_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (path, logs) = (folder.path().join("g.l"), folder.path().join("logs"));
    let capture = capture("redis.pcap");
    for (stem, expected) in [
        ("../x", ":2:17: error: a name of files is of letters"),
        (".x", ":2:17: error: a name of files is of letters"),
        ("Conn", ":2:17: error: files named Conn already exist"),
        ("weird", ":2:17: error: files named weird already exist"),
    ] {
        let grammar =
            format!("%protocol redis\n%message m file \"{stem}\" \"d\" {{\n a text\n}}\n%%\na ;\n");
        std::fs::write(&path, grammar).unwrap();
        let (grammar, logs) = (text(&path), text(&logs));
        let output = flowpin(&["run", "-r", &capture, "--grammar", grammar, "-l", logs]);
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
