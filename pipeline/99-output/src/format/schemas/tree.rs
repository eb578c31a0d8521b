//! The tree of a kind of messages in EVE: objects, arrays, and at its leaves the columns.

use crate::text::Key;

/// Some columns: a bit for each of the first 63, the last one for all others.
// PERF: which members a message has is told by one word, so that those which it has not, most of
// them, are passed over without a look at their keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns(u64);

impl Columns {
    /// Those for which `is_set` says so.
    #[inline]
    pub(crate) fn of(is_set: impl Iterator<Item = bool>) -> Self {
        let mut columns = Self::default();
        for (column, is_set) in is_set.enumerate() {
            columns.0 |= u64::from(is_set) << column.min(63);
        }
        columns
    }

    /// Adds one.
    pub(crate) fn add(&mut self, column: usize) {
        self.0 |= 1 << column.min(63);
    }

    /// Whether any is in both.
    #[inline]
    pub(crate) const fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The members of an object in EVE, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Members {
    /// Of each the columns that it is made of.
    of: Vec<Columns>,
    nodes: Vec<Node>,
}

impl Members {
    /// Those of which there may be something in a message with such columns.
    #[inline]
    pub(crate) fn in_message(&self, set: Columns) -> impl Iterator<Item = &Node> {
        let all = self.of.iter().zip(&self.nodes);
        all.filter(move |(of, _)| of.meet(set))
            .map(|(_, node)| node)
    }

    fn push(&mut self, node: Node) {
        self.of.push(Columns::default());
        self.nodes.push(node);
    }

    /// Adds the leaf of a column at its path.
    pub(super) fn plant(&mut self, path: &str, column: usize) {
        let (name, shape, rest) = match path.split_once('.') {
            None => {
                let (name, shape) = Shape::behind(path);
                (name, shape, None)
            }
            Some((name, rest)) => (name, Shape::AsItIs, Some(rest)),
        };
        let stem = name.strip_suffix("[]");
        let key = Key::new(stem.unwrap_or(name));
        let known = self.nodes.iter().position(|node| *node.key() == key);
        let place = match (rest, known) {
            (Some(_), Some(place)) => place,
            (None, _) => {
                self.push(match shape {
                    Shape::AsItIs | Shape::Time => Node::Leaf { key, column },
                    shape => Node::Shaped { key, column, shape },
                });
                self.nodes.len() - 1
            }
            (Some(_), None) => {
                let (members, columns) = (Self::default(), Vec::new());
                self.push(if stem.is_some() {
                    Node::Array {
                        key,
                        members,
                        columns,
                    }
                } else {
                    Node::Object {
                        key,
                        members,
                        columns,
                    }
                });
                self.nodes.len() - 1
            }
        };
        if let Some(of) = self.of.get_mut(place) {
            of.add(column);
        }
        if let Some(rest) = rest
            && let Some(
                Node::Object {
                    members, columns, ..
                }
                | Node::Array {
                    members, columns, ..
                },
            ) = self.nodes.get_mut(place)
        {
            columns.push(column);
            members.plant(rest, column);
        }
    }
}

/// A member of an object in EVE.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Leaf {
        key: Key,
        column: usize,
    },
    /// A value that is shown in another shape than it has.
    Shaped {
        key: Key,
        column: usize,
        shape: Shape,
    },
    Object {
        key: Key,
        members: Members,
        columns: Vec<usize>,
    },
    /// The members of each of its objects.
    Array {
        key: Key,
        members: Members,
        columns: Vec<usize>,
    },
}

impl Node {
    fn key(&self) -> &Key {
        match self {
            Self::Leaf { key, .. }
            | Self::Shaped { key, .. }
            | Self::Object { key, .. }
            | Self::Array { key, .. } => key,
        }
    }
}

/// How EVE shows a value where Suricata's type of the field is another than the column's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    AsItIs,
    /// A number, as text.
    Text,
    /// A text of parts that commas separate, as an array of them.
    List,
    /// A mailbox, or each of a list, in angle brackets: as SMTP has it on the wire.
    Path,
    /// A time that is text, as it is; in Parquet it is a time.
    Time,
    /// Texts of a name and a number, as an object of them.
    Numbers,
}

impl Shape {
    /// A path's last name, and what stands behind it: see [`flowpin_record::MessageColumn::eve`].
    pub(crate) fn behind(name: &str) -> (&str, Self) {
        match name.split_once('=') {
            Some((name, "text")) => (name, Self::Text),
            Some((name, "list")) => (name, Self::List),
            Some((name, "path")) => (name, Self::Path),
            Some((name, "time")) => (name, Self::Time),
            Some((name, "numbers")) => (name, Self::Numbers),
            _ => (name, Self::AsItIs),
        }
    }
}
