//! What a connection speaks, as far as its bytes tell.

use crate::ToolNames;

/// The protocol of a connection, and why it is believed to be that.
///
/// Names are printable ASCII without quotes, backslashes, commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct App {
    /// The protocol, by our name; where it changed: the last.
    pub name: &'static str,
    /// What Suricata (`app_proto`) and Zeek (`service`) call it.
    pub in_tools: &'static ToolNames,
    /// What it was before it changed: `smtp` before STARTTLS.
    pub original: Option<&'static str>,
    /// What Suricata (`app_proto_orig`) and Zeek call that.
    pub original_in_tools: &'static ToolNames,
    /// The rule that said so.
    pub rule: &'static str,
    /// How sure it is.
    pub confidence: Confidence,
    /// Whether bytes of the client decided.
    pub by_client: bool,
    /// The protocol's number, the same for all records of a run: for sums.
    pub number: u16,
}

/// How sure it is which protocol it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Confidence {
    /// Weak signs that repeated.
    Likely,
    /// One whole structure.
    Sure,
}

impl Confidence {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}
