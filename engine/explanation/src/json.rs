//! JSON lines, with names that stay. `docs/user/explain.md` lists them.

use super::sections::vlans;
use super::streams;
use super::words::{
    checksum_name, event_name, fate, fate_name, kind_name, side, slow_name, unread_name,
};
use flowpin_config::Named;
use flowpin_engine::{
    CandidatesView, Completion, ConnectionAccount, EndView, Fate, Headers, HeldFate, HeldOutcome,
    HeldReason, InspectView, PacketAccount, PacketView, RecordText, StreamView,
};
use flowpin_record::{ConnRecord, Direction};
use flowpin_words::number::rfc3339;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// An object for a packet.
pub(super) fn packet(out: &mut impl Write, account: &PacketAccount) -> io::Result<()> {
    let losses = account.losses.iter();
    let losses: Map<String, Value> = losses
        .map(|(loss, count)| (loss.name().to_owned(), json!(count)))
        .collect();
    let connection = account.connection.as_ref().map(|view| {
        let timeout = view
            .lifetime
            .and_then(|one| Some((one.after_ns?, one.until)));
        json!({
            "uid": view.after.uid.to_string(),
            "event": event_name(view.event),
            "from": side(view.to_server),
            "ignored": view.is_ignored,
            "reopened": view.reopened.map(side),
            "before": view.before.as_ref().map(record),
            "after": record(&view.after),
            "vlans": vlans(&view.after).collect::<Vec<_>>(),
            "tunnel": view.after.tunnel.map(|(kind, uid)| {
                json!({ "kind": kind.name(), "uid": uid.to_string() })
            }),
            "deadline": timeout.map(|(_, until)| rfc3339(until)),
            "timeout_seconds": timeout.map(|(after_ns, _)| after_ns / 1_000_000_000),
            "timeout_of": view.lifetime.map(|one| one.state),
        })
    });
    let scans = account.scans.as_ref().map(
        |view| json!({ "probe": view.probe, "steps": view.steps, "settled": view.is_settled }),
    );
    let ended = account.ended.iter().map(end);
    let line = json!({
        "packet": account.number,
        "timestamp": rfc3339(account.time),
        "stream_time": rfc3339(account.stream_time),
        "captured_bytes": account.captured_len,
        "wire_bytes": account.wire_len,
        "headers": headers(&account.headers),
        "fragment_headers": account.fragment_headers.as_ref().map(headers),
        "path": if account.slow_path.is_some() { "slow" } else { "fast" },
        "slow_because": account.slow_path.map(slow_name),
        "refused_inside": account.packet.and(account.headers.refused).map(malformed),
        "decisions": account.fates.iter().map(|one| decision(one, account)).collect::<Vec<_>>(),
        "hash": account.packet.as_ref().map(hash),
        "connection": connection,
        "scans": scans,
        "reassembly": reassembly(account),
        "identification": identification(account),
        "completed": completed(account),
        "losses": losses,
        "ended": ended.collect::<Vec<_>>(),
        "records": account.records.iter().map(written).collect::<Vec<_>>(),
    });
    write(out, &line)
}

fn headers(all: &Headers) -> Vec<Value> {
    let headers = all.all.iter().map(|header| {
        let fields = header.fields.iter();
        let fields: Map<String, Value> = fields
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        json!({
            "name": header.name,
            "offset": header.offset,
            "length": header.len,
            "fields": fields,
        })
    });
    headers.collect()
}

/// When the message was complete that the packet has bytes of.
fn completed(account: &PacketAccount) -> Option<Value> {
    let (when, by) = match account.completion? {
        Completion::Packet(number) => ("later", Some(number)),
        Completion::AtEnd => ("reported_incomplete", None),
        Completion::Never => ("never", None),
    };
    Some(json!({ "when": when, "by": by }))
}

/// What became of held bytes.
fn held(fate: &HeldFate) -> Value {
    let (outcome, by, because) = match &fate.outcome {
        HeldOutcome::Delivered(by) => ("delivered", Some(by), &[][..]),
        HeldOutcome::Dropped(by, because) => ("given_up", Some(by), because.as_slice()),
        HeldOutcome::AtEnd => ("at_end", None, &[][..]),
    };
    json!({
        "packet": fate.packet,
        "stream": side(fate.to_server),
        "bytes": fate.bytes,
        "outcome": outcome,
        "by": by,
        "because": because,
    })
}

/// An object for the end of a connection.
pub(super) fn connection(out: &mut impl Write, account: &ConnectionAccount) -> io::Result<()> {
    let line = json!({
        "connection_end": {
            "uid": account.uid.to_string(),
            "packets_explained": account.packets,
            "end": account.end.as_ref().map(end),
            "held": account.held.iter().map(held).collect::<Vec<_>>(),
            "held_left_out": account.held_left_out,
            "held_at_end": account.streams_end.held,
            "records": account.records.iter().map(written).collect::<Vec<_>>(),
            "findings": account.findings.iter().map(written).collect::<Vec<_>>(),
        }
    });
    write(out, &line)
}

