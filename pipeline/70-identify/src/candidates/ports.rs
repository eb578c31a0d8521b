//! Which leads fit which ports.

use super::{Candidate, Set};

/// Those that fit any ports, and those that also fit some.
#[derive(Debug)]
pub(super) struct Ports {
    /// A bit for each value of a port's lowest bits: whether a lead may name it.
    // PERF: small enough to stay in the nearest cache, and nearly never wrong.
    named: Box<[u64; NAMED_BITS / 64]>,
    /// By port.
    rows: Vec<(u16, Set)>,
    any: Set,
}

const NAMED_BITS: usize = 4096;

impl Ports {
    pub(super) fn of(all: &[Candidate]) -> Self {
        let mut ports: Vec<u16> = all.iter().flat_map(|one| one.lead.ports).copied().collect();
        ports.sort_unstable();
        ports.dedup();
        let mut named = Box::new([0; NAMED_BITS / 64]);
        for &port in &ports {
            let (word, bit) = place(port);
            if let Some(word) = named.get_mut(word) {
                *word |= bit;
            }
        }
        let fits = |port: u16| Set::of(all.iter().map(|one| one.lead.ports.contains(&port)));
        Self {
            named,
            rows: ports.into_iter().map(|port| (port, fits(port))).collect(),
            any: Set::of(all.iter().map(|one| one.lead.ports.is_empty())),
        }
    }

    /// Leaves those that fit these ports.
    #[inline]
    pub(super) fn keep(&self, set: Set, ports: (u16, u16)) -> Set {
        if self.may_be_named(ports.0) || self.may_be_named(ports.1) {
            let mut row = self.any;
            self.add(&mut row, ports.0);
            self.add(&mut row, ports.1);
            set.and(&row)
        } else {
            set.and(&self.any)
        }
    }

    #[inline]
    fn may_be_named(&self, port: u16) -> bool {
        let (word, bit) = place(port);
        self.named.get(word).is_some_and(|word| word & bit != 0)
    }

    fn add(&self, row: &mut Set, port: u16) {
        if let Ok(at) = self.rows.binary_search_by_key(&port, |(known, _)| *known)
            && let Some((_, named)) = self.rows.get(at)
        {
            row.join(named);
        }
    }
}

const fn place(port: u16) -> (usize, u64) {
    let bit = port as usize % NAMED_BITS;
    (bit / 64, 1 << (bit % 64))
}
