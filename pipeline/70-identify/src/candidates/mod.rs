//! Which checks are asked: those whose leads fit, found by a table for each of the first 8 bytes,
//! for a few bytes behind them, and for ports.
//!
//! ```text
//!  byte 0 ─► class ─► row ─┐
//!    …                     ├─ and ─► candidates whose leads fit, by rank ─► those that have not
//!  byte 7 ─► class ─► row ─┤                                                said no
//!  ports ───────────► row ─┘
//! ```

mod ports;
mod rows;

use crate::table::RuleId;
use crate::{Answer, Check, Lead, Look};
use ports::Ports;
use rows::Rows;

/// A check behind one of its leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) lead: Lead,
    pub(crate) rule: RuleId,
    pub(crate) check: Check,
}

/// Some of the candidates over one transport, each one bit, by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Set([u64; WORDS]);

const WORDS: usize = 6;

impl Set {
    /// The most candidates over one transport.
    pub(crate) const LEN: usize = WORDS * 64;
    pub(crate) const NONE: Self = Self([0; WORDS]);
    /// Every one that there may be.
    pub(crate) const ALL: Self = Self([u64::MAX; WORDS]);

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // PERF: a comparison of arrays would be a call.
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// What is in both.
    #[inline]
    fn and(self, other: &Self) -> Self {
        let mut both = self;
        for (mine, theirs) in both.0.iter_mut().zip(other.0) {
            *mine &= theirs;
        }
        both
    }

    /// Adds what is in the other.
    fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// Those for which `fits` says so, in order.
    fn of(fits: impl Iterator<Item = bool>) -> Self {
        let mut set = Self::NONE;
        for (index, fits) in fits.enumerate() {
            if fits {
                set.insert(index);
            }
        }
        set
    }

    fn has(&self, index: usize) -> bool {
        let word = self.0.get(index >> 6);
        word.is_some_and(|word| word & bit(index) != 0)
    }

    fn insert(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index >> 6) {
            *word |= bit(index);
        }
    }
}

const fn bit(index: usize) -> u64 {
    1 << (index & 63)
}

/// All checks over one transport.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// By rank.
    all: Vec<Candidate>,
    rows: Rows,
    ports: Ports,
}

impl Candidates {
    /// Those, by rank; none if they are more than [`Set::LEN`].
    pub(crate) fn new(all: Vec<Candidate>) -> Option<Self> {
        (all.len() <= Set::LEN).then(|| Self {
            rows: Rows::of(&all),
            ports: Ports::of(&all),
            all,
        })
    }

    /// All but those of some rules.
    #[cold]
    pub(crate) fn without(&self, is_out: impl Fn(RuleId) -> bool) -> Set {
        Set::of(self.all.iter().map(|one| !is_out(one.rule)))
    }

    /// Leaves those whose leads fit ports, and bytes as far as they are there.
    #[inline]
    fn fitting(&self, set: Set, bytes: &[u8], ports: (u16, u16)) -> Set {
        self.rows.keep(self.ports.keep(set, ports), bytes)
    }

    /// Asks the checks in `alive`, by rank, and removes those that said no.
    ///
    /// `ended`: no more bytes will come, so whoever needs more says no. `held`: something of a
    /// better rank is undecided.
    pub(crate) fn ask(
        &self,
        alive: &mut Set,
        look: &Look<'_>,
        ended: bool,
        mut held: bool,
    ) -> Asked {
        let mut asked = Asked {
            yes: None,
            likely: None,
        };
        *alive = self.fitting(*alive, look.bytes, look.ports);
        for (first, word) in (0usize..).step_by(64).zip(&mut alive.0) {
            let mut left = *word;
            while left != 0 {
                let index = first | left.trailing_zeros() as usize;
                let others = left & left.wrapping_sub(1);
                let one = left ^ others;
                left = others;
                match self.answer(index, look) {
                    Some((rule, Answer::Yes)) => {
                        if !held {
                            asked.yes = Some(rule);
                            return asked;
                        }
                    }
                    Some((rule, Answer::Likely)) => {
                        asked.likely = asked.likely.or(Some(rule));
                        *word &= !one;
                    }
                    None if !ended => held = true,
                    Some((_, Answer::No)) | None => *word &= !one,
                }
            }
        }
        asked
    }

