//! A few of many, in a record of fixed size.

/// Up to `N` values, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy, const N: usize> Samples<T, N> {
    /// No values; `filler` stands where none is.
    pub const fn none(filler: T) -> Self {
        const { assert!(N <= u8::MAX as usize) };
        let items = [filler; N];
        Self { items, len: 0 }
    }

    /// The first `N` of `values`; `filler` stands where there are fewer.
    ///
    /// ```
    /// use flowpin_record::Samples;
    /// let few: Samples<u16, 2> = Samples::first(0, [80, 443, 8080]);
    /// assert_eq!(few.as_slice(), [80, 443]);
    /// ```
    pub fn first(filler: T, values: impl IntoIterator<Item = T>) -> Self {
        let mut samples = Self::none(filler);
        for (place, value) in samples.items.iter_mut().zip(values) {
            *place = value;
            samples.len += 1;
        }
        samples
    }

    /// The values.
    pub fn as_slice(&self) -> &[T] {
        self.items
            .get(..usize::from(self.len))
            .unwrap_or(&self.items)
    }
}
