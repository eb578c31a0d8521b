//! Each case of `cases`: the transformed program says what the sequential one says, on one core and
//! on two, or the program is refused with the reason that the case names.

use crate::tools::{compilers, has_libclang, run, skipped, write};
use flowpin_cc::{Backend, Sources, collect, model::Texts, transform, verify};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A case's sources, flags, and the reason for which it is refused.
struct Case {
    name: String,
    sources: Vec<PathBuf>,
    flags: Vec<String>,
    refused: Option<String>,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut cases: Vec<Case> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| case(&entry.unwrap().path()))
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn case(path: &Path) -> Case {
    let (sources, main) = if path.is_dir() {
        let mut sources: Vec<PathBuf> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "c"))
            .collect();
        sources.sort();
        (sources, path.join("main.c"))
    } else {
        (vec![path.to_owned()], path.to_owned())
    };
    let text = fs::read_to_string(main).unwrap();
    let first = text.lines().next().unwrap_or_default();
    let after = |word: &str| {
        let rest = first.split_once(word)?.1;
        Some(rest.trim_end_matches("*/").trim().to_owned())
    };
    Case {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        sources,
        flags: after("flags:").into_iter().collect(),
        refused: after("refused:"),
    }
}

/// The run-time's objects, by compiler: they are the same for all cases.
#[derive(Default)]
struct Objects(HashMap<&'static str, tempfile::TempDir>);

impl Objects {
    /// Puts them beside their sources, if they were made before; make finds them newer.
    fn give(&self, compiler: &str, program: &Path) {
        let Some(from) = self.0.get(compiler) else {
            return;
        };
        for object in fs::read_dir(from.path()).unwrap() {
            let object = object.unwrap();
            let to = program.join("flowpin").join(object.file_name());
            fs::write(to, fs::read(object.path()).unwrap()).unwrap();
        }
    }

    /// Keeps what make has made for the first case.
    fn keep(&mut self, compiler: &'static str, program: &Path) {
        if self.0.contains_key(compiler) {
            return;
        }
        let kept = tempfile::tempdir().unwrap();
        for file in fs::read_dir(program.join("flowpin")).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().to_string_lossy().into_owned();
            if name.ends_with(".o") && name != "flowpin_program.o" {
                fs::copy(file.path(), kept.path().join(name)).unwrap();
            }
        }
        self.0.insert(compiler, kept);
    }

    /// Takes away what another compiler has made.
    fn clear(program: &Path) {
        let mut folders = vec![program.to_owned()];
        while let Some(folder) = folders.pop() {
            for file in fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "o") {
                    fs::remove_file(path).unwrap();
                }
            }
        }
    }
}

fn check(case: &Case, backend: Backend, objects: &mut Objects) {
    let name = &case.name;
    let here = std::env::current_dir().unwrap();
    let sources = Sources::of_files(&here, &case.sources, &case.flags).unwrap();
    let model = collect(&sources).unwrap_or_else(|error| panic!("{name}: {error}"));
    let texts = Texts::read(&model.files).unwrap();
    let output = match (transform(&model, &texts, backend), &case.refused) {
        (Ok(output), None) => output,
        (Err(refusals), Some(reason)) => {
            let all: Vec<String> = refusals.iter().map(ToString::to_string).collect();
            assert!(
                all.iter().any(|one| one.contains(reason)),
                "{name}: {all:?}"
            );
            assert!(
                all.iter().all(|one| one.contains(".c:")),
                "{name}: no line: {all:?}"
            );
            return;
        }
        // What is refused because of the context need not be with the other backend.
        (Ok(_), Some(_)) if backend == Backend::Thread => return,
        // What the program's own lines say may not compile.
        (Ok(output), Some(reason)) => {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path().canonicalize().unwrap();
            write(&output, &folder);
            let left = verify(&model, &folder, &output.private).unwrap();
            let is_it = |one: &flowpin_cc::Refusal| one.what.contains(reason);
            assert!(left.iter().any(is_it), "{name}: not refused: {left:?}");
            return;
        }
        (Err(_), None) if backend == Backend::Thread => return,
        (Err(refusals), None) => panic!("{name}: {refusals:?}"),
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    write(&output, &folder);
    if backend == Backend::Context {
        let left = verify(&model, &folder, &output.private).unwrap();
        assert!(left.is_empty(), "{name}: {left:?}");
    }
    // The second backend is there to compare with: one compiler is enough.
    let count = if backend == Backend::Thread { 1 } else { 2 };
    for compiler in compilers().into_iter().take(count) {
        let mut sequential = std::process::Command::new(compiler);
        let program = folder.join("sequential");
        sequential
            .args(&case.sources)
            .args(&case.flags)
            .args(["-w", "-o"]);
        run(sequential.arg(&program), name);
        let expected = run(&mut std::process::Command::new(&program), name);
        Objects::clear(&folder);
        objects.give(compiler, &folder);
        let mut make = std::process::Command::new("make");
        make.args(["-s", "-C"])
            .arg(&folder)
            .arg(format!("CC={compiler}"));
        run(
            make.arg("CFLAGS=-O1 -Wall -Werror"),
            &format!("{name} {compiler} {backend:?}"),
        );
        objects.keep(compiler, &folder);
        for ways in ["1", "2"] {
            let mut parallel = std::process::Command::new(folder.join("program"));
            parallel.env("FLOWPIN_WAYS", ways);
            let said = run(
                &mut parallel,
                &format!("{name} {compiler} {backend:?} {ways}"),
            );
            assert_eq!(
                said, expected,
                "{name}: {compiler}, {backend:?}, {ways} ways"
            );
        }
    }
}

/// Every corner case of C is transformed, or refused with its place.
#[test]
fn cases_are_transformed_or_refused() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let mut objects = Objects::default();
    for case in cases() {
        check(&case, Backend::Context, &mut objects);
    }
}

