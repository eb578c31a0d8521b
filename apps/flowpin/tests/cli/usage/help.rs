//! Help, manual pages and completions: all from one definition.

use crate::program::{assert_refused, code, command, flowpin, stderr, stdout, text};

/// What scripts rely on is in the help: exit codes; what people look for: examples.
#[test]
fn help_has_examples_and_exit_codes() {
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["slice", "--help"],
        &["streams", "--help"],
        &["explain", "--help"],
    ] {
        let output = flowpin(args);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("Examples:"), "{args:?}");
        assert!(stdout(&output).contains("Exit codes:"), "{args:?}");
    }
    let version = flowpin(&["-V"]);
    assert!(stdout(&version).starts_with("flowpin "));
}

/// No line of any help is wider than a document's.
#[test]
fn help_fits_a_hundred_columns() {
    for args in [
        &["--help"][..],
        &["run", "--help"],
        &["slice", "--help"],
        &["streams", "--help"],
        &["explain", "--help"],
    ] {
        let output = flowpin(args);
        for line in stdout(&output).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

/// Completions and manual pages come from the same definition as the help.
#[test]
fn completions_and_manual_are_generated() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = flowpin(&["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("community-id"), "{shell}");
    }
    let dir = tempfile::tempdir().unwrap();
    let output = flowpin(&["man", text(dir.path())]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let page = std::fs::read_to_string(dir.path().join("flowpin-run.1")).unwrap();
    assert!(
        page.contains("EXIT") || page.contains("Exit codes"),
        "{page}"
    );
    assert!(dir.path().join("flowpin.1").exists());
    assert!(stdout(&flowpin(&["man"])).contains(".TH flowpin 1"));
}

/// A command's name prints its page and makes nothing; a word that is neither is refused; a path
/// with a slash is made.
#[test]
fn manual_of_a_command_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    let man = |word: &str| {
        let mut man = command(&["man", word]);
        man.current_dir(dir.path()).output().unwrap()
    };
    for (word, title) in [
        ("run", ".TH flowpin-run 1"),
        ("gen-http", ".TH flowpin-gen-http 1"),
        ("flowpin-slice", ".TH flowpin-slice 1"),
        ("flowpin", ".TH flowpin 1"),
    ] {
        let output = man(word);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(stdout(&output).contains(title), "{word}");
    }
    assert_refused(&man("rnu"), 2, &["`rnu` is neither a command"]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(code(&man("pages/")), 0);
    assert!(dir.path().join("pages/flowpin-run.1").exists());
}

/// Pages of before are replaced only when that is asked for, links and pipes never; what stands
/// beside them is nobody's business.
#[test]
fn manual_pages_are_written_over_by_force_alone() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let man = |more: &[&str]| flowpin(&[&["man", text(dir.path())], more].concat());
    std::fs::write(at("mine"), "mine").unwrap();
    std::fs::write(at("flowpin-run.1"), "mine").unwrap();
    assert_refused(&man(&[]), 2, &["flowpin-run.1", "--force"]);
    assert_eq!(std::fs::read(at("flowpin-run.1")).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    assert_eq!(code(&man(&["--force"])), 0);
    let page = std::fs::read_to_string(at("flowpin-run.1")).unwrap();
    assert!(page.contains(".TH flowpin-run 1"), "{page}");
    std::fs::remove_file(at("flowpin-run.1")).unwrap();
    std::os::unix::fs::symlink(at("mine"), at("flowpin-run.1")).unwrap();
    for more in [&[][..], &["--force"]] {
        assert_refused(&man(more), 2, &["flowpin-run.1", "a symbolic link"]);
    }
    assert_eq!(std::fs::read(at("mine")).unwrap(), b"mine");
    let file = at("mine/");
    assert_refused(
        &flowpin(&["man", text(&file)]),
        2,
        &["a file and no directory"],
    );
}
