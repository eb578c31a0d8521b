//! Whether these tests would notice that a variable of libnids stays one for all cores: each is
//! left shared in turn, and ThreadSanitizer, or other lines, must show it.
//!
//! Takes some minutes: `bench/cc/mutants` runs it and prints the table, with captures that it makes
//! (`FLOWPIN_CC_TRACES` names them, separated by `:`) beside those of this repository.

use crate::captures::has_sanitizer;
use crate::tools::{compilers, has_libclang, run, skipped, write};
use flowpin_cc::{
    Backend, Output, Refusal, Sources, Verdict, collect, decide,
    model::{Model, Texts},
    transform,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags of libnids' own makefile.
const FLAGS: &[&str] = &[
    "-D_BSD_SOURCE",
    "-DLIBNET_VER=-1",
    "-DHAVE_ICMPHDR=1",
    "-DHAVE_TCP_STATES=1",
    "-DHAVE_BSD_UDPHDR=1",
    "-Ilibnids-1.26/src",
    "-w",
];

/// Captures of this repository that exercise TCP, UDP, ICMP and fragments.
const TRACES: &[&str] = &[
    "lab-day.pcapng",
    "dns-fragments.pcap",
    "icmp.pcapng",
    "http.pcapng",
    "smtp.pcap",
    "midstream.pcap",
];

/// libnids, and a client that says what it sees, in a folder of their own.
struct Program {
    folder: PathBuf,
    sources: Vec<PathBuf>,
}

impl Program {
    /// None if libnids' sources cannot be had.
    fn fetch(folder: &Path) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let fetch = root.join("apps/flowpin/tests/guide/fetch-libnids");
        let status = Command::new("bash").arg(fetch).arg(folder).status().ok()?;
        status.success().then_some(())?;
        // In a table as large as the client asks for, connections hardly ever share a place.
        let client = fs::read_to_string(root.join("bench/cc/client.c")).unwrap();
        let client = client.replace("n_tcp_streams = 65536", "n_tcp_streams = 512");
        fs::write(folder.join("client.c"), client).unwrap();
        let mut sources = vec![folder.join("client.c")];
        for entry in fs::read_dir(folder.join("libnids-1.26/src")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "c") {
                sources.push(path);
            }
        }
        sources.sort();
        Some(Self {
            folder: folder.to_owned(),
            sources,
        })
    }

    fn read(&self) -> (Model, Texts) {
        let flags: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
        let sources = Sources::of_files(&self.folder, &self.sources, &flags).unwrap();
        let model = collect(&sources).unwrap();
        let texts = Texts::read(&model.files).unwrap();
        (model, texts)
    }

    /// The program with a line at the top of a file.
    fn with_line(&self, file: &Path, line: &str) -> Result<Output, Vec<Refusal>> {
        let before = fs::read(file).unwrap();
        let mut text = line.as_bytes().to_vec();
        text.extend_from_slice(&before);
        fs::write(file, text).unwrap();
        let (model, texts) = self.read();
        let output = transform(&model, &texts, Backend::Context);
        fs::write(file, before).unwrap();
        output
    }

    /// Lines of its sources that run because of packets: of each trace, those that run more often
    /// than with a capture without packets.
    fn exercised(&self) -> BTreeSet<(String, u32)> {
        let built = self.folder.join("coverage");
        fs::create_dir_all(&built).unwrap();
        let mut compile = Command::new("cc");
        compile.current_dir(&self.folder).args(FLAGS);
        compile.args(["--coverage", "-O0", "-dumpdir", "coverage/", "-o"]);
        compile.arg(built.join("program")).args(&self.sources);
        run(compile.arg("-lpcap"), "coverage");
        let empty = self.folder.join("empty.pcap");
        fs::write(&empty, crate::tools::small_capture().split_at(24).0).unwrap();
        let quiet = self.counts(&built, &empty);
        let mut found = BTreeSet::new();
        for trace in traces() {
            for (line, count) in self.counts(&built, &trace) {
                if count > quiet.get(&line).copied().unwrap_or(0) {
                    found.insert(line);
                }
            }
        }
        found
    }

    /// How often each line runs.
    fn counts(&self, built: &Path, trace: &Path) -> BTreeMap<(String, u32), u64> {
        let data = || {
            let files = fs::read_dir(built)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            files.filter(|path| path.extension().is_some_and(|ending| ending == "gcda"))
        };
        data().for_each(|path| fs::remove_file(path).unwrap());
        let mut program = Command::new(built.join("program"));
        run(program.arg(trace).arg(built.join("lines")), "coverage");
        let mut gcov = Command::new("gcov");
        gcov.current_dir(&self.folder).arg("-t").args(data());
        let mut counts = BTreeMap::new();
        let mut file = String::new();
        for line in run(&mut gcov, "gcov").lines() {
            let mut fields = line.splitn(3, ':');
            let (Some(count), Some(number), Some(rest)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if let Some(name) = rest.strip_prefix("Source:") {
                file = name.rsplit('/').next().unwrap_or_default().to_owned();
            }
            let count = count.trim().trim_end_matches('*').parse().unwrap_or(0);
            let number = number.trim().parse().unwrap_or(0);
            counts.insert((file.clone(), number), count);
        }
        counts
    }
}