/// The second backend gives the same programs.
#[test]
fn cases_say_the_same_with_thread_local_variables() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let mut objects = Objects::default();
    for case in cases() {
        check(&case, Backend::Thread, &mut objects);
    }
}

/// A function of another type than is asked for is the program's own affair, as compilers see it.
#[test]
fn what_the_program_passes_on_is_no_fault_of_the_output() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let source = root.join("program/handler.c");
    fs::create_dir(root.join("program")).unwrap();
    let text = "#include <signal.h>\nstatic int count;\n\
        static void end(void) { count++; }\n\
        int main(void) { signal(SIGUSR1, end); raise(SIGUSR1); return count != 1; }\n";
    fs::write(&source, text).unwrap();
    let sources = Sources::of_files(&root.join("program"), &[source], &[]).unwrap();
    leaves_nothing(&sources, &root.join("output"));
}

/// Nothing that a core should have of its own is left as it was.
fn leaves_nothing(sources: &Sources, folder: &Path) {
    let model = collect(sources).unwrap();
    let texts = Texts::read(&model.files).unwrap();
    let output = transform(&model, &texts, Backend::Context).unwrap();
    write(&output, folder);
    let left = verify(&model, folder, &output.private).unwrap();
    assert!(left.is_empty(), "{left:?}");
}

/// Headers of others that a program links to stay where they are, and are found there.
#[test]
fn links_to_headers_of_others_are_followed() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let program = root.join("program");
    fs::create_dir_all(program.join("links")).unwrap();
    fs::create_dir(root.join("others")).unwrap();
    fs::write(root.join("others/size.h"), "#define SIZE 3\n").unwrap();
    let link = program.join("links/given.h");
    std::os::unix::fs::symlink(root.join("others/size.h"), link).unwrap();
    let text = "#include <given.h>\nstatic int count;\nint main(void) { return ++count - SIZE; }\n";
    fs::write(program.join("main.c"), text).unwrap();
    for flags in [&["-Ilinks"][..], &["-I", "links"]] {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let sources = Sources::of_files(&program, &[program.join("main.c")], &flags).unwrap();
        leaves_nothing(&sources, &root.join("output"));
    }
}

/// A program is transformed once: its output is recognised.
#[test]
fn the_output_is_not_transformed_again() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let all = cases();
    let case = all.iter().find(|case| case.name == "local_static").unwrap();
    let sources = Sources::of_files(Path::new("."), &case.sources, &[]).unwrap();
    let model = collect(&sources).unwrap();
    let texts = Texts::read(&model.files).unwrap();
    let output = transform(&model, &texts, Backend::Context).unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(&output, folder.path());
    let again = folder.path().join("local_static.c");
    let flags = [format!("-I{}", folder.path().join("flowpin").display())];
    let sources = Sources::of_files(folder.path(), &[again], &flags).unwrap();
    let model = collect(&sources).unwrap();
    let texts = Texts::read(&model.files).unwrap();
    let refusals = transform(&model, &texts, Backend::Context).unwrap_err();
    let names_it = |one: &flowpin_cc::Refusal| one.what.contains("is this its output?");
    assert!(refusals.iter().any(names_it), "{refusals:?}");
}

/// What a cut divides is named: what is forwarded, what conflicts, and the call that is to blame,
/// which a narrower call through a pointer takes away.
#[test]
fn cuts_are_examined() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("stages.c");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stages.c"));
    let text = text.unwrap();
    let examine = |text: &str| {
        fs::write(&source, text).unwrap();
        let sources = Sources::of_files(folder.path(), std::slice::from_ref(&source), &[]).unwrap();
        let model = collect(&sources).unwrap();
        let texts = Texts::read(&model.files).unwrap();
        flowpin_cc::cut(model, &texts, "second").unwrap()
    };
    let wide = examine(&text.replace("#pragma flowpin targets", "// "));
    let names: Vec<&str> = wide.conflicts.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["totals", "connections"]);
    let narrow = examine(&text);
    assert_eq!(narrow.forward, ["last_length"]);
    // `limit` is set once, so that it is one for both.
    assert_eq!(narrow.read_only, ["handlers"]);
    let [conflict] = narrow.conflicts.as_slice() else {
        panic!("{:?}", narrow.conflicts);
    };
    assert_eq!(conflict.name, "connections");
    assert_eq!(conflict.before, ["expire"]);
    assert!(
        conflict
            .calls
            .iter()
            .any(|call| call.contains("the call of expire"))
    );
}
