//! Records of application messages: their columns are data, so that a grammar loaded at run time
//! has them like a built-in parser.
//!
//! ```text
//!  parser ──message(schema, time, values)──► MessageSink ──+ connection, key──► RecordSink
//! ```
//!
//! What every such record has (time, connection, addresses, transaction number) is added by the
//! sink; a schema lists what is the protocol's own.

use crate::{DataChannel, Kind, Logs, RecordEndpoint, ToolNames, Uid, Value};
use core::net::IpAddr;
use flowpin_packet::{InterfaceId, Timestamp};
use std::borrow::Cow;

/// Columns that the records of every kind of message have, as CSV and Parquet spell them: no schema
/// has them.
pub const MESSAGE_COLUMNS: [&str; 9] = [
    "ts",
    "uid",
    "id_orig_h",
    "id_orig_p",
    "id_resp_h",
    "id_resp_p",
    "community_id",
    "transaction",
    "packet_number",
];

/// Members that EVE's events of every kind of message have: no schema's paths begin with them.
pub const MESSAGE_MEMBERS: [&str; 16] = [
    "timestamp",
    "flow_id",
    "in_iface",
    "pcap_cnt",
    "event_type",
    "vlan",
    "src_ip",
    "src_port",
    "dest_ip",
    "dest_port",
    "ip_v",
    "proto",
    "tx_id",
    "app_proto",
    "community_id",
    "flowpin",
];

/// What the records of one kind of message have: the parser's own columns.
///
/// # Examples
///
/// ```
/// use flowpin_record::{Kind, MessageColumn, MessageSchema};
///
/// const COLUMNS: &[MessageColumn] = &[
///     MessageColumn::new("method", "http.http_method", Kind::Text, "What is asked for."),
///     MessageColumn::new("status_code", "http.status", Kind::Count, "What was answered."),
/// ];
/// static HTTP: MessageSchema = MessageSchema::new("http", "A request and its answer.", COLUMNS);
/// assert_eq!(HTTP.file_stem, "http");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSchema {
    /// EVE's `event_type`: letters, digits and `_`.
    pub name: Cow<'static, str>,
    /// The stem of its files' names; that of Zeek's log where Zeek has one.
    pub file_stem: Cow<'static, str>,
    /// What a record tells of: a sentence, for the documentation.
    pub doc: Cow<'static, str>,
    /// The columns behind `ts`, `uid` and `id.*`, in order.
    pub columns: Cow<'static, [MessageColumn]>,
    /// Which formats have it.
    pub shown: Shown,
    /// Whether the server sent it: events have the sender as their source.
    pub from_server: bool,
    /// Of records of what either side sends: the column that says whether the client sent it.
    pub client_sent: Option<usize>,
    /// Of records of a part of a transaction (a file), whose own record follows: the column that
    /// has the transaction's number, from 0.
    pub part_of: Option<usize>,
    /// Whether records tell of what many connections show, such as a certificate: they have `ts`
    /// and their own columns alone, and the same one is written once a day. Only with
    /// [`Shown::InZeek`].
    pub stands_alone: bool,
}

/// Which formats have a kind of record: where tools tell of the same thing in different units, as
/// Suricata does of each DNS message and Zeek of each transaction, there is a schema for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shown {
    /// All.
    #[default]
    Everywhere,
    /// Those of events: EVE JSON. Parsers tell of them also where nobody reads them, and only they
    /// count as messages where there are both kinds.
    InEvents,
    /// Those that go by columns: Zeek's, CSV, Parquet.
    InColumns,
    /// Zeek's logs alone, where they divide what is told otherwise than the others do.
    InZeek,
}

impl MessageSchema {
    /// A schema that is known when the program is built; its files are named as it is.
    pub const fn new(
        name: &'static str,
        doc: &'static str,
        columns: &'static [MessageColumn],
    ) -> Self {
        Self::in_file(name, name, doc, columns)
    }