fn write(out: &mut impl Write, line: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn decision(one: &Fate, account: &PacketAccount) -> Value {
    let mut object = json!({
        "decision": fate_name(one),
        "text": fate(one, &account.headers),
    });
    match one {
        Fate::Refused(what) => object["refused"] = malformed(*what),
        Fate::FragmentHeld { offset, len, more } => {
            object["offset"] = json!(offset);
            object["length"] = json!(len);
            object["more_fragments"] = json!(more);
        }
        Fate::FragmentCompletes { numbers } => object["packets"] = json!(numbers),
        Fate::CompletedBy(number) => object["by"] = json!(number),
        _ => {}
    }
    object
}

fn malformed(what: flowpin_packet::Malformed) -> Value {
    json!({
        "layer": what.layer.name(),
        "reason": what.reason.name(),
        "offset": what.offset,
    })
}

fn hash(packet: &PacketView) -> Value {
    let end = |(address, port)| json!({ "address": address, "port": port });
    json!({
        "kind": kind_name(packet.kind),
        "protocol": packet.protocol,
        "ends": packet.ends.map(end),
        "from": usize::from(packet.high_to_low),
        "payload_bytes": packet.payload_len,
        "checksum": checksum_name(packet.checksum),
        "shard": packet.shard,
        "worker": packet.worker.map(|(worker, _)| worker),
    })
}

fn record(record: &ConnRecord) -> Value {
    let direction = |one: &Direction| {
        json!({
            "packets": one.packets,
            "payload_bytes": one.payload_bytes,
            "missed_bytes": one.missed_bytes,
        })
    };
    json!({
        "conn_state": record.conn_state.name(),
        "tcp_state": record.tcp_state.name(),
        "history": record.history.as_str(),
        "to_server": direction(&record.to_server),
        "to_client": direction(&record.to_client),
    })
}

fn reassembly(account: &PacketAccount) -> Option<Value> {
    let view = account.streams.as_ref()?;
    let counters = view.counters.iter();
    let counters: Map<String, Value> = counters
        .map(|(name, by)| ((*name).to_owned(), json!(by)))
        .collect();
    let anomalies = view.anomalies.iter().map(|what| what.name());
    Some(json!({
        "decisions": streams::decisions(account, view),
        "counters": counters,
        "anomalies": anomalies.collect::<Vec<_>>(),
        "held": view.held.map(|one| {
            json!({
                "reason": reason_name(one.reason),
                "bytes": one.bytes,
                "beyond_window": one.beyond_window,
            })
        }),
        "before": view.before.map(|one| stream(&one)),
        "after": view.after.map(|one| stream(&one)),
    }))
}

const fn reason_name(reason: HeldReason) -> &'static str {
    match reason {
        HeldReason::Hole => "hole",
        HeldReason::Window => "window",
        HeldReason::Syn => "syn",
        HeldReason::Closed => "closed",
        HeldReason::Doubt => "doubted",
    }
}

fn stream(view: &StreamView) -> Value {
    json!({
        "phase": view.phase,
        "offset": view.offset,
        "next": view.next.0,
        "acknowledged": view.acked.0,
        "window_end": view.edge.0,
        "held_bytes": view.held_bytes,
        "policy": view.policy.name(),
    })
}

fn identification(account: &PacketAccount) -> Option<Value> {
    let change = account.inspect.as_ref()?;
    Some(json!({
        "before": change.before.as_ref().map(inspected),
        "after": inspected(&change.after),
        "searched": change.searched,
        "taken_back": change.taken_back,
        "messages": change.messages,
        "no_parser_because": unread_name(change),
    }))
}

fn inspected(view: &InspectView) -> Value {
    let candidates = |one: &CandidatesView| {
        json!({
            "protocols": one.protocols,
            "patterns": one.has_patterns,
            "kept_bytes": one.kept_bytes,
        })
    };
    let [client, server] = &view.candidates;
    json!({
        "phase": view.phase,
        "app_proto": view.app.map(|app| app.name),
        "app_rule": view.app.map(|app| app.rule),
        "app_confidence": view.app.map(|app| app.confidence.name()),
        "doubted": view.is_doubted,
        "packets_inspected": view.inspected,
        "client_candidates": client.as_ref().map(candidates),
        "server_candidates": server.as_ref().map(candidates),
        "parser": view.parser,
    })
}

fn end(view: &EndView) -> Value {
    json!({
        "uid": view.record.uid.to_string(),
        "time": rfc3339(view.key.time),
        "reason": view.record.reason.name(),
        "record": record(&view.record),
    })
}

fn written(one: &RecordText) -> Value {
    let lines = one
        .lines
        .iter()
        .map(|line| json!({ "format": line.format, "file": line.file, "line": line.text }));
    json!({
        "kind": one.kind,
        "time": rfc3339(one.key.time),
        "lines": lines.collect::<Vec<_>>(),
    })
}
