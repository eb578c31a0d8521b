//! Identification and parsing.

use super::super::text::Section;
use super::super::words::{change, side, unread};
use flowpin_engine::{CandidatesView, Completion, InspectChange, InspectView};
use flowpin_record::App;
use flowpin_words::number;

pub(super) fn identification(change_of: &InspectChange) -> Section {
    let mut section = Section::new("Identification", "pipeline/70-identify");
    let (before, after) = (change_of.before.as_ref(), &change_of.after);
    let phase = change(before.map(|one| one.phase), &after.phase);
    section.row("phase", phase);
    if change_of.searched > 0 {
        section.row("searched", "the bytes of this packet");
    }
    let known = before.and_then(|one| one.app);
    section.maybe("verdict", verdict(known, after.app));
    if after.is_doubted {
        section.row("doubted", "the verdict may still be taken back");
    }
    if change_of.taken_back > 0 {
        section.row(
            "taken back",
            number::things(change_of.taken_back, "verdict"),
        );
    }
    for (to_server, one) in [true, false].into_iter().zip(&after.candidates) {
        let label = format!("{}'s candidates", side(to_server));
        section.maybe(&label, one.as_ref().map(candidates));
    }
    section
}

fn verdict(before: Option<App>, after: Option<App>) -> Option<String> {
    let app = after?;
    let by = side(app.by_client);
    let sure = app.confidence.name();
    let text = format!("{} (rule {}, {sure}, by the {by})", app.name, app.rule);
    Some(match before {
        None => format!("now: {text}"),
        Some(was) if was.name != app.name => format!("{} → {text}", was.name),
        Some(_) => text,
    })
}

fn candidates(view: &CandidatesView) -> String {
    let mut names: Vec<&str> = view
        .protocols
        .iter()
        .take(CANDIDATES_MAX)
        .copied()
        .collect();
    let rest = format!(
        "{} more",
        view.protocols.len().saturating_sub(CANDIDATES_MAX)
    );
    if view.protocols.len() > CANDIDATES_MAX {
        names.push(&rest);
    }
    if view.has_patterns {
        names.push("patterns over its first bytes");
    }
    let kept = number::things(view.kept_bytes as u64, "byte");
    match names.is_empty() {
        true => format!("none; {kept} kept"),
        false => format!("{}; {kept} kept", names.join(", ")),
    }
}

pub(super) fn parser(change_of: &InspectChange, completion: Option<Completion>) -> Section {
    let mut section = Section::new("Parser", "engine/src/worker/parse, pipeline/80-parse");
    let name = |view: &InspectView| view.parser.unwrap_or("none").to_owned();
    let (before, after) = (change_of.before.as_ref().map(name), name(&change_of.after));
    if after != "none" || before.as_ref().is_some_and(|one| one != "none") {
        section.row("parser", change(before, &after));
        section.row("messages", change_of.messages.to_string());
    } else if let Some(app) = change_of.after.app {
        section.maybe("parser", unread(change_of, app.name));
    }
    let completed = completion.map(|one| match one {
        Completion::Packet(number) => {
            format!("by packet {number}, the next that completes a message of this connection")
        }
        Completion::AtEnd => {
            "not by the end of the connection, which reported the message as it was".to_owned()
        }
        Completion::Never => "not by the end of the connection".to_owned(),
    });
    section.maybe("completed", completed);
    section
}

/// Candidates that are named.
const CANDIDATES_MAX: usize = 12;