    /// Like [`MessageSchema::new`], where Zeek's log has another name.
    pub const fn in_file(
        name: &'static str,
        file_stem: &'static str,
        doc: &'static str,
        columns: &'static [MessageColumn],
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            file_stem: Cow::Borrowed(file_stem),
            doc: Cow::Borrowed(doc),
            columns: Cow::Borrowed(columns),
            shown: Shown::Everywhere,
            from_server: false,
            client_sent: None,
            part_of: None,
            stands_alone: false,
        }
    }

    /// The same for Zeek's logs only.
    #[must_use]
    pub const fn only_zeek(mut self) -> Self {
        self.shown = Shown::InZeek;
        self
    }

    /// The same of what many connections show; for Zeek's logs only.
    #[must_use]
    pub const fn standing_alone(mut self) -> Self {
        self.stands_alone = true;
        self.only_zeek()
    }

    /// The same for formats of events only.
    #[must_use]
    pub const fn only_events(mut self) -> Self {
        self.shown = Shown::InEvents;
        self
    }

    /// The same of what the server sends; of one name with that of what the client sends.
    #[must_use]
    pub const fn from_server(mut self) -> Self {
        self.from_server = true;
        self
    }

    /// The same of what either side sends: this column, counted from 0, says whether the client
    /// did. Events have the sender as their source.
    #[must_use]
    pub const fn sent_as_says(mut self, column: usize) -> Self {
        self.client_sent = Some(column);
        self
    }

    /// The same of a part of a transaction: this column, counted from 0, has the transaction's
    /// number. Its records take no number of their own.
    #[must_use]
    pub const fn part_of(mut self, column: usize) -> Self {
        self.part_of = Some(column);
        self
    }

    /// Whether a record with these values is of what the server sent.
    pub fn is_from_server(&self, values: &[Value<'_>]) -> bool {
        match self.client_sent {
            Some(column) => values.get(column) == Some(&Value::Bool(false)),
            None => self.from_server,
        }
    }

    /// The same for formats that go by columns only.
    #[must_use]
    pub const fn only_columns(mut self) -> Self {
        self.shown = Shown::InColumns;
        self
    }
}

/// One column of a message's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageColumn {
    /// The name in Zeek's logs, CSV and Parquet (where `.` becomes `_`); empty: it is not there.
    pub name: Cow<'static, str>,
    /// Where EVE has it: names from the event's object down, joined by dots (`http.hostname`);
    /// empty: nowhere. Behind `[]` stands a member of an array's objects: the lists of all columns
    /// of `dns.answers[].rrname`, `dns.answers[].ttl`, … become one array. Behind the last name may
    /// stand `=text`: a number is shown as text; or `=list`: the parts of a text that commas
    /// separate are shown as an array, and Parquet has a list; or `=path`: mailboxes are in angle
    /// brackets; or `=time`: text of the form `YYYY-MM-DDThh:mm:ss`, which Parquet has as a time.
    /// Paths that begin with `flowpin` join the object of that name.
    pub eve: Cow<'static, str>,
    /// What it holds.
    pub kind: Kind,
    /// Which of the formats that go by columns have it.
    pub logs: Logs,
    /// What it means: one sentence, for the documentation.
    pub doc: Cow<'static, str>,
}

impl MessageColumn {
    /// A column that is known when the program is built.
    pub const fn new(name: &'static str, eve: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            eve: Cow::Borrowed(eve),
            kind,
            logs: Logs::All,
            doc: Cow::Borrowed(doc),
        }
    }

    /// The same in these formats only.
    #[must_use]
    pub const fn only_in(mut self, logs: Logs) -> Self {
        self.logs = logs;
        self
    }
}

