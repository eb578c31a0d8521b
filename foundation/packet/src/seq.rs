//! TCP sequence numbers, compared modulo 2³² (RFC 9293 §3.4).

/// A TCP sequence number. Deliberately not `Ord`: order is only defined within half the space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Seq(pub u32);

impl Seq {
    /// `len_bytes` further on, wrapping.
    #[inline]
    #[must_use]
    pub const fn plus(self, len_bytes: u32) -> Self {
        Self(self.0.wrapping_add(len_bytes))
    }

    /// Signed distance from `other` to `self`: positive if `self` is later.
    #[inline]
    pub const fn distance_from(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0).cast_signed()
    }

    /// Whether `self` comes after `other`.
    #[inline]
    pub const fn is_after(self, other: Self) -> bool {
        self.distance_from(other) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::Seq;

    /// The order must hold across the wrap from 2³²−1 to 0.
    #[test]
    fn a_number_past_the_wrap_is_after_one_before_it() {
        assert!(Seq(3).is_after(Seq(u32::MAX - 3)));
        assert_eq!(Seq(u32::MAX).plus(2), Seq(1));
        assert_eq!(Seq(1).distance_from(Seq(u32::MAX)), 2);
    }
}
