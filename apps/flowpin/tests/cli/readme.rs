//! The README shows the output of the command.

use crate::program::{code, command, stderr, stdout};
use std::path::Path;

/// The example in the README is up to date, apart from figures about speed.
#[test]
#[cfg(unix)]
fn readme_shows_what_the_command_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (_, example) = readme
        .split_once("```console\n$ flowpin run -r testkit")
        .unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let (line, shown) = example.split_once('\n').unwrap();
    let args: Vec<String> = format!("run -r testkit{line}")
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();

    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root.join("testkit"), dir.path().join("testkit")).unwrap();
    let output = command(&args).current_dir(dir.path()).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let printed = stdout(&output);
    if std::env::var_os("UPDATE_README").is_some() {
        let fresh = readme.replace(shown, &with_speed_of(shown, printed));
        std::fs::write(root.join("README.md"), fresh).unwrap();
        return;
    }
    let (shown, printed) = (lasting(shown), lasting(printed));
    let stale: Vec<_> = shown
        .iter()
        .zip(&printed)
        .filter(|(shown, printed)| shown != printed)
        .collect();
    assert!(
        stale.is_empty() && shown.len() == printed.len(),
        "the README's example is stale, update it with UPDATE_README=1: {stale:#?}"
    );
}

/// The lines that do not depend on the machine.
fn lasting(text: &str) -> Vec<&str> {
    let mut section = "";
    text.lines()
        .filter(|line| {
            if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
                section = line;
            }
            !line.is_empty() && !section.starts_with("Workers") && !is_about_speed(line)
        })
        .collect()
}

fn is_about_speed(line: &str) -> bool {
    let words = ["pps", "bit/s", "analysed in", "pipeline"];
    words.iter().any(|word| line.contains(word))
}

/// The printed text with the figures about speed of the README: an update shall not change them
/// to those of whatever build and machine it runs on.
fn with_speed_of(shown: &str, printed: &str) -> String {
    let mut speeds = shown.lines().filter(|line| is_about_speed(line));
    let lines = printed.lines().map(|line| match is_about_speed(line) {
        true => speeds.next().unwrap_or(line),
        false => line,
    });
    lines.map(|line| format!("{line}\n")).collect()
}
