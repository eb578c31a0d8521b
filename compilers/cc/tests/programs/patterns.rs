//! l7-filter's patterns to flex, to a scanner in push mode: the same protocol wherever pieces end.

use crate::tools::{run, skipped};
use flowpin_cc::{FlexOptions, flex_file, push_scanner};
use flowpin_pattern::{Limits, l7};
use std::fs;
use std::path::Path;
use std::process::Command;

fn is_there(name: &str) -> bool {
    Command::new(name).arg("--version").output().is_ok()
}

/// A folder of patterns becomes one scanner, end to end.
#[test]
fn streams_have_the_protocols_of_the_patterns() {
    if let Some(missing) = ["flex", "cc"].into_iter().find(|name| !is_there(name)) {
        return skipped(missing);
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/patterns");
    let (patterns, refused) =
        l7::read_paths(std::slice::from_ref(&sources), &Limits::default()).unwrap();
    assert!(refused.is_empty(), "{refused:?}");
    let strict = flex_file(&patterns, FlexOptions::default());
    let [(path, 2, why)] = &*strict.left_out else {
        panic!("{:?}", strict.left_out);
    };
    assert!(path.ends_with("counted.pat") && why.contains('$'), "{why}");
    let loose = FlexOptions {
        drops_ends: true,
        ..FlexOptions::default()
    };
    let file = flex_file(&patterns, loose);
    assert!(file.left_out.is_empty(), "{:?}", file.left_out);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("l7.l"), &file.text).unwrap();
    let mut flex = Command::new("flex");
    run(flex.arg("-o").arg(at("l7.c")).arg(at("l7.l")), "flex");
    let scanner = fs::read_to_string(at("l7.c")).unwrap();
    let pushed = push_scanner(&scanner, "push.h").unwrap();
    assert_eq!(pushed.variables, ["examined"]);
    fs::write(at("push.c"), &pushed.source).unwrap();
    fs::write(at("push.h"), &pushed.header).unwrap();
    let mut compile = Command::new("cc");
    compile
        .args([
            "-g",
            "-w",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover",
        ])
        .arg("-o")
        .args([at("streams"), at("push.c"), sources.join("streams.c")])
        .arg("-I")
        .arg(folder.path());
    run(&mut compile, "cc");
    let said = run(&mut Command::new(at("streams")), "streams");
    let said: Vec<_> = said.lines().collect();
    let expected = [
        "remote-shell",
        "web",
        "greeting",
        "terminal",
        "mail",
        "mail",
        "counted",
        "-",
        "web",
        "-",
        "-",
        "-",
    ];
    assert_eq!(said, expected);
}

/// What flex would not take, or what never matches, is left out, with the reason; the others stay.
#[test]
fn what_flex_cannot_have_is_left_out() {
    let expressions = [
        "a.*b",
        "(x{1,200}){1,200}",
        "ab^c",
        "^",
        "(ab|cd$)",
        "\\x00[]%{}\"/-]",
    ];
    let folder = tempfile::tempdir().unwrap();
    for (number, expression) in expressions.iter().enumerate() {
        let path = folder.path().join(format!("{number}.pat"));
        fs::write(path, format!("p{number}\n{expression}\n")).unwrap();
    }
    let paths = [folder.path().to_owned()];
    let (patterns, _) = l7::read_paths(&paths, &Limits::default()).unwrap();
    let file = flex_file(&patterns, FlexOptions::default());
    assert_eq!(file.names, ["p0", "p5"], "{:?}", file.left_out);
    let whys = file.left_out.iter().map(|(_, _, why)| why.as_str());
    let whys: Vec<_> = whys.collect();
    for (why, says) in whys.iter().zip(["too large", "`^`", "nothing", "`$`"]) {
        assert!(why.contains(says), "{why}");
    }
    assert_eq!(whys.len(), 4, "{whys:?}");
}
