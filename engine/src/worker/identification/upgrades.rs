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

/// What a protocol may turn into. Peers that have found a way to each other with STUN set up keys
/// with DTLS over the same two ports (RFC 5764 §5.1.2, RFC 7983 §7).
pub(super) fn becomes(protocol: &str) -> Option<&'static str> {
    match protocol {
        "stun" => Some("dtls"),
        _ if TO_TLS.contains(&protocol) => Some("tls"),
        _ => None,
    }
}
