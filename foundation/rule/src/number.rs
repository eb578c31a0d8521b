//! Conditions on numbers: `5`, `<5`, `>=5`, `5<>9`, `!5`.

/// A condition on a number.
///
/// ```
/// use flowpin_rule::NumberCheck;
///
/// assert!(NumberCheck::between(5, 9).holds(8));
/// assert!(!NumberCheck::between(5, 9).holds(9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberCheck {
    /// The least and the greatest number that it holds for.
    range: (u64, u64),
    is_negated: bool,
}

impl NumberCheck {
    /// It is this number.
    pub const fn equal(value: u64) -> Self {
        Self::within(value, value)
    }

    /// It lies between both, and is neither.
    pub const fn between(low: u64, high: u64) -> Self {
        Self::within(low.saturating_add(1), high.saturating_sub(1))
    }

    /// It is one of these: from `low` up to and including `high`.
    pub const fn within(low: u64, high: u64) -> Self {
        Self {
            range: (low, high),
            is_negated: false,
        }
    }

    /// The opposite.
    #[must_use]
    pub const fn negated(mut self) -> Self {
        self.is_negated = !self.is_negated;
        self
    }

    /// Whether a number is as it should be.
    #[inline]
    pub const fn holds(self, value: u64) -> bool {
        (self.range.0 <= value && value <= self.range.1) != self.is_negated
    }

    /// Whether this number and all greater ones are as they should be.
    ///
    /// ```
    /// use flowpin_rule::NumberCheck;
    ///
    /// assert!(NumberCheck::within(5, u64::MAX).holds_from(5));
    /// assert!(!NumberCheck::within(5, u64::MAX).holds_from(4));
    /// assert!(!NumberCheck::between(5, 9).holds_from(6));
    /// assert!(NumberCheck::equal(5).negated().holds_from(6));
    /// ```
    pub const fn holds_from(self, value: u64) -> bool {
        match self.is_negated {
            true => value > self.range.1 || self.range.0 > self.range.1,
            false => self.range.0 <= value && self.range.1 == u64::MAX,
        }
    }

    /// The only number that it holds for, if there is one.
    pub fn only(self) -> Option<u64> {
        (!self.is_negated && self.range.0 == self.range.1).then_some(self.range.0)
    }

    /// The greatest number that it holds for.
    pub const fn most(self) -> u64 {
        if self.is_negated {
            u64::MAX
        } else {
            self.range.1
        }
    }
}
