//! Which checks are asked: those whose leads fit, found by a table for each of the first 8 bytes.
//!
//! ```text
//!  byte 0 ─► row ─┐
//!  byte 1 ─► row ─┼─ and ─► candidates whose leads fit, by rank ─► those that have not said no
//!    …            │
//!  byte 7 ─► row ─┘
//! ```

use crate::lead::Lead;
use crate::table::RuleId;
use crate::{Answer, Check, Look};

/// A check behind one of its leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) lead: Lead,
    pub(crate) rule: RuleId,
    pub(crate) check: Check,
}

/// Some of the candidates over one transport, each one bit, by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Leaves what is in both.
    #[inline]
    fn keep(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine &= theirs;
        }
    }

    fn insert(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index >> 6) {
            *word |= bit(index);
        }
    }

    #[inline]
    fn remove(&mut self, index: usize) {
        if let Some(word) = self.0.get_mut(index >> 6) {
            *word &= !bit(index);
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
    /// By place of a byte and its value: whose leads it fits.
    // PERF: lists by first byte were 40 bytes for each of up to 60 leads, which a datagram that
    // begins with a random number had to fetch and to compare: 230 cycles a look; now 60.
    rows: Box<[[Set; 256]; LEAD_LEN]>,
}

/// Bytes that leads look at.
const LEAD_LEN: usize = 8;

impl Candidates {
    /// Those, by rank; none if they are more than [`Set::LEN`].
    pub(crate) fn new(all: Vec<Candidate>) -> Option<Self> {
        if all.len() > Set::LEN {
            return None;
        }
        let mut rows = Box::new([[Set::NONE; 256]; LEAD_LEN]);
        for (place, rows) in (0u32..).zip(rows.iter_mut()) {
            for (byte, row) in (0..=u8::MAX).zip(rows) {
                for (index, one) in all.iter().enumerate() {
                    if one.lead.fits_at(place, byte) {
                        row.insert(index);
                    }
                }
            }
        }
        Some(Self { all, rows })
    }

    /// Leaves those whose leads fit as far as bytes are there.
    #[inline]
    fn keep_fitting(&self, set: &mut Set, bytes: &[u8]) {
        for (rows, byte) in self.rows.iter().zip(bytes) {
            if let Some(row) = rows.get(usize::from(*byte)) {
                set.keep(row);
            }
        }
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
        self.keep_fitting(alive, look.bytes);
        for (first, mut word) in (0usize..).step_by(64).zip(alive.0) {
            while word != 0 {
                let index = first | word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                match self.answer(index, look) {
                    Some((rule, Answer::Yes)) => {
                        if !held {
                            asked.yes = Some(rule);
                            return asked;
                        }
                    }
                    Some((rule, Answer::Likely)) => {
                        asked.likely = asked.likely.or(Some(rule));
                        alive.remove(index);
                    }
                    None if !ended => held = true,
                    Some((_, Answer::No)) | None => alive.remove(index),
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
        Some((one.rule, (one.check)(look)?))
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
        prop::collection::vec((0usize..8, any::<u8>(), any::<u8>()), 0..4).prop_map(|parts| {
            let mut lead = Lead::ANY;
            for (at, mask, value) in parts {
                lead.mask &= !(0xff << (at * 8));
                lead.value &= !(0xff << (at * 8));
                lead = lead.masked(at, mask & 0x81, value & mask & 0x81);
            }
            lead
        })
    }

    proptest! {
        /// The tables find what a look at each lead finds.
        #[test]
        fn the_rows_leave_the_leads_that_fit(
            leads in prop::collection::vec(lead(), 1..200),
            bytes in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let all = leads.iter().zip(0u16..).map(|(&lead, rule)| Candidate {
                lead,
                rule: RuleId(rule),
                check: |_| Some(Answer::No),
            });
            let candidates = Candidates::new(all.collect()).unwrap();
            let mut set = Set::ALL;
            candidates.keep_fitting(&mut set, &bytes);
            let fits = |lead: &Lead| {
                bytes.iter().take(8).enumerate().all(|(at, &byte)| {
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
