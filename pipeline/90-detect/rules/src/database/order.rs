//! In which order the rules of one packet are evaluated.

use flowpin_rule::{Action, BitAction, Condition, Rule, RuleSet};

/// The rules of a set in order: what passes first, then what only sets bits, what asks for and sets
/// some, what only asks, what only clears some; of these the higher priority; then as they were
/// read.
pub(crate) fn ordered(set: &RuleSet) -> Vec<usize> {
    let mut order: Vec<usize> = (0..set.rules.len()).collect();
    order.sort_by_cached_key(|&at| {
        set.rules
            .get(at)
            .map(|rule| (rank(rule), rule.priority, at))
    });
    order
}

fn rank(rule: &Rule) -> (u8, u8) {
    let action = match rule.action {
        Action::Pass => 0,
        Action::Drop => 1,
        Action::Reject => 2,
        Action::Alert => 3,
    };
    let (mut asks, mut sets, mut clears) = (false, false, false);
    for condition in &rule.conditions {
        let is_asked = match condition {
            Condition::FlowBit(action, _) | Condition::HostBit { action, .. } => action.asks(),
            Condition::FlowInt { operation, .. } => operation.asks(),
            _ => continue,
        };
        let is_cleared = match condition {
            Condition::FlowBit(action, _) | Condition::HostBit { action, .. } => {
                *action == BitAction::Unset
            }
            _ => false,
        };
        asks |= is_asked;
        clears |= is_cleared;
        sets |= !is_asked && !is_cleared;
    }
    let bits = match (asks, sets) {
        (false, true) => 0,
        (true, true) => 1,
        (true, false) => 2,
        // What is cleared was there for those that ask.
        (false, false) if clears => 3,
        (false, false) => 4,
    };
    (action, bits)
}
