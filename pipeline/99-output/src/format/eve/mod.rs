//! EVE JSON, as Suricata writes it; what Suricata has no name for stands under `flowpin`.
//!
//! The layout is written out by hand: it nests, and it is the format that most records take.
//! [`FIELDS`] lists every field for the documentation; a test holds both together.

mod fields;
mod host_pair;
mod scan;
mod words;

pub(crate) use fields::{FIELDS, MESSAGE_FIELDS};
pub(super) use host_pair::host_pair;
pub(super) use scan::{flood, scan};

use super::interfaces::Shown;
use crate::text::{DateCache, Line};
use core::net::IpAddr;
use flowpin_packet::{Layer, Timestamp};
use flowpin_record::{
    AnomalyRecord, CommunityId, ConnRecord, Direction, EventName, RecordEndpoint, RecordKey,
    TunnelRecord, Uid, has_ports,
};
use words::{
    CONFIDENCES, CONN_STATES, END_REASONS, EVE_REASONS, FLOW_STATES, PROTOCOLS, TCP_STATES,
    TUNNELS, flag_fields, word,
};

/// Appends a `flow` event; `flow_interim` for a connection that goes on.
pub(super) fn conn(
    line: &mut Line<'_>,
    dates: &mut DateCache,
    key: RecordKey,
    record: &ConnRecord,
    (community_id, interface): (Option<&CommunityId>, Option<&Shown>),
) {
    line.put(b"{\"timestamp\":\"");
    line.put_eve_time(dates, key.time);
    line.put(b"\",\"flow_id\":");
    line.put_u64(record.uid.flow_id());
    if let Some(interface) = interface {
        line.put_str(&interface.member);
    }
    // Suricata tells of a flow once, so its users add up all `flow` events: sums so far must not
    // be among them.
    if record.interim == 0 {
        line.put(b",\"event_type\":\"flow\"");
    } else {
        line.put(b",\"event_type\":\"flow_interim\"");
    }
    put_vlans(line, record.vlans);
    put_endpoints(line, record);
    put_flow(line, dates, record);
    if let Some(id) = community_id {
        line.put(b",\"community_id\":\"");
        line.put_community_id(id);
        line.put(b"\"");
    }
    if record.protocol == 6 {
        put_tcp(line, record);
    }
    put_own(line, record, interface);
    line.put(b"}\n");
}

/// The receive queue, if packets of one alone were captured.
#[inline]
pub(super) fn put_queue(line: &mut Line<'_>, interface: Option<&Shown>) {
    if let Some(queue) = interface.and_then(|interface| interface.name.queue()) {
        line.put(b",\"queue\":");
        line.put_u64(u64::from(queue));
    }
}

/// Identifiers of up to two tags, outermost first.
#[inline]
pub(super) fn put_vlans(line: &mut Line<'_>, vlans: [u16; 2]) {
    let [outer, inner] = vlans;
    if outer == NO_VLAN {
        return;
    }
    line.put(b",\"vlan\":[");
    line.put_u64(u64::from(outer));
    if inner != NO_VLAN {
        line.put(b",");
        line.put_u64(u64::from(inner));
    }
    line.put(b"]");
}

/// Both sides of a connection, and its protocol.
#[inline]
pub(super) fn put_peers(
    line: &mut Line<'_>,
    protocol: u8,
    client: RecordEndpoint,
    server: RecordEndpoint,
) {
    line.put(b",\"src_ip\":\"");
    line.put_address_in_full(client.address);
    if has_ports(protocol) {
        line.put(b"\",\"src_port\":");
        line.put_u64(u64::from(client.port));
        line.put(b",\"dest_ip\":\"");
        line.put_address_in_full(server.address);
        line.put(b"\",\"dest_port\":");
        line.put_u64(u64::from(server.port));
    } else {
        line.put(b"\",\"dest_ip\":\"");
        line.put_address_in_full(server.address);
        line.put(b"\"");
    }
    line.put(b",\"ip_v\":");
    line.put(ip_version(client.address));
    line.put(b",\"proto\":\"");
    line.put_word(word(&PROTOCOLS, usize::from(protocol)));
    line.put(b"\"");
}

