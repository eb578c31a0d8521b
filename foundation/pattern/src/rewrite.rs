//! Leading wildcards, rewritten before compiling.
//!
//! `^.*x` finds what `x` finds anywhere, but compiled as it stands it keeps every other anchored
//! pattern of its group alive beside the wildcard: the states multiply. So the wildcard goes, and
//! the pattern joins those that may begin anywhere. Where connections are searched from their first
//! byte on, and a protocol begins there, one can go further and anchor what was not
//! ([`Rewrite::Anchored`]): fewer states, and fewer matches.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// How patterns are changed before they are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rewrite {
    /// What they match stays the same.
    #[default]
    Exact,
    /// A leading wildcard, also the implied one, becomes `^`: what begins anywhere is looked for
    /// where the bytes begin.
    Anchored,
}

/// A pattern in the form in which it is compiled.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// Without leading wildcards.
    pub hir: Hir,
    /// It begins with the first byte.
    pub anchored: bool,
}

impl Rewritten {
    /// Where some branches begin with the first byte and others anywhere: those, and these. Either
    /// is cheaper than the whole.
    pub(crate) fn parts(&self) -> Option<[Self; 2]> {
        let HirKind::Alternation(branches) = self.hir.kind() else {
            return None;
        };
        let is_anchored =
            |branch: &Hir| branch.properties().look_set_prefix().contains(Look::Start);
        let (first, anywhere): (Vec<Hir>, Vec<Hir>) =
            branches.iter().cloned().partition(is_anchored);
        if self.anchored || first.is_empty() || anywhere.is_empty() {
            return None;
        }
        Some(
            [(first, true), (anywhere, false)].map(|(branches, anchored)| Self {
                hir: Hir::alternation(branches),
                anchored,
            }),
        )
    }
}

/// Takes leading wildcards away.
pub fn rewrite(hir: &Hir, how: Rewrite) -> Rewritten {
    let mut parts: Vec<Hir> = match hir.kind() {
        HirKind::Concat(parts) => parts.clone(),
        _ => vec![hir.clone()],
    };
    let is_start = |part: &Hir| matches!(part.kind(), HirKind::Look(Look::Start));
    let begins = parts.first().is_some_and(is_start);
    let from = usize::from(begins);
    let wild = parts
        .iter()
        .skip(from)
        .take_while(|part| is_wild(part))
        .count();
    let has_more = parts.len() > from + wild;
    let anchored = if wild > 0 && has_more {
        parts.drain(..from + wild);
        false
    } else {
        hir.properties().look_set_prefix().contains(Look::Start)
    };
    Rewritten {
        hir: Hir::concat(parts),
        anchored: anchored || how == Rewrite::Anchored,
    }
}

/// `.*`: any bytes, also none.
fn is_wild(hir: &Hir) -> bool {
    let HirKind::Repetition(repetition) = hir.kind() else {
        return false;
    };
    let is_any = match repetition.sub.kind() {
        HirKind::Class(Class::Bytes(set)) => {
            matches!(set.ranges(), [all] if (all.start(), all.end()) == (0, 255))
        }
        _ => false,
    };
    repetition.min == 0 && repetition.max.is_none() && is_any
}

#[cfg(test)]
mod tests {
    use super::{Rewrite, rewrite};
    use crate::{Automaton, Limits, own};

    #[test]
    fn a_leading_wildcard_makes_a_pattern_that_begins_anywhere() {
        for wild in ["^.*ab", ".*ab", ".*.*ab"] {
            let rewritten = rewrite(&own(wild).unwrap(), Rewrite::Exact);
            assert!(!rewritten.anchored);
            assert_eq!(rewritten.hir, own("ab").unwrap());
        }
        assert!(rewrite(&own("^ab").unwrap(), Rewrite::Exact).anchored);
        assert!(rewrite(&own("ab").unwrap(), Rewrite::Anchored).anchored);
    }

    #[test]
    fn branches_are_parted_by_where_they_begin() {
        let parts = |text: &str| rewrite(&own(text).unwrap(), Rewrite::Exact).parts();
        let [first, anywhere] = parts("^(ab|cd)|ef.*|^gh").unwrap();
        assert!(first.anchored && !anywhere.anchored);
        assert_eq!(anywhere.hir, own("ef.*").unwrap());
        assert!(parts("^ab|^cd").is_none() && parts("ab|cd").is_none());
    }

    /// What the rewriting is for: a wildcard doubles the states of every other pattern.
    #[test]
    fn without_leading_wildcards_a_group_has_fewer_states() {
        let texts = [
            "^.*hello.*world",
            "^GET .*one.*two",
            "^PUT .*three.*four",
            "^.*five.*six",
        ];
        let limits = Limits::default();
        let plain: Vec<_> = texts.iter().map(|text| own(text).unwrap()).collect();
        let whole = Automaton::build(&plain, true, &limits).unwrap().states();
        let (anchored, anywhere): (Vec<_>, Vec<_>) = plain
            .iter()
            .map(|hir| rewrite(hir, Rewrite::Exact))
            .partition(|one| one.anchored);
        let states = |part: Vec<super::Rewritten>, anchored| {
            let hirs: Vec<_> = part.into_iter().map(|one| one.hir).collect();
            Automaton::build(&hirs, anchored, &limits).unwrap().states()
        };
        let apart = states(anchored, true) + states(anywhere, false);
        assert!(apart * 2 < whole, "{apart} and {whole}");
    }
}
