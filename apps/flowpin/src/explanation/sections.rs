//! One packet, a section for each stage; and the end of a connection.

use super::text::Section;
use super::words::{change, checksum, event, fate, side, slow};
use super::{streams, words};
use crate::summary::number;
use flowpin_engine::{
    CandidatesView, ConnectionAccount, ConnectionView, EndView, InspectChange, PacketAccount,
    PacketView, RecordText,
};
use flowpin_record::ConnRecord;

/// Every stage that saw the packet, in order.
pub(super) fn packet(account: &PacketAccount) -> Vec<Section> {
    let mut sections = vec![headers(account), input(account)];
    if let Some(packet) = &account.packet {
        sections.push(hash(packet));
    }
    sections.extend(
        account
            .connection
            .as_ref()
            .map(|one| connection_at(one, account)),
    );
    sections.push(scans(account));
    sections.push(reassembly(account));
    if let Some(change) = &account.inspect {
        sections.push(identification(change));
        sections.push(parser(change));
    }
    let mut losses = Section::new("Losses", "foundation/counters");
    for (loss, count) in &account.losses {
        let text = format!("{}: {}", number::count(*count), loss.explanation());
        losses.row(loss.name(), text);
    }
    sections.push(losses);
    sections.push(records("Records of this packet", &account.records, true));
    sections
}

fn headers(account: &PacketAccount) -> Section {
    let mut section = Section::new("Headers", "pipeline/20-dispatch/src/peel");
    for header in &account.headers.all {
        let fields: Vec<String> = header
            .fields
            .iter()
            .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
            .collect();
        let place = format!("{:>4} +{:<3} {}", header.offset, header.len, header.name);
        section.row(place, fields.join(", "));
    }
    section
}

fn input(account: &PacketAccount) -> Section {
    let mut section = Section::new("Input", "engine/src/input");
    let path = match account.slow_path {
        Some(reason) => slow(reason, &account.headers),
        None => "fast path".to_owned(),
    };
    section.row("path", path);
    if account.stream_time != account.time {
        section.row("stream time", number::rfc3339(account.stream_time));
    }
    if let (Some(refused), Some(_)) = (account.headers.refused, &account.packet) {
        let inner = words::malformed(refused);
        section.row(
            "inside",
            format!("what the tunnel holds is refused, {inner}"),
        );
    }
    for one in &account.fates {
        section.row("decision", fate(one, &account.headers));
    }
    section
}

fn hash(packet: &PacketView) -> Section {
    let mut section = Section::new("Checksum, key, shard", "pipeline/20-dispatch/src/pin");
    section.row("checksum", checksum(packet.checksum));
    let [low, high] = packet.ends.map(|(address, port)| match address {
        core::net::IpAddr::V6(address) => format!("[{address}]:{port}"),
        core::net::IpAddr::V4(address) => format!("{address}:{port}"),
    });
    let from = if packet.high_to_low {
        "second"
    } else {
        "first"
    };
    section.row(
        "key",
        format!("protocol {}, {low} and {high}", packet.protocol),
    );
    section.row("direction", format!("from the {from} of them"));
    section.row("payload", number::things(packet.payload_len.into(), "byte"));
    let worker = packet
        .worker
        .map(|(worker, count)| format!("; worker {worker} (of {count}, counted from 0)"));
    let worker = worker.unwrap_or_default();
    let shard = format!("{} (of 256, counted from 0){worker}", packet.shard);
    section.row("shard", shard);
    section
}

