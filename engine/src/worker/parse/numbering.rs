//! The numbers that records of a connection have.

use flowpin_record::Shown;

/// How many records a connection had so far.
///
/// Events and columns may show the same in different units; each kind counts its own, so that the
/// number of a record is the same whatever formats are chosen. Parsers report every event, also
/// where no format has it; columns only where they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbering {
    events: u32,
    columns: u32,
}

impl Numbering {
    /// The number of a record, and one more of its kind.
    pub(super) const fn next(&mut self, shown: Shown) -> u32 {
        let number = self.of(shown);
        let next = number.wrapping_add(1);
        match shown {
            Shown::InEvents => self.events = next,
            Shown::InColumns => self.columns = next,
            // There are no more transactions than messages: what both have follows on both.
            Shown::Everywhere => (self.events, self.columns) = (next, next),
        }
        number
    }

    pub(super) const fn of(self, shown: Shown) -> u32 {
        match shown {
            Shown::InColumns => self.columns,
            Shown::InEvents | Shown::Everywhere => self.events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbering, Shown};

    /// What both formats have follows on both, by a number that does not depend on columns: they
    /// are not reported where no format has them.
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
