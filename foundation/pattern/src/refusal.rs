//! Why an expression is not compiled.

/// Why an expression was refused; where a limit was broken, which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// More states than allowed.
    #[error("needs more than {0} states")]
    States(usize),
    /// Too much memory while expanding repetitions.
    #[error("needs more than {0} bytes once its repetitions are written out")]
    Expanded(usize),
    /// Too much memory while determinising.
    #[error("needs more than {0} bytes to compile")]
    Working(usize),
    /// Too long.
    #[error("is longer than {0} bytes")]
    TooLong(usize),
    /// A count in `x{m,n}` that is too large.
    #[error("repeats something more than {0} times")]
    Repeats(u32),
    /// Groups nested too deep.
    #[error("nests groups deeper than {0}")]
    Depth(usize),
    /// Not an expression.
    #[error("{what} at byte {at}")]
    Syntax {
        /// What is wrong.
        what: &'static str,
        /// Where in the expression.
        at: usize,
    },
    /// Something that these automata cannot do.
    #[error("uses {0}, which is not supported")]
    Unsupported(&'static str),
    /// No room for another automaton.
    #[error("would need more than {0} automata beside the others")]
    Groups(usize),
    /// It matches without any byte.
    #[error("matches nothing at all, and so everything")]
    Empty,
    /// A name that records could not hold.
    #[error("has a name that is not 1 to {0} printable ASCII letters without `\"`, `\\` and `,`")]
    Name(usize),
}

impl Refusal {
    /// What its author can do.
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::States(_) | Self::Working(_) => {
                "anchor it with `^`, or take out `.*` and counted repetitions: each of them keeps \
                 all that follows alive beside the rest"
            }
            Self::Expanded(_) => "use smaller counts: `x{m,n}` is written out n times",
            Self::TooLong(_) => "make it shorter, or two patterns of it",
            Self::Repeats(_) => "use `*` or `+`, or a smaller count",
            Self::Depth(_) => "take out groups that hold one thing only",
            Self::Syntax { .. } => "put a backslash before it if the letter itself is meant",
            Self::Unsupported(_) => "write it without",
            Self::Groups(_) => "load fewer patterns, or anchor some with `^`",
            Self::Empty => "use `+` instead of `*`, or put a letter before it",
            Self::Name(_) => "give it another name, best that of its file",
        }
    }
}
