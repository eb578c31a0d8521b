//! The page of the documentation that lists every option: `docs/user/options.md`.

use crate::{Described, Plan, Settings};

/// That page.
pub fn options_page() -> String {
    let mut out = String::from(HEAD);
    let defaults = Settings::from(&Plan::default());
    let defaults = toml::Table::try_from(defaults).unwrap_or_default();
    let mut last = "";
    for option in Settings::options() {
        if option.section != last {
            last = option.section;
            out.push_str(&format!("\n## `[{last}]`\n\n{TABLE}"));
        }
        let cells = [
            format!("`{}`", option.key),
            flag(&option),
            value(&option, &defaults),
            option.comment(),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

/// The option of the command line, with its value.
fn flag(option: &Described) -> String {
    let Some(flag) = &option.flag else {
        return String::new();
    };
    let long = match flag.value {
        Some(value) => format!("`--{} {value}`", flag.long),
        None => format!("`--{}`", flag.long),
    };
    match flag.short {
        Some(letter) => format!("`-{letter}`, {long}"),
        None if flag.long == OF_STREAMS => format!("{long} of `flowpin streams`"),
        None => long,
    }
}

/// The default, as it is written in the file; where there is none, what it may be.
fn value(option: &Described, defaults: &toml::Table) -> String {
    let section = defaults.get(option.section).and_then(toml::Value::as_table);
    let default = section.and_then(|values| values.get(option.key));
    match (default, option.example) {
        (Some(default), _) => format!("`{default}`"),
        (None, Some(example)) => format!("not set (e.g. `{example}`)"),
        (None, None) => "not set".to_owned(),
    }
}

/// The one that `flowpin run` has not.
const OF_STREAMS: &str = "depth";

const HEAD: &str = "\
# Options

Every setting: its key in the file that `-c` names, and the option of `flowpin run` for it
(`--depth` is of `flowpin streams` only). `--help` says which of them other commands have.
`flowpin run --print-config` prints the effective settings as such a file; what is not set is a
comment there. Defaults and examples are shown as they are written in the file: text in quotes,
sizes and times with their unit, lists in brackets (`read = [\"a.pcap\", \"captures\"]`).

An option takes the place of its key in the file, and adds nothing to it: of a list that the file
has, nothing stays. In particular

- `--parse on` reads all protocols that have a parser, also where the file names some;
- `--hash sha1` tells SHA-1 and no other hash; `--hash none` tells none;
- `--rotate \"100 MiB\"` rotates by size alone, also where the file has `rotate_every`;
- `-l DIR` writes files, also where the file has `stdout = true`;
- `--all-fields=off`, `--csv-safe=off` and `--extract \"\"` take back what the file says.

A key that is not set by default has no option that takes it back: leave it out of the file.

Hosts whose system is known have a `[[hosts]]` each, with `networks` and the keys of
`[other_hosts]`. Settings of a single run exist on the command line only: what is shown (`--json`,
`-v`, `-q`), `-T`, `--print-config`, `-c`, and `--force`.
";
const TABLE: &str = "\
| key | command line | default | meaning |
| --- | --- | --- | --- |
";
