//! In which order the rules of one packet are evaluated.

use flowpin_rule::{Action, Condition, Rule, RuleSet};

/// The rules of a set in order: what passes first, then what only sets bits, what asks for and sets
/// some, what only asks; of these the higher priority; then as they were read.
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
    let (mut asks, mut sets) = (false, false);
    for condition in &rule.conditions {
        let is_asked = match condition {
            Condition::FlowBit(action, _) | Condition::HostBit { action, .. } => action.asks(),
            Condition::FlowInt { operation, .. } => operation.asks(),
            _ => continue,
        };
        asks |= is_asked;
        sets |= !is_asked;
    }
    let bits = match (asks, sets) {
        (false, true) => 0,
        (true, true) => 1,
        (true, false) => 2,
        (false, false) => 3,
    };
    (action, bits)
}
