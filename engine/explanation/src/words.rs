//! What decisions are called.

use flowpin_engine::{
    ChecksumVerdict, Event, Fate, Headers, InspectChange, Lifetime, PacketAccount, SlowReason,
    Unread,
};
use flowpin_packet::{Malformed, PacketKind};
use flowpin_words::number;

/// Which check of the fast path refused a packet.
pub(super) fn slow(reason: SlowReason) -> String {
    let why = match reason {
        SlowReason::Link => "its link type is not Ethernet",
        SlowReason::Short => "too short for the headers of TCP or UDP",
        SlowReason::EtherType(ether_type) => {
            return format!("slow path: type 0x{ether_type:04x}, neither IPv4 nor IPv6");
        }
        SlowReason::IpHeader => "IPv4 options, or another version than the type before it says",
        SlowReason::IpLength => "the IP header claims more bytes than the frame has",
        SlowReason::Fragment => "an IPv4 fragment",
        SlowReason::Protocol(protocol) => {
            return format!(
                "slow path: protocol {protocol}{} follows the IP header, neither TCP nor UDP",
                protocol_name(protocol),
            );
        }
        SlowReason::TransportHeader => {
            "a length in the TCP or UDP header is impossible, or it is cut"
        }
        SlowReason::TunnelPort => "a UDP port of a tunnel",
        SlowReason::TunnelPayload => "its UDP payload may be an IPv6 packet (Teredo)",
        SlowReason::HeaderChecksum => "the checksum of its IPv4 header does not hold",
    };
    format!("slow path: {why}")
}

/// The usual IP protocols and extension headers, in parentheses.
const fn protocol_name(protocol: u8) -> &'static str {
    match protocol {
        0 => " (hop-by-hop options)",
        1 => " (ICMP)",
        4 => " (IP in IP)",
        41 => " (IPv6)",
        43 => " (routing)",
        44 => " (fragment)",
        47 => " (GRE)",
        50 => " (ESP)",
        51 => " (AH)",
        58 => " (ICMPv6)",
        60 => " (destination options)",
        132 => " (SCTP)",
        _ => "",
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
        SlowReason::Short => "short",
        SlowReason::EtherType(_) => "header",
        SlowReason::IpHeader => "options",
        SlowReason::IpLength => "ip_length",
        SlowReason::Fragment => "fragment",
        SlowReason::Protocol(_) => "protocol",
        SlowReason::TransportHeader => "transport_header",
        SlowReason::TunnelPort => "tunnel",
        SlowReason::TunnelPayload => "tunnel_payload",
        SlowReason::HeaderChecksum => "header_checksum",
    }
}

/// Until when a connection lives without another packet.
pub(super) fn lifetime(one: &Lifetime) -> String {
    let state = one.state.replace('_', " ");
    let Some(after_ns) = one.after_ns else {
        return "the end of the input (--timeouts none)".to_owned();
    };
    let until = number::rfc3339(one.until);
    let seconds = after_ns / 1_000_000_000;
    let since = match (one.is_fixed, one.state) {
        (true, "closed") => "after its close, whatever follows",
        (true, _) => "after the attempt, unless it is answered",
        (false, _) => "after its last packet",
    };
    format!("{until}: {state}, {seconds} s {since}")
}

/// Why no parser reads a connection whose protocol is known.
pub(super) fn unread(change: &InspectChange, app: &str) -> Option<String> {
    Some(match change.after.unread? {
        Unread::Off => "none: nothing is parsed (--parse off)".to_owned(),
        Unread::NoParser => {
            format!("none: there is no parser for {app}, so no records of messages")
        }
        Unread::LeftOut => format!("none: {app} is left out by --parse"),
        Unread::Released if change.had_parser => {
            format!("none any more: the parser of {app} has ended on this connection")
        }
        Unread::Released => {
            format!("none: the parser of {app} had no room (see the losses of the summary)")
        }
    })
}

pub(super) const fn unread_name(change: &InspectChange) -> Option<&'static str> {
    match change.after.unread {
        None => None,
        Some(Unread::Off) => Some("off"),
        Some(Unread::NoParser) => Some("no_parser"),
        Some(Unread::LeftOut) => Some("left_out"),
        Some(Unread::Released) if change.had_parser => Some("ended"),
        Some(Unread::Released) => Some("no_room"),
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
