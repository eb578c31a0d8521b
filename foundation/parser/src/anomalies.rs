//! The table of what a parser finds odd.

/// Makes the type of what a parser may find odd, and of a set of it, from a table: each with its
/// word in records and its meaning in a sentence, which is also its documentation.
///
/// ```
/// flowpin_parser::anomalies! {
///     TooLong = "tea_too_long", "A cup that is deeper than the limit.";
///     NoHandle = "tea_no_handle", "A cup without a handle.";
/// }
/// let mut found = Anomalies::default();
/// assert!(found.add(Anomaly::NoHandle));
/// assert!(!found.add(Anomaly::NoHandle));
/// assert_eq!(found.iter().map(Anomaly::name).collect::<Vec<_>>(), ["tea_no_handle"]);
/// ```
#[macro_export]
macro_rules! anomalies {
    ($($variant:ident = $name:literal, $text:literal;)*) => {
        /// A deviation from the rules, or what receivers may read differently.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Anomaly { $(#[doc = $text] $variant,)* }

        impl Anomaly {
            /// All, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word in records.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Its meaning, in a sentence.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        /// A set of anomalies, such as those already reported of a message.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Anomalies(u64);

        const _: () = assert!(Anomaly::ALL.len() <= u64::BITS as usize);

        impl Anomalies {
            /// Adds one; whether it is new.
            #[inline]
            pub(crate) const fn add(&mut self, anomaly: Anomaly) -> bool {
                let bit = 1u64.wrapping_shl(anomaly as u32);
                let is_new = self.0 & bit == 0;
                self.0 |= bit;
                is_new
            }

            /// In table order.
            pub(crate) fn iter(self) -> impl Iterator<Item = Anomaly> {
                let has = move |one: &Anomaly| self.0 & 1u64.wrapping_shl(*one as u32) != 0;
                Anomaly::ALL.iter().copied().filter(has)
            }
        }
    };
}
