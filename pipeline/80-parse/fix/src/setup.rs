//! What the engine's settings ask of FIX, and the values that it publishes for rules.

use crate::Dictionary;
use flowpin_parser::{Buffer, ParserSetup, SetupError};
use std::sync::Arc;

/// Loads the user's dictionaries, and shares the result with the parsers of all workers.
pub(crate) fn dictionary(setup: &mut ParserSetup) -> Result<(), SetupError> {
    if setup.parse.fix_dictionaries.is_empty() {
        return Ok(());
    }
    let mut dictionary = Dictionary::bundled();
    for path in &setup.parse.fix_dictionaries {
        let refused = |why: String| SetupError {
            key: "fix_dictionaries",
            path: path.clone(),
            why,
        };
        let xml = flowpin_disk::read_given_text(path);
        let xml = xml.map_err(|error| refused(error.to_string()))?;
        let loaded = dictionary.load_quickfix(&xml);
        loaded.map_err(|error| refused(error.to_string()))?;
    }
    setup.share(Arc::new(dictionary));
    Ok(())
}

/// Values of messages that rules may use.
pub(crate) const BUFFERS: &[Buffer] = &[
    Buffer::either("fix.msg_type", ("fix", "fix.msg_type"), "MsgType (35)."),
    Buffer::either(
        "fix.sender_comp_id",
        ("fix", "fix.sender_comp_id"),
        "SenderCompID (49).",
    ),
    Buffer::either(
        "fix.target_comp_id",
        ("fix", "fix.target_comp_id"),
        "TargetCompID (56).",
    ),
];
