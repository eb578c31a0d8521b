//! The page of the documentation that lists every option: `docs/user/options.md`.

use crate::{Described, Settings};

/// That page.
pub fn options_page() -> String {
    let mut out = String::from(HEAD);
    let mut last = "";
    for option in Settings::options() {
        if option.section != last {
            last = option.section;
            out.push_str(&format!("\n## `[{last}]`\n\n{TABLE}"));
        }
        let cells = [
            format!("`{}`", option.key),
            flag(&option),
            value(&option),
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
        None => long,
    }
}

/// The default; where there is none, what it may be.
fn value(option: &Described) -> String {
    match (option.default.as_deref(), option.example) {
        (Some("on"), _) => "`true`".to_owned(),
        (Some("off"), _) => "`false`".to_owned(),
        (Some(default), _) => format!("`{default}`"),
        (None, Some(example)) => format!("none (else as `{}`)", example.trim_matches('"')),
        (None, None) => "none".to_owned(),
    }
}

const HEAD: &str = "\
# Options

Every setting: its key in the file that `-c` names, and the option of `flowpin run` that wins over
it (`--depth` is that of `flowpin streams`). `flowpin run --print-config` prints the effective
settings as such a file. `--help` says which of them other commands have.

Hosts whose system is known have a `[[hosts]]` each, with `networks` and the keys of
`[other_hosts]`. What only one run should do is on the command line alone: what is shown (`--json`,
`-v`, `-q`), `-T`, `--print-config`, `-c`, and `--force`.
";
const TABLE: &str = "\
| key | command line | default | meaning |
| --- | --- | --- | --- |
";
