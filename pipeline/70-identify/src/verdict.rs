//! What a search comes to.

use crate::table::{ProtocolId, RuleId};

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Weak signs that repeated.
    Likely,
    /// One whole structure.
    Sure,
}

/// Which protocol it is, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// The protocol.
    pub protocol: ProtocolId,
    /// The rule that said so.
    pub rule: RuleId,
    /// How sure it is.
    pub confidence: Confidence,
    /// Whether the deciding bytes came from the client.
    pub to_server: bool,
}

/// Why a search ended without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GaveUp {
    /// No rule fits what both directions (or as many datagrams as the limit allows) begin with.
    NothingFits,
    /// The shard's memory for bytes before verdicts was full.
    Memory,
}

/// What the next bytes led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// More bytes are needed.
    Undecided,
    /// Decided: the search is over.
    Verdict(Verdict),
    /// Over without a verdict.
    GaveUp(GaveUp),
}
