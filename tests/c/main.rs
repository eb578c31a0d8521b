//! The C library: built as the test's own profile builds, and used by C programs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop here"
)]
#![cfg(target_os = "linux")]

use flowpin_testkit::corpus::workspace;
use flowpin_testkit::product;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a static library needs besides (`rustc --print native-static-libs`).
const STATIC: [&str; 7] = [
    "-lpcap",
    "-lgcc_s",
    "-lutil",
    "-lrt",
    "-lpthread",
    "-lm",
    "-ldl",
];

/// The library as it is installed, and a place for programs.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let built = built();
        let place = |name: &str| folder.path().join(name);
        fs::hard_link(built.join("libflowpin_c.a"), place("libflowpin.a")).unwrap();
        let linked = Command::new(workspace().join("packaging/shared-library"))
            .args([place("libflowpin.a"), place("libflowpin.so.1")])
            .output();
        succeeded(linked.unwrap(), "packaging/shared-library");
        symlink("libflowpin.so.1", place("libflowpin.so")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles a program; none if this compiler, or what the options need, is not here.
    fn compile(
        &self,
        compiler: &str,
        source: &Path,
        name: &str,
        options: &[&str],
    ) -> Option<PathBuf> {
        let program = self.path(name);
        let folder = self.folder.path().display();
        let is_static = options.contains(&"-static-flowpin");
        let libraries = match is_static {
            true => vec![self.path("libflowpin.a").display().to_string()],
            false => vec![
                format!("-L{folder}"),
                format!("-Wl,-rpath,{folder}"),
                "-lflowpin".to_owned(),
            ],
        };
        let done = Command::new(compiler)
            .args(["-std=c11", "-D_GNU_SOURCE", "-g", "-O1", "-pedantic"])
            .args(["-Wall", "-Wextra", "-Werror"])
            .args(
                options
                    .iter()
                    .filter(|option| **option != "-static-flowpin"),
            )
            .arg(format!("-I{}", sources().join("include").display()))
            .arg(source)
            .arg("-o")
            .arg(&program)
            .args(libraries)
            .args(is_static.then_some(STATIC).into_iter().flatten())
            .output();
        match done {
            Err(error) => {
                eprintln!("skipped: no {compiler} ({error})");
                None
            }
            Ok(done) => {
                let text = String::from_utf8_lossy(&done.stderr).into_owned();
                assert!(done.status.success(), "{compiler} {options:?}: {text}");
                Some(program)
            }
        }
    }
}

fn sources() -> PathBuf {
    workspace().join("bindings/c")
}

fn capture(name: &str) -> String {
    let path = workspace().join("testkit/captures").join(name);
    path.display().to_string()
}

/// Where the profile of this test has the library.
fn built() -> PathBuf {
    // …/target/PROFILE/deps/c-1234
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let is_release = profile.file_name().is_some_and(|name| name == "release");
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let built = Command::new(cargo)
        .args(["build", "-q", "--locked"])
        .args(product::BUILT)
        .args(is_release.then_some("--release"))
        .env("CARGO_TARGET_DIR", profile.parent().unwrap())
        .current_dir(workspace())
        .status()
        .unwrap();
    assert!(built.success(), "the C library cannot be built");
    profile.to_owned()
}

fn succeeded(done: Output, what: &str) -> String {
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{what}: {} {text}", done.status);
    String::from_utf8(done.stdout).unwrap()
}

/// The hosts of the command's own records, with their requests.
fn hosts(captures: &[String]) -> BTreeMap<String, usize> {
    let command = product::command().unwrap();
    let read = captures.iter().flat_map(|path| ["-r", path]);
    let logs = tempfile::tempdir().unwrap();
    let done = Command::new(command)
        .arg("run")
        .args(read)
        .args(["-q", "--format", "eve", "-l"])
        .arg(logs.path())
        .output()
        .unwrap();
    succeeded(done, "the command");
    let mut hosts = BTreeMap::new();
    for line in fs::read_to_string(logs.path().join("eve.json"))
        .unwrap()
        .lines()
    {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(host) = event["http"]["hostname"]
            .as_str()
            .filter(|host| !host.is_empty())
            && event["event_type"] == "http"
        {
            *hosts.entry(host.to_owned()).or_insert(0) += 1;
        }
    }
    hosts
}