fn traces() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testkit/captures");
    let more = std::env::var_os("FLOWPIN_CC_TRACES").unwrap_or_default();
    let more: Vec<PathBuf> = std::env::split_paths(&more).collect();
    let own = TRACES.iter().map(|name| root.join(name));
    own.chain(more.into_iter().filter(|path| path.is_file()))
        .collect()
}

/// A built program: what it says of all traces, and whether ThreadSanitizer found something.
struct Built {
    folder: tempfile::TempDir,
}

impl Built {
    fn of(output: &Output) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(output, folder.path());
        let mut make = Command::new("make");
        make.args(["-s", "-j2", "-C"]).arg(folder.path());
        run(
            make.arg("CFLAGS=-g -O1 -fsanitize=thread"),
            "libnids with ThreadSanitizer",
        );
        Self { folder }
    }

    /// The lines about a trace in order of their text; none if it fails, and why.
    fn said(&self, trace: &Path, ways: &str) -> Result<Vec<String>, String> {
        let out = self.folder.path().join("lines");
        let mut program = Command::new("timeout");
        program.arg("60").arg(self.folder.path().join("program"));
        program.env("FLOWPIN_WAYS", ways);
        program.env("TSAN_OPTIONS", "exitcode=66 halt_on_error=1");
        let output = program.arg(trace).arg(&out).output().unwrap();
        match output.status.code() {
            Some(0) => {
                let text = fs::read_to_string(&out).unwrap_or_default();
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                Ok(lines)
            }
            Some(66) => Err("thread sanitizer".to_owned()),
            code => Err(format!("ends with {code:?}")),
        }
    }
}

/// What showed that a mutant is one; none if nothing did.
fn caught(mutant: &Built, expected: &[(PathBuf, Vec<String>)]) -> Option<String> {
    // Cores of a busy machine may run one after another: some tries.
    for ways in ["4", "2", "4", "7", "4"] {
        for (trace, lines) in expected {
            match mutant.said(trace, ways) {
                Ok(said) if said == *lines => {}
                Ok(_) => return Some("other lines".to_owned()),
                Err(why) => return Some(why),
            }
        }
    }
    None
}

/// Every private variable that packets write is missed if it stays one for all cores.
#[test]
fn mutants_of_libnids_are_caught() {
    if std::env::var_os("FLOWPIN_TEST_LONG").is_none_or(|value| value == "0") {
        println!("skipped: only in the long form (FLOWPIN_TEST_LONG=1)");
        return;
    }
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    if !has_sanitizer("thread") {
        return skipped("the run-time of -fsanitize=thread");
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = Program::fetch(&folder.path().canonicalize().unwrap()) else {
        return skipped("the source of libnids");
    };
    let exercised = program.exercised();
    let (model, texts) = program.read();
    let right = Built::of(&transform(&model, &texts, Backend::Context).unwrap());
    let mut expected = Vec::new();
    for trace in traces() {
        let alone = right.said(&trace, "1").unwrap();
        for ways in ["2", "4"] {
            assert_eq!(
                right.said(&trace, ways).as_ref(),
                Ok(&alone),
                "{}",
                trace.display()
            );
        }
        expected.push((trace, alone));
    }
    let decisions = decide(&model);
    let mut missed = Vec::new();
    println!("| variable | lines that packets run | of these, may write | caught by |");
    println!("| --- | --- | --- | --- |");
    for (id, decision) in decisions.iter().enumerate() {
        if decision.verdict != Verdict::Private {
            continue;
        }
        let global = model.global(id);
        let mut used = BTreeSet::new();
        let mut written = BTreeSet::new();
        for one in model.references.iter().filter(|one| one.global == id) {
            let at = one.site.expanded;
            let path = model.path(at.file);
            let line = (path.rsplit('/').next().unwrap().to_owned(), at.line);
            if exercised.contains(&line) {
                used.insert(line.clone());
                if one.access.may_write() {
                    written.insert(line);
                }
            }
        }
        let how = if used.is_empty() {
            "not run by these captures".to_owned()
        } else {
            let file = &model.files[global.place.file].path;
            let line = format!("#pragma flowpin shared {} unchecked\n", global.name);
            match program.with_line(file, &line) {
                Err(refusals) => format!("refused: {}", refusals[0]),
                Ok(output) => caught(&Built::of(&output), &expected).unwrap_or_else(|| {
                    // All cores set it alike before packets come, and no packet changes it.
                    if written.is_empty() {
                        return "nothing: packets only read it".to_owned();
                    }
                    missed.push(model.global_name(id));
                    "**nothing**".to_owned()
                }),
            }
        };
        println!(
            "| `{}` ({}) | {} | {} | {how} |",
            model.global_name(id),
            model.path(global.place.file).rsplit('/').next().unwrap(),
            used.len(),
            written.len()
        );
    }
    assert!(missed.is_empty(), "{missed:?}");
}