#[inline]
fn put_endpoints(line: &mut Line<'_>, record: &ConnRecord) {
    put_peers(line, record.protocol, record.client, record.server);
    if let Some(app) = &record.app {
        line.put(b",\"app_proto\":\"");
        line.put_str(app.in_tools.suricata(record.protocol));
        line.put(b"\"");
        if app.original.is_some() {
            line.put(b",\"app_proto_orig\":\"");
            line.put_str(app.original_in_tools.suricata(record.protocol));
            line.put(b"\"");
        }
    }
    if let Some((kind, code)) = record.icmp {
        line.put(b",\"icmp_type\":");
        line.put_u64(u64::from(kind));
        line.put(b",\"icmp_code\":");
        line.put_u64(u64::from(code));
        if record.to_client.packets > 0 {
            // Only request/reply pairs have packets both ways: the server's port is the reply.
            line.put(b",\"response_icmp_type\":");
            line.put_u64(u64::from(record.server.port));
            line.put(b",\"response_icmp_code\":0");
        }
    }
}

#[inline]
fn put_flow(line: &mut Line<'_>, dates: &mut DateCache, record: &ConnRecord) {
    line.put(b",\"flow\":{\"pkts_toserver\":");
    line.put_u64(record.to_server.packets);
    line.put(b",\"pkts_toclient\":");
    line.put_u64(record.to_client.packets);
    line.put(b",\"bytes_toserver\":");
    line.put_u64(record.to_server.frame_bytes);
    line.put(b",\"bytes_toclient\":");
    line.put_u64(record.to_client.frame_bytes);
    line.put(b",\"start\":\"");
    line.put_eve_time(dates, record.start);
    line.put(b"\",\"end\":\"");
    line.put_eve_time(dates, record.end);
    line.put(b"\",\"age\":");
    // Suricata's age is the difference of the whole seconds.
    line.put_u64(record.end.secs().saturating_sub(record.start.secs()));
    line.put(b",\"state\":\"");
    line.put_word(word(&FLOW_STATES, record.flow_state as usize));
    line.put(b"\",\"reason\":\"");
    line.put_word(word(&EVE_REASONS, record.reason as usize));
    if record.alerted {
        line.put(b"\",\"alerted\":true}");
    } else {
        line.put(b"\",\"alerted\":false}");
    }
}

#[inline]
fn put_tcp(line: &mut Line<'_>, record: &ConnRecord) {
    let (there, back) = (&record.to_server, &record.to_client);
    let all = there.tcp_flags.with(back.tcp_flags);
    line.put(b",\"tcp\":{\"tcp_flags\":\"");
    line.put_hex(all.0);
    line.put(b"\",\"tcp_flags_ts\":\"");
    line.put_hex(there.tcp_flags.0);
    line.put(b"\",\"tcp_flags_tc\":\"");
    line.put_hex(back.tcp_flags.0);
    line.put(b"\"");
    let (text, len) = flag_fields(all);
    line.put_first(text, len);
    line.put(b",\"state\":\"");
    line.put_word(word(&TCP_STATES, record.tcp_state as usize));
    line.put(b"\"");
    if there.missed_bytes > 0 {
        line.put(b",\"ts_gap\":true");
    }
    if back.missed_bytes > 0 {
        line.put(b",\"tc_gap\":true");
    }
    line.put(b"}");
}

