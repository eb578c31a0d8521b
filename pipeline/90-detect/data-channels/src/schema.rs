//! Events of data connections.

use flowpin_record::{Kind, MessageColumn, MessageSchema};

const fn event(eve: &'static str, doc: &'static str) -> MessageColumn {
    MessageColumn::new("", eve, Kind::Text, doc)
}

const COLUMNS: &[MessageColumn] = &[
    event(
        "ftp_data.command",
        "The command on the control connection: `RETR`, `STOR`, `LIST`, …",
    ),
    event(
        "ftp_data.filename",
        "The name that it gives, as it was sent.",
    ),
    event("flowpin.control", "The `uid` of the control connection."),
];

/// What a data connection carries: its values are the command and the file's name.
pub static FTP_DATA: MessageSchema = MessageSchema::new(
    "ftp_data",
    "A data connection of FTP: what was transferred on it.",
    COLUMNS,
)
.only_events();
