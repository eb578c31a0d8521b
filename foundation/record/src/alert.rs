//! Alerts of rules, on their way to where they are decided.

use std::sync::Arc;

/// A rule fits. Whether that becomes a record may depend on other connections: it is decided in the
/// order of keys, in the output stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert<'a> {
    /// The rule's number in the rule set of the run.
    pub rule: u32,
    /// Whether what it fits was sent to the server.
    pub to_server: bool,
    /// The transaction that it fits, if it fits one.
    pub transaction: Option<u32>,
    /// Values of the message that it fits: a column of alerts, and its text.
    pub shown: &'a Arc<[(u8, Vec<u8>)]>,
}