/// What only Flowpin says; figures that are nearly always 0 stand there only if they are not.
#[inline]
fn put_own(line: &mut Line<'_>, record: &ConnRecord, interface: Option<&Shown>) {
    line.put(b",\"flowpin\":{\"uid\":\"");
    line.put(&record.uid.text());
    line.put(b"\",\"conn_state\":\"");
    line.put_word(word(&CONN_STATES, record.conn_state as usize));
    line.put(b"\",\"history\":\"");
    let history = &record.history;
    line.put_first(
        &history.letters,
        usize::from(history.len).min(history.letters.len()),
    );
    line.put(b"\",\"reason\":\"");
    line.put_word(word(&END_REASONS, record.reason as usize));
    line.put(b"\",\"first_packet\":");
    line.put_u64(record.first_packet);
    line.put(b",\"payload_toserver\":");
    line.put_u64(record.to_server.payload_bytes);
    line.put(b",\"payload_toclient\":");
    line.put_u64(record.to_client.payload_bytes);
    if let Some(rtt_ns) = record.rtt_ns {
        line.put(b",\"rtt_us\":");
        line.put_u64(rtt_ns / 1000);
    }
    if let Some(app) = &record.app {
        line.put(b",\"app_rule\":\"");
        line.put_str(app.rule);
        if app.name != app.in_tools.suricata(record.protocol) {
            line.put(b"\",\"app\":\"");
            line.put_str(app.name);
        }
        line.put(b"\",\"app_confidence\":\"");
        line.put_word(word(&CONFIDENCES, app.confidence as usize));
        line.put(b"\",\"app_by\":\"");
        line.put(if app.by_client {
            b"client\""
        } else {
            b"server\""
        });
    }
    if let Some((kind, uid)) = record.tunnel {
        line.put(b",\"tunnel\":{\"kind\":\"");
        line.put_word(word(&TUNNELS, kind as usize));
        line.put(b"\",\"uid\":\"");
        line.put(&uid.text());
        line.put(b"\"}");
    }
    let rare = rarities(&record.to_server) | rarities(&record.to_client);
    let marked = record.flipped | record.midstream | (record.interim > 0);
    if marked | (rare > 0) {
        put_rare(line, record);
    }
    put_queue(line, interface);
    line.put(b"}");
}

/// Not 0 if any of the figures is that are nearly always 0.
#[inline]
fn rarities(direction: &Direction) -> u64 {
    let Direction {
        duplicates,
        snapped,
        bad_checksums,
        icmp_errors,
        ..
    } = *direction;
    direction.missed_bytes | u64::from(duplicates | snapped | bad_checksums | icmp_errors)
}

#[cold]
fn put_rare(line: &mut Line<'_>, record: &ConnRecord) {
    let (there, back) = (&record.to_server, &record.to_client);
    let mut sum = |name: &str, there: u64, back: u64| {
        let sum = there.saturating_add(back);
        if sum > 0 {
            line.put_str(name);
            line.put_u64(sum);
        }
    };
    let both = |there: u32, back: u32| (u64::from(there), u64::from(back));
    sum(",\"missed_bytes\":", there.missed_bytes, back.missed_bytes);
    let (a, b) = both(there.duplicates, back.duplicates);
    sum(",\"duplicates\":", a, b);
    let (a, b) = both(there.snapped, back.snapped);
    sum(",\"snapped\":", a, b);
    let (a, b) = both(there.bad_checksums, back.bad_checksums);
    sum(",\"bad_checksums\":", a, b);
    let (a, b) = both(there.icmp_errors, back.icmp_errors);
    sum(",\"icmp_errors\":", a, b);
    sum(",\"interim\":", u64::from(record.interim), 0);
    if record.flipped {
        line.put(b",\"flipped\":true");
    }
    if record.midstream {
        line.put(b",\"midstream\":true");
    }
}

