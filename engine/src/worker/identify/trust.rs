//! The support for a verdict, in one byte.
//!
//! ```text
//!  verdict ──► doubted ──both sides fit──────────────────► settled
//!                 │  ▲  ──so much was looked at in vain──►    │
//!                 │  └─────many datagrams in a row refused────┘
//!                 └─the rules say another: taken back, at most so often─► doubted
//! ```

/// What is known beside a verdict. Bits 0 and 1: the client's and the server's bytes fit it;
/// 2 to 4: how much did not fit since (of streams: bits 2 and 3, whose beginning); 5 to 7: how
/// often a verdict was taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trust(u8);

impl Trust {
    const BOTH: u8 = 3;
    const ROW: u8 = 7 << 2;
    const ROW_ONE: u8 = 1 << 2;
    const TAKEN_BACK: u8 = 7 << 5;
    const TAKEN_BACK_ONE: u8 = 1 << 5;

    /// A new verdict: nothing but its rule speaks for it.
    pub(crate) const fn begin(&mut self) {
        self.0 &= Self::TAKEN_BACK;
    }

    /// Nothing can shake it any more, but what refuses many datagrams.
    pub(crate) const fn settle(&mut self) {
        self.0 = self.0 & Self::TAKEN_BACK | Self::BOTH;
    }

    #[inline]
    pub(crate) const fn is_settled(self) -> bool {
        self.0 & Self::BOTH == Self::BOTH
    }

    /// What one side said fits.
    #[inline]
    pub(crate) const fn fit(&mut self, to_server: bool) {
        self.0 = self.0 & !Self::ROW | side(to_server);
    }

    /// Whether what one side said fits.
    #[inline]
    pub(crate) const fn does_fit(self, to_server: bool) -> bool {
        self.0 & side(to_server) != 0
    }

    /// Whether nothing that anybody said fits.
    pub(crate) const fn fits_nothing(self) -> bool {
        self.0 & Self::BOTH == 0
    }

    /// A datagram did not fit: how many in a row.
    pub(crate) const fn refuse(&mut self) -> u8 {
        if self.0 & Self::ROW != Self::ROW {
            self.0 += Self::ROW_ONE;
        }
        (self.0 & Self::ROW) >> 2
    }

    /// What was sure is doubted again.
    pub(crate) const fn doubt(&mut self) {
        self.0 &= !Self::BOTH;
    }

    /// The beginning of one direction of a stream does not fit.
    pub(crate) const fn refuse_side(&mut self, to_server: bool) {
        self.0 |= side(to_server) << 2;
    }

    /// Whether the beginning of one direction of a stream did not fit.
    pub(crate) const fn is_side_refused(self, to_server: bool) -> bool {
        self.0 & side(to_server) << 2 != 0
    }

    /// The verdict is taken back: false if that happened too often.
    pub(crate) const fn take_back(&mut self) -> bool {
        if self.0 & Self::TAKEN_BACK >= TAKEN_BACK_MAX << 5 {
            return false;
        }
        self.0 = (self.0 & Self::TAKEN_BACK) + Self::TAKEN_BACK_ONE;
        true
    }
}

const fn side(to_server: bool) -> u8 {
    if to_server { 1 } else { 2 }
}

/// So often a verdict of one connection is taken back: what speaks three protocols in turns on
/// purpose may have the last one.
const TAKEN_BACK_MAX: u8 = 4;

#[cfg(test)]
mod tests {
    use super::{TAKEN_BACK_MAX, Trust};

    #[test]
    fn both_sides_settle_and_a_row_is_of_what_follows_each_other() {
        let mut trust = Trust::default();
        trust.fit(true);
        assert!(trust.does_fit(true) && !trust.is_settled() && !trust.fits_nothing());
        assert_eq!([trust.refuse(), trust.refuse()], [1, 2]);
        trust.fit(true);
        assert_eq!(trust.refuse(), 1);
        for _ in 0..20 {
            trust.refuse();
        }
        assert_eq!(trust.refuse(), 7);
        trust.fit(false);
        assert!(trust.is_settled());
    }

    /// Nobody makes a connection change without end.
    #[test]
    fn verdicts_are_taken_back_so_often_and_no_more() {
        let mut trust = Trust::default();
        for _ in 0..TAKEN_BACK_MAX {
            trust.settle();
            assert!(trust.take_back());
            assert!(!trust.is_settled());
        }
        trust.settle();
        assert!(!trust.take_back());
        assert!(trust.is_settled());
    }
}
