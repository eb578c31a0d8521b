//! Rules about files: sizes, line lengths, words, module documentation, where unsafe code may be.

use crate::finding::Finding;
use crate::source::{Source, folders, rust_sources};
use anyhow::Result;
use std::path::Path;

/// All rules over all sources.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in rust_sources(root)? {
        check_sizes(&source, &mut findings);
        check_lines(&source, &mut findings);
        check_beginning(&source, &mut findings);
        check_name(&source, &mut findings);
    }
    for (folder, entry_count) in folders(root)? {
        if entry_count > FOLDER_ENTRIES {
            findings.push(Finding::note(
                folder.display().to_string(),
                format!("{entry_count} entries; {FOLDER_ENTRIES} are pleasant to read"),
            ));
        }
    }
    Ok(findings)
}

fn check_sizes(source: &Source, findings: &mut Vec<Finding>) {
    if source.is_test() || source.is_generated() {
        return;
    }
    let place = source.path.display().to_string();
    let code = source.line_count_without_tests();
    let tests = source.text.lines().count() - code;
    if code > FILE_LINES_MAX {
        let text = format!("{code} lines without tests; at most {FILE_LINES_MAX}: split it");
        findings.push(Finding::error(place.clone(), text));
    } else if code > FILE_LINES_LONG {
        let text = format!("{code} lines without tests; {FILE_LINES_LONG} is long");
        findings.push(Finding::note(place.clone(), text));
    }
    if tests > TEST_LINES_LONG {
        let text = format!("{tests} lines of tests; over {TEST_LINES_LONG} they move to tests.rs");
        findings.push(Finding::note(place, text));
    }
}

fn check_lines(source: &Source, findings: &mut Vec<Finding>) {
    let path = source.path.to_string_lossy();
    let may_be_unsafe = UNSAFE_ALLOWED
        .iter()
        .any(|allowed| path.starts_with(allowed));
    if source.is_generated() {
        return;
    }
    for (at, line) in source.text.lines().enumerate() {
        let place = || format!("{}:{}", source.path.display(), at + 1);
        let columns = line.chars().count();
        // An address cannot be broken.
        if columns > COLUMNS_MAX && !line.contains("https://") {
            let text = format!("{columns} columns; at most {COLUMNS_MAX}");
            findings.push(Finding::error(place(), text));
        }
        for word in BANNED {
            if line.contains(word) {
                findings.push(Finding::error(
                    place(),
                    format!("`{word}` is not committed"),
                ));
            }
        }
        if !may_be_unsafe && has_unsafe(line) {
            let text = format!("unsafe code lives in {} only", UNSAFE_ALLOWED.join(", "));
            findings.push(Finding::error(place(), text));
        }
    }
}

/// Whether a line holds the keyword outside comments and plain strings.
fn has_unsafe(line: &str) -> bool {
    let outside_strings: String = line.split('"').step_by(2).collect();
    let code = outside_strings.split("//").next().unwrap_or_default();
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == KEYWORD)
}

fn check_beginning(source: &Source, findings: &mut Vec<Finding>) {
    let mut lines = source.text.lines().skip_while(|line| {
        line.starts_with("#!") || line.starts_with("// @generated") || line.trim().is_empty()
    });
    if !lines.next().is_some_and(|line| line.starts_with("//!")) {
        findings.push(Finding::error(
            source.path.display().to_string(),
            "does not begin with `//!`: one sentence of what it is for",
        ));
    }
}

fn check_name(source: &Source, findings: &mut Vec<Finding>) {
    let is_vague = |part: &std::ffi::OsStr| {
        let name = Path::new(part).file_stem().unwrap_or_default();
        VAGUE.iter().any(|vague| name == *vague)
    };
    if source.path.iter().any(is_vague) {
        findings.push(Finding::error(
            source.path.display().to_string(),
            format!("a name that says nothing ({})", VAGUE.join(", ")),
        ));
    }
}

const FILE_LINES_LONG: usize = 400;
const FILE_LINES_MAX: usize = 600;
const TEST_LINES_LONG: usize = 150;
const COLUMNS_MAX: usize = 100;
const FOLDER_ENTRIES: usize = 12;
const VAGUE: &[&str] = &["util", "utils", "common", "helpers", "misc", "types"];
/// Spelled in two parts, so that this file holds none of them.
const BANNED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("dbg", "!("),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];
const KEYWORD: &str = "unsafe";
/// Where unsafe code is proved (see CONTRIBUTING.md); everywhere else the compiler forbids it.
pub(crate) const UNSAFE_ALLOWED: &[&str] = &[
    "bindings/c/src/",
    "compilers/cc/src/clang/",
    "foundation/ring/",
    "foundation/memory/",
    "foundation/cpu/",
    "foundation/socket/",
    // Measures what mmap would cost; not part of the command.
    "pipeline/10-capture/examples/read_or_map.rs",
];

#[cfg(test)]
mod tests {
    use super::{check_beginning, check_lines, check_name, check_sizes, has_unsafe};
    use crate::finding::Finding;
    use crate::source::Source;

    fn findings(path: &str, text: &str) -> Vec<Finding> {
        let source = Source {
            path: path.into(),
            text: text.to_owned(),
        };
        let mut findings = Vec::new();
        check_sizes(&source, &mut findings);
        check_lines(&source, &mut findings);
        check_beginning(&source, &mut findings);
        check_name(&source, &mut findings);
        findings
    }

    /// A file that keeps all rules has no findings.
    #[test]
    fn good_file_has_no_findings() {
        assert_eq!(findings("engine/src/a.rs", "//! What.\nfn f() {}\n"), []);
    }

    /// Each rule is broken once and found once, with its place.
    #[test]
    fn each_rule_finds_its_breach() {
        let long_line = format!("//! What.\n// {}\n", "x".repeat(99));
        let long_file = format!("//! What.\n{}", "fn f() {}\n".repeat(600));
        for (path, text, place) in [
            ("engine/src/a.rs", "fn f() {}\n", "engine/src/a.rs"),
            ("engine/src/a.rs", long_line.as_str(), "engine/src/a.rs:2"),
            ("engine/src/a.rs", long_file.as_str(), "engine/src/a.rs"),
            ("engine/src/util.rs", "//! What.\n", "engine/src/util.rs"),
            (
                "engine/src/a.rs",
                concat!("//! What.\n// TO", "DO later\n"),
                "engine/src/a.rs:2",
            ),
            (
                "engine/src/a.rs",
                "//! What.\nfn f() { unsafe { g() } }\n",
                "engine/src/a.rs:2",
            ),
        ] {
            let found = findings(path, text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].is_error && found[0].place == place, "{found:?}");
        }
    }

    /// The keyword in a comment, a string or a longer name is no unsafe code.
    #[test]
    fn unsafe_is_found_in_code_only() {
        assert!(has_unsafe("    unsafe { x() }"));
        assert!(has_unsafe("unsafe impl Send for X {}"));
        assert!(!has_unsafe("// unsafe here"));
        assert!(!has_unsafe("#![forbid(unsafe_code)]"));
        assert!(!has_unsafe("let x = \"// unsafe\";"));
    }
}
