//! What is read of settings, and what is refused.

use super::systems;
use crate::{Loaded, Reader};
use flowpin_config::System;
use flowpin_rule::{ForwardedAs, ForwardedHop};
use std::fs;

/// What a file says, or why it is refused: without its folder.
fn read(text: &str) -> Result<(Reader, tempfile::TempDir), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.yaml");
    fs::write(&path, text).unwrap();
    fs::write(folder.path().join("more.yaml"), "HOME_NET: 10.0.0.7\n").unwrap();
    let more = "vars:\n  address-groups:\n    HOME_NET: 10.0.0.8\n";
    fs::write(folder.path().join("whole.yaml"), more).unwrap();
    fs::write(folder.path().join("loop.yaml"), "include: loop.yaml\n").unwrap();
    let mut reader = Reader::default();
    match reader.read_settings_alone(&path) {
        Ok(()) => Ok((reader, folder)),
        Err(why) => Err(why.replace(&format!("{}/", folder.path().display()), "")),
    }
}

fn home(text: &str) -> Result<String, String> {
    let (reader, _) = read(text)?;
    Ok(reader.context.variables.get("HOME_NET").unwrap().to_owned())
}

fn loaded(text: &str) -> Loaded {
    read(text).unwrap().0.finish()
}

/// Settings often come without the folders that they were written in: the rest counts, and what is
/// not there is told with its line.
#[test]
fn included_files_that_are_not_there_are_told() {
    let text = "vars: {address-groups: {HOME_NET: 10.0.0.5}}\ninclude: none.yaml\n";
    assert_eq!(home(text).unwrap(), "10.0.0.5");
    let problems = loaded(text).problems;
    assert_eq!((problems.len(), problems[0].place.line), (1, 2));
    assert_eq!(problems[0].line, "include: none.yaml");
}

/// Whatever form of YAML gives a variable its value; the last one counts.
#[test]
fn variables_are_found_in_every_form() {
    for (text, expected) in [
        (
            "vars:\n  address-groups:\n    HOME_NET: \"[10.0.0.5]\" # ours\n",
            "[10.0.0.5]",
        ),
        (
            "\u{feff}vars:\n  address-groups:\n    HOME_NET: 10.0.0.5\n",
            "10.0.0.5",
        ),
        (
            "%YAML 1.1\n---\nvars:\n  address-groups: {HOME_NET: '10.0.0.5'}\n",
            "10.0.0.5",
        ),
        (
            "{\"vars\": {\"address-groups\": {\"HOME_NET\": [\"10.0.0.5\"]}}}",
            "[10.0.0.5]",
        ),
        (
            "vars:\n  address-groups:\n    HOME_NET:\n      - 10.0.0.5\n      - 10.0.0.6\n",
            "[10.0.0.5, 10.0.0.6]",
        ),
        (
            "vars:\n  address_groups:\n    HOME_NET: [10.0.0.5,\n      10.0.0.6]\n",
            "[10.0.0.5, 10.0.0.6]",
        ),
        (
            "vars:\n  address-groups:\n    HOME_NET: 1.1.1.1\n    HOME_NET: 10.0.0.5\n",
            "10.0.0.5",
        ),
        (
            "vars: {address-groups: {HOME_NET: 1.1.1.1}}\nvars: {port-groups: {X: 1}}\n",
            "1.1.1.1",
        ),
        ("vars:\n  address-groups: !include more.yaml\n", "10.0.0.7"),
        ("include: whole.yaml\n", "10.0.0.8"),
        (
            "include:\n  - whole.yaml\nvars: {address-groups: {HOME_NET: 1.1.1.1}}\n",
            "1.1.1.1",
        ),
    ] {
        assert_eq!(home(text), Ok(expected.to_owned()), "{text}");
    }
}

