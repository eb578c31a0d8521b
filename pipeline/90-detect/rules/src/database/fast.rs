//! The pattern of a rule that is searched for first: if it is not there, the rule does not fit.

use core::ops::RangeInclusive;
use flowpin_rule::{Content, Inspection, Operand, Rule, Term, Transform};

/// A rule's fast pattern: in which of its inspections it is asked for, and its bytes in small
/// letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fast {
    pub(crate) inspection: usize,
    pub(crate) pattern: Vec<u8>,
    /// Where it may begin in the buffer.
    pub(crate) places: RangeInclusive<u32>,
}

/// Chooses the fast pattern: the one that the rule asks for, or the longest. None if no content
/// has to be there.
pub(crate) fn choose(rule: &Rule, suits: impl Fn(&Inspection) -> bool) -> Option<Fast> {
    best(rule, suits, |_| true)
}

/// Chooses one for packets: one that begins at few places, if there is one.
pub(crate) fn choose_anchored(rule: &Rule, suits: impl Fn(&Inspection) -> bool) -> Option<Fast> {
    best(rule, &suits, is_anchored).or_else(|| best(rule, suits, |_| true))
}

/// Whether a pattern may begin at few places alone.
pub(crate) fn is_anchored(places: &RangeInclusive<u32>) -> bool {
    places.end() - places.start() < PLACES_MAX
}

fn best(
    rule: &Rule,
    suits: impl Fn(&Inspection) -> bool,
    may_be: impl Fn(&RangeInclusive<u32>) -> bool,
) -> Option<Fast> {
    let may_be = &may_be;
    let all = rule.inspections.iter().enumerate();
    let all = all.filter(|(_, one)| one.absent.is_none() && suits(one));
    let contents = all.flat_map(|(nth, inspection)| {
        let contents = inspection.terms.iter().filter_map(move |term| match term {
            Term::Content(content) if !content.negated => Some((nth, content)),
            _ => None,
        });
        contents.filter_map(move |(nth, content)| {
            let pattern = searched(inspection, content)?;
            let places = places(inspection, content);
            let is_asked = content.fast_pattern;
            let rank = (is_asked, weight(&pattern));
            // One byte stands nearly everywhere.
            let suits = (pattern.len() > 1 || is_anchored(&places)) && may_be(&places);
            suits.then_some((rank, nth, pattern, places))
        })
    });
    // The first of the best.
    let best = contents.reduce(|best, one| match one.0 > best.0 {
        true => one,
        false => best,
    })?;
    Some(Fast {
        inspection: best.1,
        pattern: best.2,
        places: best.3,
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

/// Where the fast pattern of a content may begin in its buffer.
fn places(inspection: &Inspection, content: &Content) -> RangeInclusive<u32> {
    let number = |operand: Option<Operand>| match operand {
        None => Some(None),
        Some(Operand::Value(value)) => u32::try_from(value).ok().map(Some),
        Some(Operand::Variable(_)) => None,
    };
    let anywhere = ANYWHERE;
    if content.is_relative() || content.endswith || !inspection.transforms.is_empty() {
        return anywhere;
    }
    let (Some(offset), Some(depth)) = (number(content.offset), number(content.depth)) else {
        return anywhere;
    };
    let offset = offset.unwrap_or(0);
    let skipped = content.fast_part.map_or(0, |(from, _)| from.into());
    let len = u32::try_from(content.pattern.len()).unwrap_or(u32::MAX);
    let room = match (content.startswith, depth) {
        (true, _) => 0,
        (false, Some(depth)) => depth.saturating_sub(len),
        (false, None) => u32::MAX,
    };
    let first = offset.saturating_add(skipped);
    let places = first..=first.saturating_add(room);
    // A window of a stream may begin later: what is no place in this one may be one in the next.
    Some(places).filter(is_anchored).unwrap_or(anywhere)
}

const ANYWHERE: RangeInclusive<u32> = 0..=u32::MAX;

/// So many places are few.
const PLACES_MAX: u32 = 16;

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
