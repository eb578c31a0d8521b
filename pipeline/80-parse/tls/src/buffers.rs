//! Values of handshakes that rules may use.

use flowpin_parser::Buffer;

/// Values of TLS that rules may use.
pub(crate) const OF_TLS: &[Buffer] = &[
    Buffer::client(
        "tls.sni",
        ("tls", "tls.sni"),
        "The server name that the client sent (SNI).",
    ),
    Buffer::client(
        "ja4.hash",
        ("tls", "tls.ja4"),
        "The JA4 fingerprint of the client's hello.",
    ),
    Buffer::server(
        "tls.version",
        ("tls", "tls.version"),
        "The version that the server chose.",
    ),
    Buffer::server(
        "tls.cert_subject",
        ("tls", "tls.subject"),
        "The subject of the server's certificate.",
    ),
    Buffer::server(
        "tls.cert_issuer",
        ("tls", "tls.issuerdn"),
        "The issuer of the server's certificate.",
    ),
    Buffer::server(
        "tls.cert_serial",
        ("tls", "tls.serial"),
        "The serial number of the server's certificate.",
    ),
];

/// Values of QUIC that rules may use.
pub(crate) const OF_QUIC: &[Buffer] = &[
    Buffer::client(
        "quic.version",
        ("quic", "quic.version"),
        "The QUIC version.",
    ),
    Buffer::client(
        "quic.sni",
        ("quic", "quic.sni"),
        "The server name that the client sent (SNI).",
    ),
    Buffer::client(
        "quic.ja4",
        ("quic", "quic.ja4"),
        "The JA4 fingerprint of the client's hello.",
    ),
];
