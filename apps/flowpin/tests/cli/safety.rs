//! Files are safe: inputs, whatever else is there, and what an earlier run wrote.
//!
//! Each test names by its command line what a user, or somebody who can write into his folders,
//! may do. Nothing here may hang: whatever waits for its other end fails by the test's own hand.

use crate::program::{assert_refused, capture, code, command, flowpin, stderr, stdout, text};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a capture in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::copy(capture("http.pcapng"), place.path("a.pcap")).unwrap();
        place
    }

    fn path(&self, name: &str) -> String {
        text(&self.0.path().join(name)).to_owned()
    }

    /// The program, started in the folder.
    fn run(&self, args: &[&str]) -> Output {
        command(args).current_dir(&self.0).output().unwrap()
    }

    /// A line for the shell, in the folder; `flowpin` is the program.
    fn shell(&self, line: &str) -> Output {
        let script = format!(
            "flowpin() {{ {} \"$@\"; }}\n{line}",
            env!("CARGO_BIN_EXE_flowpin")
        );
        let mut shell = Command::new("bash");
        shell.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        shell.args(["-c", &script]).current_dir(&self.0);
        shell.output().unwrap()
    }

    /// All that is in the folder and below it, links as where they lead to.
    fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.0.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                let bytes = if kind.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else if kind.is_symlink() {
                    text(&fs::read_link(&path).unwrap()).into()
                } else if kind.is_file() {
                    fs::read(&path).unwrap()
                } else {
                    b"special".to_vec()
                };
                found.insert(text(&path).to_owned(), bytes);
            }
        }
        found
    }

    /// That a command is refused with one line, and changes nothing.
    #[track_caller]
    fn assert_untouched(&self, args: &[&str], parts: &[&str]) {
        let before = self.contents();
        assert_refused(&self.run(args), 2, parts);
        assert!(self.contents() == before, "{args:?} changed something");
    }

    fn fifo(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status();
        assert!(made.unwrap().success());
    }
}

/// The uid of a connection of the capture.
fn uid() -> String {
    let output = flowpin(&["run", "-r", &capture("http.pcapng"), "--output", "-", "-q"]);
    let first = stdout(&output).lines().next().unwrap();
    let record: serde_json::Value = serde_json::from_str(first).unwrap();
    record["flowpin"]["uid"].as_str().unwrap().to_owned()
}

/// An input is never written over: by its own name, a longer one, a link of either kind; among
/// several; out of a folder; with `--force` or without.
#[test]
fn a_slice_never_replaces_what_it_reads() {
    let place = Place::new();
    fs::create_dir(place.path("more")).unwrap();
    fs::copy(place.path("a.pcap"), place.path("more/b.pcap")).unwrap();
    fs::hard_link(place.path("a.pcap"), place.path("hard.pcap")).unwrap();
    symlink("a.pcap", place.path("soft.pcap")).unwrap();
    symlink("more", place.path("around")).unwrap();
    let uid = uid();
    for (read, written) in [
        ("a.pcap", "a.pcap"),
        ("a.pcap", "./a.pcap"),
        ("a.pcap", "more/../a.pcap"),
        ("a.pcap", "hard.pcap"),
        ("hard.pcap", "a.pcap"),
        ("a.pcap", "soft.pcap"),
        ("soft.pcap", "a.pcap"),
        ("more", "around/b.pcap"),
    ] {
        for chosen in [&["--uid", uid.as_str()][..], &["--filter", "tcp"]] {
            for force in [&[][..], &["--force"]] {
                let args = [&["slice", "-r", read, "-w", written], chosen, force].concat();
                place.assert_untouched(&args, &["read by this run"]);
            }
        }
    }
    let several = [
        "slice",
        "-r",
        "a.pcap",
        "-r",
        "more",
        "-w",
        "more/b.pcap",
        "--force",
        "tcp",
    ];
    place.assert_untouched(&several, &["read by this run"]);
}

