//! The schema of Gopher records.

use Kind::{Bool, Count, Text};
use flowpin_parser::Buffer;
use flowpin_record::{Kind, MessageColumn, MessageSchema};

const COLUMNS: &[MessageColumn] = &[
    MessageColumn::new(
        "selector",
        "gopher.selector",
        Text,
        "What is asked for; empty: the server's own menu. Unset: only an answer was seen.",
    ),
    MessageColumn::new(
        "item_type",
        "gopher.item_type",
        Text,
        "The type of the item (`0` text, `1` menu, `9` binary, …), where the selector begins with \
         it.",
    ),
    MessageColumn::new(
        "query",
        "gopher.query",
        Text,
        "What is searched for, or what Gopher+ asks about the item.",
    ),
    MessageColumn::new(
        "answer_bytes",
        "gopher.answer_bytes",
        Count,
        "Bytes of the answer, with those that are missing in the capture.",
    ),
    MessageColumn::new(
        "truncated",
        "gopher.truncated",
        Bool,
        "Whether the request was longer than is kept, or had no end.",
    ),
];

/// Records of requests.
pub static GOPHER: MessageSchema = MessageSchema::new(
    "gopher",
    "A request to a Gopher server with the size of its answer (RFC 1436).",
    COLUMNS,
);

pub(crate) const BUFFERS: &[Buffer] = &[
    Buffer::client(
        "gopher.selector",
        ("gopher", "gopher.selector"),
        "What is asked for.",
    ),
    Buffer::client(
        "gopher.query",
        ("gopher", "gopher.query"),
        "What is searched for.",
    ),
];
