//! What a failure leaves, and what it says: files of before, damaged inputs, folders that are none.

use crate::program::{assert_refused, capture, code, command, stderr, text};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a capture, one that is cut within a packet, and a file `old`.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let whole = fs::read(capture("http.pcapng")).unwrap();
    fs::write(place.path().join("cut.pcapng"), &whole[..3000]).unwrap();
    fs::write(place.path().join("a.pcapng"), whole).unwrap();
    fs::write(place.path().join("old"), "old").unwrap();
    place
}

fn run(place: &TempDir, words: &str) -> Output {
    let words: Vec<_> = words.split(' ').collect();
    command(&words).current_dir(place).output().unwrap()
}

fn shell(place: &TempDir, line: &str) -> Output {
    let script = format!(
        "flowpin() {{ {} \"$@\"; }}\n{line}",
        env!("CARGO_BIN_EXE_flowpin")
    );
    let mut shell = Command::new("bash");
    shell.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    let shell = shell.args(["-c", &script]).current_dir(place);
    shell.output().unwrap()
}

/// `--force` replaces by what is whole, and by nothing else.
#[test]
fn a_failure_leaves_what_force_would_replace() {
    let place = place();
    let names = || fs::read_dir(&place).unwrap().count();
    let before = names();
    for (line, exit) in [
        ("gen replicate -r missing -n 2 -w old --force", 3),
        ("gen replicate -r old -n 2 -w new --force", 3),
        ("slice -r missing -w old --force tcp", 3),
        ("profile -r missing --save old --force", 3),
    ] {
        assert_refused(&run(&place, line), exit, &[]);
        assert_eq!(
            fs::read(place.path().join("old")).unwrap(),
            b"old",
            "{line}"
        );
        assert_eq!(names(), before, "{line}");
    }
    let lab = capture("lab-day.pcapng");
    for line in [
        "flowpin gen http --connections 99 --no-truth -w old --force".to_owned(),
        format!("flowpin gen replicate -r {lab} -n 2 -w old --force"),
        format!("flowpin slice -r {lab} -w old --force tcp"),
    ] {
        let output = shell(&place, &format!("ulimit -f 16; {line}"));
        assert_refused(&output, 1, &["cannot write old", "too large"]);
        assert_eq!(
            fs::read(place.path().join("old")).unwrap(),
            b"old",
            "{line}"
        );
        assert_eq!(names(), before, "{line}");
    }
    let done = run(&place, "gen replicate -r a.pcapng -n 2 -w old --force");
    assert_eq!(code(&done), 0, "{}", stderr(&done));
    assert_eq!(names(), before);
    assert!(fs::read(place.path().join("old")).unwrap().len() > 1000);
    // One file is not the capture and the truth about it, whatever was there.
    let both = "gen dns -w old --truth old --force";
    assert_refused(&run(&place, both), 2, &["old"]);
}

/// Whoever goes on with what came before the damage says so, and ends with 4.
#[test]
fn damage_is_told_by_all_that_read() {
    let place = place();
    for line in [
        "gen replicate -r cut.pcapng -n 2 -w new",
        "slice -r cut.pcapng -w sliced tcp",
        "run -r cut.pcapng -l logs -q",
    ] {
        let parts = [
            "cut.pcapng: damaged at byte 2996",
            "inside a block; everything before it is",
        ];
        assert_refused(&run(&place, line), 4, &parts);
    }
}

/// A capture that ends within its header has nothing before that.
#[test]
fn a_cut_header_is_no_capture() {
    let place = place();
    let made = run(&place, "gen dns --connections 9 --no-truth -w whole.pcap");
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let whole = fs::read(place.path().join("whole.pcap")).unwrap();
    fs::create_dir(place.path().join("folder")).unwrap();
    fs::write(place.path().join("folder/head"), &whole[..23]).unwrap();
    let named = run(&place, "run -r folder/head -l logs -q");
    assert_refused(&named, 3, &["not a capture", "inside its header"]);
    fs::write(place.path().join("folder/whole"), &whole).unwrap();
    let found = run(&place, "run -r folder -l logs -q");
    assert_refused(&found, 4, &["folder/head: cannot be opened"]);
    let parts = ["folder/head: cannot be opened"];
    assert_refused(&run(&place, "slice -r folder -w x udp"), 4, &parts);
}

