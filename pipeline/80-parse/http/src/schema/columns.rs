//! Records whose values have names.

/// Defines a record: a struct with a field for each column, and the list of columns in the same
/// order. A value is put into a record by its column's name, and a record that lacks one does not
/// compile.
macro_rules! record {
    ($(#[$about:meta])* $record:ident, $number:ident, $columns:ident:
        $($field:ident: $name:literal, $eve:literal, $kind:ident, $doc:literal;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $record<'v> {
            $(pub(crate) $field: Value<'v>,)*
        }

        /// The columns' numbers, for what a schema says of single ones.
        #[derive(Clone, Copy, Debug)]
        #[expect(non_camel_case_types, reason = "named like the fields of the record")]
        #[allow(dead_code, reason = "few columns are referred to by number")]
        enum $number {
            $($field,)*
        }

        pub(crate) static $columns: [MessageColumn; $record::LEN] = [
            $(MessageColumn::new($name, $eve, Kind::$kind, $doc),)*
        ];

        impl $record<'_> {
            /// How many columns there are.
            const LEN: usize = [$($name),*].len();
        }

        impl<'v> $record<'v> {
            /// A record without values.
            #[allow(dead_code, reason = "not every record is made in parts")]
            pub(crate) const UNSET: Self = Self {
                $($field: Value::Unset,)*
            };

            /// The values in the order of the columns.
            #[inline]
            pub(crate) const fn values(self) -> [Value<'v>; $record::LEN] {
                [$(self.$field,)*]
            }
        }
    };
}
pub(super) use record;
