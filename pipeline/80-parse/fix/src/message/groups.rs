//! Which field belongs to which entry of which repeating group.

use crate::Dictionary;
use crate::message::fields::{Field, number};

/// A repeating group, and which of its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The tag that counts the entries.
    pub group: u32,
    /// Which entry, from 0.
    pub entry: u32,
}

/// Follows a message's fields through its repeating groups.
///
/// FIX 4.2, Repeating Groups: an entry begins with the same field as the first one; a group ends
/// at a field that its entries do not have.
///
/// ```
/// use flowpin_fix::{Dictionary, Field, Place, Places};
///
/// let dictionary = Dictionary::bundled();
/// let message = b"453=2\x01448=a\x01447=D\x01448=b\x0155=IBM\x01";
/// let mut places = Places::default();
/// let mut place = |tag, start, end| {
///     places.next(&dictionary, message, &Field { tag, start, end }).last().copied()
/// };
/// assert_eq!(place(453, 4, 5), None);
/// assert_eq!(place(448, 10, 11), Some(Place { group: 453, entry: 0 }));
/// assert_eq!(place(447, 16, 17), Some(Place { group: 453, entry: 0 }));
/// assert_eq!(place(448, 22, 23), Some(Place { group: 453, entry: 1 }));
/// assert_eq!(place(55, 27, 30), None);
/// ```
#[derive(Debug, Default)]
pub struct Places {
    open: [Open; DEPTH_MAX],
    shown: [Place; DEPTH_MAX],
    depth: usize,
}

impl Places {
    /// Before the first field of a message.
    pub fn restart(&mut self) {
        self.depth = 0;
    }

    /// The groups that the next field stands in, the outermost first.
    pub fn next(&mut self, dictionary: &Dictionary, message: &[u8], field: &Field) -> &[Place] {
        while let Some(top) = self.depth.checked_sub(1)
            && let Some(open) = self.open.get_mut(top)
        {
            if open.take(dictionary, field.tag) {
                break;
            }
            self.depth = top;
        }
        let depth = self.depth;
        for (shown, open) in self.shown.iter_mut().zip(&self.open) {
            *shown = open.place;
        }
        let entries = number(field.value(message)).unwrap_or(0);
        if entries > 0 && dictionary.members(field.tag).is_some() {
            self.open(field.tag, u32::try_from(entries).unwrap_or(u32::MAX));
        }
        self.shown.get(..depth).unwrap_or_default()
    }

    fn open(&mut self, group: u32, entries: u32) {
        if let Some(open) = self.open.get_mut(self.depth) {
            *open = Open {
                place: Place { group, entry: 0 },
                first: 0,
                entries,
            };
            self.depth = self.depth.saturating_add(1);
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    place: Place,
    /// The tag that begins each entry; 0 before the first.
    first: u32,
    entries: u32,
}

impl Open {
    /// Whether a field belongs to this group.
    fn take(&mut self, dictionary: &Dictionary, tag: u32) -> bool {
        let members = dictionary.members(self.place.group).unwrap_or_default();
        if members.binary_search(&tag).is_err() {
            return false;
        }
        if self.first == 0 {
            self.first = tag;
        } else if self.first == tag {
            self.place.entry = self.place.entry.saturating_add(1);
        }
        self.place.entry < self.entries
    }
}

/// Groups in groups: deeper ones are shown as part of the one that they are in.
const DEPTH_MAX: usize = 8;
