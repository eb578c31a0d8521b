//! The kinds of messages of a run, made ready to be written: columns and EVE's tree.
//!
//! ```text
//!  MessageSchema ──► fields   ts, uid, id.*, own columns, community_id, …    column formats
//!                └─► tree     http ─┬─ hostname                              EVE
//!                                   └─ request_headers[] ─┬─ name
//!                                                         └─ value
//! ```

mod fields;
mod tree;

pub(crate) use fields::{Field, Source};
pub(crate) use tree::{Columns, Members, Node, Shape};

use fields::fields;
use flowpin_record::{Kind, MessageSchema};
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
    /// It may have lists of files.
    pub(crate) lists_files: bool,
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
            fields: fields(schema),
            tree,
            under_own,
            lists_files: schema.columns.iter().any(|one| one.kind == Kind::FileIds),
            schema: schema.clone(),
        }
    }
}