/// Standard input and output count, and the files of settings that are read.
#[test]
fn redirected_files_and_settings_count_as_inputs() {
    let place = Place::new();
    for line in [
        "flowpin slice -r - -w a.pcap --force tcp < a.pcap",
        "flowpin slice -r a.pcap -w - tcp >> a.pcap",
        "flowpin slice -r a.pcap -w /dev/stdout tcp 1<> a.pcap",
        "flowpin run -r a.pcap --output - >> a.pcap",
        "flowpin identify -r a.pcap --format csv >> a.pcap",
        "flowpin run -r - --output - < a.pcap >> a.pcap",
        "flowpin run -r - --output - < a.pcap 1<> a.pcap",
        "ln -f a.pcap b.pcap; flowpin run -r /dev/stdin --output - < b.pcap >> a.pcap",
        "flowpin run -r a.pcap --output - < a.pcap >> a.pcap",
        "flowpin run -r - --format none --json < a.pcap >> a.pcap",
        "flowpin identify -r - < a.pcap >> a.pcap",
        "flowpin slice -r - -w - tcp < a.pcap >> a.pcap",
        "flowpin gen replicate -r - -n 2 -w - < a.pcap >> a.pcap",
        "flowpin gen replicate -r - -n 2 -w a.pcap --force < a.pcap",
        "mkdir in; ln a.pcap in/eve.json; flowpin run -r - -l in --force < a.pcap",
    ] {
        let before = fs::read(place.path("a.pcap")).unwrap();
        assert_refused(&place.shell(line), 2, &["read by this run"]);
        assert_eq!(fs::read(place.path("a.pcap")).unwrap(), before, "{line}");
    }
    // What is not read may be written: many things are started with one file for both.
    let line = "touch log; flowpin run -r a.pcap --format none < log >> log";
    assert_eq!(code(&place.shell(line)), 0);
    let place = Place::new();
    fs::write(place.path("eve.json"), "[streams]\nenabled = true\n").unwrap();
    let settings = ["run", "-r", "a.pcap", "-c", "eve.json", "--force"];
    place.assert_untouched(&settings, &["eve.json", "read by this run"]);
    fs::write(place.path("dns.csv"), "%protocol x\n").unwrap();
    fs::create_dir(place.path("patterns")).unwrap();
    fs::write(place.path("patterns/one.pat"), "one\n^one\n").unwrap();
    fs::hard_link(place.path("patterns/one.pat"), place.path("conn.log")).unwrap();
    let args = ["--patterns", "patterns", "--format", "zeek", "--force"];
    let args = [&["run", "-r", "a.pcap"][..], &args].concat();
    place.assert_untouched(&args, &["conn.log", "one.pat"]);
}

/// A capture called like a log, in the folder for logs, in whatever shape; and one where extracted
/// files go.
#[test]
fn a_capture_named_like_an_output_is_spared() {
    let place = Place::new();
    for name in ["eve.json", "conn.log", "http-000001.csv", "dns.parquet"] {
        fs::copy(place.path("a.pcap"), place.path(name)).unwrap();
        for shape in ["1x1", "1x2", "2x2", "3x2"] {
            for read in [name, "."] {
                let formats = "eve,zeek,csv,parquet";
                let args = ["run", "-r", read, "--format", formats, "--pipeline", shape];
                place.assert_untouched(&[&args[..], &["--force"]].concat(), &[name]);
            }
        }
        fs::remove_file(place.path(name)).unwrap();
    }
    fs::create_dir(place.path("files")).unwrap();
    let name = format!("files/{}-0-response", uid());
    fs::rename(place.path("a.pcap"), place.path(&name)).unwrap();
    let args = [
        "run",
        "-r",
        &name,
        "-l",
        "logs",
        "--extract",
        "files",
        "--force",
    ];
    place.assert_untouched(&args, &["read by this run"]);
}