/// What a parser writes to.
pub trait MessageSink {
    /// A message is complete: a record of it.
    ///
    /// `time` is the capture time that the record is about, of a request for instance. `values`
    /// stand in the order of the schema's columns; missing ones at the end are unset. They are
    /// read before this returns.
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]);

    /// Whether anybody reads the values of such records. Where nobody does, a parser that has read
    /// and checked the message whole need not make texts of it: it tells of it without values.
    fn reads(&self, schema: &MessageSchema) -> bool {
        let _ = schema;
        true
    }

    /// The protocol's rules are broken, or somebody plays with them. `event` is a fixed word:
    /// lower case, joined by `_`. Records of it are rate-limited by the sink.
    fn anomaly(&mut self, event: &'static str);

    /// Whether what a side just said is of the parser's protocol, where that can be told: a
    /// message, or at least its beginning, or nothing that the protocol knows. Identification takes
    /// a verdict back that its own parser refuses.
    fn fits(&mut self, is_mine: bool) {
        let _ = is_mine;
    }

    /// All that a side just said is of the parser's protocol beyond doubt (whole messages with
    /// right checksums, or what else nobody says by chance), but for its end, which the parser
    /// holds itself. Nothing else need be kept for another parser.
    fn proves(&mut self) {}

    /// The connection says which other ones carry its data.
    fn data_channel(&mut self, told: DataChannel<'_>) {
        let _ = told;
    }

    /// All fields of a request, or of a response, whose message follows: names and values. Only
    /// where rules read them.
    fn fields(&mut self, of_request: bool, names: &[Value<'_>], values: &[Value<'_>]) {
        let _ = (of_request, names, values);
    }

    /// A certificate of the server's chain, whose message follows, as it was sent. Only where rules
    /// read it.
    fn certificate(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// A value of the message that follows which no record has: whether the client sent it, what it
    /// is, and its bytes. Only where rules read it.
    fn said(&mut self, to_server: bool, name: &'static str, bytes: &[u8]) {
        let _ = (to_server, name, bytes);
    }

    /// Bytes that stand where a message should begin, as the body with this number is numbered:
    /// some receivers take them for that. Only where rules read bodies.
    fn stray(&mut self, number: u64, bytes: &[u8]) {
        let _ = (number, bytes);
    }

    /// A file of the message that follows: whether the client sent it, its name, and its length in
    /// bytes. Only where rules read it.
    fn named_file(&mut self, to_server: bool, name: &Value<'_>, size: u64) {
        let _ = (to_server, name, size);
    }

    /// A file that is over, whose parts [`file`](Self::file) has had: whether the client sent it,
    /// its number, name and length. The message that carries it may follow much later. Only where
    /// rules read it.
    fn carried_file(&mut self, to_server: bool, number: u64, name: &Value<'_>, size: u64) {
        let _ = (to_server, number, name, size);
    }

    /// A part of a file that the connection carries, where files are to be kept.
    fn file(&mut self, part: FilePart<'_>) {
        let _ = part;
    }
}

/// A part of a file. Its number is the connection's own: no two files of one have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart<'a> {
    /// It begins.
    Begin(u64),
    /// The next bytes.
    Data(u64, &'a [u8]),
    /// So many bytes are missing in the capture, and take that room in the file.
    Missing(u64, u64),
    /// It is over; whether all of it was seen.
    End(u64, bool),
}

/// The number of a file that is a part of another one: which of its parts, from 1.
pub const fn part_number(file: u64, nth: u64) -> u64 {
    file | nth << PART_SHIFT
}

/// The file that one is a part of, and which of its parts it is: 0 if it is no part.
pub const fn file_of_part(number: u64) -> (u64, u64) {
    (number & ((1 << PART_SHIFT) - 1), number >> PART_SHIFT)
}

/// More than the numbers of files that are no parts have.
const PART_SHIFT: u32 = 40;

/// The number of a file of mails: which one of its connection, from 1, and whether the server sent
/// it (1).
pub const fn mail_file(nth: u64, side: u64) -> u64 {
    OF_MAILS | (nth << 1 | side & 1) & (OF_MAILS - 1)
}

/// Of a file of mails: which one of its connection it is, and who sent it; none of any other.
pub const fn as_mail_file(number: u64) -> Option<(u64, u64)> {
    if number & !(OF_MAILS - 1) != OF_MAILS {
        return None;
    }
    let own = number & (OF_MAILS - 1);
    Some((own >> 1, own & 1))
}

/// More than the numbers of other files that are no parts have.
const OF_MAILS: u64 = 1 << 38;

impl FilePart<'_> {
    /// The file's number.
    pub const fn number(&self) -> u64 {
        match *self {
            Self::Begin(number)
            | Self::Data(number, _)
            | Self::Missing(number, _)
            | Self::End(number, _) => number,
        }
    }
}

/// What a sink adds to a message: its connection and place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagePlace {
    /// The capture time that the record is about.
    pub time: Timestamp,
    /// The connection.
    pub uid: Uid,
    /// IP protocol number.
    pub protocol: u8,
    /// Who opened the connection.
    pub client: RecordEndpoint,
    /// The other side.
    pub server: RecordEndpoint,
    /// The VLANs of the connection's first packet, outermost first; 0xffff where there is none.
    pub vlans: [u16; 2],
    /// The interface that the connection's first packet came by; of an alert, its own packet.
    pub interface: InterfaceId,
    /// What the connection speaks, as identified; empty if nothing was.
    pub app: &'static str,
    /// What Suricata calls it.
    pub in_tools: &'static ToolNames,
    /// Which record of this connection's it is, from 0: of the events, or of what goes by columns;
    /// of an alert, which one it is about. [`NO_TRANSACTION`] if it is about none.
    pub transaction: u32,
    /// Number of the packet that completed it; none if the connection's end did.
    pub packet_number: Option<u64>,
    /// The address that is shown in place of the client's.
    pub shown_client: Option<IpAddr>,
}

impl MessagePlace {
    /// The client as it is shown.
    #[inline]
    pub fn client_as_shown(&self) -> RecordEndpoint {
        match self.shown_client {
            Some(address) => RecordEndpoint {
                address,
                ..self.client
            },
            None => self.client,
        }
    }
}

/// The number of a transaction where there is none: an alert about a packet or a stream.
pub const NO_TRANSACTION: u32 = u32::MAX;
