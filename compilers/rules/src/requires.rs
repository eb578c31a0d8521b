//! `requires`: what an engine needs to have for a rule.

use crate::option::{RuleOption, Word};
use flowpin_rule::{Status, keyword};

/// Why a rule's `requires` is not met; none if it is, or if the option is another one.
pub(crate) fn unmet(option: &RuleOption<'_>) -> Option<String> {
    if option.name.text != "requires" {
        return None;
    }
    option.value?.split_commas().into_iter().find_map(|word| {
        let (what, argument) = word.split_once(' ')?;
        match what.text {
            "feature" => Some(format!("the feature {} is not known here", argument.text)),
            "keyword" => match keyword(argument.text) {
                Some(Status::Evaluated(_) | Status::Accepted(_)) => None,
                _ => Some(format!("the keyword {} is not evaluated", argument.text)),
            },
            "version" => is_outside(argument).then(|| format!("of Suricata {}", argument.text)),
            other => Some(format!("the requirement {other} is not known here")),
        }
    })
}

/// Whether the version of the language lies outside a condition such as `>= 7.0.3 < 9`.
fn is_outside(word: Word<'_>) -> bool {
    // Alternatives are separated by bars.
    !word.text.split('|').any(|all| {
        let mut words = all.split_whitespace();
        let mut holds = true;
        while let Some(first) = words.next() {
            let split = first
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or(first.len());
            let (operator, version) = first.split_at(split);
            let version = match version {
                "" => words.next().unwrap_or_default(),
                version => version,
            };
            let order = LANGUAGE.cmp(&numbers(version));
            holds &= match operator {
                "<" => order.is_lt(),
                ">" => order.is_gt(),
                "<=" => order.is_le(),
                ">=" => order.is_ge(),
                _ => order.is_eq(),
            };
        }
        holds
    })
}

fn numbers(version: &str) -> [u32; 3] {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    core::array::from_fn(|_| parts.next().unwrap_or(0))
}

/// The version of Suricata's rule language that is read.
const LANGUAGE: [u32; 3] = [8, 0, 6];
