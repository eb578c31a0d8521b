//! What rules alert of, where somebody asks for its packets.

use flowpin_record::Uid;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// What some rules have alerted of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alerted {
    /// Connections.
    pub connections: BTreeSet<Uid>,
    /// Packets that belong to none, by their numbers.
    pub packets: BTreeSet<u64>,
    /// Numbers of the rules that have alerted (`sid`).
    pub sids: BTreeSet<u32>,
}

/// Where a run notes what some rules alert of.
#[derive(Debug, Default)]
pub struct AlertLedger {
    sids: BTreeSet<u32>,
    noted: Mutex<Alerted>,
}

impl AlertLedger {
    /// For the rules with these numbers.
    pub fn of(sids: impl IntoIterator<Item = u32>) -> Self {
        Self {
            sids: sids.into_iter().collect(),
            noted: Mutex::default(),
        }
    }

    /// A rule alerts of a connection, or of a packet that belongs to none.
    pub fn note(&self, sid: u32, connection: Option<Uid>, packet: Option<u64>) {
        if !self.sids.contains(&sid) {
            return;
        }
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.sids.insert(sid);
        match connection {
            Some(uid) => noted.connections.extend([uid]),
            None => noted.packets.extend(packet),
        }
    }

    /// What was noted.
    pub fn noted(&self) -> Alerted {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.clone()
    }

    /// The rules that were asked for and have not alerted.
    pub fn silent(&self) -> Vec<u32> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        self.sids.difference(&noted.sids).copied().collect()
    }
}

/// Plans are compared by what they ask for: all ledgers of the same rules are alike.
impl PartialEq for AlertLedger {
    fn eq(&self, other: &Self) -> bool {
        self.sids == other.sids
    }
}

impl Eq for AlertLedger {}

#[cfg(test)]
mod tests {
    use super::AlertLedger;
    use flowpin_record::Uid;

    /// Rules that nobody asks for are not noted, and those that never alert are known.
    #[test]
    fn rules_that_are_asked_for_are_noted() {
        let ledger = AlertLedger::of([7, 8, 9]);
        ledger.note(7, Some(Uid(1)), Some(5));
        ledger.note(7, Some(Uid(1)), Some(6));
        ledger.note(8, None, Some(9));
        ledger.note(1, Some(Uid(2)), Some(10));
        let noted = ledger.noted();
        assert!(noted.connections.iter().eq(&[Uid(1)]));
        assert!(noted.packets.iter().eq(&[9]));
        assert_eq!(ledger.silent(), [9]);
    }
}
