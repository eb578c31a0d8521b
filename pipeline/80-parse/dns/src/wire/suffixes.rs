//! What a pointer of a name leads to: names that were read before.

use super::cursor::Cursor;
use super::name::Name;

/// Names that were read, from each of their labels on: what a pointer leads to.
///
/// ```text
///  labels  │ at 12: name 0 │ at 16: name 0, 4 behind │ …   by their place in the message
///  names   │ 0: www.example.org │ …
/// ```
// PERF: a label takes one store when it is read; what a name is from there on is worked out where
// a pointer leads there.
#[derive(Debug)]
pub(crate) struct Suffixes {
    /// Which of the labels' places are in use: a bit for each.
    used: u64,
    labels: [Label; LABELS_KNOWN],
    names: [Option<Name>; NAMES_KNOWN],
    count: u8,
}

impl Default for Suffixes {
    fn default() -> Self {
        Self {
            used: 0,
            labels: [Label(0); LABELS_KNOWN],
            names: [None; NAMES_KNOWN],
            count: 0,
        }
    }
}

/// Where a label begins in the message, how far behind the first one of its name, and whose it is.
#[derive(Clone, Copy, Debug)]
struct Label(u32);

impl Suffixes {
    pub(crate) fn clear(&mut self) {
        (self.used, self.count) = (0, 0);
    }

    /// A name is about to be read, which nothing leads to before that is done.
    #[inline]
    pub(super) fn begin(&mut self) -> u8 {
        let nth = self.count;
        if let Some(place) = self.names.get_mut(usize::from(nth)) {
            *place = None;
            self.count = nth.saturating_add(1);
        }
        nth
    }

    /// Its label.
    #[inline]
    pub(super) fn label(&mut self, nth: u8, at: usize, before: usize) {
        let slot = at % LABELS_KNOWN;
        let (Ok(at), Ok(before)) = (u16::try_from(at), u8::try_from(before)) else {
            return;
        };
        if let Some(place) = self.labels.get_mut(slot) {
            let [low, high] = at.to_le_bytes();
            *place = Label(u32::from_le_bytes([low, high, before, nth]));
            self.used |= 1 << slot;
        }
    }

    /// It was read.
    #[inline]
    pub(super) fn done(&mut self, nth: u8, name: Name) {
        if let Some(place) = self.names.get_mut(usize::from(nth)) {
            *place = Some(name);
        }
    }

    /// The name that begins there, if one is known.
    #[inline]
    pub(super) fn at(&self, at: usize) -> Option<Name> {
        let slot = at % LABELS_KNOWN;
        let Label(label) = *self.labels.get(slot)?;
        let [low, high, before, nth] = label.to_le_bytes();
        let is_it = usize::from(u16::from_le_bytes([low, high])) == at;
        if self.used >> slot & 1 == 0 || !is_it {
            return None;
        }
        self.names
            .get(usize::from(nth))?
            .as_ref()?
            .behind_label(at, before)
    }

    /// A name that is only a pointer to one that is known.
    #[inline]
    pub(crate) fn pointed_at(&self, cursor: &mut Cursor<'_>) -> Option<Name> {
        let behind = cursor.at.checked_add(2).filter(|&to| to <= cursor.end)?;
        let &[high, low] = cursor.message.get(cursor.at..behind)?.first_chunk()?;
        if high < 0xc0 {
            return None;
        }
        let known = self.at(usize::from(u16::from_be_bytes([high & 0x3f, low])))?;
        let name = known.pointed_at_from(u16::try_from(cursor.at).ok()?)?;
        cursor.at = behind;
        Some(name)
    }
}

/// Labels that pointers find, of so many names: with one place in the message or another later
/// ones take the place of earlier ones.
const LABELS_KNOWN: usize = 64;
const NAMES_KNOWN: usize = 32;
