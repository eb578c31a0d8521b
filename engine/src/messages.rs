//! The kinds of messages that a run may write records of.

use flowpin_output::MessageSchemas;

/// Those of all parsers.
pub(crate) fn schemas() -> MessageSchemas {
    MessageSchemas::new([])
}

/// The page of the documentation that lists every field of every format: `docs/user/records.md`.
pub fn records_page() -> String {
    flowpin_output::records_page(&schemas())
}
