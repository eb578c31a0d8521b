//! One packet, a section for each stage; and the end of a connection.

mod end;
mod input;
mod inspect;

pub(super) use end::connection;

use super::streams;
use super::text::Section;
use super::words::{change, event, lifetime, side};
use end::{both, ended, ends, records};
use flowpin_engine::{ConnectionView, PacketAccount};
use flowpin_record::ConnRecord;
use flowpin_words::number;
use input::{hash, headers, input};
use inspect::{identification, parser};

/// Every stage that saw the packet, in order.
pub(super) fn packet(account: &PacketAccount) -> Vec<Section> {
    let mut sections = Vec::new();
    match &account.fragment_headers {
        None => sections.push(headers("Headers", &account.headers)),
        Some(own) => {
            sections.push(headers("Headers of the fragment", own));
            sections.push(headers("Headers of its datagram", &account.headers));
        }
    }
    sections.push(input(account));
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
        sections.push(parser(change, account.completion));
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
    let vlans: Vec<String> = vlans(after).map(|id| id.to_string()).collect();
    section.maybe(
        "vlan",
        (!vlans.is_empty()).then(|| vlans.join(", inside it ")),
    );
    let tunnel = after
        .tunnel
        .map(|(kind, uid)| format!("{}, {uid}", kind.name()));
    section.maybe("tunnel", tunnel);
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
    section.maybe("lives until", view.lifetime.as_ref().map(lifetime));
    section
}

/// The VLANs of a connection's first packet, outermost first.
pub(super) fn vlans(record: &ConnRecord) -> impl Iterator<Item = u16> {
    record.vlans.into_iter().filter(|&id| id != NO_VLAN)
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

const TCP: u8 = 6;
/// The place of a VLAN that is none.
const NO_VLAN: u16 = 0xffff;
