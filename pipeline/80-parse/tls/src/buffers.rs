//! Values of handshakes that rules may use.

use flowpin_parser::Buffer;

/// Values of TLS that rules may use.
pub(crate) const OF_TLS: &[Buffer] = &[
    Buffer::client(
        "tls.sni",
        ("tls", "tls.sni"),
        "The name that the client asks for.",
    ),
    Buffer::client("ja4.hash", ("tls", "tls.ja4"), "JA4 of the client's hello."),
    Buffer::server(
        "tls.version",
        ("tls", "tls.version"),
        "The version that the server chose.",
    ),
    Buffer::server(
        "tls.cert_subject",
        ("tls", "tls.subject"),
        "The certificate's subject.",
    ),
    Buffer::server(
        "tls.cert_issuer",
        ("tls", "tls.issuerdn"),
        "The certificate's issuer.",
    ),
    Buffer::server(
        "tls.cert_serial",
        ("tls", "tls.serial"),
        "The certificate's serial number.",
    ),
];

/// Values of QUIC that rules may use.
pub(crate) const OF_QUIC: &[Buffer] = &[
    Buffer::client("quic.version", ("quic", "quic.version"), "The version."),
    Buffer::client(
        "quic.sni",
        ("quic", "quic.sni"),
        "The name that the client asks for.",
    ),
    Buffer::client(
        "quic.ja4",
        ("quic", "quic.ja4"),
        "JA4 of the client's hello.",
    ),
];
