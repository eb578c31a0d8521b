//! EVE JSON of pairs of hosts.

use super::put_addresses;
use crate::text::{DateCache, Line};
use flowpin_packet::Timestamp;
use flowpin_record::HostPairRecord;

/// Appends a `host_pair` event.
pub(in crate::format) fn host_pair(
    line: &mut Line<'_>,
    dates: &mut DateCache,
    time: Timestamp,
    record: &HostPairRecord,
) {
    line.put(b"{\"timestamp\":\"");
    line.put_eve_time(dates, time);
    line.put(b"\",\"event_type\":\"host_pair\"");
    put_addresses(line, record.client, record.server);
    let (up, down) = (&record.to_server, &record.to_client);
    for (name, count) in [
        (",\"host_pair\":{\"connections\":", record.connections),
        (",\"pkts_toserver\":", up.packets),
        (",\"pkts_toclient\":", down.packets),
        (",\"bytes_toserver\":", up.frame_bytes),
        (",\"bytes_toclient\":", down.frame_bytes),
    ] {
        line.put_str(name);
        line.put_u64(count);
    }
    let mut before = ",\"services\":[\"";
    for service in record.services.as_slice() {
        line.put_str(before);
        line.put_str(service);
        before = "\",\"";
    }
    if !record.services.as_slice().is_empty() {
        line.put(b"\"]");
    }
    line.put(b",\"start\":\"");
    line.put_eve_time(dates, record.first);
    line.put(b"\",\"end\":\"");
    line.put_eve_time(dates, record.last);
    line.put(b"\"}}\n");
}
