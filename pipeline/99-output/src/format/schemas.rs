//! The kinds of messages of a run, made ready to be written: columns and EVE's tree.
//!
//! ```text
//!  MessageSchema ──► fields   ts, uid, id.*, own columns, community_id, …    column formats
//!                └─► tree     http ─┬─ hostname                              EVE
//!                                   └─ request_headers[] ─┬─ name
//!                                                         └─ value
//! ```

use crate::text::Key;
use flowpin_record::{Kind, MessageColumn, MessageSchema};
use std::sync::Arc;

/// All kinds of messages that a run may write; the same for formatters and writers.
///
/// # Examples
///
/// ```
/// use flowpin_output::MessageSchemas;
/// use flowpin_record::MessageSchema;
///
/// static ECHO: MessageSchema = MessageSchema::new("echo", "An echo.", &[]);
/// let schemas = MessageSchemas::new([&ECHO]);
/// assert_eq!(schemas.len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageSchemas {
    all: Arc<[Ready]>,
}

/// One kind of messages.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) schema: MessageSchema,
    /// The columns of Zeek, CSV and Parquet, in order.
    pub(crate) fields: Vec<Field>,
    /// EVE's fields.
    pub(crate) tree: Members,
    /// Those under `flowpin`.
    pub(crate) under_own: Members,
}

impl MessageSchemas {
    /// Of these schemas; of several with the same name the first counts.
    pub fn new<'a>(schemas: impl IntoIterator<Item = &'a MessageSchema>) -> Self {
        let mut all: Vec<Ready> = Vec::new();
        for schema in schemas {
            if all.iter().all(|known| known.schema.name != schema.name) {
                all.push(Ready::of(schema));
            }
        }
        Self { all: all.into() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The schema with a number ([`crate::RecordLine::schema`]).
    pub fn schema(&self, number: usize) -> Option<&MessageSchema> {
        self.all.get(number).map(|ready| &ready.schema)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The schema's number, if it is one of these. `guess` is looked at first.
    #[inline]
    pub(crate) fn number(&self, schema: &MessageSchema, guess: usize) -> Option<usize> {
        // PERF: a built-in schema's name is the same letters at the same place.
        let is_here =
            |known: &Ready| core::ptr::eq(&raw const *known.schema.name, &raw const *schema.name);
        if self.all.get(guess).is_some_and(is_here) {
            return Some(guess);
        }
        let number = self.all.iter().position(is_here);
        number.or_else(|| {
            let is_it = |known: &Ready| known.schema.name == schema.name;
            self.all.iter().position(is_it)
        })
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Ready> {
        self.all.get(number)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Ready> {
        self.all.iter()
    }
}

impl Ready {
    fn of(schema: &MessageSchema) -> Self {
        let (mut tree, mut under_own) = (Members::default(), Members::default());
        for (column, own) in schema.columns.iter().enumerate() {
            match own.eve.strip_prefix("flowpin.") {
                Some(path) => under_own.plant(path, column),
                None if own.eve.is_empty() => {}
                None => tree.plant(&own.eve, column),
            }
        }
        Self {
            fields: fields(&schema.columns),
            tree,
            under_own,
            schema: schema.clone(),
        }
    }
}

/// A column of the formats that go by columns.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether Zeek's logs have it.
    pub(crate) zeek: bool,
    pub(crate) doc: String,
    pub(crate) source: Source,
}

impl Field {
    /// The name where a dot would have to be quoted.
    pub(crate) fn flat_name(&self) -> String {
        self.name.replace('.', "_")
    }
}

/// Where a column's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Time,
    Uid,
    ClientAddress,
    ClientPort,
    ServerAddress,
    ServerPort,
    /// The schema's column with that number.
    Own(usize),
    CommunityId,
    Transaction,
    PacketNumber,
}

fn fields(columns: &[MessageColumn]) -> Vec<Field> {
    let common = |&(name, kind, source, zeek, doc): &Common| Field {
        name: String::from(name),
        kind,
        zeek,
        doc: String::from(doc),
        source,
    };
    let own = columns.iter().enumerate();
    let own = own
        .filter(|(_, column)| !column.name.is_empty())
        .map(|(number, column)| Field {
            name: column.name.clone().into_owned(),
            kind: column.kind,
            zeek: true,
            doc: column.doc.clone().into_owned(),
            source: Source::Own(number),
        });
    let before = BEFORE.iter().map(common);
    before.chain(own).chain(BEHIND.iter().map(common)).collect()
}

type Common = (&'static str, Kind, Source, bool, &'static str);

const BEFORE: &[Common] = &[
    (
        "ts",
        Kind::Time,
        Source::Time,
        true,
        "Capture time of what it tells of.",
    ),
    ("uid", Kind::Text, Source::Uid, true, "The connection."),
    (
        "id.orig_h",
        Kind::Address,
        Source::ClientAddress,
        true,
        "The client.",
    ),
    (
        "id.orig_p",
        Kind::Port,
        Source::ClientPort,
        true,
        "Its port.",
    ),
    (
        "id.resp_h",
        Kind::Address,
        Source::ServerAddress,
        true,
        "The server.",
    ),
    (
        "id.resp_p",
        Kind::Port,
        Source::ServerPort,
        true,
        "Its port.",
    ),
];

const BEHIND: &[Common] = &[
    (
        "community_id",
        Kind::Text,
        Source::CommunityId,
        false,
        "Community ID of the connection.",
    ),
    (
        "transaction",
        Kind::Count,
        Source::Transaction,
        false,
        "Which record of its connection it is, from 0.",
    ),
    (
        "packet_number",
        Kind::Count,
        Source::PacketNumber,
        false,
        "The packet that completed it; unset if the connection's end did.",
    ),
];

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
    fn plant(&mut self, path: &str, column: usize) {
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
                    Shape::AsItIs => Node::Leaf { key, column },
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
}

impl Shape {
    /// A path's last name, and what stands behind it: see [`MessageColumn::eve`].
    pub(crate) fn behind(name: &str) -> (&str, Self) {
        match name.split_once('=') {
            Some((name, "text")) => (name, Self::Text),
            Some((name, "list")) => (name, Self::List),
            Some((name, "path")) => (name, Self::Path),
            _ => (name, Self::AsItIs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fields;
    use flowpin_record::MESSAGE_COLUMNS;

    /// What grammars may not name is what every message's record has.
    #[test]
    fn columns_of_all_messages_are_those_that_no_schema_may_have() {
        let names: Vec<String> = fields(&[]).iter().map(|field| field.flat_name()).collect();
        assert_eq!(names, MESSAGE_COLUMNS);
    }
}
