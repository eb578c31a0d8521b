//! Fast patterns that may stand anywhere, by who may have them: only those that can fit are
//! searched for.
//!
//! ```text
//!  rules of small packets ─► searched for in small packets
//!  rules of few ports ─────► by the sender's port, by the receiver's
//!  others ─────────────────► always
//! ```

use super::fast::Fast;
use super::ports::{ByPort, Sorted};
use super::search::Literals;
use flowpin_rule::{Condition, Rule};

/// Some rules' fast patterns.
#[derive(Debug, Default)]
pub(crate) struct Far {
    always: Option<Literals>,
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
    pub(crate) sizes: bool,
}

impl Far {
    /// For rules and their patterns.
    pub(crate) fn new<'a>(
        fast: impl IntoIterator<Item = (u32, Fast)>,
        means: Means,
        rule: impl Fn(u32) -> Option<&'a Rule>,
    ) -> Self {
        let mut always = Vec::new();
        let mut small = (0, Vec::new());
        let mut by_port = Sorted::new();
        for one in fast {
            let Some(rule) = rule(one.0) else { continue };
            let most = size_max(rule).filter(|_| means.sizes);
            if let Some(most) = most {
                small.0 = most.max(small.0);
                small.1.push(one);
            } else if !(means.ports && by_port.add(one.0, &rule.header, &one.1)) {
                always.push(one);
            }
        }
        Self {
            always: Literals::new(&always),
            small: Literals::new(&small.1).map(|literals| (small.0, literals)),
            from_ports: ByPort::new(by_port.from, |some| Literals::new(&some)),
            to_ports: ByPort::new(by_port.to, |some| Literals::new(&some)),
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.always.is_none()
            && self.small.is_none()
            && self.from_ports.is_empty()
            && self.to_ports.is_empty()
    }

    /// Calls `hit` with each rule that may fit there and whose pattern ends behind `from` in the
    /// text, and where the pattern begins.
    pub(crate) fn search(
        &self,
        folded: &[u8],
        place: Place,
        from: usize,
        hit: &mut dyn FnMut(u32, usize),
    ) {
        let small = self.small.as_ref();
        let small = small.filter(|(most, _)| folded.len() <= *most);
        let all = [
            self.always.as_ref(),
            small.map(|(_, literals)| literals),
            self.from_ports.of(place.ports.0),
            self.to_ports.of(place.ports.1),
        ];
        for literals in all.into_iter().flatten() {
            literals.search(folded, from, hit);
        }
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