/// Traces: over what they are made of, and over anything that is there.
#[test]
fn gen_and_profile_replace_nothing_without_force() {
    let place = Place::new();
    let replicate = [
        "gen",
        "replicate",
        "-r",
        "a.pcap",
        "-n",
        "2",
        "-w",
        "a.pcap",
        "--force",
    ];
    place.assert_untouched(&replicate, &["read by this run"]);
    let profile = ["profile", "-r", "a.pcap", "--save", "a.pcap", "--force"];
    place.assert_untouched(&profile, &["read by this run"]);
    let dns = ["gen", "dns", "--connections", "9", "-w", "new.pcap"];
    assert_eq!(code(&place.run(&dns)), 0);
    let first = place.contents();
    place.assert_untouched(&dns, &["new.pcap", "--force"]);
    fs::remove_file(place.path("new.pcap")).unwrap();
    // The truth is left: nothing is made beside it.
    place.assert_untouched(&dns, &["new.truth.json", "--force"]);
    let again = [&dns[..], &["--force"]].concat();
    assert_eq!(code(&place.run(&again)), 0);
    assert!(place.contents() == first);
    let both = ["gen", "dns", "-w", "x.pcap", "--truth", "x.pcap", "--force"];
    assert_refused(&place.run(&both), 2, &["x.pcap"]);
    place.assert_untouched(
        &["profile", "-r", "a.pcap", "--svg", "new.pcap"],
        &["--force"],
    );
}

/// Whatever is no regular file where an output goes: one line at once, nobody waits, no link is
/// followed.
#[test]
fn links_and_pipes_in_the_way_are_refused() {
    let place = Place::new();
    fs::write(place.path("victim"), "mine").unwrap();
    fs::create_dir(place.path("logs")).unwrap();
    fs::create_dir(place.path("files")).unwrap();
    let file = format!("files/{}-0-response", uid());
    let stream = "logs/010.091.002.002.00080-010.091.001.002.41001";
    let run = ["run", "-r", "a.pcap", "-l", "logs"];
    let cases: [(&str, &[&str]); 6] = [
        ("logs/eve.json", &run),
        ("logs/scan.csv", &[&run[..], &["--format", "csv"]].concat()),
        (
            &file,
            &["run", "-r", "a.pcap", "-l", "new", "--extract", "files"],
        ),
        (stream, &["streams", "-r", "a.pcap", "-w", "logs"]),
        (
            "logs/x.pcap",
            &[
                "slice",
                "-r",
                "a.pcap",
                "-w",
                "logs/x.pcap",
                "--filter",
                "tcp",
            ],
        ),
        ("logs/x", &["gen", "dns", "--no-truth", "-w", "logs/x"]),
    ];
    for (name, args) in cases {
        for replace in [true, false] {
            let args = if replace {
                [args, &["--force"]].concat()
            } else {
                args.to_vec()
            };
            let plants: [(&str, &dyn Fn()); 4] = [
                ("a named pipe", &|| place.fifo(name)),
                ("a symbolic link", &|| {
                    symlink("../victim", place.path(name)).unwrap()
                }),
                ("a symbolic link", &|| {
                    symlink("../none", place.path(name)).unwrap()
                }),
                ("a directory", &|| fs::create_dir(place.path(name)).unwrap()),
            ];
            for (what, plant) in plants {
                plant();
                place.assert_untouched(&args, &[what]);
                let _ = fs::remove_file(place.path(name));
                let _ = fs::remove_dir(place.path(name));
            }
        }
    }
    assert_eq!(fs::read(place.path("victim")).unwrap(), b"mine");
}

/// The folder for compiled rules: a pipe there keeps nobody waiting, a capture there is no old set.
#[test]
fn the_cache_replaces_only_its_own() {
    let place = Place::new();
    fs::create_dir(place.path("cache")).unwrap();
    let settings = "[identify]\ncache = \"cache\"\n";
    fs::write(place.path("s.toml"), settings).unwrap();
    let words = ["identify", "--totals", "-c", "s.toml", "-r"];
    let identify = |read: &str| place.run(&[&words[..], &[read]].concat());
    place.fifo("cache/protocols");
    assert_eq!(code(&identify("a.pcap")), 0);
    fs::remove_file(place.path("cache/protocols")).unwrap();
    fs::rename(place.path("a.pcap"), place.path("cache/protocols")).unwrap();
    let before = place.contents();
    assert_eq!(code(&identify("cache/protocols")), 0);
    assert!(place.contents() == before);
}

