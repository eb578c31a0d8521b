//! The remaining candidates of a search, for explanations; not used in a run.

use super::{Search, Searches};
use crate::On;
use crate::table::ProtocolId;

impl Searches {
    /// The protocols whose checks have not refused the bytes of one direction, best first, and
    /// whether a pattern may still match; `None` before the direction has sent anything.
    pub fn candidates(
        &self,
        search: Search,
        on: On,
        to_server: bool,
    ) -> Option<(Vec<ProtocolId>, bool)> {
        let progress = self.memory.slab.get(search.handle()?)?;
        let side = progress
            .sides
            .get(usize::from(super::side_of(to_server)))
            .filter(|side| side.begun)?;
        let compiled = self.identifier.on(on);
        let mut protocols: Vec<ProtocolId> = Vec::new();
        for rule in compiled.candidates.rules_of(&side.alive) {
            let protocol = compiled.protocol_of(rule);
            if !protocols.contains(&protocol) {
                protocols.push(protocol);
            }
        }
        Some((protocols, !side.state.is_dead()))
    }
}
