//! What is known about the bodies of functions: their statements, what repeats, and their own
//! variables.

use super::{Access, FunctionId, GlobalId, Place, Sink, Through};

/// A statement in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// In which function.
    pub function: FunctionId,
    /// Its first byte.
    pub start: Place,
    /// The byte after its last; of an expression, the `;` is not among it.
    pub end: usize,
    /// What it is.
    pub kind: StatementKind,
    /// Whether it stands in the outermost braces of the body, so that whoever comes there runs it.
    pub is_outermost: bool,
    /// Whether a macro writes its beginning or its end.
    pub is_in_macro: bool,
}

/// What a statement is, as far as its order among others matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// An expression.
    Expression,
    /// A declaration.
    Declaration,
    /// `if`.
    Choice,
    /// `for`, `while`, `do`.
    Loop,
    /// Anything else: a label, a jump, a block.
    Other,
}

/// Text of a body that may run again, from a loop's first byte to after its last, or from a label
/// to a jump that goes back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// In which function.
    pub function: FunctionId,
    /// Its first byte.
    pub start: Place,
    /// The byte after its last.
    pub end: usize,
}

/// A statement that leaves the text around it: `return`, `goto`, `break`, `continue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// In which function.
    pub function: FunctionId,
    /// Where.
    pub place: Place,
}

/// A use of a variable that a call of a function has, or of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalUse {
    /// In which function.
    pub function: FunctionId,
    /// Where it takes effect.
    pub place: Place,
    /// How.
    pub access: Access,
    /// Of a pointer: what is done with what it points to.
    pub through: Option<Through>,
    /// Of an address, or a pointer that is used as a whole: where it goes.
    pub sink: Option<Sink>,
    /// Where the variable is declared.
    pub declared: Option<Place>,
    /// Whether its value is made of constants and arguments of the program alone, so that all
    /// cores have the same.
    pub is_steady: bool,
}

/// A use of a field of an object that a pointer leads to, or that a function's own variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberUse {
    /// In which function.
    pub function: FunctionId,
    /// Where it takes effect.
    pub place: Place,
    /// Which field, of all records of its type.
    pub field: String,
    /// How.
    pub access: Access,
    /// What leads to the object.
    pub base: MemberBase,
}

/// What leads to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberBase {
    /// A variable of the function, or a parameter: where it is declared.
    Local(Place),
    /// A pointer with static storage.
    Global(GlobalId),
    /// Anything else.
    Other,
}
