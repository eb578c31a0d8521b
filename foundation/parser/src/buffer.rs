//! Buffers that parsers publish: named values of messages that rules may look at.

/// A value of a message, by the name that rules know it by.
///
/// The value is the one that a column of the parser's records has, so that what a rule sees and
/// what a record shows cannot differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Protocol and part, joined by a dot: `http.uri`.
    pub name: &'static str,
    /// One sentence, for the documentation.
    pub doc: &'static str,
    /// Who sends it.
    pub sender: Sender,
    /// The `name` of the schema that has it.
    pub schema: &'static str,
    /// The column: its path in EVE, or its name in the formats that go by columns.
    pub column: &'static str,
}

impl Buffer {
    /// A buffer that the client sends.
    pub const fn client(
        name: &'static str,
        (schema, column): (&'static str, &'static str),
        doc: &'static str,
    ) -> Self {
        Self::of(name, (schema, column), Sender::Client, doc)
    }

    /// A buffer that the server sends.
    pub const fn server(
        name: &'static str,
        (schema, column): (&'static str, &'static str),
        doc: &'static str,
    ) -> Self {
        Self::of(name, (schema, column), Sender::Server, doc)
    }

    /// A buffer that either side sends.
    pub const fn either(
        name: &'static str,
        (schema, column): (&'static str, &'static str),
        doc: &'static str,
    ) -> Self {
        Self::of(name, (schema, column), Sender::Either, doc)
    }

    const fn of(
        name: &'static str,
        (schema, column): (&'static str, &'static str),
        sender: Sender,
        doc: &'static str,
    ) -> Self {
        Self {
            name,
            doc,
            sender,
            schema,
            column,
        }
    }
}

/// Who sends what a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
    /// The one or the other: the message says which.
    Either,
}
