//! The page of the documentation that lists every keyword.

use crate::{BUFFERS, KEYWORDS, Status, refused};
use core::fmt::Write;

/// The page: what is evaluated, what has no effect, what is refused and why.
pub fn keywords_page() -> String {
    let mut page = String::from(HEAD);
    section(
        &mut page,
        "Evaluated",
        KEYWORDS.iter().filter_map(|one| match one.status {
            Status::Evaluated(doc) => Some((one.name, doc)),
            _ => None,
        }),
    );
    page.push_str(
        "\n## Buffers\n\n| Buffer | Other names | Behind a content | Sent by | What it \
                   is |\n| --- | --- | --- | --- | --- |\n",
    );
    for one in BUFFERS {
        let sender = match one.to_server {
            Some(true) => "client",
            Some(false) => "server",
            None => "either",
        };
        let names = [one.aliases, one.modifiers].map(quoted);
        let [aliases, modifiers] = names;
        line(
            &mut page,
            format_args!(
                "| `{}` | {aliases} | {modifiers} | {sender} | {} |",
                one.name, one.doc
            ),
        );
    }
    section(
        &mut page,
        "Accepted without effect",
        KEYWORDS.iter().filter_map(|one| match one.status {
            Status::Accepted(doc) => Some((one.name, doc)),
            _ => None,
        }),
    );
    section(&mut page, "Refused by name", refused());
    page
}

fn section<'a>(page: &mut String, title: &str, rows: impl Iterator<Item = (&'a str, &'a str)>) {
    line(
        page,
        format_args!("\n## {title}\n\n| Keyword | |\n| --- | --- |"),
    );
    for (name, doc) in rows {
        line(page, format_args!("| `{name}` | {doc} |"));
    }
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Texts have room for anything.
fn line(page: &mut String, what: core::fmt::Arguments<'_>) {
    let _ = writeln!(page, "{what}");
}

const HEAD: &str = "\
# Keywords of rules

Every keyword that is known, as `flowpin rules keywords` prints them. A rule with a keyword that \
is refused, or that is not in this list, is left out and reported with its place; see \
[rules.md](rules.md). This page is generated:
`cargo run -p flowpin-rule --example keywords_page > docs/user/rule-keywords.md`.
";
