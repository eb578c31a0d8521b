//! The schema of NUT records.

use Kind::{Bool, Count, Enum, Text};
use flowpin_parser::Buffer;
use flowpin_record::{Kind, MessageColumn, MessageSchema};

const COLUMNS: &[MessageColumn] = &[
    MessageColumn::new(
        "command",
        "nut.command",
        Text,
        "The command, in upper case: `LIST VAR`, `SET VAR`, `INSTCMD`, …; of unknown ones the \
         first word. Unset: only an answer was seen.",
    ),
    MessageColumn::new("ups", "nut.ups", Text, "The power supply that it names."),
    MessageColumn::new(
        "name",
        "nut.name",
        Text,
        "The variable, or the instant command, that it names.",
    ),
    MessageColumn::new(
        "value",
        "nut.value",
        Text,
        "The value that it sets, else the one in the answer.",
    ),
    MessageColumn::new(
        "user",
        "nut.user",
        Text,
        "The user that the connection has named. Passwords are never kept.",
    ),
    MessageColumn::new(
        "status",
        "nut.status",
        Enum,
        "`OK` or `ERR`; unset: no answer was seen.",
    ),
    MessageColumn::new(
        "error",
        "nut.error",
        Text,
        "Why it was refused: `ACCESS-DENIED`, ….",
    ),
    MessageColumn::new(
        "items",
        "nut.items",
        Count,
        "Lines of the list that it asks for.",
    ),
    MessageColumn::new(
        "truncated",
        "nut.truncated",
        Bool,
        "Whether the command or its answer was longer than is kept.",
    ),
];

/// Records of commands.
pub static NUT: MessageSchema = MessageSchema::new(
    "nut",
    "A command to a power supply with its answer (Network UPS Tools, RFC 9271).",
    COLUMNS,
);

pub(crate) const BUFFERS: &[Buffer] = &[
    Buffer::client(
        "nut.command",
        ("nut", "nut.command"),
        "The command, in upper case.",
    ),
    Buffer::client(
        "nut.ups",
        ("nut", "nut.ups"),
        "The power supply that it names.",
    ),
    Buffer::client(
        "nut.name",
        ("nut", "nut.name"),
        "The variable or instant command.",
    ),
    Buffer::either(
        "nut.value",
        ("nut", "nut.value"),
        "The value that is set or answered.",
    ),
    Buffer::client("nut.user", ("nut", "nut.user"), "The user."),
    Buffer::server(
        "nut.error",
        ("nut", "nut.error"),
        "Why a command was refused.",
    ),
];
