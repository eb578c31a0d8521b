//! What a parser says in one call, kept until the call is over.

use crate::Database;
use crate::columns::SHOWN;
use flowpin_record::{FilePart, MessageSchema, Value};
use flowpin_rule::{BufferId, BufferSource, Codes};
use std::ops::Range;
use std::sync::Arc;

/// What a parser says in one call: the values that rules examine.
#[derive(Debug)]
pub struct Tap {
    database: Arc<Database>,
    pub(crate) items: Vec<Item>,
    arena: Vec<u8>,
    /// Of each kind of message, by its name and whether the server sends it: its columns that
    /// rules, or alerts, have.
    columns: Vec<(Box<str>, bool, Columns)>,
    /// Parts of what no record has: what it is called, from where to where.
    said: Vec<(BufferId, &'static str, Range<usize>)>,
    /// What did not fit.
    left_out: u64,
}

/// Columns of a kind of message, and what they are to rules.
type Columns = Arc<[(usize, Which)]>;

/// What a column is to rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Buffer(BufferId),
    /// A buffer that is a number, and whose names it may have.
    Number(BufferId, Codes),
    Text(HttpText),
    /// A column of alerts.
    Shown(u8),
    /// Which transaction of its connection it is, from 1.
    Depth,
}

/// A text of HTTP that buffers are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HttpText {
    Method,
    Uri,
    Host,
    Protocol,
    Status,
    Reason,
}

/// Something that a parser has said.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Value(Which, Range<usize>),
    /// A field of HTTP: whether of the request, its name and value.
    Field(bool, Range<usize>, Range<usize>),
    FileData(u64, Range<usize>),
    /// A value of what the client, or the server, sent.
    Sent(bool, BufferId, Range<usize>),
    /// A file is over that a message carries which may follow later: whether the client sent it,
    /// its number, and that of the message. Its name and length were said before.
    Carried(bool, u64, u32),
    /// Something odd, by our name, and where what shows it was sent.
    Anomaly(&'static str, Option<bool>),
    Message {
        protocol: &'static str,
        from_server: bool,
        depth: u64,
        transaction: u32,
    },
}

impl Tap {
    /// For the rules of a database.
    pub fn new(database: Arc<Database>) -> Self {
        Self {
            said: said(&database),
            database,
            items: Vec::new(),
            arena: Vec::new(),
            columns: Vec::new(),
            left_out: 0,
        }
    }

    /// For the rules of another database from here on.
    pub fn exchange(&mut self, database: Arc<Database>) {
        self.clear();
        self.columns.clear();
        self.said = said(&database);
        self.database = database;
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Forgets what was said.
    pub fn clear(&mut self) {
        self.items.clear();
        self.arena.clear();
    }

    /// Bytes that did not fit.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(crate) fn bytes(&self, range: &Range<usize>) -> &[u8] {
        self.arena.get(range.clone()).unwrap_or_default()
    }

