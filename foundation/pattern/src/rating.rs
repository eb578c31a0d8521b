//! How often a pattern matches what it should not, computed from its automaton.
//!
//! The distribution over states is carried on byte by byte: exact for bytes that do not depend on
//! each other, so no sample can be too small. Two models: every byte alike (encrypted or compressed
//! data), and letters as often as English prose has them.

use crate::Automaton;

/// Bytes that a search looks at.
pub const RATED_BYTES: u32 = 4096;

/// More than this, and a pattern may only hint.
pub const FALSE_MATCH_MAX: f64 = 1e-6;

/// Probabilities of a match within [`RATED_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// On random bytes.
    pub random: f64,
    /// On English prose.
    pub english: f64,
}

impl Rating {
    /// Rates an automaton.
    pub fn of(automaton: &Automaton) -> Self {
        Self {
            random: probability(automaton, &[1.0 / 256.0; 256]),
            english: probability(automaton, &english()),
        }
    }

    /// Whether a match is good enough for a verdict.
    pub fn is_sharp(&self) -> bool {
        self.random <= FALSE_MATCH_MAX && self.english <= FALSE_MATCH_MAX
    }
}

/// The probability of a match, at an end or before, in bytes of this distribution.
fn probability(automaton: &Automaton, weights: &[f64; 256]) -> f64 {
    // Zero bytes are left out of what is searched.
    let mut by_class = vec![0.0; automaton.class_count()];
    let total: f64 = weights.iter().skip(1).sum();
    for (&class, &weight) in automaton.classes.iter().zip(weights).skip(1) {
        if let Some(sum) = by_class.get_mut(usize::from(class)) {
            *sum += weight / total;
        }
    }
    let by_class: Vec<(usize, f64)> = by_class
        .into_iter()
        .enumerate()
        .filter(|&(_, weight)| weight > 0.0)
        .collect();
    let mut now = vec![0.0; automaton.states()];
    let mut at = vec![usize::from(automaton.start)];
    if let Some(start) = now.get_mut(usize::from(automaton.start)) {
        *start = 1.0;
    }
    let accepting = usize::from(automaton.accepting);
    let mut matched: f64 = if (1..=accepting).contains(&usize::from(automaton.start)) {
        1.0
    } else {
        0.0
    };
    let mut at_end_most: f64 = 0.0;
    let mut before = f64::NAN;
    for step in 0..RATED_BYTES {
        let mut next = vec![0.0; automaton.states()];
        let mut reached = Vec::new();
        let mut fresh = 0.0;
        for &state in &at {
            let mass = now.get(state).copied().unwrap_or(0.0);
            for &(class, weight) in &by_class {
                let to = automaton.next.get(state << automaton.shift | class);
                let to = to.map_or(0, |&to| usize::from(to));
                if to == 0 {
                    continue;
                }
                if to <= accepting {
                    fresh += mass * weight;
                    continue;
                }
                if let Some(slot) = next.get_mut(to) {
                    if *slot == 0.0 {
                        reached.push(to);
                    }
                    *slot += mass * weight;
                }
            }
        }
        matched += fresh;
        let live: f64 = reached.iter().filter_map(|&state| next.get(state)).sum();
        // A turn may end anywhere: the likeliest place counts.
        let at_end: f64 = reached
            .iter()
            .filter(|&&state| automaton.at_end.get(state).is_some_and(|&end| end > 0))
            .filter_map(|&state| next.get(state))
            .sum();
        at_end_most = at_end_most.max(at_end);
        if live < 1e-12 {
            break;
        }
        // Settled: each further byte matches the same share of what lives.
        let share = fresh / live;
        if step > 64 && (share - before).abs() <= 1e-9 * share.max(1e-18) {
            let left = f64::from(RATED_BYTES - step);
            matched += live * (1.0 - (1.0 - share.min(1.0)).powf(left));
            break;
        }
        before = share;
        (now, at) = (next, reached);
    }
    (matched + at_end_most).min(1.0)
}

/// English prose, order 0: letters (3 % capitals), spaces, line ends, some punctuation, digits.
fn english() -> [f64; 256] {
    // Per mille of the letters a to z.
    const LETTERS: [f64; 26] = [
        81.7, 14.9, 27.8, 42.5, 127.0, 22.3, 20.2, 60.9, 69.7, 1.5, 7.7, 40.3, 24.1, 67.5, 75.1,
        19.3, 1.0, 59.9, 63.3, 90.6, 27.6, 9.8, 23.6, 1.5, 19.7, 0.7,
    ];
    let mut weights = [0.0; 256];
    let mut set = |byte: u8, weight: f64| {
        if let Some(slot) = weights.get_mut(usize::from(byte)) {
            *slot += weight;
        }
    };
    for (letter, weight) in (b'a'..=b'z').zip(LETTERS) {
        set(letter, weight * 0.76 * 0.97);
        set(letter.to_ascii_uppercase(), weight * 0.76 * 0.03);
    }
    set(b' ', 175.0);
    for (byte, weight) in [
        (b'\n', 14.0),
        (b'\r', 2.0),
        (b',', 11.0),
        (b'.', 11.0),
        (b'"', 4.0),
    ] {
        set(byte, weight);
    }
    for byte in b"'-;:!?()_" {
        set(*byte, 2.0);
    }
    for digit in b'0'..=b'9' {
        set(digit, 1.0);
    }
    let total: f64 = weights.iter().sum();
    weights.map(|weight| weight / total)
}

#[cfg(test)]
mod tests {
    use super::Rating;
    use crate::{Automaton, Limits, own};

    fn rate(expression: &str, anchored: bool) -> Rating {
        let hir = own(expression).unwrap();
        Rating::of(&Automaton::build(&[hir], anchored, &Limits::default()).unwrap())
    }

    /// Two bytes of 255 each, at one place and at 4,095 places.
    #[test]
    fn random_bytes_are_computed_as_on_paper() {
        let one = 1.0 / 255.0 / 255.0;
        let anchored = rate("\\x16\\x03", true).random;
        assert!((anchored / one - 1.0).abs() < 1e-6);
        let anywhere = rate("\\x16\\x03", false).random;
        assert!(
            (anywhere / (1.0 - (1.0f64 - one).powi(4095)) - 1.0).abs() < 1e-3,
            "{anywhere}"
        );
    }

    #[test]
    fn a_word_is_sharp_against_random_bytes_and_dull_in_prose() {
        let rating = rate("the ", false);
        assert!(rating.random < 1e-5 && rating.english > 0.1, "{rating:?}");
        assert!(rate("BitTorrent protocol", false).is_sharp());
    }
}
