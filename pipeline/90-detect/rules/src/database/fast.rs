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

impl Fast {
    /// Where it ends at the latest; none if that is anywhere.
    pub(crate) fn end(&self) -> Option<usize> {
        end(&self.places, &self.pattern)
    }
}

/// Chooses the fast pattern: the one that the rule asks for, or the longest. None if no content
/// has to be there.
pub(crate) fn choose(rule: &Rule, suits: impl Fn(&Inspection) -> bool) -> Option<Fast> {
    best(rule, suits, |_, _| true)
}

/// Chooses one for packets: one that begins at few places, if there is one, or near the beginning.
pub(crate) fn choose_near(rule: &Rule, suits: impl Fn(&Inspection) -> bool) -> Option<Fast> {
    let is_near = |places: &_, pattern: &_| end(places, pattern).is_some_and(|end| end <= NEAR);
    best(rule, &suits, |places, _| is_anchored(places))
        .or_else(|| best(rule, &suits, is_near))
        .or_else(|| best(rule, suits, |_, _| true))
}

/// Chooses one for datagrams, of which all bytes are searched anyway: one that begins at few places
/// if it tells them apart, or if there is no other one.
pub(crate) fn choose_datagram(rule: &Rule, suits: impl Fn(&Inspection) -> bool) -> Option<Fast> {
    let near = choose_near(rule, &suits)?;
    if near.pattern.len() >= TELLING {
        return Some(near);
    }
    let any = best(rule, suits, |_, _| true);
    any.filter(|any| any.pattern.len() >= TELLING)
        .or(Some(near))
}

/// Many datagrams have two or three bytes of their headers in common.
const TELLING: usize = 4;

fn end(places: &RangeInclusive<u32>, pattern: &[u8]) -> Option<usize> {
    let last = Some(*places.end()).filter(|&last| last < u32::MAX)?;
    usize::try_from(last).ok()?.checked_add(pattern.len())
}

/// What ends within so many bytes is near the beginning.
pub(super) const NEAR: usize = 512;

/// Whether a pattern may begin at few places alone.
pub(crate) fn is_anchored(places: &RangeInclusive<u32>) -> bool {
    places.end() - places.start() < PLACES_MAX
}

fn best(
    rule: &Rule,
    suits: impl Fn(&Inspection) -> bool,
    may_be: impl Fn(&RangeInclusive<u32>, &[u8]) -> bool,
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
            let suits = pattern.len() > 1 || is_anchored(&places);
            let suits = suits && may_be(&places, &pattern);
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
    first..=first.saturating_add(room)
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
