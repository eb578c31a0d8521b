//! Each packet of a connection in a line or two.

use super::streams;
use super::words::{event, fate, slow, tcp_field};
use anstyle::Style;
use flowpin_engine::{Fate, PacketAccount};
use flowpin_words::number;
use flowpin_words::printable;
use std::io::{self, Write};

/// A line of what the packet is, and one of what was decided, if that is worth one.
pub(super) fn packet(out: &mut impl Write, account: &PacketAccount) -> io::Result<()> {
    let (_, clock) = number::date_and_time(account.time);
    let arrow = match account.connection {
        Some(connection) if connection.to_server => "→",
        Some(_) => "←",
        None => " ",
    };
    let payload = account.packet.map_or(0, |packet| packet.payload_len);
    let flags = tcp_field(account, "flags").unwrap_or_default();
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    writeln!(
        out,
        "{bold}{:>8}{bold:#} {dim}{clock}.{:06}{dim:#} {arrow} {flags:<8} {:>6}  {}",
        account.number,
        account.time.subsec_nanos() / 1000,
        number::count(payload.into()),
        what(account),
    )?;
    let more = decisions(account);
    if !more.is_empty() {
        let more = printable(more.join("; ").as_bytes());
        writeln!(out, "{:28}{dim}{more}{dim:#}", "")?;
    }
    Ok(())
}

/// What the packet did to its connection.
fn what(account: &PacketAccount) -> String {
    let Some(view) = &account.connection else {
        let last = account.fates.last();
        return last.map_or_else(String::new, |last| fate(last, &account.headers));
    };
    let (before, after) = (view.before.as_ref(), &view.after);
    let mut parts = Vec::new();
    let state = after.conn_state.name();
    match before {
        None => parts.push(format!("{} {}: {state}", event(view.event), after.uid)),
        Some(before) if before.conn_state != after.conn_state => {
            parts.push(format!("{} → {state}", before.conn_state.name()));
        }
        Some(_) => {}
    }
    let history = after.history.as_str();
    let known = before.map_or("", |before| before.history.as_str());
    if history != known {
        parts.push(format!("history {history}"));
    }
    if view.is_ignored {
        parts.push("dropped by its receiver".to_owned());
    }
    if parts.is_empty() {
        parts.push(event(view.event).to_owned());
    }
    parts.join(", ")
}

/// What the stages decided.
fn decisions(account: &PacketAccount) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(reason) = account.slow_path {
        all.push(slow(reason));
    }
    for one in &account.fates {
        if !matches!(one, Fate::Packet) && account.connection.is_some() {
            all.push(fate(one, &account.headers));
        }
    }
    if let Some(view) = &account.streams {
        let decided = streams::decisions(account, view).into_iter();
        all.extend(decided.filter(|one| one != "nothing to deliver"));
    }
    if let Some(change) = &account.inspect {
        let known = change.before.as_ref().and_then(|one| one.app);
        if let Some(app) = change.after.app
            && known.is_none_or(|known| known.name != app.name)
        {
            all.push(format!("identified as {} (rule {})", app.name, app.rule));
        }
    }
    for (loss, count) in &account.losses {
        all.push(format!("{}: {count}", loss.name()));
    }
    for record in &account.records {
        let files: Vec<&str> = record.lines.iter().map(|line| &*line.file).collect();
        all.push(format!("record {} in {}", record.kind, files.join(", ")));
    }
    all
}