/// What the user names in `/dev` is written to; `-w -` and its other names are standard output.
#[test]
fn devices_and_descriptors_can_be_named() {
    let place = Place::new();
    for line in [
        "flowpin slice -r a.pcap -w /dev/null tcp",
        "flowpin gen dns --connections 9 -w /dev/null",
    ] {
        let before = place.contents();
        let output = place.shell(line);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(place.contents() == before, "{line}");
    }
    let piped = place.shell("flowpin slice -r a.pcap -w - tcp").stdout;
    assert!(piped.starts_with(&0x0a0d_0d0a_u32.to_le_bytes()));
    for line in [
        "flowpin slice -r a.pcap -w /dev/stdout tcp",
        "flowpin slice -r a.pcap -w /dev/stdout tcp > b; cat b",
        "exec 3>&1; flowpin slice -r a.pcap -w >(cat >&3) tcp >/dev/null; wait $!",
    ] {
        let output = place.shell(line);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(output.stdout == piped, "{line}");
    }
}

/// Two outputs of a command are never one file: by whatever names, standard output included, and
/// where it is a pipe, too.
#[test]
fn two_outputs_are_never_one_file() {
    let place = Place::new();
    let gen_dns = "flowpin gen dns --connections 9";
    let trace = place.shell(&format!("{gen_dns} --no-truth -w -")).stdout;
    fs::write(place.path("old"), "old").unwrap();
    fs::hard_link(place.path("old"), place.path("linked")).unwrap();
    for line in [
        format!("{gen_dns} -w - --truth /dev/stdout > zz"),
        format!("{gen_dns} -w - --truth /dev/fd/1 | cat > zz"),
        format!("{gen_dns} -w - --truth /dev/fd/3 3>&1 | cat > zz"),
        format!("{gen_dns} -w - --truth ./zz --force > zz"),
        format!("{gen_dns} -w ./zz --no-truth --force > zz"),
        format!("{gen_dns} -w /dev/fd/3 --truth /dev/fd/4 3> zz 4>> zz"),
        format!("{gen_dns} -w old --truth linked --force; touch zz"),
        format!("{gen_dns} -w new --truth ./new; touch zz"),
        "flowpin slice -r a.pcap -w zz --force tcp > zz".to_owned(),
        "flowpin profile -r a.pcap --save new --svg ./new; touch zz".to_owned(),
        "flowpin profile -r a.pcap --save zz --force > zz".to_owned(),
        "flowpin profile -r a.pcap --save - --svg - > zz".to_owned(),
        "mkdir l; flowpin run -r a.pcap -l l --force --json > l/eve.json; r=$?; mv l/eve.json zz; \
         rmdir l; (exit $r)"
            .to_owned(),
    ] {
        let output = place.shell(&format!("set -o pipefail; {line}"));
        let told = stderr(&output);
        assert!(
            told.contains("written by this run already"),
            "{line}: {told}"
        );
        assert_eq!(told.lines().count(), 1, "{line}: {told}");
        let has_code = line.contains("touch") || code(&output) == 2;
        assert!(has_code, "{line}: {}", code(&output));
        assert_eq!(fs::read(place.path("zz")).unwrap(), b"", "{line}");
        fs::remove_file(place.path("zz")).unwrap();
        assert!(!Path::new(&place.path("new")).exists(), "{line}");
    }
    // One that is another file gets what is its own.
    let both = place.shell(&format!("{gen_dns} -w - --truth t"));
    assert_eq!(code(&both), 0, "{}", stderr(&both));
    assert!(both.stdout == trace);
    let truth = place.shell(&format!("{gen_dns} -w x.pcap --truth -"));
    assert_eq!(code(&truth), 0, "{}", stderr(&truth));
    assert!(truth.stdout == fs::read(place.path("t")).unwrap());
    let none = format!("{gen_dns} -w /dev/null --truth /dev/null > /dev/null");
    assert_eq!(code(&place.shell(&none)), 0);
}

