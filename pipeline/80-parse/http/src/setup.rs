//! What the engine's settings ask of HTTP, and the values that it publishes for rules.

use crate::Http;
use crate::options::{BodyOptions, HttpOptions};
use flowpin_packet::SHARD_COUNT;
use flowpin_parser::{Buffer, Parser, ParserMemory, ParserSetup};

/// The options for these settings, within HTTP's part of the memory.
pub(crate) fn options(setup: &ParserSetup) -> HttpOptions {
    let (memory, files) = (setup.memory, &setup.files);
    let most = HttpOptions::default();
    let connections = |most| memory.shard_connections(Http::CONNECTION_BYTES, most);
    HttpOptions {
        shard_connections_max: connections(most.shard_connections_max),
        shard_transactions_max: transactions(memory).min(most.shard_transactions_max),
        shard_text_bytes_max: memory.shard_bytes(4).min(most.shard_text_bytes_max),
        all_fields: setup.parse.all_fields,
        bodies: BodyOptions {
            decode: files.decode,
            md5: files.md5,
            sha1: files.sha1,
            sha256: files.sha256,
            files: files.extract.is_some(),
            decoded_bytes_max: files.bytes_max,
            shard_files_max: files.count_max.div_ceil(SHARD_COUNT as u64),
            shard_file_bytes_max: files.total_bytes_max.div_ceil(SHARD_COUNT as u64),
            shard_bytes_max: memory.shard_body_bytes(),
            ..most.bodies
        },
        ..most
    }
}

fn transactions(memory: ParserMemory) -> u32 {
    memory.shard_values(8, TRANSACTION_BYTES)
}

/// About the memory of an open transaction.
const TRANSACTION_BYTES: u64 = 384;

/// Values of messages that rules may use.
pub(crate) const BUFFERS: &[Buffer] = &[
    Buffer::client(
        "http.method",
        ("http", "http.http_method"),
        "The request's method.",
    ),
    Buffer::client(
        "http.uri",
        ("http", "http.url"),
        "The request's target, as it was sent.",
    ),
    Buffer::client(
        "http.host",
        ("http", "http.hostname"),
        "The host, without its port.",
    ),
    Buffer::client(
        "http.user_agent",
        ("http", "http.http_user_agent"),
        "User-Agent.",
    ),
    Buffer::client("http.referer", ("http", "http.http_refer"), "Referer."),
    Buffer::client("http.xff", ("http", "http.xff"), "X-Forwarded-For."),
    Buffer::server(
        "http.stat_code",
        ("http", "http.status"),
        "The response's status.",
    ),
    Buffer::server(
        "http.stat_msg",
        ("http", "status_msg"),
        "The reason after the status.",
    ),
    Buffer::server(
        "http.content_type",
        ("http", "http.http_content_type"),
        "Content-Type.",
    ),
    Buffer::server("http.location", ("http", "http.redirect"), "Location."),
];