/// An entry that cannot be opened makes no pipe of a folder: two passes go over the rest.
#[test]
fn a_slice_by_uid_passes_over_what_cannot_be_opened() {
    let place = place();
    let list = run(&place, "run -r a.pcapng --output - -q").stdout;
    let first = list.split(|&byte| byte == b'\n').next().unwrap();
    let record: serde_json::Value = serde_json::from_slice(first).unwrap();
    let uid = record["flowpin"]["uid"].as_str().unwrap().to_owned();
    let folder = place.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::rename(place.path().join("a.pcapng"), folder.join("a.pcapng")).unwrap();
    // Nobody may read it, root included.
    symlink("nowhere", folder.join("b.pcapng")).unwrap();
    let sliced = run(&place, &format!("slice -r folder -w new --uid {uid}"));
    assert_refused(&sliced, 4, &["folder/b.pcapng: cannot be opened"]);
    assert!(place.path().join("new").exists());
}

/// What is no folder is told before any input is waited for.
#[test]
fn folders_are_looked_at_first() {
    let place = place();
    symlink("nowhere", place.path().join("dangling")).unwrap();
    let pipe = place.path().join("pipe");
    let made = Command::new("mkfifo").args([text(&pipe)]).status();
    assert!(made.unwrap().success());
    for (path, what) in [
        ("old", "a file"),
        ("old/below", "old is a file"),
        ("dangling", "a symbolic link that leads to nothing"),
        ("pipe", "a named pipe"),
        ("/dev/null", "a device"),
    ] {
        // Nothing ever comes through this input.
        for line in [
            format!("run -l {path}"),
            format!("run -l {path} --force"),
            format!("run -l new --extract {path}"),
            format!("streams -w {path}"),
        ] {
            let line = format!("timeout 20 {} {line}", env!("CARGO_BIN_EXE_flowpin"));
            let output = shell(
                &place,
                &format!("mkfifo in; {line} -r - <> in; r=$?; rm in; exit $r"),
            );
            assert_refused(&output, 2, &[what, "choose another directory"]);
        }
    }
    assert!(!place.path().join("new").exists());
}

/// A file of patterns that is named is wanted.
#[test]
fn a_named_file_of_patterns_must_be_readable() {
    let place = place();
    let line = "run -r a.pcapng -l logs --patterns /dev/zero";
    assert_refused(
        &run(&place, line),
        2,
        &["cannot read patterns from /dev/zero"],
    );
    assert!(!place.path().join("logs").exists());
}

/// Where it cannot be written, and what to do.
#[test]
fn a_full_disk_is_told_with_its_path() {
    let place = place();
    let full = run(&place, "gen dns --no-truth -w /dev/full");
    assert_refused(&full, 1, &["cannot write /dev/full", "free some space"]);
    let few = shell(&place, "ulimit -n 5; flowpin run -r a.pcapng -l logs");
    assert_refused(&few, 1, &["open files", "ulimit -n"]);
}

/// A disk that is full amid the run ends it in every shape: no thread waits for the room of records
/// that will never be written.
#[test]
fn a_run_over_a_full_disk_ends_in_every_shape() {
    let place = place();
    let made = run(&place, "gen dns --packets 80000 --no-truth -w dns.pcap");
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    for shape in ["1x2", "1x3", "2x2", "3x3"] {
        for kib in [512, 4096] {
            let flowpin = env!("CARGO_BIN_EXE_flowpin");
            let run = format!("run -q -r dns.pcap -l full --force --pipeline {shape}");
            let line = format!("ulimit -f {kib}; timeout 100 {flowpin} {run}");
            let full = shell(&place, &line);
            assert_refused(&full, 1, &["eve.json", "too large"]);
        }
    }
}