fn connection_at(view: &ConnectionView, account: &PacketAccount) -> Section {
    let mut section = Section::new("Connection", "pipeline/50-flow");
    let (before, after) = (view.before.as_ref(), &view.after);
    let of = |read: fn(&ConnRecord) -> String| change(before.map(read), &read(after));
    for end in &account.ended {
        section.row("before", ended(end));
    }
    section.row(
        "uid",
        format!("{} (flow_id {})", after.uid, after.uid.flow_id()),
    );
    section.row("ends", ends(after));
    section.row("packet", event(view.event));
    section.row("from", format!("the {}", side(view.to_server)));
    section.row("conn_state", of(|one| one.conn_state.name().to_owned()));
    if after.protocol == TCP {
        section.row("tcp_state", of(|one| one.tcp_state.name().to_owned()));
    }
    section.row("history", of(|one| one.history.as_str().to_owned()));
    section.row(
        "packets",
        of(|one| both(one.to_server.packets, one.to_client.packets)),
    );
    section.row(
        "payload bytes",
        of(|one| both(one.to_server.payload_bytes, one.to_client.payload_bytes)),
    );
    if view.is_ignored {
        section.row(
            "ignored",
            "its receiver drops it: it counts, and ends nothing",
        );
    }
    section.maybe(
        "goes on",
        view.reopened
            .map(|to_server| format!("the {}'s closed stream goes on", side(to_server))),
    );
    section.row(
        "lives until",
        format!("{}, if no packet comes", number::rfc3339(view.deadline)),
    );
    section
}

fn scans(account: &PacketAccount) -> Section {
    let mut section = Section::new("Scan detector", "pipeline/90-detect/portscan");
    if let Some(view) = &account.scans {
        section.maybe("asks", view.probe.map(|probe| probe.replace('_', " ")));
        if !view.steps.is_empty() {
            section.row("notes", view.steps.join(", ").replace('_', " "));
        }
        let then = match view.is_settled {
            true => "nothing more of this connection matters",
            false => "the attempt may still be answered",
        };
        section.row("then", then);
    }
    section
}

fn reassembly(account: &PacketAccount) -> Section {
    let mut section = Section::new("Reassembly", "pipeline/60-reassembly");
    if let Some(view) = &account.streams {
        for decision in streams::decisions(account, view) {
            section.row("decision", decision);
        }
        let both = view.before.iter().zip(&view.after);
        for (to_server, (before, after)) in [true, false].into_iter().zip(both) {
            if after.phase != "unseen" {
                let label = format!("{}'s stream", side(to_server));
                section.row(label, streams::state(before, after));
            }
        }
    }
    section
}

fn identification(change_of: &InspectChange) -> Section {
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

fn verdict(
    before: Option<flowpin_record::App>,
    after: Option<flowpin_record::App>,
) -> Option<String> {
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

fn parser(change_of: &InspectChange) -> Section {
    let mut section = Section::new("Parser", "engine/src/worker/parse, pipeline/80-parse");
    let name = |view: &flowpin_engine::InspectView| view.parser.unwrap_or("none").to_owned();
    let (before, after) = (change_of.before.as_ref().map(name), name(&change_of.after));
    if after != "none" || before.as_ref().is_some_and(|one| one != "none") {
        section.row("parser", change(before, &after));
        section.row("messages", change_of.messages.to_string());
    }
    section
}

/// The end of a connection, and what no packet of it caused.
pub(super) fn connection(account: &ConnectionAccount) -> Vec<Section> {
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
fn records(name: &'static str, all: &[RecordText], is_told: bool) -> Section {
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
fn ended(end: &EndView) -> String {
    let record = &end.record;
    format!(
        "{} ended at {}: {}, {}",
        record.uid,
        number::rfc3339(end.key.time),
        record.reason.name().replace('_', " "),
        record.conn_state.name(),
    )
}

fn ends(record: &ConnRecord) -> String {
    let end = |end: &flowpin_record::RecordEndpoint| format!("{} port {}", end.address, end.port);
    format!("{} → {}", end(&record.client), end(&record.server))
}

fn both(to_server: u64, to_client: u64) -> String {
    format!("{}/{}", number::count(to_server), number::count(to_client))
}

const TCP: u8 = 6;
/// Letters of a record's line.
const LINE_MAX: usize = 240;
/// Candidates that are named.
const CANDIDATES_MAX: usize = 12;