    /// What a check says; none as long as bytes are missing.
    #[inline]
    fn answer(&self, index: usize, look: &Look<'_>) -> Option<(RuleId, Answer)> {
        let one = self.all.get(index)?;
        // The lead is part of the evidence: no answer before all of it is there.
        if look.bytes.len() < usize::from(one.lead.len_min) {
            return None;
        }
        if !one.lead.fits_far(look.bytes) {
            return Some((one.rule, Answer::No));
        }
        Some((one.rule, (one.check)(look)?))
    }

    /// The rules of some of them, by rank.
    pub(crate) fn rules_of<'a>(&'a self, set: &'a Set) -> impl Iterator<Item = RuleId> + 'a {
        let numbered = self.all.iter().enumerate();
        let inside = numbered.filter(|(index, _)| set.has(*index));
        inside.map(|(_, one)| one.rule)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

/// What checks said.
pub(crate) struct Asked {
    /// The best rule that said yes, unless a better one is undecided.
    pub(crate) yes: Option<RuleId>,
    /// The best that said likely.
    pub(crate) likely: Option<RuleId>,
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Candidates, Set};
    use crate::{Answer, Lead, RuleId};
    use proptest::prelude::*;

    fn lead() -> impl Strategy<Value = Lead> {
        let parts = (0usize..8, any::<u8>(), any::<u8>());
        let leads = prop::collection::vec(parts, 0..4).prop_map(|parts| {
            let mut lead = Lead::ANY;
            for (at, mask, value) in parts {
                lead.mask &= !(0xff << (at * 8));
                lead.value &= !(0xff << (at * 8));
                lead = lead.masked(at, mask & 0x81, value & mask & 0x81);
            }
            lead
        });
        let ports = prop::sample::select(vec![&[][..], &[], &[1], &[2, 4], &[4, 5]]);
        let far = (0u8..14, any::<u8>(), any::<u8>());
        (leads, ports, far).prop_map(|(lead, ports, (at, mask, value))| {
            lead.on_ports(ports).far(at, mask & 3, value & mask & 3)
        })
    }

    proptest! {
        /// The tables find what a look at each lead finds.
        #[test]
        fn the_rows_leave_the_leads_that_fit(
            leads in prop::collection::vec(lead(), 1..200),
            bytes in prop::collection::vec(any::<u8>(), 0..18),
            ports in (0u16..6, 0u16..6),
        ) {
            let all = leads.iter().zip(0u16..).map(|(&lead, rule)| Candidate {
                lead,
                rule: RuleId(rule),
                check: |_| Some(Answer::No),
            });
            let candidates = Candidates::new(all.collect()).unwrap();
            let set = candidates.fitting(Set::ALL, &bytes, ports);
            let on_port = |lead: &Lead| {
                let either = [ports.0, ports.1];
                lead.ports.is_empty() || either.iter().any(|one| lead.ports.contains(one))
            };
            let is_far = |lead: &Lead| {
                let is_short = bytes.len() <= usize::from(lead.far.0);
                lead.mask != 0 || is_short || lead.fits_far(&bytes)
            };
            let fits = |lead: &Lead| {
                let mut first = bytes.iter().take(8).enumerate();
                on_port(lead)
                    && is_far(lead)
                    && first.all(|(at, &byte)| {
                        let mask = (lead.mask >> (at * 8)) as u8;
                        byte & mask == (lead.value >> (at * 8)) as u8
                    })
            };
            let expected: Vec<usize> =
                (0..leads.len()).filter(|&index| fits(&leads[index])).collect();
            let found: Vec<usize> =
                (0..leads.len())
                    .filter(|&index| set.0[index / 64] & super::bit(index) != 0)
                    .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