/// What a run reads is never written, and settings that are wrong destroy nothing, even with
/// `--force`.
#[test]
fn rules_lists_and_older_files_are_spared() {
    let place = place();
    let sets = place.path().join("sets");
    fs::create_dir(&sets).unwrap();
    let rule = "alert dns any any -> any any (dns.query; \
                dataset:isset,x,type string,load eve.json; sid:1;)\n";
    for (name, text) in [
        ("my.rules", "alert ip any any -> any any (sid:1;)\n"),
        ("list", "www.lab.test\n"),
        ("all.yaml", "rule-files:\n  - my.rules\n"),
        ("sets/r.rules", rule),
        ("sets/eve.json", "d3d3\n"),
        (
            "sets/classification.config",
            "config classification: a,b,1\n",
        ),
        ("none", ""),
        ("hosts.yaml", "host-os-policy:\n  windows: [0.0.0.0/0]\n"),
        (
            "twice.yaml",
            "host-os-policy: {bsd: ['::/0'], irix: ['::/0']}\n",
        ),
        ("broken.yaml", "vars: [\n"),
    ] {
        fs::write(place.path().join(name), text).unwrap();
    }
    let all = || {
        let read = |folder: &Path| {
            let entries = fs::read_dir(folder).unwrap().map(|one| one.unwrap().path());
            let files = entries.filter(|path| path.is_file());
            files
                .map(|path| (path.clone(), fs::read(path).unwrap()))
                .collect::<Vec<_>>()
        };
        let mut found = [read(place.path()), read(&sets)].concat();
        found.sort();
        found
    };
    let before = all();
    for line in [
        "-l o -S my.rules --stats my.rules",
        "-l o -S my.rules --record-if alert -w my.rules",
        "-l o -S all.yaml --stats all.yaml",
        "-l o -S all.yaml --stats my.rules",
        "-l o --indicators list --stats list",
        "-l o -S sets --stats sets/classification.config",
        "-l sets -S sets",
        "-l o --roots none --stats none",
        "-l o --roots none --stats old",
        "-l o --roots none --record-if anomaly -w old",
        "-l o --fix-dictionary none --stats old",
        "-l o --patterns missing --stats old",
        "-l o --suricata-yaml hosts.yaml --stats hosts.yaml",
        "-l o --suricata-yaml hosts.yaml --record-if anomaly -w hosts.yaml",
        "-l o --suricata-yaml missing --stats old",
        "-l o --suricata-yaml twice.yaml --stats old",
        "-l o --suricata-yaml broken.yaml --stats old",
        "-l o --reputation none --stats old",
        "-l o --alert-xff overwrite --stats old",
    ] {
        let refused = run(&place, &format!("run -q -r a.pcapng --force {line}"));
        assert_refused(&refused, 2, &[]);
        assert!(all() == before, "{line}");
    }
}

/// A limit of address space that others live with is enough, whatever the shape; one that is not is
/// named once, with what to do.
#[test]
#[cfg(target_os = "linux")]
fn address_space_is_reserved_as_it_is_needed() {
    let place = place();
    let line = "flowpin run -r a.pcapng --format none -q --pipeline";
    for (limit, shape) in [("2000000", "1x1"), ("4000000", "3x3")] {
        let enough = shell(&place, &format!("ulimit -v {limit}; {line} {shape}"));
        assert_eq!(code(&enough), 0, "{shape}: {}", stderr(&enough));
    }
    let few = shell(&place, &format!("ulimit -v 150000; {line} 1x1"));
    assert_refused(&few, 1, &["ulimit -v", "--memory"]);
    let said = stderr(&few);
    for part in ["ulimit -v", "--memory"] {
        assert_eq!(said.matches(part).count(), 1, "{said}");
    }
}

/// Programs that nest deeply are read, as compilers do: 6,000 branches of one `if`.
#[test]
fn deep_programs_are_read() {
    let place = place();
    let branches = (0..6000).map(|number| format!("if(x=={number}) g++;"));
    let branches = branches.collect::<Vec<_>>().join(" else ");
    let text =
        format!("int g;\nint f(int x) {{ {branches} return 0; }}\nint main() {{ return 0; }}\n");
    fs::write(place.path().join("deep.c"), text).unwrap();
    let output = run(&place, "cc report deep.c");
    if stderr(&output).contains("libclang") {
        return flowpin_testkit::corpus::skip("deep.c", "needs libclang");
    }
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

/// Macros that hold each other double with each level, and libclang does not stop: the command
/// does, and says in words which source it was at.
#[test]
fn a_program_that_cannot_be_read_to_its_end_is_given_up() {
    let place = place();
    let levels: String = (1..60)
        .map(|level| format!("#define A{level} A{0} A{0}\n", level - 1))
        .collect();
    let source = format!("#define A0 x++;\n{levels}int x;\nint main(void) {{ A59 return x; }}\n");
    fs::write(place.path().join("grows.c"), source).unwrap();
    let output = run(&place, "cc report --time-limit 1 grows.c");
    let said = stderr(&output);
    if said.contains("libclang") && !said.contains("time-limit") {
        println!("skipped: libclang of at least 19.1 is not installed");
        return;
    }
    assert_eq!(code(&output), 1, "{said}");
    let words = "grows.c: not done after 1 s (--time-limit): macros that hold each other";
    assert!(said.contains(words), "{said}");
    assert!(output.stdout.is_empty());
}