/// What cannot be read leaves no default in place: it is refused, with its line.
#[test]
fn what_has_no_meaning_is_refused() {
    let deep = "a: ".to_owned() + &"[".repeat(99) + &"]".repeat(99);
    for (text, expected) in [
        ("a: [1, 2\n", "x.yaml:"),
        ("a:\n\tb: c\n", "x.yaml:2: "),
        ("vars: 3\n", "x.yaml:1: names and values are expected"),
        ("just text\n", "x.yaml:1: names and values are expected"),
        (
            "vars:\n  address-groups:\n    HOME_NET: {a: b}\n",
            "x.yaml:3: one text is expected",
        ),
        (
            "a: &a [1]\nvars:\n  address-groups:\n    HOME_NET: *a\n",
            "x.yaml:4: aliases",
        ),
        (
            "vars:\n  address-groups:\n    HOME_NET: !$X\n",
            "x.yaml:3: a text that begins",
        ),
        (
            "host-os-policy: [1, 2]\n",
            "x.yaml:1: names and values are expected",
        ),
        (
            "host-os-policy:\n  dos: [\"::1\"]\n",
            "x.yaml:2: host-os-policy: \"dos\" is not one",
        ),
        ("rule-files: a.rules\n", "x.yaml:1: a list is expected"),
        ("include: loop.yaml\n", "more than 64 files"),
        (&deep, "x.yaml:1: values are nested too deeply"),
    ] {
        let why = home(text).unwrap_err();
        assert!(why.contains(expected), "{text}: {why}");
    }
}

/// Suricata's names are read, and what is no system or network is told.
#[test]
fn systems_have_hosts() {
    let found = systems("old-linux", "[10.0.0.1/8, \"::1\"]").unwrap();
    let shown: Vec<String> = found.iter().map(|one| one.0.to_string()).collect();
    assert_eq!(shown, ["10.0.0.0/8", "::1/128"]);
    assert!(found.iter().all(|one| one.1 == System::OldLinux));
    assert_eq!(systems("bsd", "[]"), Ok(Vec::new()));
    assert!(systems("dos", "[::1]").unwrap_err().contains("old-linux"));
    assert!(systems("bsd", "[ten]").unwrap_err().contains("`ten`"));
    let text = "host-os-policy:\n  old_linux: [10.0.0.0/8]\n  old-linux: [11.0.0.0/8]\n  bsd:\n\
        \x20   - \"::1\"\n  irix: []\n  macos:\n";
    let hosts = loaded(text).hosts;
    let shown: Vec<String> = hosts.iter().map(|one| one.0.to_string()).collect();
    assert_eq!(shown, ["::1/128", "11.0.0.0/8"]);
}

/// It is on where it says so; what alerts say counts before what their log says.
#[test]
fn proxies_name_clients_where_that_is_on() {
    let with = |xff: &str| {
        let text = format!("outputs:\n  - fast:\n      enabled: no\n  - eve-log:\n      {xff}\n");
        read(&text).map(|(reader, _)| reader.finish().set.forwarded)
    };
    let (extra, over) = (ForwardedAs::Extra, ForwardedAs::Overwrite);
    let (last, first) = (ForwardedHop::Last, ForwardedHop::First);
    for (xff, expected) in [
        ("xff: {mode: overwrite}", None),
        ("xff: {enabled: no, header: X-Real-IP}", None),
        (
            "xff: {enabled: Yes, header: x-forwarded-for}",
            Some((extra, last)),
        ),
        (
            "xff: {enabled: yes, mode: overwrite, deployment: forward}",
            Some((over, first)),
        ),
        (
            "types: [http, {alert: {xff: {enabled: yes}}}]",
            Some((extra, last)),
        ),
        (
            "types: [alert: {xff: {enabled: yes}}]\n      xff: {enabled: on, mode: overwrite}",
            Some((extra, last)),
        ),
    ] {
        assert_eq!(with(xff), Ok(expected), "{xff}");
    }
    for (xff, expected) in [
        (
            "xff: {enabled: yes, mode: bogus}",
            "5: xff: mode: \"bogus\" is neither extra-data",
        ),
        (
            "xff: {enabled: yes, deployment: x}",
            "5: xff: deployment: \"x\" is neither reverse",
        ),
        (
            "xff: {enabled: yes, header: X-Real-IP}",
            "5: xff: header: no other field",
        ),
        ("xff: 3", "5: names and values"),
    ] {
        let why = with(xff).unwrap_err();
        assert!(why.contains(expected), "{xff}: {why}");
    }
}
