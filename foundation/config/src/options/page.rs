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

/// The default, as it is written in the file; if there is none, an example.
fn value(option: &Described, defaults: &toml::Table) -> String {
    let section = defaults.get(option.section).and_then(toml::Value::as_table);
    let default = section.and_then(|values| values.get(option.key));
    match (default, option.example) {
        (Some(default), _) => format!("`{default}`"),
        (None, Some(example)) => format!("not set (e.g. `{example}`)"),
        (None, None) => "not set".to_owned(),
    }
}

/// The one that `flowpin run` does not have.
const OF_STREAMS: &str = "depth";

const HEAD: &str = "\
# Options

All settings: the key in the configuration file that `-c` names, and the option of `flowpin run`
that sets it (`--depth` belongs to `flowpin streams`). `--help` shows the options of the other
commands. `flowpin run --print-config` prints the effective settings as such a file, in which
unset keys are comments. Defaults and examples are shown as they are written in the file: text in
quotes, sizes and times with their unit, lists in brackets (`read = [\"a.pcap\", \"captures\"]`).

An option replaces the value of its key in the file, and adds nothing to it; this includes lists.
In particular

- `--parse on` parses all protocols that have a parser, even if the file names some;
- `--hash sha1` adds only SHA-1 to records, and `--hash none` no hash;
- `--rotate \"100 MiB\"` rotates by size only, even if the file has `rotate_every`;
- `-l DIR` writes files, even if the file has `stdout = true`;
- `--all-fields=off`, `--csv-safe=off` and `--extract \"\"` reset the value in the file.

No option resets a key that is unset by default: remove it from the file.

Each group of hosts whose system is known has a `[[hosts]]` section, with `networks` and the keys
of `[other_hosts]`. Options that concern a single run exist on the command line only: output on
the terminal (`--json`, `-v`, `-q`), `-T`, `--print-config`, `-c`, and `--force`.
";
const TABLE: &str = "\
| key | command line | default | meaning |
| --- | --- | --- | --- |
";
