//! Which protocols may turn into another one on the same connection, or stand beside it.

/// Protocols whose peers may agree to continue in TLS: STARTTLS (RFC 3207, 2595, 4217, 4642, 6120,
/// 4511), a proxy's CONNECT (RFC 9110 §9.3.6), a relay (RFC 1928), a database's request for it.
pub(super) const TO_TLS: &[&str] = &[
    "smtp",
    "lmtp",
    "imap",
    "pop3",
    "ftp",
    "nntp",
    "xmpp",
    "irc",
    "ldap",
    "http",
    "socks",
    "postgresql",
    "rdp",
    "managesieve",
    "nats",
    "amqp",
];

/// The protocols that a protocol may turn into. After STUN, peers use the same two ports for DTLS,
/// which sets up keys (RFC 5764 §5.1.2), or at once for media whose keys they agreed on elsewhere.
pub(super) fn becomes(protocol: &str) -> &'static [&'static str] {
    match protocol {
        "stun" => &["dtls", "rtp"],
        _ if TO_TLS.contains(&protocol) => &["tls"],
        _ => &[],
    }
}

/// Families of protocols that do not contradict each other: they share a connection, or their
/// sides or messages have names of their own.
const FAMILIES: &[&[&str]] = &[
    // All of these begin as HTTP/1.
    &[
        "http",
        "http-connect",
        "http-proxy",
        "websocket",
        "soap",
        "http2",
    ],
    // RFC 7983 §7: what WebRTC has on one port; RFC 5761: media and their control.
    &["stun", "dtls", "rtp", "rtcp", "zoom"],
    // One message format.
    &["dns", "mdns", "llmnr", "netbios-ns"],
];

/// The family of a protocol, if it has one.
pub(super) fn family(protocol: &str) -> Option<u8> {
    let mut families = (0u8..).zip(FAMILIES);
    let found = families.find(|(_, family)| family.contains(&protocol));
    found.map(|(number, _)| number)
}