    /// What alerts show of what was said.
    pub(crate) fn shown<'a>(
        &'a self,
        items: &'a [Item],
    ) -> impl Iterator<Item = (u8, Vec<u8>)> + 'a {
        items.iter().filter_map(|item| match item {
            Item::Value(Which::Shown(nth), range) => Some((*nth, self.bytes(range).to_vec())),
            _ => None,
        })
    }

    /// Whether rules read such messages.
    pub fn reads(&self, schema: &MessageSchema) -> bool {
        protocol(&schema.name).is_some() || schema.name == "x509" && self.reads_certificates()
    }

    /// Whether rules read certificates.
    fn reads_certificates(&self) -> bool {
        let mut used = self.database.used.iter();
        used.any(|one| {
            let source = one.info().source;
            source == BufferSource::Certificate
                || matches!(source, BufferSource::Said("tls.cert_chain_len", ..))
        })
    }

    /// A message is complete; `transaction` is its number.
    pub fn message(&mut self, schema: &MessageSchema, values: &[Value<'_>], transaction: u32) {
        let Some(protocol) = protocol(&schema.name) else {
            return;
        };
        let columns = self.columns(schema, protocol);
        let mut depth = 0;
        for &(column, which) in columns.iter() {
            match (values.get(column), which) {
                (Some(&Value::Count(count)), Which::Depth) => depth = count,
                (Some(Value::List(list)), which) => {
                    for value in *list {
                        self.value(which, value);
                    }
                }
                (Some(value), which) => self.value(which, value),
                (None, _) => {}
            }
        }
        self.items.push(Item::Message {
            protocol,
            from_server: schema.is_from_server(values),
            depth,
            transaction,
        });
    }

    /// All fields of a request or response, whose message follows.
    pub fn fields(&mut self, of_request: bool, names: &[Value<'_>], values: &[Value<'_>]) {
        for (name, value) in names.iter().zip(values) {
            let (Value::Bytes(name), Value::Bytes(value)) = (name, value) else {
                continue;
            };
            if let (Some(name), Some(value)) = (self.keep(name.trim_ascii()), self.keep(value)) {
                self.items.push(Item::Field(of_request, name, value));
            }
        }
    }

    /// A certificate of the server, as it was sent.
    pub fn certificate(&mut self, bytes: &[u8]) {
        let mut used = self.database.used.iter();
        let buffer = used
            .find(|one| one.info().source == BufferSource::Certificate)
            .copied();
        if let Some(buffer) = buffer {
            let kept = self.keep(bytes);
            let item = kept.map(|kept| Item::Value(Which::Buffer(buffer), kept));
            self.items.extend(item);
        }
    }

    /// A value that no record has, of what a side has sent in the message that follows.
    pub fn said(&mut self, to_server: bool, name: &str, bytes: &[u8]) {
        if let Some((_, nth)) = SHOWN.iter().zip(0..).find(|(shown, _)| **shown == name) {
            let kept = self.keep(bytes);
            let item = kept.map(|kept| Item::Value(Which::Shown(nth), kept));
            self.items.extend(item);
        }
        let buffers = core::mem::take(&mut self.said);
        for (buffer, known, range) in &buffers {
            let part = bytes.get(range.start..bytes.len().min(range.end));
            if let Some(part) = part.filter(|part| *known == name && !part.is_empty())
                && let Some(kept) = self.keep(part)
            {
                self.items.push(Item::Sent(to_server, *buffer, kept));
            }
        }
        self.said = buffers;
    }

    /// Something is odd about what a side sends: to the server, or to the client.
    pub fn anomaly(&mut self, event: &'static str, to_server: Option<bool>) {
        if self.database.events.knows_message(event) {
            self.items.push(Item::Anomaly(event, to_server));
        }
    }

    /// A part of a body.
    pub fn file(&mut self, part: FilePart<'_>) {
        let FilePart::Data(number, bytes) = part else {
            return;
        };
        let kept = self.keep(bytes);
        self.items
            .extend(kept.map(|kept| Item::FileData(number, kept)));
    }

    /// A file is over, of which the bytes came before: its name and length. Rules about files are
    /// compared at once; `transaction` is the number of the mail that carries it.
    pub fn carried_file(
        &mut self,
        to_server: bool,
        number: u64,
        (name, size): (&Value<'_>, u64),
        transaction: u32,
    ) {
        self.named_file(to_server, name, size);
        self.items
            .push(Item::Carried(to_server, number, transaction));
    }

    /// A file of the message that follows: its name, and its length.
    pub fn named_file(&mut self, to_server: bool, name: &Value<'_>, size: u64) {
        let size = Value::Count(size);
        for (path, value) in [("fileinfo.filename", name), ("fileinfo.size", &size)] {
            let source = BufferSource::OfFile(path);
            let mut used = self.database.used.iter();
            let buffer = used.find(|one| one.info().source == source).copied();
            if let Some(buffer) = buffer
                && let Some(kept) = self.kept(value)
            {
                self.items.push(Item::Sent(to_server, buffer, kept));
            }
        }
    }

    fn value(&mut self, which: Which, value: &Value<'_>) {
        let (which, number) = match which {
            Which::Number(buffer, codes) => (Which::Buffer(buffer), number(value, codes)),
            _ => (which, None),
        };
        let kept = self.kept(number.as_ref().unwrap_or(value));
        self.items.extend(kept.map(|kept| Item::Value(which, kept)));
    }

    fn kept(&mut self, value: &Value<'_>) -> Option<Range<usize>> {
        match value {
            Value::Bytes(bytes) => self.keep(bytes),
            Value::Text(text) => self.keep(text.as_bytes()),
            Value::Count(count) => self.keep(count.to_string().as_bytes()),
            _ => None,
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Option<Range<usize>> {
        let begin = self.arena.len();
        if begin + bytes.len() > ARENA_MAX {
            self.left_out += bytes.len() as u64;
            return None;
        }
        self.arena.extend_from_slice(bytes);
        Some(begin..self.arena.len())
    }

    fn columns(&mut self, schema: &MessageSchema, protocol: &'static str) -> Columns {
        let of_schema = (&*schema.name, schema.from_server);
        let mut known = self.columns.iter();
        if let Some(known) = known.find(|one| (&*one.0, one.1) == of_schema) {
            return Arc::clone(&known.2);
        }
        let mut found = Vec::new();
        for (at, column) in schema.columns.iter().enumerate() {
            // What is behind `=` says how EVE shows it; what events do not have has its own name.
            let path = column.eve.split('=').next().unwrap_or_default();
            let path = if path.is_empty() { &*column.name } else { path };
            let buffers = self.database.used.iter().filter(|buffer| {
                // What only clients send is not what an answer repeats of it.
                let is_repeated = schema.from_server && buffer.info().to_server == Some(true);
                let source = buffer.info().source;
                !is_repeated && source.is_column(&schema.name, schema.from_server, path)
            });
            found.extend(buffers.map(|&buffer| match buffer.info().source {
                BufferSource::Number(_, _, codes) => (at, Which::Number(buffer, codes)),
                _ => (at, Which::Buffer(buffer)),
            }));
            let shown = SHOWN
                .iter()
                .position(|&one| !path.is_empty() && one == path);
            let shown = shown.and_then(|nth| u8::try_from(nth).ok());
            found.extend(shown.map(|nth| (at, Which::Shown(nth))));
            if protocol == "http" {
                let texts = HTTP_TEXTS.iter();
                let mut texts = texts.filter(|(name, eve, _)| {
                    !name.is_empty() && column.name == *name || !eve.is_empty() && path == *eve
                });
                found.extend(texts.next().map(|&(.., text)| (at, Which::Text(text))));
                found.extend((column.name == "trans_depth").then_some((at, Which::Depth)));
            }
        }
        let found: Columns = Arc::from(found);
        let known = (of_schema.0.into(), of_schema.1, Arc::clone(&found));
        self.columns.push(known);
        found
    }
}

/// Parts of what no record has that rules examine.
fn said(database: &Database) -> Vec<(BufferId, &'static str, Range<usize>)> {
    let used = database.used.iter();
    let said = used.filter_map(|&buffer| match buffer.info().source {
        BufferSource::Said(name, from, to) => Some((buffer, name, from..to)),
        _ => None,
    });
    said.collect()
}

/// A value that has the name of a number.
fn number(value: &Value<'_>, codes: Codes) -> Option<Value<'static>> {
    let name = match value {
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        _ => return None,
    };
    let number = codes.number(core::str::from_utf8(name).ok()?)?;
    Some(Value::Count(number))
}

/// The protocol of rules whose messages have this name.
fn protocol(schema: &str) -> Option<&'static str> {
    PROTOCOLS.iter().find(|&&one| one == schema).copied()
}

/// Kinds of messages that have buffers.
pub(crate) const PROTOCOLS: [&str; 10] = [
    "ssh", "http", "dns", "mdns", "tls", "quic", "ftp", "smtp", "sip", "fileinfo",
];

const HTTP_TEXTS: [(&str, &str, HttpText); 6] = [
    ("", "http.http_method", HttpText::Method),
    ("", "http.url", HttpText::Uri),
    ("", "http.hostname", HttpText::Host),
    ("", "http.protocol", HttpText::Protocol),
    ("", "http.status", HttpText::Status),
    ("status_msg", "", HttpText::Reason),
];

/// What one call may say: it has at most 64 KiB of bytes, which may be packed.
const ARENA_MAX: usize = 4 << 20;
