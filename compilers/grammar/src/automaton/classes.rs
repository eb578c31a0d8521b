//! Classes of bytes that no pattern tells apart.

use super::nfa::{Nfa, Part};
use crate::pattern::Set;
use std::collections::BTreeMap;

/// Which class each byte is of.
pub(crate) struct Classes {
    pub(crate) of_byte: [u8; 256],
    /// A byte of each class.
    pub(crate) samples: Vec<u8>,
}

impl Classes {
    /// As few classes as the automaton's sets allow.
    pub(crate) fn in_use(nfa: &Nfa) -> Self {
        let mut of_byte = [0u8; 256];
        let mut count = 1;
        let mut known: Vec<Set> = Vec::new();
        for part in &nfa.parts {
            let Part::Byte(set, _) = part else { continue };
            if known.contains(set) {
                continue;
            }
            known.push(*set);
            // Each class that the set cuts becomes two.
            let mut renamed: BTreeMap<(u8, bool), u8> = BTreeMap::new();
            let mut fresh = 0u16;
            for (byte, class) in (0..=255u8).zip(of_byte.iter_mut()) {
                let key = (*class, set.contains(byte));
                *class = *renamed.entry(key).or_insert_with(|| {
                    let name = u8::try_from(fresh).unwrap_or(u8::MAX);
                    fresh += 1;
                    name
                });
            }
            count = fresh;
            if count == 256 {
                break;
            }
        }
        let mut samples = vec![0u8; usize::from(count)];
        for (byte, class) in (0..=255u8).zip(of_byte).rev() {
            if let Some(sample) = samples.get_mut(usize::from(class)) {
                *sample = byte;
            }
        }
        Self { of_byte, samples }
    }

    pub(crate) fn count(&self) -> usize {
        self.samples.len()
    }

    pub(crate) fn of(&self, byte: u8) -> usize {
        usize::from(self.of_byte.get(usize::from(byte)).copied().unwrap_or(0))
    }
}
