//! Which bytes count where fragments overlap.

/// The part of a datagram that one fragment brought: units of 8 bytes, `end` exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u16,
    pub(crate) end: u16,
}

/// What is done where fragments overlap.
///
/// A receiving system has a policy of its own, and an analyser that has another one can be shown
/// a different datagram. A policy here answers one question: for a unit of 8 bytes that both an
/// earlier and a later fragment hold, does the later one win, given where both start and end?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlapPolicy {
    /// What came first stays (RFC 791 leaves it open).
    First,
    /// The datagram is given up, unless the later fragment repeats an earlier one exactly (RFC
    /// 5722, RFC 8200 §4.5).
    Refuse,
}

impl OverlapPolicy {
    /// Whether any overlap that is no repetition ends the datagram.
    pub(crate) const fn refuses(self) -> bool {
        matches!(self, Self::Refuse)
    }

    /// Whether a unit of `old` is overwritten by `new`, which came later.
    #[inline]
    pub(crate) const fn new_wins(self, _old: Range, _new: Range) -> bool {
        match self {
            Self::First | Self::Refuse => false,
        }
    }
}
