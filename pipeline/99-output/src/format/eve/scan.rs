//! EVE JSON of scans and floods.

use super::words::{PROTOCOLS, word};
use super::{ip_version, put_addresses};
use crate::text::{DateCache, Line};
use core::net::IpAddr;
use flowpin_packet::Timestamp;
use flowpin_record::{FloodRecord, ScanKind, ScanRecord, Uid};

/// Appends a `scan` event.
pub(in crate::format) fn scan(
    line: &mut Line<'_>,
    dates: &mut DateCache,
    time: Timestamp,
    record: &ScanRecord,
) {
    line.put(b"{\"timestamp\":\"");
    line.put_eve_time(dates, time);
    line.put(b"\",\"event_type\":\"scan\"");
    match record.host_samples.as_slice() {
        [host, ..] if record.kind == ScanKind::Vertical => {
            put_addresses(line, record.source, *host);
        }
        _ => put_address(line, b",\"src_ip\":\"", record.source),
    }
    if let Some(protocol) = record.method.protocol(record.source.is_ipv6()) {
        put_protocol(line, protocol);
    }
    line.put(b",\"scan\":{\"state\":\"");
    line.put_str(record.state.name());
    line.put(b"\",\"kind\":\"");
    line.put_str(record.kind.name());
    line.put(b"\",\"method\":\"");
    line.put_str(record.method.name());
    line.put(b"\"");
    for (name, count) in [
        (",\"hosts\":", record.hosts),
        (",\"ports\":", record.ports),
        (",\"targets\":", record.targets),
        (",\"open\":", record.open),
        (",\"closed\":", record.closed),
        (",\"filtered\":", record.filtered),
        (",\"attempts\":", record.attempts),
    ] {
        line.put_str(name);
        line.put_u64(count);
    }
    line.put(b",\"estimated\":");
    line.put_bool(record.estimated);
    line.put(b",\"sources\":");
    line.put_u64(record.source_count);
    put_sample(line, ",\"source_samples\":", record.sources.as_slice());
    put_sample(line, ",\"host_samples\":", record.host_samples.as_slice());
    line.put(b",\"port_samples\":[");
    for (index, &port) in record.port_samples.as_slice().iter().enumerate() {
        if index > 0 {
            line.put(b",");
        }
        line.put_u64(u64::from(port));
    }
    line.put(b"]");
    put_end(line, dates, (record.first, record.last), record.uid);
    line.put_u64(record.first_packet);
    line.put(b"}}\n");
}

/// Appends a `flood` event.
pub(in crate::format) fn flood(
    line: &mut Line<'_>,
    dates: &mut DateCache,
    time: Timestamp,
    record: &FloodRecord,
) {
    line.put(b"{\"timestamp\":\"");
    line.put_eve_time(dates, time);
    line.put(b"\",\"event_type\":\"flood\"");
    match record.sources.as_slice() {
        [source, ..] => put_addresses(line, *source, record.target),
        [] => put_address(line, b",\"dest_ip\":\"", record.target),
    }
    if let Some(port) = record.port {
        line.put(b",\"dest_port\":");
        line.put_u64(u64::from(port));
    }
    put_protocol(line, record.kind.protocol(record.target.is_ipv6()));
    line.put(b",\"flood\":{\"state\":\"");
    line.put_str(record.state.name());
    line.put(b"\",\"kind\":\"");
    line.put_str(record.kind.name());
    line.put(b"\",\"sources\":");
    line.put_u64(record.source_count);
    put_sample(line, ",\"source_samples\":", record.sources.as_slice());
    line.put(b",\"packets\":");
    line.put_u64(record.packets);
    line.put(b",\"peak_rate\":");
    line.put_u64(record.peak_rate);
    line.put(b",\"estimated\":");
    line.put_bool(record.estimated);
    put_end(line, dates, (record.first, record.last), record.uid);
    line.put_u64(record.first_packet);
    line.put(b"}}\n");
}

fn put_address<const N: usize>(line: &mut Line<'_>, name: &[u8; N], address: IpAddr) {
    line.put(name);
    line.put_address_in_full(address);
    line.put(b"\",\"ip_v\":");
    line.put(ip_version(address));
}

fn put_protocol(line: &mut Line<'_>, protocol: u8) {
    line.put(b",\"proto\":\"");
    line.put_word(word(&PROTOCOLS, usize::from(protocol)));
    line.put(b"\"");
}

fn put_sample(line: &mut Line<'_>, name: &str, addresses: &[IpAddr]) {
    line.put_str(name);
    line.put(b"[");
    for (index, &address) in addresses.iter().enumerate() {
        line.put_str(if index > 0 { ",\"" } else { "\"" });
        line.put_address_in_full(address);
        line.put(b"\"");
    }
    line.put(b"]");
}

/// First and last time, the identifier, and the name of the first packet's number.
fn put_end(line: &mut Line<'_>, dates: &mut DateCache, span: (Timestamp, Timestamp), uid: Uid) {
    line.put(b",\"start\":\"");
    line.put_eve_time(dates, span.0);
    line.put(b"\",\"end\":\"");
    line.put_eve_time(dates, span.1);
    line.put(b"\"},\"flowpin\":{\"uid\":\"");
    line.put(&uid.text());
    line.put(b"\",\"first_packet\":");
}
