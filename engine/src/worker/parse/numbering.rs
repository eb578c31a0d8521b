//! The numbers of a connection's records.

use flowpin_record::Shown;

/// The number of records of a connection so far.
///
/// Events and columns may divide the same messages differently. Each kind has its own count, so
/// that the number of a record is the same whatever formats are chosen: parsers report every event,
/// even if no format has it, but columns only if they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbering {
    events: u32,
    columns: u32,
}

impl Numbering {
    /// Returns the number of the next record of a kind, and counts it.
    pub(super) const fn next(&mut self, shown: Shown) -> u32 {
        let number = self.of(shown);
        let next = number.wrapping_add(1);
        match shown {
            Shown::InEvents => self.events = next,
            Shown::InColumns => self.columns = next,
            // Zeek's logs do not show the number.
            Shown::InZeek => {}
            // There are no more transactions than messages: a record of both kinds follows both.
            Shown::Everywhere => (self.events, self.columns) = (next, next),
        }
        number
    }

    pub(super) const fn of(self, shown: Shown) -> u32 {
        match shown {
            Shown::InColumns | Shown::InZeek => self.columns,
            Shown::InEvents | Shown::Everywhere => self.events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbering, Shown};

    /// A record of both kinds follows both, with a number that does not depend on columns, which
    /// are not reported if no format has them.
    #[test]
    fn what_all_formats_have_is_numbered_by_events() {
        for columns in 0..3 {
            let mut numbering = Numbering::default();
            for number in 0..3 {
                assert_eq!(numbering.next(Shown::InEvents), number);
            }
            for number in 0..columns {
                assert_eq!(numbering.next(Shown::InColumns), number);
            }
            assert_eq!(numbering.next(Shown::Everywhere), 3);
            assert_eq!(numbering.next(Shown::InColumns), 4);
            assert_eq!(numbering.next(Shown::InEvents), 4);
        }
    }
}
