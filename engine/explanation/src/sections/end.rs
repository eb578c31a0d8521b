//! Records, and the end of a connection.

use super::super::streams;
use super::super::text::Section;
use flowpin_engine::{ConnectionAccount, EndView, RecordText};
use flowpin_record::{ConnRecord, RecordEndpoint};
use flowpin_words::number;

/// The end of a connection, and what no packet of it caused.
pub(crate) fn connection(account: &ConnectionAccount) -> Vec<Section> {
    let mut end = Section::new(
        "End of the connection",
        "pipeline/50-flow/src/table/expiry.rs",
    );
    end.row("uid", account.uid.to_string());
    match &account.end {
        Some(view) => {
            end.row("ended", ended(view));
            end.row("ends", ends(&view.record));
            let app = view.record.app.map(|app| app.name.to_owned());
            end.row(
                "protocol",
                app.unwrap_or_else(|| "not identified".to_owned()),
            );
            let (up, down) = (&view.record.to_server, &view.record.to_client);
            end.row("packets", both(up.packets, down.packets));
            for fate in account.held.iter().take(HELD_MAX) {
                end.row("held bytes", streams::fate(fate));
            }
            let more = account.held.len().saturating_sub(HELD_MAX) as u64 + account.held_left_out;
            let more = (more > 0).then(|| format!("of {}", number::things(more, "more packet")));
            end.maybe("held bytes", more);
            for left in streams::at_end(&account.streams_end) {
                end.row("at the end", left);
            }
        }
        None => end.row("ended", "not by the time that reading stopped"),
    }
    vec![
        end,
        records("Records of its end", &account.records, true),
        records("Scans and floods of its ends", &account.findings, false),
    ]
}

/// Records, with their files and lines.
pub(super) fn records(name: &'static str, all: &[RecordText], is_told: bool) -> Section {
    let mut section = Section::new(name, "pipeline/99-output");
    for record in all {
        for line in &record.lines {
            section.row(
                format!("{}  {}", record.kind, line.file),
                beginning(&line.text),
            );
        }
    }
    if all.is_empty() && is_told {
        section.row("", "none");
    }
    section
}

/// A line for people: JSON has all of it.
fn beginning(line: &str) -> String {
    let mut letters = line.chars();
    let mut text: String = letters.by_ref().take(LINE_MAX).collect();
    if letters.next().is_some() {
        text.push('…');
    }
    text
}

/// How a connection ended.
pub(super) fn ended(end: &EndView) -> String {
    let record = &end.record;
    format!(
        "{} ended at {}: {}, {}",
        record.uid,
        number::rfc3339(end.key.time),
        record.reason.name().replace('_', " "),
        record.conn_state.name(),
    )
}

pub(super) fn ends(record: &ConnRecord) -> String {
    let end = |end: &RecordEndpoint| match record.protocol {
        // RecordEndpoint: the client's is the type, the server's the code or the answer's type.
        ICMP | ICMPV6 => end.address.to_string(),
        _ => format!("{} port {}", end.address, end.port),
    };
    if matches!(record.protocol, ICMP | ICMPV6) {
        let (client, server) = (&record.client, &record.server);
        return format!(
            "{} → {}, ICMP type {}, code or type of the answer {}",
            end(client),
            end(server),
            client.port,
            server.port
        );
    }
    format!("{} → {}", end(&record.client), end(&record.server))
}

pub(super) fn both(to_server: u64, to_client: u64) -> String {
    format!("{}/{}", number::count(to_server), number::count(to_client))
}

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// Packets whose held bytes are listed; JSON has all.
const HELD_MAX: usize = 20;
/// Letters of a record's line.
const LINE_MAX: usize = 240;
