//! Standard input and output by number and by name, and files that are opened while packets come.

use crate::captures::{build, capture, folder, sorted, transformed_file};
use crate::tools::{compilers, has_libclang, run, skipped};
use flowpin_cc::Backend;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// Each core reads all of standard input, and what it writes by number is part of the output.
#[test]
fn standard_input_and_output_are_each_cores() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("numbers.c");
    let temporary = tempfile::tempdir().unwrap();
    let sequential = temporary.path().join("sequential");
    let mut compile = Command::new("cc");
    compile.arg("-w").arg(&source).arg("-o").arg(&sequential);
    run(compile.arg("-lpcap"), "cc");
    let input = temporary.path().join("input");
    fs::write(&input, "sizes\n60 66\n1514 74").unwrap();
    let said = |program: &Path, ways: &str| {
        let added = temporary.path().join(format!("added.{ways}"));
        let _ = fs::remove_file(&added);
        let out = temporary.path().join("out");
        let mut program = Command::new(program);
        program.env("FLOWPIN_WAYS", ways).arg(capture()).arg(&added);
        program.stdin(File::open(&input).unwrap());
        // A pipe, because a program that opens a file twice writes over itself.
        fs::write(&out, run(&mut program, ways)).unwrap();
        (sorted(&out), sorted(&added))
    };
    let expected = said(&sequential, "1");
    assert!(expected.0.iter().any(|line| line.contains(" has ")));
    assert!(expected.0.len() > 5000, "{} lines", expected.0.len());
    let output = transformed_file(&source, Backend::Context);
    let built = build("cc", "-O1 -Wall -Werror", &output);
    for ways in ["1", "2", "4"] {
        let parallel = said(&built.path().join("program"), ways);
        assert!(parallel.0 == expected.0, "{ways} ways: other lines");
        assert!(parallel.1 == expected.1, "{ways} ways: other lines added");
    }
}

/// What two cores open to write over, each would erase for the other: the run ends with its name.
#[test]
fn a_file_that_two_cores_would_erase_ends_the_run() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("erased.c");
    let built = build("cc", "-O1", &transformed_file(&source, Backend::Context));
    let done = |ways: &str, more: Option<&str>| {
        let files = tempfile::tempdir().unwrap();
        let mut program = Command::new(built.path().join("program"));
        program.env("FLOWPIN_WAYS", ways).arg(capture());
        let done = program.arg(files.path()).args(more).output().unwrap();
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        let count = fs::read_dir(files.path()).unwrap().count();
        (done.status.success(), count, text)
    };
    let (succeeds, count, _) = done("1", None);
    assert!(succeeds && count > 500, "{count}");
    assert_eq!(done("2", None), (true, count, String::new()));
    assert_eq!(done("1", Some("common")), (true, 1, String::new()));
    let (succeeds, _, text) = done("2", Some("common"));
    assert!(
        !succeeds && text.contains("/0.0: two cores write it"),
        "{text}"
    );
}
