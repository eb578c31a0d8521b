//! The pattern of a rule that is searched for first: if it is not there, the rule does not fit.

use flowpin_rule::{Content, Inspection, Rule, Term, Transform};

/// A rule's fast pattern: in which of its inspections it is asked for, and its bytes in small
/// letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fast {
    pub(crate) inspection: usize,
    pub(crate) pattern: Vec<u8>,
}

/// Chooses the fast pattern: the one that the rule asks for, or the longest. None if no content
/// has to be there.
pub(crate) fn choose(rule: &Rule, suits: impl Fn(&Inspection) -> bool) -> Option<Fast> {
    let all = rule.inspections.iter().enumerate();
    let all = all.filter(|(_, one)| one.absent.is_none() && suits(one));
    let contents = all.flat_map(|(nth, inspection)| {
        let contents = inspection.terms.iter().filter_map(move |term| match term {
            Term::Content(content) if !content.negated => Some((nth, content)),
            _ => None,
        });
        contents.filter_map(move |(nth, content)| {
            let pattern = searched(inspection, content)?;
            Some((content.fast_pattern, weight(&pattern), nth, pattern))
        })
    });
    // The first of the best.
    let best = contents.reduce(|best, one| match (one.0, one.1) > (best.0, best.1) {
        true => one,
        false => best,
    })?;
    Some(Fast {
        inspection: best.2,
        pattern: best.3,
    })
}

/// The bytes that stand in the buffer before it is transformed, if the content stands there
/// afterwards; none if that cannot be said.
fn searched(inspection: &Inspection, content: &Content) -> Option<Vec<u8>> {
    let mut pattern = content.pattern.as_slice();
    if let Some((from, len)) = content.fast_part {
        let from = usize::from(from);
        pattern = pattern.get(from..from + usize::from(len))?;
    }
    for transform in &inspection.transforms {
        match transform {
            Transform::ToLowercase | Transform::ToUppercase | Transform::HeaderLowercase => {}
            // The dot is before the buffer, or in it.
            Transform::Dotprefix => pattern = pattern.strip_prefix(b".").unwrap_or(pattern),
            _ => return None,
        }
    }
    (!pattern.is_empty()).then(|| pattern.to_ascii_lowercase())
}

/// Longer patterns are rarer; repeated bytes are not.
fn weight(pattern: &[u8]) -> usize {
    let mut seen = [false; 256];
    let mut distinct = 0;
    for &byte in pattern {
        let is_new = seen
            .get_mut(usize::from(byte))
            .is_some_and(|seen| !core::mem::replace(seen, true));
        distinct += usize::from(is_new);
    }
    pattern.len().min(32) + distinct.min(32) * 2
}
