//! What the engine's settings ask of HTTP, and the values that it publishes for rules.

use crate::options::{BodyOptions, HttpOptions};
use flowpin_packet::SHARD_COUNT;
use flowpin_parser::{Buffer, ParserSetup};

/// The options for these settings.
pub(crate) fn options(setup: &ParserSetup) -> HttpOptions {
    let files = &setup.files;
    let most = HttpOptions::default();
    let wants_files = files.any();
    // Without files that are written, rules alone say how much of a body is read.
    let of_run = |most: u64| if wants_files { most } else { u64::MAX };
    HttpOptions {
        all_fields: setup.parse.all_fields,
        rules: setup.rules,
        bodies: BodyOptions {
            decode: files.decode,
            md5: files.md5,
            sha1: files.sha1,
            sha256: files.sha256,
            files: files.extract.is_some(),
            rules: setup.rules,
            decoded_bytes_max: match wants_files {
                true => files.bytes_max,
                false => RULES_BYTES_MAX,
            },
            shard_files_max: of_run(files.count_max.div_ceil(SHARD_COUNT as u64)),
            shard_file_bytes_max: of_run(files.total_bytes_max.div_ceil(SHARD_COUNT as u64)),
            ..most.bodies
        },
        ..most
    }
}

/// The most of a body that rules examine.
const RULES_BYTES_MAX: u64 = 100 << 10;

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
