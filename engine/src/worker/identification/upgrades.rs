//! Which protocols may turn into another one on the same connection.

/// Those that may agree to go on in TLS: STARTTLS (RFC 3207, 2595, 4217, 4642, 6120, 4511), a
/// proxy's CONNECT (RFC 9110 §9.3.6), a relay (RFC 1928), a database's request for it.
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

/// What a protocol may turn into. Peers that have found a way to each other with STUN go on over
/// the same two ports: with DTLS, which sets up keys (RFC 5764 §5.1.2), or at once with media whose
/// keys they agreed on elsewhere.
pub(super) fn becomes(protocol: &str) -> &'static [&'static str] {
    match protocol {
        "stun" => &["dtls", "rtp"],
        _ if TO_TLS.contains(&protocol) => &["tls"],
        _ => &[],
    }
}

/// Protocols that stand beside each other on one connection, or whose sides or messages have names
/// of their own: of these one does not contradict the other.
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

/// Which family a protocol is of, if of any.
pub(super) fn family(protocol: &str) -> Option<u8> {
    let mut families = (0u8..).zip(FAMILIES);
    let found = families.find(|(_, family)| family.contains(&protocol));
    found.map(|(number, _)| number)
}
