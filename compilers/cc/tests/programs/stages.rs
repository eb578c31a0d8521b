//! Programs in several stages: the same lines for any number of cores in each.

use crate::captures::{build, capture, folder, has_sanitizer, sorted};
use crate::tools::{compilers, has_libclang, run, skipped};
use flowpin_cc::{
    Alloc, Backend, Choices, Fifo, Output, Sources, collect, model::Texts, transform,
};
use std::fs;
use std::path::Path;
use std::process::Command;

fn divided(text: &str, choices: Choices) -> Output {
    let temporary = tempfile::tempdir().unwrap();
    let source = temporary.path().join("pipeline.c");
    fs::write(&source, text).unwrap();
    let sources = Sources::of_files(temporary.path(), &[source], &[]).unwrap();
    let model = collect(&sources).unwrap();
    let texts = Texts::read(&model.files).unwrap();
    transform(&model, &texts, choices).unwrap()
}

/// What the program prints, and its file's lines, sorted: of two captures, one after the other.
fn said(program: &Path, ways: &str) -> (String, Vec<String>) {
    let out = program.with_extension("out");
    let mut command = Command::new(program);
    command.env("FLOWPIN_WAYS", ways).arg(&out);
    let printed = run(command.args([capture(), capture()]), ways);
    (printed, sorted(&out))
}

fn program() -> String {
    fs::read_to_string(folder().join("pipeline.c")).unwrap()
}

fn sequential(folder: &Path) -> (String, Vec<String>) {
    let program = folder.join("sequential");
    let mut compile = Command::new("cc");
    compile.arg("-w").arg(self::folder().join("pipeline.c"));
    run(compile.arg("-o").arg(&program).arg("-lpcap"), "cc");
    said(&program, "1")
}

const FIFOS: [Fifo; 3] = [Fifo::Flowpin, Fifo::Lamport, Fifo::FastForward];

/// Every kind of ring, both backends, each number of cores, the first stage on several, too.
#[test]
fn stages_give_the_same_lines() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let mut choices: Vec<Choices> = FIFOS
        .into_iter()
        .map(|fifo| Choices {
            fifo,
            ..Choices::default()
        })
        .collect();
    choices.push(Backend::Thread.into());
    choices.push(Choices {
        alloc: Alloc::Pool,
        ..Choices::default()
    });
    for choices in choices {
        let output = divided(&program(), choices);
        for compiler in compilers() {
            let folder = build(compiler, "-O2 -Wall -Werror", &output);
            let expected = sequential(folder.path());
            assert!(expected.1.len() > 50, "{expected:?}");
            let path = folder.path().join("program");
            for ways in [
                "1",
                "2",
                "3",
                "4",
                "7",
                "link=3,pairs=2,sources=3,lines=2",
                "2,link=4",
            ] {
                assert_eq!(said(&path, ways), expected, "{choices:?} {compiler} {ways}");
            }
            let mut whole = Command::new(&path);
            let out = folder.path().join("whole");
            whole
                .env("FLOWPIN_STAGES", "0")
                .arg(&out)
                .args([capture(), capture()]);
            assert_eq!((run(&mut whole, "not divided"), sorted(&out)), expected);
        }
    }
}

/// No two stages use one variable at a time, and no byte out of place.
#[test]
fn sanitizers_find_nothing_in_stages() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    for fifo in FIFOS {
        let output = divided(
            &program(),
            Choices {
                fifo,
                ..Choices::default()
            },
        );
        for sanitizer in ["thread", "address,undefined"] {
            if !has_sanitizer(sanitizer) {
                skipped(&format!("the run-time of -fsanitize={sanitizer}"));
                continue;
            }
            let flags = format!("-g -O1 -fsanitize={sanitizer} -fno-sanitize-recover");
            let folder = build("cc", &flags, &output);
            let expected = sequential(folder.path());
            for ways in ["1", "2", "3,link=2"] {
                let program = folder.path().join("program");
                assert_eq!(said(&program, ways), expected, "{fifo:?} {ways}");
            }
        }
    }
}

/// What each packet sets goes along by itself, as if each cut named it; so does what it points to.
#[test]
fn what_belongs_to_a_packet_goes_along() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let text = program().replace(", *now) forward(now)", ")");
    let text = text.replace(
        "static int depth",
        "#pragma flowpin perpacket now\nstatic int depth",
    );
    assert!(!text.contains("forward"), "{text}");
    let built = build(
        "cc",
        "-O1 -Wall -Werror",
        &divided(&text, Choices::default()),
    );
    let expected = sequential(built.path());
    for ways in ["1", "3", "link=2,pairs=3,sources=2,lines=1"] {
        assert_eq!(
            said(&built.path().join("program"), ways),
            expected,
            "{ways}"
        );
    }
}

/// These tests would notice: without what is forwarded, or with a key that divides what belongs
/// together, lines are others.
#[test]
fn a_wrong_cut_is_noticed() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let expected = {
        let folder = tempfile::tempdir().unwrap();
        sequential(folder.path())
    };
    for (right, wrong) in [
        ("copy(ip: length, *now)", "copy(ip: length / 2, *now)"),
        (
            "key((ip[14] ^ ip[18]) * 31u + (ip[15] ^ ip[19]))",
            "key(ip[19])",
        ),
        (
            "#pragma flowpin reduce(+: packets)",
            "#pragma flowpin private packets",
        ),
    ] {
        let text = program();
        assert!(text.contains(right), "{right}");
        let output = divided(&text.replace(right, wrong), Choices::default());
        let folder = build("cc", "-O1", &output);
        let program = folder.path().join("program");
        assert_ne!(said(&program, "3"), expected, "{wrong}");
    }
}
