//! Why a packet does not take the fast path, by what its headers show.
//!
//! Dispatch's fast path refuses without a reason, as the slow path starts again from the first
//! byte. So this is told from the list of headers: the first that the fast path does not accept
//! (`pipeline/20-dispatch/src/fast_path` says which those are).

use super::account::SlowReason;
use flowpin_dispatch::Headers;
use flowpin_packet::LinkType;

pub(super) fn slow_reason(headers: &Headers, link: LinkType) -> SlowReason {
    if link != LinkType::Ethernet {
        return SlowReason::Link;
    }
    let mut tags = 0;
    for (nth, header) in headers.all.iter().enumerate() {
        let has = |field: &str| header.fields.iter().any(|(name, _)| *name == field);
        match header.name {
            "ethernet" => {}
            "vlan" if tags < TAGS_MAX => tags += 1,
            "ipv4" | "ipv6" if has("fragment_offset") => return SlowReason::Fragment,
            "ipv4" if has("option_bytes") => return SlowReason::Options(nth),
            "ipv6" if has("extension_bytes") => return SlowReason::Options(nth),
            "ipv4" | "ipv6" => {}
            "tcp" | "udp" if nth + 1 == headers.all.len() => {}
            "tcp" | "udp" => return SlowReason::Tunnel,
            _ => return SlowReason::Header(nth),
        }
    }
    match headers.all.last() {
        _ if headers.refused.is_some() => SlowReason::Refused,
        Some(last) if last.fields.is_empty() => SlowReason::Refused,
        // A port of a tunnel, whose header did not validate.
        Some(last) if last.name == "udp" => SlowReason::Tunnel,
        _ => SlowReason::Other,
    }
}

/// Tags that the fast path skips.
const TAGS_MAX: u8 = 2;
