//! What a search still considers: for whoever explains, and not for a run.

use super::{Search, Searches};
use crate::On;
use crate::table::ProtocolId;

impl Searches {
    /// The protocols whose checks one direction has not refused yet, best first, and whether some
    /// pattern may still match; none before that direction said anything.
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
