//! Seeded numbers: SplitMix64, which passes for random and costs a nanosecond.

/// A sequence that its seed determines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The upper half, as good as any.
    pub(crate) const fn next_u32(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// The lowest 16 of them.
    pub(crate) const fn next_u16(&mut self) -> u16 {
        (self.next() >> 48) as u16
    }

    /// From 0 to `count - 1`; 0 for a count of 0.
    pub(crate) const fn below(&mut self, count: u32) -> u32 {
        ((self.next_u32() as u64 * count as u64) >> 32) as u32
    }

    /// From 0 up to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) const fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True as often as `share` says.
    pub(crate) const fn chance(&mut self, share: Share) -> bool {
        share.0 != 0 && (self.next_u32() as u64) < share.0
    }
}

/// A share of 1 in 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share(u64);

impl Share {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 0 to 1"
    )]
    pub(crate) fn new(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * (1u64 << 32) as f64) as u64)
    }
}
