//! The names read so far, by suffix: the targets of pointers.

use super::cursor::Cursor;
use super::name::Name;

/// The names read so far, found by the position of any of their labels: the target of a pointer.
///
/// ```text
///  labels  │ at 12: name 0 │ at 16: name 0 + 4 │ …   by position in the message
///  names   │ 0: www.example.org │ …
/// ```
// PERF: reading a label costs one store; the suffix is computed only when a pointer leads to it.
#[derive(Debug)]
pub(crate) struct Suffixes {
    /// The label slots in use: one bit each.
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

/// Position of a label in the message, its distance from the first label of its name, and the index
/// of that name.
#[derive(Clone, Copy, Debug)]
struct Label(u32);

impl Suffixes {
    pub(crate) fn clear(&mut self) {
        (self.used, self.count) = (0, 0);
    }

    /// Begins a name; pointers do not find it until it is complete.
    #[inline]
    pub(super) fn begin(&mut self) -> u8 {
        let nth = self.count;
        if let Some(place) = self.names.get_mut(usize::from(nth)) {
            *place = None;
            self.count = nth.saturating_add(1);
        }
        nth
    }

    /// Records a label of the name.
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

    /// Completes the name.
    #[inline]
    pub(super) fn done(&mut self, nth: u8, name: Name) {
        if let Some(place) = self.names.get_mut(usize::from(nth)) {
            *place = Some(name);
        }
    }

    /// Returns the name that begins at a position, if it is known.
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
            .suffix_at(at, before)
    }

    /// Reads a name that consists only of a pointer to a known name.
    #[inline]
    pub(crate) fn pointed_at(&self, cursor: &mut Cursor<'_>) -> Option<Name> {
        let end = cursor.at.checked_add(2).filter(|&to| to <= cursor.end)?;
        let &[high, low] = cursor.message.get(cursor.at..end)?.first_chunk()?;
        if high < 0xc0 {
            return None;
        }
        let known = self.at(usize::from(u16::from_be_bytes([high & 0x3f, low])))?;
        let name = known.pointed_at_from(u16::try_from(cursor.at).ok()?)?;
        cursor.at = end;
        Some(name)
    }
}

/// Number of labels that pointers can find: a later label replaces an earlier one in the same slot.
const LABELS_KNOWN: usize = 64;
const NAMES_KNOWN: usize = 32;
