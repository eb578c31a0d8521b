//! Other rules for connections that are open.
//!
//! What is theirs stays: how far a connection is, its packets and bytes, and what rules have
//! noted by a name that the new rules have, too. What belongs to rules goes: the end of a stream
//! that was compared already, and which of them have alerted. So a connection is compared with the
//! new rules from its next packet on, and nothing that came before can fit them.

use super::Detector;
use super::occasion::Scratch;
use super::state::Connection;
use crate::database::Database;
use flowpin_rule::RuleSet;
use std::collections::HashMap;
use std::sync::Arc;

impl Detector {
    /// Compares connections with these rules from here on. Between packets.
    #[cold]
    pub fn exchange(&mut self, database: Arc<Database>) {
        let numbers = numbers(self.database.set(), database.set());
        for handle in 0..self.connections.high_water() {
            let Some(connection) = self.connections.get_mut(handle) else {
                continue;
            };
            self.bodies.end(handle, connection);
            for side in &mut connection.sides {
                let next = side.end();
                self.windows.release(connection.shard, &mut side.window);
                side.begin_at(next);
            }
            connection.forget_rules(&numbers);
        }
        self.scratch = Scratch::new(&database);
        self.database = database;
    }
}

/// By number of a name of the rules before: what the new ones call it, if they have it.
fn numbers(before: &RuleSet, after: &RuleSet) -> Vec<Option<u16>> {
    let known: HashMap<&str, u16> = (after.bits.iter().map(String::as_str)).zip(0..).collect();
    let names = before.bits.iter();
    names
        .map(|name| known.get(name.as_str()).copied())
        .collect()
}

impl Connection {
    /// Other rules come, which call names by these numbers.
    fn forget_rules(&mut self, numbers: &[Option<u16>]) {
        self.forget(Self::KNOWN | Self::PASSED);
        (self.apps, self.verdict, self.odd) = (0, 0, 0);
        self.rename(|number| numbers.get(usize::from(number)).copied().flatten());
    }
}

#[cfg(test)]
mod tests {
    use super::{Connection, numbers};
    use flowpin_rule::{BitAction, IntOp, RuleSet, Variant};

    fn set(names: &[&str]) -> RuleSet {
        RuleSet {
            bits: names.iter().map(|&name| name.to_owned()).collect(),
            ..RuleSet::default()
        }
    }

    /// What rules have noted of a connection holds for new ones by its name, whatever its number
    /// is; names that are gone free their places.
    #[test]
    fn bits_and_numbers_are_kept_by_name() {
        let numbers = numbers(
            &set(&["gone", "seen", "count"]),
            &set(&["count", "new", "seen"]),
        );
        assert_eq!(numbers, [None, Some(2), Some(0)]);
        let mut connection = Connection::new(0);
        for bit in [0, 1] {
            assert!(connection.change(BitAction::Set, bit));
        }
        assert!(connection.change_int(2, IntOp::Set, Variant::Value(7)));
        connection.note(Connection::ESTABLISHED | Connection::KNOWN | Connection::PASSED);
        connection.forget_rules(&numbers);
        let is_set: Vec<_> = (0..3).map(|bit| connection.is_set(bit)).collect();
        assert_eq!(is_set, [false, false, true]);
        let seven = Variant::Value(7);
        assert!(connection.int_holds(0, IntOp::IsSet, seven));
        assert!(connection.int_holds(2, IntOp::IsNotSet, seven));
        assert!(connection.has(Connection::ESTABLISHED));
        assert!(!connection.has(Connection::KNOWN | Connection::PASSED));
    }
}
