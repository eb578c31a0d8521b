//! What programs write, in every way that they have: the same bytes as the sequential program's, in
//! the order of cores; and a core that does not start is no loss of packets, but an error.

use crate::captures::{build, capture, folder, sorted, transformed_file};
use crate::tools::{compilers, has_libclang, run, skipped};
use flowpin_cc::Backend;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A pcap file's packets with their headers, sorted.
fn packets(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let mut rest = &bytes[24..];
    let mut packets = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let (packet, others) = rest.split_at(16 + length);
        packets.push(packet.to_vec());
        rest = others;
    }
    packets.sort();
    packets
}

/// Descriptors, captures, another standard output, files that are closed, opened again, renamed.
#[test]
fn all_ways_to_write_give_the_same_files() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("outputs.c");
    let built = build(
        "cc",
        "-O1 -Wall -Werror",
        &transformed_file(&source, Backend::Context),
    );
    let sequential = built.path().join("sequential");
    let mut compile = Command::new("cc");
    compile.arg("-w").arg(&source).arg("-o").arg(&sequential);
    run(compile.arg("-lpcap"), "cc");
    let said = |program: &Path, ways: &str| {
        let files = tempfile::tempdir().unwrap();
        let mut program = Command::new(program);
        program.env("FLOWPIN_WAYS", ways).arg(capture());
        let printed = run(program.arg(files.path()), &format!("outputs on {ways}"));
        let mut texts: Vec<Vec<String>> = ["raw", "locked", "log", "standard"]
            .iter()
            .map(|name| sorted(&files.path().join(name)))
            .collect();
        texts.push(printed.lines().map(str::to_owned).collect());
        assert!(!files.path().join("early").exists(), "{ways} ways");
        (texts, packets(&files.path().join("dump.pcap")))
    };
    let expected = said(&sequential, "1");
    assert!(expected.1.len() > 1000, "{} packets", expected.1.len());
    assert_eq!(expected.0[4], ["before"]);
    for ways in ["1", "2", "4"] {
        let parallel = said(&built.path().join("program"), ways);
        assert_eq!(parallel.0, expected.0, "{ways} ways");
        assert!(parallel.1 == expected.1, "{ways} ways: other packets");
    }
}

/// `percore`: each core keeps its file, with its number; together they have every line and packet.
#[test]
fn each_core_keeps_its_own_files() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("kept.c");
    let sequential = tempfile::tempdir().unwrap();
    let program = sequential.path().join("sequential");
    let mut compile = Command::new("cc");
    compile.arg("-w").arg(&source).arg("-o").arg(&program);
    run(compile.arg("-lpcap"), "cc");
    let said = |program: &Path, ways: &str, numbers: &[&str]| {
        let files = tempfile::tempdir().unwrap();
        let path = |name: &str| files.path().join(name);
        let mut program = Command::new(program);
        program.env("FLOWPIN_WAYS", ways).arg(capture());
        run(program.args([path("lines"), path("dump")]), ways);
        let (mut lines, mut kept) = (Vec::new(), Vec::new());
        for number in numbers {
            let more = sorted(&path(&format!("lines{number}")));
            assert!(more.len() > 10, "{ways} ways: core {number}");
            lines.extend(more);
            kept.extend(packets(&path(&format!("dump{number}"))));
        }
        let count = fs::read_dir(files.path()).unwrap().count();
        assert_eq!(count, 2 * numbers.len(), "{ways} ways");
        lines.sort();
        kept.sort();
        (lines, kept)
    };
    let expected = said(&program, "1", &[""]);
    for backend in [Backend::Context, Backend::Thread] {
        let output = transformed_file(&source, backend);
        assert!(output.warnings.is_empty(), "{:?}", output.warnings);
        let built = build("cc", "-O1 -Wall -Werror", &output);
        let program = built.path().join("program");
        for (ways, numbers) in [("1", &[".0"][..]), ("3", &[".0", ".1", ".2"])] {
            assert!(
                said(&program, ways, numbers) == expected,
                "{backend:?} {ways}"
            );
        }
    }
}

/// Its packets would be lost without a word: instead the run ends, and says which core and why.
#[test]
fn a_core_that_does_not_start_ends_the_run() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("locked.c");
    let built = build("cc", "-O1", &transformed_file(&source, Backend::Context));
    let said = |ways: &str| {
        let mut program = Command::new(built.path().join("program"));
        program.env("FLOWPIN_WAYS", ways).arg(capture());
        program.arg(built.path().join("lock")).output().unwrap()
    };
    let alone = said("1");
    assert!(alone.status.success());
    let two = said("2");
    assert_eq!(two.status.code(), Some(1));
    assert!(two.stdout.is_empty());
    let text = String::from_utf8_lossy(&two.stderr).into_owned();
    assert!(text.contains("another one is running"), "{text}");
    assert!(text.contains("core 1 ended with code 3"), "{text}");
}

/// A call that asks for all of a file gets all of a core's share, however slowly it comes.
#[test]
fn one_call_brings_all_packets_of_a_file() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("at_once.c");
    let built = build(
        "cc",
        "-O1 -Wall -Werror",
        &transformed_file(&source, Backend::Context),
    );
    let said = |ways: &str, counted: Option<&str>| {
        let mut program = Command::new(built.path().join("program"));
        program.env("FLOWPIN_WAYS", ways).arg(capture());
        let text = run(program.args(counted), &format!("at once on {ways}"));
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let expected = said("1", None);
    assert!(expected.len() > 1000, "{} packets", expected.len());
    for ways in ["1", "2", "3"] {
        assert_eq!(said(ways, None), expected, "{ways} ways");
        assert_eq!(
            said(ways, Some("counted")),
            expected,
            "{ways} ways, counted"
        );
    }
}

/// What a core says of one packet on standard error stays together, however many cores speak; a
/// program that waits for a file's descriptor is not kept waiting.
#[test]
fn what_is_said_of_a_packet_stays_together() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("said.c");
    let temporary = tempfile::tempdir().unwrap();
    let sequential = temporary.path().join("sequential");
    let mut compile = Command::new("cc");
    compile.arg("-w").arg(&source).arg("-o").arg(&sequential);
    run(compile.arg("-lpcap"), "cc");
    let said = |program: &Path, ways: &str| {
        let mut program = Command::new(program);
        let done = program.env("FLOWPIN_WAYS", ways).arg(capture()).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{ways} ways: {}", done.status);
        let text = String::from_utf8(done.stderr).unwrap();
        let records = text.split("packet ").skip(1);
        let mut records: Vec<String> = records.map(str::to_owned).collect();
        records.sort();
        records
    };
    let expected = said(&sequential, "1");
    assert!(expected.len() > 1000, "{} packets", expected.len());
    let output = transformed_file(&source, Backend::Context);
    let built = build("cc", "-O1 -Wall -Werror", &output);
    for ways in ["1", "2", "4"] {
        assert_eq!(
            said(&built.path().join("program"), ways),
            expected,
            "{ways} ways"
        );
    }
}
