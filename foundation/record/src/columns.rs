//! Records whose values have names.

/// Defines a record: a struct with a field for each column, and the list of columns in the same
/// order. A value is put into a record by its column's name, and a record that lacks one does not
/// compile.
#[macro_export]
macro_rules! record {
    ($(#[$about:meta])* $shown:vis $record:ident, $number:ident, $columns:ident:
        $($field:ident: $name:literal, $eve:literal, $kind:ident, $doc:literal;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        $shown struct $record<'v> {
            $(#[doc = $doc] $shown $field: $crate::Value<'v>,)*
        }

        /// The columns' numbers, for what a schema says of single ones.
        #[derive(Clone, Copy, Debug)]
        #[expect(non_camel_case_types, reason = "named like the fields of the record")]
        #[allow(dead_code, reason = "few columns are referred to by number")]
        enum $number {
            $($field,)*
        }

        static $columns: [$crate::MessageColumn; $record::LEN] = [
            $($crate::MessageColumn::new($name, $eve, $crate::Kind::$kind, $doc),)*
        ];

        impl $record<'_> {
            /// How many columns there are.
            const LEN: usize = [$($name),*].len();
        }

        impl<'v> $record<'v> {
            /// A record without values.
            #[allow(dead_code, reason = "not every record is made in parts")]
            $shown const UNSET: Self = Self {
                $($field: $crate::Value::Unset,)*
            };

            /// The values in the order of the columns.
            #[inline]
            $shown const fn values(self) -> [$crate::Value<'v>; $record::LEN] {
                [$(self.$field,)*]
            }
        }
    };
}
