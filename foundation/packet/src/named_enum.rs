//! Enums whose variants have names in counters and records.

macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// All of them, in counter order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in counters and records: lower case, words joined by `_`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}
