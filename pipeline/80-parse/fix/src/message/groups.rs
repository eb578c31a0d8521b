//! Assigns fields to the entries of repeating groups.

use crate::Dictionary;
use crate::message::digits::number;
use crate::message::fields::Field;

/// A repeating group and one of its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupEntry {
    /// The tag of the field that counts the entries.
    pub group: u32,
    /// Index of the entry, from 0.
    pub entry: u32,
}

/// Follows the fields of a message through its repeating groups.
///
/// FIX 4.2, Repeating Groups: each entry begins with the same field as the first; a group ends at a
/// field that is not allowed in its entries.
///
/// ```
/// use flowpin_fix::{Dictionary, Field, GroupEntry, GroupTracker};
///
/// let dictionary = Dictionary::bundled();
/// let message = b"453=2\x01448=a\x01447=D\x01448=b\x0155=IBM\x01";
/// let mut places = GroupTracker::default();
/// let mut place = |tag, start, end| {
///     places.next(&dictionary, message, &Field { tag, start, end }).last().copied()
/// };
/// assert_eq!(place(453, 4, 5), None);
/// assert_eq!(place(448, 10, 11), Some(GroupEntry { group: 453, entry: 0 }));
/// assert_eq!(place(447, 16, 17), Some(GroupEntry { group: 453, entry: 0 }));
/// assert_eq!(place(448, 22, 23), Some(GroupEntry { group: 453, entry: 1 }));
/// assert_eq!(place(55, 27, 30), None);
/// ```
#[derive(Debug, Default)]
pub struct GroupTracker {
    open: [Open; DEPTH_MAX],
    shown: [GroupEntry; DEPTH_MAX],
    depth: usize,
}

impl GroupTracker {
    /// Resets the state before the first field of a message.
    pub fn restart(&mut self) {
        self.depth = 0;
    }

    /// Returns the groups that contain the next field, the outermost first.
    pub fn next(
        &mut self,
        dictionary: &Dictionary,
        message: &[u8],
        field: &Field,
    ) -> &[GroupEntry] {
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
                place: GroupEntry { group, entry: 0 },
                first: 0,
                entries,
            };
            self.depth = self.depth.saturating_add(1);
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    place: GroupEntry,
    /// The tag of the field that begins each entry; 0 before the first entry.
    first: u32,
    entries: u32,
}

impl Open {
    /// Whether a field belongs to this group; if so, moves on to its entry.
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

/// Nesting of groups: deeper groups are shown as part of the enclosing one.
const DEPTH_MAX: usize = 8;
