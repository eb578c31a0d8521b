//! What decisions are called.

use flowpin_engine::{ChecksumVerdict, Event, Fate, Headers, PacketAccount, SlowReason};
use flowpin_packet::{Malformed, PacketKind};

/// Why a packet took the slow path.
pub(super) fn slow(reason: SlowReason, headers: &Headers) -> String {
    let name = |nth: usize| headers.all.get(nth).map_or("header", |header| header.name);
    match reason {
        SlowReason::Link => "slow path: its link type is not Ethernet".to_owned(),
        SlowReason::Header(nth) => {
            format!("slow path: the fast path does not read {}", name(nth))
        }
        SlowReason::Options(nth) => {
            format!("slow path: {} with options or extension headers", name(nth))
        }
        SlowReason::Fragment => "slow path: a fragment".to_owned(),
        SlowReason::Refused => "slow path: a header is broken or cut".to_owned(),
        SlowReason::Tunnel => "slow path: a tunnel, or a port of one".to_owned(),
        SlowReason::Other => "slow path".to_owned(),
    }
}

/// What the input stage decided.
pub(super) fn fate(fate: &Fate, headers: &Headers) -> String {
    match fate {
        Fate::NonIp => format!(
            "ends here: no IP packet ({}); counted as non-IP",
            headers.non_ip.unwrap_or("other")
        ),
        Fate::UnsupportedLink => "ends here: its link type is not read; counted".to_owned(),
        Fate::Headless => {
            "ends here: the capture cut it before the addresses; counted as refused".to_owned()
        }
        Fate::Refused(what) => format!("ends here: refused, {}", malformed(*what)),
        Fate::FragmentHeld { offset, len, more } => format!(
            "held: a fragment, bytes {offset} to {} of its datagram{}; it waits for the others",
            u32::from(*offset) + u32::from(*len),
            if *more { "" } else { ", the last" },
        ),
        Fate::FragmentCompletes { numbers } => {
            format!("completes a datagram, made of packets {}", list(numbers))
        }
        Fate::FragmentLone => {
            "a fragment that cannot wait (a cap is reached): it counts for its addresses".to_owned()
        }
        Fate::CompletedBy(number) => {
            format!("its datagram was completed by packet {number}, explained below")
        }
        Fate::NeverCompleted => {
            "ends here: its datagram was never complete (see the losses of the summary)".to_owned()
        }
        Fate::Packet => "continues as a packet".to_owned(),
        Fate::Unplaced => {
            "ends here: no room for its connection (see the losses of the summary)".to_owned()
        }
    }
}

/// One word for where a packet ended, or how it went on.
pub(super) const fn fate_name(fate: &Fate) -> &'static str {
    match fate {
        Fate::NonIp => "non_ip",
        Fate::UnsupportedLink => "unsupported_link",
        Fate::Headless => "headless",
        Fate::Refused(_) => "refused",
        Fate::FragmentHeld { .. } => "fragment_held",
        Fate::FragmentCompletes { .. } => "fragment_completes",
        Fate::FragmentLone => "fragment_lone",
        Fate::CompletedBy(_) => "completed_by",
        Fate::NeverCompleted => "never_completed",
        Fate::Packet => "packet",
        Fate::Unplaced => "unplaced",
    }
}

/// Which layer refused, why, and at which byte of it.
pub(super) fn malformed(what: Malformed) -> String {
    format!(
        "{}: {}, at byte {} of that header; counted as {}_{}",
        what.layer.name(),
        what.reason.name().replace('_', " "),
        what.offset,
        what.layer.name(),
        what.reason.name(),
    )
}

pub(super) const fn slow_name(reason: SlowReason) -> &'static str {
    match reason {
        SlowReason::Link => "link",
        SlowReason::Header(_) => "header",
        SlowReason::Options(_) => "options",
        SlowReason::Fragment => "fragment",
        SlowReason::Refused => "refused",
        SlowReason::Tunnel => "tunnel",
        SlowReason::Other => "other",
    }
}

pub(super) const fn checksum(verdict: Option<ChecksumVerdict>) -> &'static str {
    match verdict {
        None => "not verified (--checksums none)",
        Some(ChecksumVerdict::Good) => "good",
        Some(ChecksumVerdict::Bad) => "bad: counted on its connection, and its bytes are not used",
        Some(ChecksumVerdict::Offloaded) => "left to the sender's network adapter: taken as good",
        Some(ChecksumVerdict::NotChecked) => "cannot be verified",
    }
}

pub(super) const fn checksum_name(verdict: Option<ChecksumVerdict>) -> &'static str {
    match verdict {
        None => "not_verified",
        Some(ChecksumVerdict::Good) => "good",
        Some(ChecksumVerdict::Bad) => "bad",
        Some(ChecksumVerdict::Offloaded) => "offloaded",
        Some(ChecksumVerdict::NotChecked) => "not_checked",
    }
}

/// What a packet did to its connection.
pub(super) const fn event(event: Event) -> &'static str {
    match event {
        Event::New => "begins a connection",
        Event::Ongoing => "belongs to a connection that is known",
        Event::Plain => "is simply the next packet of its connection",
        Event::IcmpError => "an ICMP error, which quotes a packet of the connection",
    }
}

pub(super) const fn event_name(event: Event) -> &'static str {
    match event {
        Event::New => "new",
        Event::Ongoing => "ongoing",
        Event::Plain => "next",
        Event::IcmpError => "icmp_error",
    }
}

pub(super) const fn kind_name(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::Tcp => "tcp",
        PacketKind::Udp => "udp",
        PacketKind::Sctp => "sctp",
        PacketKind::Icmp => "icmp",
        PacketKind::IcmpError => "icmp_error",
        PacketKind::Other => "other",
    }
}

/// Whose packet it is.
pub(super) const fn side(to_server: bool) -> &'static str {
    if to_server { "client" } else { "server" }
}

/// A value before and after, or only once if nothing changed.
pub(super) fn change<T: ToString>(before: Option<T>, after: &T) -> String {
    let after = after.to_string();
    match before.map(|before| before.to_string()) {
        Some(before) if before != after => format!("{} → {}", shown(&before), shown(&after)),
        _ => shown(&after).to_owned(),
    }
}

fn shown(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

/// Numbers, the first ones of many.
fn list(numbers: &[u64]) -> String {
    let shown: Vec<String> = numbers.iter().take(LIST_MAX).map(u64::to_string).collect();
    let rest = numbers.len().saturating_sub(LIST_MAX);
    match rest {
        0 => shown.join(", "),
        rest => format!("{} and {rest} more", shown.join(", ")),
    }
}

/// The main fields of the transport header: flags, numbers.
pub(super) fn tcp_field<'a>(account: &'a PacketAccount, name: &str) -> Option<&'a str> {
    let mut headers = account.headers.all.iter().rev();
    let tcp = headers.find(|header| header.name == "tcp")?;
    let mut fields = tcp.fields.iter();
    let field = fields.find(|(field, _)| *field == name)?;
    Some(&field.1)
}

const LIST_MAX: usize = 12;
