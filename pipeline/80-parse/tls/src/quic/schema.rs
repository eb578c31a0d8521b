//! The schemas of QUIC: events of hellos, as Suricata has them, and the log of connections, as Zeek
//! has it.

use flowpin_record::{Kind, MessageColumn, MessageSchema};

/// Events of the hellos of QUIC connections.
pub static QUIC: MessageSchema = MessageSchema::new(
    "quic",
    "The hello of a client or a server, from the Initial packets of a QUIC connection; of a \
     connection whose hellos cannot be read, its version.",
    QUIC_EVENT_COLUMNS,
)
.only_events()
.sent_as_says(0);

/// The log of QUIC connections, in the file that Zeek uses for it.
pub static QUIC_LOG: MessageSchema = MessageSchema::in_file(
    "quic_log",
    "quic",
    "The start of a QUIC connection, from its Initial packets. Written when both hellos were \
     seen, or when the connection ends.",
    QUIC_COLUMNS,
)
.only_columns();

const fn event(eve: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new("", eve, kind, doc)
}

const QUIC_EVENT_COLUMNS: &[MessageColumn] = &[
    event("", Kind::Bool, "Whether the client sent it."),
    event(
        "quic.version",
        Kind::Text,
        "The QUIC version: a number, Google's notation for its own versions (`Q046`), hexadecimal \
         for others.",
    ),
    event(
        "quic.sni",
        Kind::Text,
        "The server name that the client sent (SNI).",
    ),
    event(
        "quic.ja3.hash",
        Kind::Text,
        "The JA3 fingerprint of the client's hello (on request).",
    ),
    event(
        "quic.ja3.string",
        Kind::Text,
        "What it is the MD5 of (on request).",
    ),
    event(
        "quic.ja3s.hash",
        Kind::Text,
        "The JA3S fingerprint of the server's hello (on request).",
    ),
    event(
        "quic.ja3s.string",
        Kind::Text,
        "What it is the MD5 of (on request).",
    ),
    event(
        "quic.ja4",
        Kind::Text,
        "The JA4 fingerprint of the client's hello.",
    ),
    event(
        "quic.extensions[].name",
        Kind::TextList,
        "The extensions of the hello by the names of the IANA, in their order; left out if it has \
         none.",
    ),
    event(
        "quic.extensions[].type",
        Kind::CountList,
        "The numbers of the extensions.",
    ),
    event(
        "quic.extensions[].values",
        Kind::TextList,
        "Of `server_name` and `alpn`: what they hold.",
    ),
    event(
        "flowpin.client_initial_dcid",
        Kind::Text,
        "The first connection ID that the client chose for the server, in hexadecimal.",
    ),
    event(
        "flowpin.client_scid",
        Kind::Text,
        "The client's connection ID, in hexadecimal.",
    ),
    event(
        "flowpin.server_scid",
        Kind::Text,
        "The server's connection ID, in hexadecimal, if it is known yet.",
    ),
    event(
        "flowpin.client_alpns",
        Kind::TextList,
        "The protocols that the client offered by ALPN.",
    ),
    event(
        "flowpin.cipher",
        Kind::Text,
        "The cipher suite that the server chose.",
    ),
    event(
        "flowpin.curve",
        Kind::Text,
        "The group (curve) of the key exchange.",
    ),
    event(
        "flowpin.session_resumed",
        Kind::Bool,
        "Whether the server resumed an earlier session.",
    ),
    event(
        "quic.ua",
        Kind::Text,
        "Google's QUIC: the client's program.",
    ),
    event(
        "quic.cyu[].hash",
        Kind::TextList,
        "Google's QUIC: the MD5 of the fingerprint (CYU) of the client's hello.",
    ),
    event(
        "quic.cyu[].string",
        Kind::TextList,
        "The fingerprint: the version's digits, and the tags of the hello.",
    ),
];

const QUIC_COLUMNS: &[MessageColumn] = &[
    MessageColumn::new(
        "version",
        "",
        Kind::Text,
        "The QUIC version: a number, Google's notation for its own versions (`Q046`), hexadecimal \
         for others.",
    ),
    MessageColumn::new(
        "client_initial_dcid",
        "",
        Kind::Text,
        "The first connection ID that the client chose for the server, in hexadecimal.",
    ),
    MessageColumn::new(
        "client_scid",
        "",
        Kind::Text,
        "The client's connection ID, in hexadecimal.",
    ),
    MessageColumn::new(
        "server_scid",
        "",
        Kind::Text,
        "The server's connection ID, in hexadecimal.",
    ),
    MessageColumn::new(
        "server_name",
        "",
        Kind::Text,
        "The server name that the client sent (SNI).",
    ),
    MessageColumn::new(
        "client_protocol",
        "",
        Kind::Text,
        "The first protocol that the client offered by ALPN.",
    ),
    MessageColumn::new(
        "client_alpns",
        "",
        Kind::TextList,
        "The protocols that the client offered by ALPN.",
    ),
    MessageColumn::new(
        "ja4",
        "",
        Kind::Text,
        "The JA4 fingerprint of the client's hello.",
    ),
    MessageColumn::new(
        "cipher",
        "",
        Kind::Text,
        "The cipher suite that the server chose.",
    ),
    MessageColumn::new(
        "curve",
        "",
        Kind::Text,
        "The group (curve) of the key exchange.",
    ),
    MessageColumn::new(
        "resumed",
        "",
        Kind::Bool,
        "Whether the server resumed an earlier session.",
    ),
];