/// The example counts what the command records, with every compiler, linked either way, in every
/// shape.
#[test]
fn the_example_counts_the_hosts_of_the_commands_records() {
    let installed = Installed::new();
    let captures = ["http.pcapng", "http-apache.pcap.gz", "http-go.pcap.gz"].map(capture);
    let expected = hosts(&captures);
    assert!(expected.len() > 1, "{expected:?}");
    let source = sources().join("examples/hosts.c");
    for (compiler, options) in [
        ("gcc", &[][..]),
        ("gcc", &["-static-flowpin"]),
        ("gcc", &["-fsanitize=address,undefined"]),
        ("clang", &[]),
    ] {
        let Some(program) = installed.compile(compiler, &source, "hosts", options) else {
            continue;
        };
        for shape in ["1x1", "1x3", "2x2"] {
            let done = Command::new(&program)
                .args(["--pipeline", shape])
                .args(&captures)
                .output()
                .unwrap();
            let text = succeeded(done, compiler);
            let counted: BTreeMap<String, usize> = text
                .lines()
                .map(|line| line.trim().split_once(' ').unwrap())
                .map(|(count, host)| (host.to_owned(), count.parse().unwrap()))
                .collect();
            assert_eq!(counted, expected, "{compiler} {options:?} {shape}");
        }
    }
}

/// Errors, streams, packets, stopping: under the sanitizers, too.
#[test]
fn the_library_does_what_its_header_says() {
    let installed = Installed::new();
    let whole = capture("http.pcapng");
    let damaged = installed.path("damaged.pcapng");
    let bytes = fs::read(&whole).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() - 10]).unwrap();
    let other = installed.path("other");
    fs::write(&other, "no capture").unwrap();
    let source = workspace().join("tests/c/checks.c");
    let mut said = Vec::new();
    for options in [&[][..], &["-fsanitize=address,undefined"]] {
        let Some(program) = installed.compile("gcc", &source, "checks", options) else {
            continue;
        };
        let done = Command::new(program)
            .args([whole.as_ref(), damaged.as_path(), other.as_path()])
            .output()
            .unwrap();
        said.push(succeeded(done, "checks"));
    }
    if let [one, other] = &*said {
        assert_eq!(one, other);
        let whole = one.lines().next().unwrap();
        assert!(!whole.contains(" 0 "), "{one}");
    }
}

/// What a tool of the linker says of a file; none if it is not here.
fn told(tool: &str, options: &[&str], file: &Path) -> Option<String> {
    match Command::new(tool).args(options).arg(file).output() {
        Ok(done) => Some(succeeded(done, tool)),
        Err(error) => {
            eprintln!("skipped: no {tool} ({error})");
            None
        }
    }
}

/// The functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = fs::read_to_string(sources().join("include/flowpin.h")).unwrap();
    let calls = header.match_indices("flowpin_").filter_map(|(at, _)| {
        let line = header[..at].rsplit('\n').next().unwrap();
        let name: String = header[at..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let is_declaration = line.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_function = header[at + name.len()..].starts_with('(');
        (is_declaration && is_function && !line.starts_with("typedef")).then_some(name)
    });
    calls.collect()
}

/// The shared library shows the functions of its header, each under its version, and nothing else;
/// programs ask for that version.
#[test]
fn the_shared_library_shows_the_functions_of_its_header_under_versions() {
    let installed = Installed::new();
    let library = installed.path("libflowpin.so.1");
    let options = ["-D", "--defined-only", "--with-symbol-versions"];
    let Some(symbols) = told("nm", &options, &library) else {
        return;
    };
    // The version itself is a symbol of its own.
    let shown = symbols
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    let shown: BTreeSet<String> = shown
        .filter(|name| !name.starts_with("FLOWPIN_1"))
        .map(str::to_owned)
        .collect();
    let expected: BTreeSet<String> = declared()
        .iter()
        .map(|name| format!("{name}@@FLOWPIN_1"))
        .collect();
    assert!(expected.len() > 15, "{expected:?}");
    assert_eq!(shown, expected);
    let versions = told("readelf", &["-VW"], &library).unwrap();
    assert!(versions.contains("Name: libflowpin.so.1"), "{versions}");
    assert!(versions.contains("Name: FLOWPIN_1"), "{versions}");
    let source = sources().join("examples/hosts.c");
    let Some(program) = installed.compile("gcc", &source, "hosts", &[]) else {
        return;
    };
    let needs = told("readelf", &["-VW"], &program).unwrap();
    let (_, from_here) = needs.split_once("File: libflowpin.so.1").unwrap();
    let next = from_here.find("File: ").unwrap_or(from_here.len());
    assert!(from_here[..next].contains("Name: FLOWPIN_1"), "{needs}");
}

/// C++ programs can include the header.
#[test]
fn the_header_is_cpp_too() {
    let header = sources().join("include/flowpin.h");
    let done = Command::new("g++")
        .args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-fsyntax-only",
            "-x",
            "c++",
        ])
        .arg(header)
        .output();
    match done {
        Ok(done) => drop(succeeded(done, "g++")),
        Err(error) => eprintln!("skipped: no g++ ({error})"),
    }
}
