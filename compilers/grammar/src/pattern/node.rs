//! What a pattern says.

use super::set::Set;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// Nothing.
    Empty,
    /// One byte of a set.
    Class(Set),
    /// One after the other.
    Concat(Vec<Self>),
    /// One of them.
    Either(Vec<Self>),
    /// At least `min` times, at most `max`.
    Repeat(Box<Self>, u32, Option<u32>),
}

/// A rule's pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// It matches at the beginning of a line only.
    pub(crate) at_line_start: bool,
    /// What it consumes.
    pub(crate) head: Node,
    /// What must follow.
    pub(crate) tail: Option<Node>,
}

impl Node {
    /// How many bytes it matches, if that is always the same.
    pub(crate) fn fixed_len(&self) -> Option<u32> {
        match self {
            Self::Empty => Some(0),
            Self::Class(_) => Some(1),
            Self::Concat(parts) => parts
                .iter()
                .try_fold(0u32, |sum, part| sum.checked_add(part.fixed_len()?)),
            Self::Either(parts) => {
                let mut lens = parts.iter().map(Self::fixed_len);
                let first = lens.next().flatten()?;
                lens.all(|len| len == Some(first)).then_some(first)
            }
            Self::Repeat(part, min, max) => match (part.fixed_len()?, max) {
                (0, _) => Some(0),
                (len, Some(max)) if max == min => len.checked_mul(*min),
                _ => None,
            },
        }
    }

    /// Whether it can match nothing.
    pub(crate) fn matches_nothing(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Class(_) => false,
            Self::Concat(parts) => parts.iter().all(Self::matches_nothing),
            Self::Either(parts) => parts.iter().any(Self::matches_nothing),
            Self::Repeat(part, min, _) => *min == 0 || part.matches_nothing(),
        }
    }
}
