//! The schema of SSH records.

use Kind::{Count, Text};
use flowpin_parser::Buffer;
use flowpin_record::{Kind, MessageColumn, MessageSchema};

const fn text(name: &'static str, eve: &'static str, doc: &'static str) -> MessageColumn {
    MessageColumn::new(name, eve, Text, doc)
}

#[rustfmt::skip]
const COLUMNS: &[MessageColumn] = &[
    MessageColumn::new("version", "", Count, "The major version that both can speak."),
    text("client", "", "The client's identification, with its comments."),
    text("server", "", "The server's identification."),
    text("cipher_alg", "flowpin.cipher_alg", "The cipher to the server on which both agree."),
    text("mac_alg", "flowpin.mac_alg", "The authentication code to the server, likewise."),
    text("compression_alg", "flowpin.compression_alg", "The compression to the server, likewise."),
    text("kex_alg", "flowpin.kex_alg", "The key exchange, likewise."),
    text("host_key_alg", "flowpin.host_key_alg", "The kind of the server's key, likewise."),
    text("client_version", "ssh.client.proto_version", "The client's protocol version."),
    text("client_software", "ssh.client.software_version", "Its software, without comments."),
    text("hassh", "ssh.client.hassh.hash", "The HASSH fingerprint of what the client offers."),
    text("hassh_algorithms", "ssh.client.hassh.string", "What that is made of."),
    text("server_version", "ssh.server.proto_version", "The server's protocol version."),
    text("server_software", "ssh.server.software_version", "Its software, without comments."),
    text("hassh_server", "ssh.server.hassh.hash", "The fingerprint of what the server offers."),
    text("hassh_server_algorithms", "ssh.server.hassh.string", "What that is made of."),
];

/// Records of connections.
pub static SSH: MessageSchema = MessageSchema::new(
    "ssh",
    "A connection of Secure Shell: the versions of both sides, and what they offer (RFC 4253).",
    COLUMNS,
);

pub(crate) const BUFFERS: &[Buffer] = &[
    Buffer::client(
        "ssh.client.software",
        ("ssh", "ssh.client.software_version"),
        "The client's software.",
    ),
    Buffer::server(
        "ssh.server.software",
        ("ssh", "ssh.server.software_version"),
        "The server's software.",
    ),
];
