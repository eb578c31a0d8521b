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
}
