//! Interfaces by which packets came: a small number for each, and its name for records.
//!
//! ```text
//!  "eth0" ─┐                        ┌─► packets carry it ─► connections ─┐
//!          ├─► a number, from 1 ────┤                                    ├─► records say "eth0"
//!  "eth1" ─┘   (in-order step)      └─► InterfaceNames ──────────────────┘
//! ```
//!
//! Numbers are given in the order of the input, so they are the same for every shape. There are few
//! of them, because each connection keeps one.

use core::fmt::{self, Display};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Which interface a packet came by, among those of the run that have names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct InterfaceId(pub u8);

impl InterfaceId {
    /// One without a name, as all of a pcap file are.
    pub const NONE: Self = Self(0);

    /// Whether there is a name.
    #[inline]
    pub const fn is_named(self) -> bool {
        self.0 != Self::NONE.0
    }
}

/// A network interface, or one of its receive queues.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InterfaceName {
    name: Box<str>,
    plain: Box<str>,
    queue: Option<u16>,
}

impl InterfaceName {
    /// The longest name, in bytes: Linux has 15, Windows about 50. Longer ones are cut.
    pub const LEN_MAX: usize = 64;

    /// The interface with this name, or one of its queues. None if the name is empty.
    pub fn new(name: &str, queue: Option<u16>) -> Option<Self> {
        let mut len = name.len().min(Self::LEN_MAX);
        while !name.is_char_boundary(len) {
            len -= 1;
        }
        let name = name.get(..len)?;
        (!name.is_empty()).then(|| Self {
            name: name.into(),
            plain: plain(name),
            queue,
        })
    }

    /// What the system calls it.
    pub const fn name(&self) -> &str {
        &self.name
    }

    /// The same where no format would have to escape a letter of it.
    pub const fn plain(&self) -> &str {
        &self.plain
    }

    /// The receive queue, if packets of one alone were captured.
    pub const fn queue(&self) -> Option<u16> {
        self.queue
    }
}

/// With `_` for what is no ASCII, ends or quotes a value, or makes a formula of it.
fn plain(name: &str) -> Box<str> {
    let letter = |(place, letter): (usize, char)| match letter {
        '"' | ',' => '_',
        '=' | '+' | '-' | '@' if place == 0 => '_',
        ' '..='~' => letter,
        _ => '_',
    };
    name.chars()
        .enumerate()
        .map(letter)
        .collect::<String>()
        .into()
}

/// As `-i` takes it: `eth1`, `eth1@2`.
impl Display for InterfaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.queue {
            None => f.write_str(&self.name),
            Some(queue) => write!(f, "{}@{queue}", self.name),
        }
    }
}

/// The names of a run's interfaces, shared by who finds them and who writes records.
#[derive(Clone, Debug)]
pub struct InterfaceNames(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// By number, from 1. Each is written before a packet has its number.
    names: Vec<OnceLock<Arc<InterfaceName>>>,
    /// Only who reads the input asks.
    known: Mutex<HashMap<InterfaceName, InterfaceId>>,
}

impl Default for InterfaceNames {
    fn default() -> Self {
        let names = (0..Self::COUNT_MAX).map(|_| OnceLock::new());
        Self(Arc::new(Shared {
            names: names.collect(),
            known: Mutex::default(),
        }))
    }
}

impl InterfaceNames {
    /// How many different ones have a number.
    pub const COUNT_MAX: u8 = u8::MAX;

    /// The number of an interface. None if there are too many.
    pub fn number(&self, name: InterfaceName) -> Option<InterfaceId> {
        // Nothing panics while it holds this.
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = known.get(&name) {
            return Some(*id);
        }
        let place = u8::try_from(known.len()).ok()?;
        let id = InterfaceId(place.checked_add(1)?);
        let is_new = self
            .0
            .names
            .get(usize::from(place))?
            .set(Arc::new(name.clone()));
        debug_assert!(is_new.is_ok(), "each place is given once");
        known.insert(name, id);
        Some(id)
    }

    /// The interface with this number; none if it has no name.
    pub fn get(&self, id: InterfaceId) -> Option<&Arc<InterfaceName>> {
        let place = usize::from(id.0.checked_sub(1)?);
        self.0.names.get(place)?.get()
    }
}

#[cfg(test)]
mod tests {
    use super::{InterfaceId, InterfaceName, InterfaceNames};

    /// The same interface has the same number, and another queue of it another one.
    #[test]
    fn names_have_numbers_in_their_order() {
        let names = InterfaceNames::default();
        let named = |name, queue| names.number(InterfaceName::new(name, queue).unwrap());
        assert_eq!(named("eth0", None), Some(InterfaceId(1)));
        assert_eq!(named("eth1", Some(2)), Some(InterfaceId(2)));
        assert_eq!(named("eth1", None), Some(InterfaceId(3)));
        assert_eq!(named("eth0", None), Some(InterfaceId(1)));
        let second = names.get(InterfaceId(2)).unwrap();
        assert_eq!((second.name(), second.queue()), ("eth1", Some(2)));
        assert_eq!(second.to_string(), "eth1@2");
        assert_eq!(names.get(InterfaceId::NONE), None);
        assert_eq!(names.get(InterfaceId(4)), None);
    }

    /// Captures of more interfaces lose names, and nothing else.
    #[test]
    fn beyond_the_limit_there_is_no_number() {
        let names = InterfaceNames::default();
        let named = |number: u16| {
            let name = InterfaceName::new(&number.to_string(), None).unwrap();
            names.number(name)
        };
        let numbers: Vec<_> = (0..300).map(named).collect();
        let count = usize::from(InterfaceNames::COUNT_MAX);
        assert!(numbers.iter().take(count).all(Option::is_some));
        assert!(numbers.iter().skip(count).all(Option::is_none));
        assert_eq!(named(254), Some(InterfaceId(255)));
    }

    /// Whoever makes a capture chooses names.
    #[test]
    fn plain_names_need_no_escape() {
        let plain = |name| InterfaceName::new(name, None).unwrap().plain().to_owned();
        assert_eq!(plain("eth0"), "eth0");
        assert_eq!(plain(r"\Device\NPF_{1-2}"), r"\Device\NPF_{1-2}");
        assert_eq!(plain("=1+1,\"a\"\n\u{fd}"), "_1+1__a___");
    }

    /// A name of any length and form is one, cut between its characters.
    #[test]
    fn names_are_cut_between_characters() {
        let long = format!("x{}", "é".repeat(40));
        let name = InterfaceName::new(&long, None).unwrap();
        assert_eq!(name.name().len(), 63);
        assert_eq!(InterfaceName::new("", Some(1)), None);
    }
}
