//! One place for an option: its section's table.
//!
//! ```text
//!                           ┌─► settings: every key optional ─► overlay of flags over file
//!  options! { one line } ───┼─► plan with defaults, conversions both ways, the check for 0
//!                           └─► Described: --print-config, command line, docs/user/options.md
//! ```
//!
//! The comment of an option appears in the file and documents the field of the plan.

use crate::ConfigError;
use crate::units::{SIZE_UNITS_TEXT, SPAN_UNITS_TEXT};

mod flag;
mod page;
mod stored;

pub(crate) use flag::Word;
pub use flag::{Flag, Hint};
pub use page::options_page;
pub(crate) use stored::{IsZero, Stored};

/// The description of an option.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its section in the file.
    pub section: &'static str,
    /// Its key there.
    pub key: &'static str,
    /// Its meaning, by lines.
    pub(crate) lines: &'static [&'static str],
    /// A value, as it is written in the file, where there is no default.
    pub(crate) example: Option<&'static str>,
    /// Its default, as words on the command line.
    pub default: Option<String>,
    /// The option of the command line that sets it.
    pub flag: Option<Flag>,
}

impl Described {
    /// Its meaning.
    pub fn comment(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.trim()).collect();
        lines.join(" ")
    }

    /// The help text of its flag, with its default.
    pub fn help(&self, flag: &Flag) -> String {
        let units = match flag.value {
            Some("SIZE") => format!(" (units: {SIZE_UNITS_TEXT})"),
            Some("SPAN") => format!(" (units: {SPAN_UNITS_TEXT})"),
            Some("WHEN") => format!(" (units: {SPAN_UNITS_TEXT}; {SIZE_UNITS_TEXT})"),
            _ => String::new(),
        };
        match &self.default {
            Some(default) if flag.is_plain && !flag.help.contains("[default:") => {
                format!("{}{units} [default: {default}]", flag.help)
            }
            _ => format!("{}{units}", flag.help),
        }
    }
}

/// A section of the file, and the part of the plan that it sets.
pub(crate) trait Section {
    /// That part.
    type Plan;

    /// Its options, in the order to show.
    fn options() -> Vec<Described>;

    /// Puts the settings into the plan.
    fn put(self, plan: &mut Self::Plan);

    /// The settings that give a plan.
    fn of(plan: &Self::Plan) -> Self;

    /// An option that is 0 in the plan and must not be.
    fn zero(plan: &Self::Plan) -> Option<ConfigError>;
}

/// Declares a part of the plan, with the sections of the file that set it.
///
/// ```text
/// [section] ItsSettings: "its subject" {
///     /// The meaning of the option.
///     key: TypeInTheFile => field: TypeInThePlan = its default
///         , example "shown if it has no value", not_zero "its name in errors", flag Flag::…;
/// }
/// ```
macro_rules! options {
    (
        $(#[$plan_meta:meta])*
        plan $plan:ident {
            $([$section:ident] $settings:ident: $about:literal {
                $(
                    $(#[doc = $doc:literal])+
                    $key:ident: $file:ty => $field:ident: $ty:ty = $default:expr
                    $(, example $example:literal)?
                    $(, not_zero $zero:literal)?
                    $(, flag $flag:expr)?;
                )*
            })+
            $(others {
                $($(#[$other_meta:meta])* $other:ident: $other_ty:ty = $other_default:expr;)*
            })?
        }
    ) => {
        $(#[$plan_meta])*
        pub struct $plan {
            $($($(#[doc = $doc])+ pub $field: $ty,)*)+
            $($($(#[$other_meta])* pub $other: $other_ty,)*)?
        }

        impl Default for $plan {
            fn default() -> Self {
                Self {
                    $($($field: $default,)*)+
                    $($($other: $other_default,)*)?
                }
            }
        }

        $(
            #[doc = $about]
            #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
            #[serde(deny_unknown_fields, default)]
            pub struct $settings {
                $($(#[doc = $doc])+ pub $key: Option<$file>,)*
            }

            impl $settings {
                /// These settings, and `below` where they say nothing.
                #[must_use]
                pub fn over(self, below: Self) -> Self {
                    Self { $($key: self.$key.or(below.$key),)* }
                }
            }

            impl $crate::options::Section for $settings {
                type Plan = $plan;

                fn options() -> Vec<$crate::options::Described> {
                    use $crate::options::{Described, Stored, Word};
                    let plan = $plan::default();
                    vec![$({
                        let default = <$ty as Stored<$file>>::to_file(&plan.$field);
                        Described {
                            section: stringify!($section),
                            key: stringify!($key),
                            lines: &[$($doc),+],
                            example: None$(.or(Some($example)))?,
                            default: default.and_then(|value| value.shown()),
                            flag: None$(.or(Some($flag.of::<$file>(|settings, text| {
                                Word::put(&mut settings.$section.$key, text)
                            }))))?,
                        }
                    },)*]
                }

                fn put(self, plan: &mut $plan) {
                    $(if let Some(value) = self.$key {
                        plan.$field = $crate::options::Stored::<$file>::from_file(value);
                    })*
                }

                fn of(plan: &$plan) -> Self {
                    Self { $($key: $crate::options::Stored::<$file>::to_file(&plan.$field),)* }
                }

                fn zero(plan: &$plan) -> Option<$crate::ConfigError> {
                    let _ = plan;
                    $($(if $crate::options::IsZero::is_zero(&plan.$field) {
                        return Some($crate::ConfigError::Zero {
                            key: [stringify!($section), stringify!($key)],
                            what: $zero,
                        });
                    })?)*
                    None
                }
            }
        )+
    };
}
pub(crate) use options;
