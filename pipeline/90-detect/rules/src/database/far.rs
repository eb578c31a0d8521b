//! Fast patterns that may stand anywhere, by who may have them: only those that can fit are
//! searched for.
//!
//! ```text
//!  long patterns ──────────► always: their rules' ports are asked when they are found
//!  short ones of few ports ► by the sender's port, by the receiver's
//!  other short ones ───────► always
//!
//!  of packets, also:
//!  patterns near the begin ► searched for there alone
//!  rules of small packets ─► in small packets
//!  long ones of few ports ─► by port: most packets are of none
//! ```

use super::fast::{Fast, NEAR};
use super::ports::{ByPort, Sorted, Wanted};
use super::search::{LONG, Literals};
use flowpin_rule::{Condition, Rule};
use std::sync::Arc;

/// Some rules' fast patterns.
#[derive(Debug, Default)]
pub(crate) struct Far {
    long: Option<Literals>,
    short: Option<Literals>,
    /// Within the first so many bytes.
    near: Option<(usize, Literals)>,
    /// For texts of so many bytes at most.
    small: Option<(usize, Literals)>,
    from_ports: ByPort<Literals>,
    to_ports: ByPort<Literals>,
}

/// What a text is a part of, as far as patterns are concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The sender's port, and the receiver's.
    pub(crate) ports: (u16, u16),
}

/// What rules of a group can be told apart by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Means {
    /// All texts come from ports.
    pub(crate) ports: bool,
    /// All texts are whole payloads of packets.
    pub(crate) packets: bool,
}

impl Far {
    /// For rules and their patterns.
    pub(crate) fn new<'a>(
        fast: impl IntoIterator<Item = (u32, Fast)>,
        means: Means,
        rule: impl Fn(u32) -> Option<&'a Rule>,
        wanted: &Arc<Wanted>,
    ) -> Self {
        let (mut long, mut short) = (Vec::new(), Vec::new());
        let (mut small, mut near) = ((0, Vec::new()), (0, Vec::new()));
        let mut by_port = Sorted::new();
        for one in fast {
            let Some(rule) = rule(one.0) else { continue };
            let end = one.1.end().filter(|_| means.packets);
            let most = size_max(rule).filter(|_| means.packets);
            let is_long = one.1.pattern.len() >= LONG;
            let is_by_port = means.ports && (means.packets || !is_long);
            if let Some(end) = end.filter(|&end| end <= NEAR) {
                near.0 = end.max(near.0);
                near.1.push(one);
            } else if let Some(most) = most {
                small.0 = most.max(small.0);
                small.1.push(one);
            } else if is_by_port && by_port.add(one.0, &rule.header, &one.1) {
            } else if is_long {
                long.push(one);
            } else {
                short.push(one);
            }
        }
        let literals = |some: &[(u32, Fast)]| Literals::new(some, wanted, means.ports);
        Self {
            long: literals(&long),
            short: literals(&short),
            near: literals(&near.1).map(|literals| (near.0, literals)),
            small: literals(&small.1).map(|literals| (small.0, literals)),
            from_ports: ByPort::new(by_port.from, |some| literals(&some)),
            to_ports: ByPort::new(by_port.to, |some| literals(&some)),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.long.is_none()
            && self.short.is_none()
            && self.near.is_none()
            && self.small.is_none()
            && self.from_ports.is_empty()
            && self.to_ports.is_empty()
    }

    /// How many bytes of a text of `len` there are searched.
    pub(crate) fn reach(&self, place: Place, len: usize) -> usize {
        match self.all(place, len).into_iter().flatten().next() {
            Some(_) => len,
            None => self.near.as_ref().map_or(0, |near| near.0.min(len)),
        }
    }

    /// Calls `hit` with each rule that may fit there and whose pattern ends behind `from` in the
    /// text, and where the pattern begins. If less than all `len` bytes of the text are searched,
    /// no more need to be there.
    pub(crate) fn search(
        &self,
        (folded, len): (&[u8], usize),
        place: Place,
        from: usize,
        hit: &mut dyn FnMut(u32, usize),
    ) {
        if let Some((most, near)) = &self.near {
            near.search(folded.get(..*most).unwrap_or(folded), place, from, hit);
        }
        for literals in self.all(place, len).into_iter().flatten() {
            literals.search(folded, place, from, hit);
        }
    }

    /// What is searched for in all of a text.
    fn all(&self, place: Place, len: usize) -> [Option<&Literals>; 5] {
        let small = self.small.as_ref().filter(|(most, _)| len <= *most);
        [
            self.long.as_ref(),
            self.short.as_ref(),
            small.map(|(_, literals)| literals),
            self.from_ports.of(place.ports.0),
            self.to_ports.of(place.ports.1),
        ]
    }
}

/// The most bytes of a packet that a rule fits, if they are few.
fn size_max(rule: &Rule) -> Option<usize> {
    let sizes = rule.conditions.iter().filter_map(|one| match one {
        Condition::PayloadSize(size) => usize::try_from(size.most()).ok(),
        _ => None,
    });
    sizes.min().filter(|&most| most <= SMALL)
}

/// A packet with more bytes is not small.
const SMALL: usize = 256;
