//! Events against Wireshark's `ftp` dissector, line by line.

use crate::events::{events, of_type};
use crate::explained::Explained;
use flowpin_testkit::corpus;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Captures with FTP, by their names: each command with what stands behind it, and each code of a
/// reply, is what Wireshark shows, or a row says why not.
#[test]
fn lines_are_those_that_wireshark_shows() {
    if Command::new("tshark").arg("-v").output().is_err() {
        corpus::skip("FTP against tshark", "tshark is not installed");
        return;
    }
    let bundled = corpus::bundled().into_iter();
    let bundled = bundled.map(|path| (path.file_name().unwrap().to_string_lossy().into(), path));
    let public = corpus::captures(&[], "FTP against tshark").into_iter();
    let public = public.map(|capture| (capture.name, capture.path));
    let mut explained = Explained::parse(include_str!("../explained/ftp.tsv"));
    let (mut open, mut compared, mut count) = (Vec::new(), Vec::new(), 0);
    for (name, path) in bundled
        .chain(public)
        .filter(|(name, _): &(String, _)| is_ftp(name))
    {
        let theirs = dissected(&path);
        let mut ours = told(&path);
        for line in theirs {
            count += 1;
            match ours.iter().position(|one| *one == line) {
                Some(at) => drop(ours.swap_remove(at)),
                None if explained.covers(&name, "tshark") => {}
                None => open.push(format!("{name}\ttshark\tonly there: {line:?}")),
            }
        }
        for line in ours {
            if !explained.covers(&name, "tshark") {
                open.push(format!("{name}\ttshark\tonly here: {line:?}"));
            }
        }
        compared.push(name);
    }
    println!("{count} lines of {} captures", compared.len());
    assert!(count > 300, "{count} lines");
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
}

fn is_ftp(name: &str) -> bool {
    let name = name.to_lowercase();
    let file = name.rsplit('/').next().unwrap_or_default();
    let other = ["tftp", "uftp", "sftp", "json"];
    (file.contains("ftp") || name.contains("/ftp")) && !other.iter().any(|word| file.contains(word))
}

/// A command in capitals and its argument, or a code and nothing.
type Line = (String, String);

fn told(path: &Path) -> Vec<Line> {
    let mut lines = Vec::new();
    let events = events(path, "none");
    for event in of_type(&events, "ftp") {
        let ftp = &event["ftp"];
        if let Some(command) = ftp["command"].as_str() {
            let argument = ftp["command_data"].as_str().unwrap_or_default();
            lines.push(line(command, argument));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let codes = ftp["completion_code"].as_array().into_iter().flatten();
        lines.extend(codes.map(|code| (text(code), String::new())));
    }
    lines
}

/// Passwords are not shown here, and not compared; of long texts the beginning is.
fn line(command: &str, argument: &str) -> Line {
    let command = command.to_uppercase();
    let argument = if matches!(command.as_str(), "PASS" | "ACCT") {
        ""
    } else {
        argument.trim()
    };
    (beginning(&command), beginning(argument))
}

fn beginning(text: &str) -> String {
    text.chars().take(60).collect()
}

fn dissected(path: &Path) -> Vec<Line> {
    let mut command = Command::new("tshark");
    command
        .arg("-r")
        .arg(path)
        .args(["-Y", "ftp && !tcp.analysis.retransmission"]);
    for port in 2121..=2123 {
        command.args(["-d", &format!("tcp.port=={port},ftp")]);
    }
    command.args([
        "-T",
        "fields",
        "-E",
        "separator=/t",
        "-E",
        "aggregator=\u{1}",
    ]);
    for field in ["request.command", "request.arg", "response.code"] {
        command.args(["-e", &format!("ftp.{field}")]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = Vec::new();
    for row in text.lines() {
        let mut fields = row.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (commands, arguments, codes) = (next(), next(), next());
        let mut arguments = arguments.split('\u{1}');
        for command in commands.split('\u{1}').filter(|one| !one.is_empty()) {
            lines.push(line(command, arguments.next().unwrap_or_default()));
        }
        let codes = codes.split('\u{1}').filter(|one| !one.is_empty());
        lines.extend(codes.map(|code| (code.to_owned(), String::new())));
    }
    lines
}