/// An input is not changed through a descriptor or standard output either.
#[test]
fn inputs_are_not_written_by_descriptors() {
    let place = Place::new();
    fs::write(place.path("c.toml"), "[input]\ncount = 5\n").unwrap();
    let profile = place.shell("flowpin profile -r a.pcap --cores 1 --save p.json -n 50");
    assert_eq!(code(&profile), 0, "{}", stderr(&profile));
    for line in [
        "run -c c.toml --print-config >> c.toml",
        "run -c c.toml --print-config 1<> c.toml",
        "run -r a.pcap --print-config >> a.pcap",
        "run -c c.toml -r a.pcap -T >> c.toml",
        "run -c c.toml -r a.pcap -T >> a.pcap",
        "plan --gbps 1 --packet 500 --profile p.json 1<> p.json",
        "plan --gbps 1 --packet 500 --profile p.json --json >> p.json",
        "slice -r a.pcap -w /dev/fd/9 9<> a.pcap tcp",
        "gen replicate -r a.pcap -n 2 -w /dev/fd/9 9<> a.pcap",
        "gen replicate -r a.pcap -n 2 -w /proc/self/fd/9 9>> a.pcap",
    ] {
        let before = place.contents();
        let output = place.shell(&format!("flowpin {line}"));
        assert_refused(&output, 2, &["read by this run"]);
        assert!(place.contents() == before, "{line} changed something");
    }
}

/// What is printed into a standard output that was closed is lost, and that is no success.
#[test]
#[cfg(target_os = "linux")]
fn a_closed_standard_output_is_an_error() {
    let place = Place::new();
    for line in [
        "run -r a.pcap --output - -q",
        "run -r a.pcap --format none",
        "identify -r a.pcap",
        "slice -r a.pcap -w - tcp",
        "gen dns --connections 9 -w -",
        "--version",
    ] {
        let output = place.shell(&format!("flowpin {line} >&-"));
        assert_refused(&output, 1, &["standard output", "closed"]);
        let output = place.shell(&format!("flowpin {line} > /dev/null"));
        assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
    }
    let quiet = place.shell("flowpin run -r a.pcap -l logs -q >&-");
    assert_eq!(code(&quiet), 0, "{}", stderr(&quiet));
}

/// A small limit of the stack is none of the command's.
#[test]
#[cfg(target_os = "linux")]
fn a_small_stack_is_enough() {
    let place = Place::new();
    for line in [
        "run -r a.pcap --format none -q",
        "identify -r a.pcap",
        "--help",
    ] {
        let output = place.shell(&format!("ulimit -s 128; flowpin {line}"));
        assert_eq!(code(&output), 0, "{line}: {}", stderr(&output));
    }
}