/// Appends an `anomaly` event.
pub(super) fn anomaly(
    line: &mut Line<'_>,
    dates: &mut DateCache,
    record: &AnomalyRecord,
    interface: Option<&Shown>,
) {
    line.put(b"{\"timestamp\":\"");
    line.put_eve_time(dates, record.time);
    line.put(b"\"");
    if let Some((uid, ..)) = record.connection {
        line.put(b",\"flow_id\":");
        line.put_u64(uid.flow_id());
    }
    if let Some(interface) = interface {
        line.put_str(&interface.member);
    }
    line.put(b",\"event_type\":\"anomaly\"");
    if let Some(number) = record.packet_number {
        line.put(b",\"pcap_cnt\":");
        line.put_u64(number);
    }
    if let Some((source, destination)) = record.addresses {
        put_addresses(line, source, destination);
    }
    if let Some((_, source, destination)) = record.connection {
        line.put(b",\"src_port\":");
        line.put_u64(source.into());
        line.put(b",\"dest_port\":");
        line.put_u64(destination.into());
    }
    line.put(b",\"anomaly\":{\"type\":\"");
    if let Some(app) = &record.app {
        line.put(b"applayer\",\"event\":\"");
        put_event(line, record, app.name);
        line.put(b"\",\"layer\":\"proto_parser\",\"app_proto\":\"");
        line.put_str(app.in_tools.suricata(6));
        line.put(b"\"},\"flowpin\":{\"name\":\"");
        line.put_str(app.name);
        line.put(b"\",\"suppressed\":");
        line.put_u64(record.suppressed);
        put_queue(line, interface);
        line.put(b"}}\n");
        return;
    }
    let (layer, reason) = (record.what.layer.name(), record.what.reason.name());
    if record.what.layer == Layer::Stream {
        line.put(b"stream\",\"event\":\"stream.");
        put_event(line, record, reason);
    } else {
        line.put(b"decode\",\"event\":\"decoder.");
        if EventName::of(record).is_none() {
            line.put_str(layer);
            line.put(b".");
        }
        put_event(line, record, reason);
    }
    line.put(b"\"},\"flowpin\":{\"name\":\"");
    line.put_str(layer);
    line.put(b".");
    line.put_str(reason);
    line.put(b"\",\"offset\":");
    line.put_u64(u64::from(record.what.offset));
    line.put(b",\"suppressed\":");
    line.put_u64(record.suppressed);
    put_queue(line, interface);
    line.put(b"}}\n");
}

/// Suricata's name of an anomaly, or ours.
fn put_event(line: &mut Line<'_>, record: &AnomalyRecord, own: &str) {
    match EventName::of(record) {
        Some(event) if event.is_capital => line.put_str(&event.name.to_ascii_uppercase()),
        Some(event) => line.put_str(event.name),
        None => line.put_str(own),
    }
}

/// Appends a `tunnel` event.
pub(super) fn tunnel(
    line: &mut Line<'_>,
    dates: &mut DateCache,
    time: Timestamp,
    record: &TunnelRecord,
) {
    line.put(b"{\"timestamp\":\"");
    line.put_eve_time(dates, time);
    line.put(b"\",\"event_type\":\"tunnel\"");
    put_addresses(line, record.addresses.0, record.addresses.1);
    line.put(b",\"flowpin\":{\"tunnel\":{\"kind\":\"");
    line.put_word(word(&TUNNELS, record.kind as usize));
    line.put(b"\",\"uid\":\"");
    line.put(&record.uid.text());
    line.put(b"\",\"id\":");
    line.put_u64(u64::from(record.id));
    if record.parent != Uid(0) {
        line.put(b",\"parent\":\"");
        line.put(&record.parent.text());
        line.put(b"\"");
    }
    line.put(b",\"pkts_toserver\":");
    line.put_u64(record.packets[0]);
    line.put(b",\"pkts_toclient\":");
    line.put_u64(record.packets[1]);
    line.put(b",\"bytes_toserver\":");
    line.put_u64(record.bytes[0]);
    line.put(b",\"bytes_toclient\":");
    line.put_u64(record.bytes[1]);
    line.put(b",\"start\":\"");
    line.put_eve_time(dates, record.first);
    line.put(b"\",\"end\":\"");
    line.put_eve_time(dates, record.last);
    line.put(b"\"}}}\n");
}

pub(super) fn put_addresses(line: &mut Line<'_>, source: IpAddr, destination: IpAddr) {
    line.put(b",\"src_ip\":\"");
    line.put_address_in_full(source);
    line.put(b"\",\"dest_ip\":\"");
    line.put_address_in_full(destination);
    line.put(b"\",\"ip_v\":");
    line.put(ip_version(source));
}

#[inline]
pub(super) fn ip_version(address: IpAddr) -> &'static [u8; 1] {
    if address.is_ipv4() { b"4" } else { b"6" }
}

/// No tag: what a record says in the place of a VLAN's number.
const NO_VLAN: u16 = u16::MAX;
