//! JSON lines, with the field names of EVE JSON.

use super::{by, sums, transport};
use core::net::IpAddr;
use flowpin_engine::Listed;
use flowpin_record::RecordEndpoint;
use flowpin_words::number;
use serde::Serialize;
use std::io::{self, Write};

/// A connection. Source is the client.
#[derive(Serialize)]
struct Line<'a> {
    timestamp: String,
    flow_id: u64,
    uid: String,
    src_ip: IpAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    src_port: Option<u16>,
    dest_ip: IpAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    dest_port: Option<u16>,
    proto: String,
    app_proto: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_proto_orig: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_confidence: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_by: Option<&'a str>,
    packets_inspected: u8,
    /// The protocol suggested by the port: never a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    port_hint: Option<&'a str>,
    pkts: u64,
    bytes: u64,
}

pub(super) fn line(out: &mut impl Write, listed: &Listed) -> io::Result<()> {
    let record = &listed.record;
    let app = record.app.as_ref();
    let (pkts, bytes) = sums(listed);
    let port =
        |end: &RecordEndpoint| flowpin_record::has_ports(record.protocol).then_some(end.port);
    let line = Line {
        timestamp: number::rfc3339(record.start),
        flow_id: record.uid.flow_id(),
        uid: record.uid.to_string(),
        src_ip: record.client.address,
        src_port: port(&record.client),
        dest_ip: record.server.address,
        dest_port: port(&record.server),
        proto: transport(listed),
        app_proto: app.map(|app| app.name),
        app_proto_orig: app.and_then(|app| app.original),
        app_rule: app.map(|app| app.rule),
        app_confidence: app.map(|app| app.confidence.name()),
        app_by: app.map(|app| by(app.by_client)),
        packets_inspected: listed.inspected,
        port_hint: listed.port_hint,
        pkts,
        bytes,
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}