/// A second run into the same folder is refused and says what to do; `--force` replaces all of the
/// run before, and the summary says so.
#[test]
fn an_earlier_runs_logs_are_not_replaced_without_a_word() {
    let place = Place::new();
    let zeek = ["run", "-r", "a.pcap", "-l", "logs", "--format", "zeek"];
    assert_eq!(code(&place.run(&zeek)), 0);
    assert!(Path::new(&place.path("logs/http.log")).exists());
    for second in ["zeek", "eve", "parquet,csv"] {
        let again = ["run", "-r", "a.pcap", "-l", "logs", "--format", second];
        place.assert_untouched(&again, &["logs/conn.log", "--force"]);
    }
    let udp = [&zeek[..], &["--force", "--json", "udp port 9"]].concat();
    let output = place.run(&udp);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let left: Vec<_> = fs::read_dir(place.path("logs")).unwrap().collect();
    assert_eq!(left.len(), 1, "http.log is of the run before: {left:?}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let replaced = summary["replaced"].as_array().unwrap();
    assert!(replaced.contains(&"logs/http.log".into()), "{replaced:?}");
    let page = place.run(&["run", "-r", "a.pcap", "-l", "logs", "--force"]);
    assert_eq!(code(&page), 0, "{}", stderr(&page));
    assert!(
        stdout(&page).contains("left 1 log of an earlier run"),
        "{}",
        stdout(&page)
    );
    let streams = ["run", "-r", "a.pcap", "-l", "new", "--extract", "files"];
    assert_eq!(code(&place.run(&streams)), 0);
    fs::remove_dir_all(place.path("new")).unwrap();
    place.assert_untouched(&streams, &["files/", "--force"]);
    assert_eq!(code(&place.run(&[&streams[..], &["--force"]].concat())), 0);
}

/// An existing file is replaced by a slice only with `--force`; where nothing is found, or nothing
/// can be written, there is no file.
#[test]
fn a_failed_slice_leaves_no_file() {
    let place = Place::new();
    fs::write(place.path("old.pcap"), "old").unwrap();
    let slice = |out: &str, more: &[&str]| {
        place.run(&[&["slice", "-r", "a.pcap", "-w", out], more].concat())
    };
    assert_refused(&slice("old.pcap", &["tcp"]), 2, &["old.pcap", "--force"]);
    assert_refused(&slice("none.pcap", &["udp port 9"]), 1, &["no packet"]);
    assert_refused(
        &slice("none", &["--uid", "C00000000001"]),
        1,
        &["no packet"],
    );
    // Nothing takes the place of the old one either.
    assert_refused(
        &slice("old.pcap", &["--force", "udp port 9"]),
        1,
        &["no packet"],
    );
    assert_eq!(fs::read(place.path("old.pcap")).unwrap(), b"old");
    assert_eq!(code(&slice("old.pcap", &["--force", "tcp"])), 0);
    assert_eq!(place.contents().len(), 2);
    assert_refused(&slice("no/such/x.pcap", &["tcp"]), 1, &["no/such/x.pcap"]);
}

/// A limit of the file's size is an error with whole lines and whole packets, as a full disk is.
#[test]
fn a_limit_of_the_file_size_leaves_whole_records() {
    let place = Place::new();
    let lab = capture("lab-day.pcapng");
    for shape in ["1x1", "1x2", "2x2", "3x1"] {
        let line = format!("ulimit -f 16; flowpin run -r {lab} -l {shape} --pipeline {shape}");
        assert_refused(&place.shell(&line), 1, &["eve.json", "ulimit -f"]);
        let eve = fs::read(place.path(&format!("{shape}/eve.json"))).unwrap();
        assert!(eve.is_empty() || eve.ends_with(b"\n"));
        assert!(eve.len() > 10_000);
    }
    let slice = format!("ulimit -f 16; flowpin slice -r {lab} -w x.pcap tcp");
    assert_refused(&place.shell(&slice), 1, &["x.pcap", "nothing is kept"]);
    assert!(!Path::new(&place.path("x.pcap")).exists());
    let trace = "ulimit -f 16; flowpin gen http --connections 99 -w y.pcap";
    assert_refused(&place.shell(trace), 1, &["too large"]);
    assert!(!Path::new(&place.path("y.pcap")).exists());
}

/// Who reads standard output leaves: success, and the summary does not claim the whole.
#[test]
fn a_reader_that_leaves_is_told_in_the_summary() {
    let place = Place::new();
    let all = capture("");
    for shape in ["1x1", "1x2", "2x2", "3x2"] {
        let line = format!(
            "set -o pipefail; flowpin run -r {all} --output - --json --pipeline {shape} 2>summary \
             | head -n 1"
        );
        let output = place.shell(&line);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 1);
        let summary = fs::read_to_string(place.path("summary")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["stopped_early"], true, "{shape}");
        assert_eq!(summary["conservation"]["missing"], 0);
    }
}
