//! How a global is used.

use super::{FunctionId, GlobalId, Site};
use serde::Serialize;

/// One use of a global.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Which.
    pub global: GlobalId,
    /// In which function; none in an initialiser at file scope.
    pub inside: Option<FunctionId>,
    /// In which global's initialiser.
    pub initialises: Option<GlobalId>,
    /// How.
    pub access: Access,
    /// Whether something is added to it, or taken from it, and the result is not used.
    pub is_counted: bool,
    /// Whether all of it is replaced.
    pub is_whole: bool,
    /// Of a pointer: what is done with what it points to.
    pub through: Option<Through>,
    /// Where its address goes, if it is taken.
    pub sink: Option<Sink>,
    /// Where.
    pub site: Site,
    /// The unit.
    pub unit: usize,
}

/// What is done with the object that a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Through {
    /// Which part of it: `.count.all`; `*` for all of it.
    pub path: String,
    /// How.
    pub access: Access,
    /// Whether something is added to it, or taken from it, and the result is not used.
    pub is_counted: bool,
    /// Whether that part is a pointer.
    pub is_pointer: bool,
}

/// What is done with a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Its value is read; what it points to may be written.
    Read,
    /// Its value is replaced, wholly or in part.
    Write,
    /// Its value is read and replaced (`++`, `+=`).
    Update,
    /// Its address is taken, or an array becomes a pointer.
    Address,
    /// It is named where nothing is evaluated (`sizeof`).
    Unevaluated,
}

impl Access {
    /// Whether the value may differ afterwards.
    #[must_use]
    pub const fn may_write(self) -> bool {
        matches!(self, Self::Write | Self::Update | Self::Address)
    }
}

/// Where an address goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Sink {
    /// To a function, as the argument with this number, counted from 1.
    Argument {
        /// Its name; empty through a pointer.
        function: String,
        /// Which argument.
        number: usize,
        /// Whether the program has no body of it.
        is_library: bool,
    },
    /// Into a variable or a field.
    Stored,
    /// Into an initialiser.
    Initialiser,
    /// To the caller.
    Returned,
    /// It is compared, dereferenced, or part of a larger expression.
    Used,
}
