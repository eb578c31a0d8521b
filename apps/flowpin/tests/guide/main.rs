//! The guide of `flowpin cc`, page by page: its files are written, its commands are run.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A block of the page: what follows its fence, and its text.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(kind), None) => open = Some((kind.to_owned(), String::new())),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some((kind, text))) => open = Some((kind, text + line + "\n")),
            (None, None) => {}
        }
    }
    blocks
}

/// What is missing of what the page needs.
fn missing() -> Option<&'static str> {
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let tools = ["cc", "make", "flex", "bash"];
    let tool = tools.into_iter().find(|name| !is_there(name));
    let pcap = !Path::new("/usr/include/pcap.h").exists();
    tool.or_else(|| pcap.then_some("libpcap-dev"))
}

/// The sources of libnids: `FLOWPIN_LIBNIDS`, or fetched once with apt.
fn libnids() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("FLOWPIN_LIBNIDS") {
        return Some(given.into());
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libnids");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guide/fetch-libnids");
    let fetched = Command::new("bash")
        .arg(script)
        .arg(&kept)
        .stdin(Stdio::null())
        .output();
    let is_there = fetched.is_ok_and(|output| output.status.success());
    is_there.then(|| kept.join("libnids-1.26"))
}

/// The page is true: the program on four cores says what the sequential one says.
#[test]
fn the_guide_works_page_by_page() {
    if let Some(tool) = missing() {
        println!("skipped: {tool} is not installed");
        return;
    }
    let Some(libnids) = libnids() else {
        println!("skipped: the sources of libnids cannot be fetched (FLOWPIN_LIBNIDS names them)");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/user/cc.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(&libnids);
    let copied = copy.arg(folder.path().join("libnids-1.26")).status();
    assert!(copied.unwrap().success());
    let mut script = String::from("set -e -o pipefail\n");
    for (kind, text) in blocks(&page) {
        if let Some(name) = kind.strip_prefix("c ") {
            fs::write(folder.path().join(name), &text).unwrap();
        } else if kind == "console" {
            for command in text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                script += &format!("echo '+' {command:?} >&2\n{command}\n");
            }
        }
    }
    let flowpin = Path::new(env!("CARGO_BIN_EXE_flowpin")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", flowpin.display()))
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    if err.contains("libclang is not installed") || err.contains("at least 19.1 is needed") {
        println!("skipped: libclang of at least 19.1 is not installed");
        return;
    }
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}\n{err}");
    assert!(
        out.contains("connection-affine: the 4 parts"),
        "{out}\n{err}"
    );
}
