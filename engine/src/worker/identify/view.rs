//! The protocols that a search still considers: for explanations, not used by a run.

use super::{Identify, Identity};
use flowpin_identify::On;

/// The protocols that one direction of a connection may still speak.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CandidatesView {
    /// Protocols whose checks have not refused its bytes, best first.
    pub protocols: Vec<&'static str>,
    /// Whether a pattern over its first bytes may still match.
    pub has_patterns: bool,
    /// Bytes kept of it.
    pub kept_bytes: usize,
}

impl Identify {
    /// What each direction may still be, that to the server first; none of one that has said
    /// nothing, or is not searched.
    pub(crate) fn candidates(&self, identity: &Identity, on: On) -> [Option<CandidatesView>; 2] {
        [true, false].map(|to_server| {
            let found = self.searches.candidates(identity.search, on, to_server);
            let (protocols, has_patterns) = found?;
            let names = protocols.iter().map(|&id| self.names.protocol(id));
            Some(CandidatesView {
                protocols: names.collect(),
                has_patterns,
                kept_bytes: self.searches.kept(identity.search, to_server).len(),
            })
        })
    }
}
