//! Whole conversations: what is told of them, however they are cut.

mod anomalies;
mod coded;
mod conversations;
mod expect;
mod forms;
mod laws;
mod receivers;
mod unchunked;

use crate::HttpOptions;
use crate::fuzz::{Step, feed, parser};

pub(super) const C: bool = true;
pub(super) const S: bool = false;

/// What is told of turns, each a side and its bytes: whole, and by every cut in two, the same.
pub(super) fn told(turns: &[(bool, &[u8])]) -> Vec<String> {
    let steps: Vec<Step<'_>> = turns
        .iter()
        .map(|&(side, bytes)| Step::Data(side, bytes))
        .collect();
    told_of(&steps)
}

pub(super) fn told_of(steps: &[Step<'_>]) -> Vec<String> {
    let mut http = parser(HttpOptions::default(), 1 << 20).unwrap();
    let whole = feed(&mut http, steps, usize::MAX);
    assert!(http.parser.is_empty());
    for piece in [1, 2, 3, 7, 64] {
        assert_eq!(feed(&mut http, steps, piece), whole, "in pieces of {piece}");
    }
    whole.iter().map(|line| short(line)).collect()
}

/// Of a record the columns that are set, without their numbers.
fn short(line: &str) -> String {
    let Some((_, values)) = line.split_once(" [") else {
        return line.to_owned();
    };
    let names = [
        "depth",
        "method",
        "host",
        "uri",
        "referrer",
        "version",
        "agent",
        "origin",
        "sent",
        "got",
        "wire",
        "status",
        "reason",
        "info",
        "info_reason",
        "user",
        "proxied",
        "protocol",
        "port",
        "type",
        "location",
        "range",
        "xff",
        "upgrade",
    ];
    let mut rest = values.trim_end_matches(']');
    let mut out = Vec::new();
    for name in names {
        let (value, later) = split_value(rest);
        rest = later;
        // What was sent is told where it is not what was got.
        let is_got = name == "wire" && out.last() == Some(&format!("got={value}"));
        if value != "Unset" && !is_got {
            out.push(format!("{name}={}", value.replace(' ', "_")));
        }
    }
    out.join(" ")
}

/// The first of the values that Rust's debug format lists, in short, and the others.
fn split_value(text: &str) -> (String, &str) {
    let mut depth = 0;
    let end = text
        .find(|letter| {
            depth +=
                i32::from(matches!(letter, '(' | '[')) - i32::from(matches!(letter, ')' | ']'));
            letter == ',' && depth == 0
        })
        .unwrap_or(text.len());
    let (value, rest) = text.split_at(end);
    let inner = value
        .split_once('(')
        .map_or(value, |(_, inner)| inner.trim_end_matches(')'));
    let text = match inner.strip_prefix('[') {
        Some(list) if value.starts_with("Bytes") => list
            .trim_end_matches(']')
            .split(", ")
            .filter_map(|byte| byte.parse::<u8>().ok())
            .map(char::from)
            .collect(),
        _ => inner.to_owned(),
    };
    (text, rest.trim_start_matches(", "))
}
