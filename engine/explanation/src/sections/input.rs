//! Headers, the input stage, key and shard.

use super::super::text::Section;
use super::super::words::{self, checksum, fate, slow};
use flowpin_engine::{Headers, PacketAccount, PacketView};
use flowpin_words::number;

pub(super) fn headers(name: &'static str, all: &Headers) -> Section {
    let mut section = Section::new(name, "pipeline/20-dispatch/src/peel");
    for header in &all.all {
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

pub(super) fn input(account: &PacketAccount) -> Section {
    let mut section = Section::new("Input", "engine/src/input");
    let path = match account.slow_path {
        Some(reason) => slow(reason),
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

pub(super) fn hash(packet: &PacketView) -> Section {
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
