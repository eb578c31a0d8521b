//! The schema: for each record type one table of columns, read by every column writer.
//!
//! ```text
//!  Column { name, kind, zeek, doc, value } ──► Zeek TSV and JSON: Zeek's names
//!                                             (but for `Logs::NotZeek`)
//!                                          ──► CSV, Parquet: `.` becomes `_`
//!                                             (but for `Logs::OnlyZeek`)
//!                                          ──► docs/user/records.md
//! ```
//!
//! EVE JSON nests its fields, so its layout is written out in `flowpin-output`; the same values
//! go in.

use crate::{CommunityId, FileId, Uid};
use core::net::IpAddr;
use flowpin_packet::Timestamp;

/// A type of record. Each has its own file, but for EVE JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RecordType {
    /// A connection that ended.
    Conn,
    /// An interim record of a connection that goes on.
    ConnLong,
    /// Something odd.
    Anomaly,
    /// What a tunnel carried.
    Tunnel,
    /// Somebody asks many hosts or ports.
    Scan,
    /// Somebody is sent more than anybody asks for.
    Flood,
    /// What all connections of two hosts come to.
    HostPair,
    /// A message of an application protocol: one type for the counts, a file for each schema.
    Message,
}

impl RecordType {
    /// How many types there are.
    pub const COUNT: usize = 8;

    /// All that have one table of columns: all but [`RecordType::Message`], in table order.
    pub const TABLES: [Self; Self::COUNT - 1] = [
        Self::Conn,
        Self::ConnLong,
        Self::Anomaly,
        Self::Tunnel,
        Self::Scan,
        Self::Flood,
        Self::HostPair,
    ];

    /// The stem of its files' names, as Zeek's users know them.
    pub const fn file_stem(self) -> &'static str {
        match self {
            Self::Conn => "conn",
            Self::ConnLong => "conn_long",
            Self::Anomaly => "weird",
            Self::Tunnel => "tunnel",
            Self::Scan => "scan",
            Self::Flood => "flood",
            Self::HostPair => "host_pairs",
            Self::Message => "message",
        }
    }

    /// What it is, in a sentence.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Conn => "A connection that has ended, one record each.",
            Self::ConnLong => {
                "A connection that goes on (`--interim`): its sums so far. \
                 A record in `conn` follows when it ends."
            }
            Self::Anomaly => {
                "A packet that was refused or is odd, rate-limited by reason; those that a \
                 connection's end makes, by connection."
            }
            Self::Tunnel => "What one tunnel carried.",
            Self::Scan => {
                "A scan: a record when it is recognised, one for each window that it lasts, one \
                 when it is over. Each has the figures since its beginning."
            }
            Self::HostPair => {
                "What all connections that one host has opened to another come to \
                 (`--host-pairs`): a record for each pair, at the end of the run. Beyond 32,768 \
                 pairs (with 1 GiB of `--memory`) all sums so far are written and start \
                 again at 0: add up the records of a pair."
            }
            Self::Message => "A message of an application protocol.",
            Self::Flood => {
                "A flood against one host: a record when it is recognised, one for each window \
                 that it lasts, one when it is over. Each has the figures since its beginning."
            }
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A point in time.
    Time,
    /// A length of time.
    Interval,
    /// Text of the input's making.
    Text,
    /// One of a few words.
    Enum,
    /// An address.
    Address,
    /// A port.
    Port,
    /// A number.
    Count,
    /// Yes or no.
    Bool,
    /// Identifiers of other records.
    UidSet,
    /// Addresses, each once.
    AddressSet,
    /// Ports, each once.
    PortSet,
    /// A number that may be negative; only in messages, like those below.
    Int,
    /// Texts, in order.
    TextList,
    /// Texts, each once.
    TextSet,
    /// Numbers, in order.
    CountList,
    /// Lengths of time, in order.
    IntervalList,
    /// Addresses, in order.
    AddressList,
    /// A target of HTTP: as it was sent; Zeek's logs have it with its `%XX` decoded.
    Uri,
    /// A host's name: as it was sent; Zeek's logs have it in lower case.
    HostName,
    /// The identifier of a file: its number in its connection ([`Value::Count`]).
    FileId,
    /// Likewise, where Zeek has a list.
    FileIds,
}

impl Kind {
    /// The name in Zeek's `#types` line.
    pub const fn zeek_name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Interval => "interval",
            Self::Text => "string",
            Self::Enum => "enum",
            Self::Address => "addr",
            Self::Port => "port",
            Self::Count => "count",
            Self::Bool => "bool",
            Self::UidSet => "set[string]",
            Self::AddressSet => "set[addr]",
            Self::PortSet => "set[port]",
            Self::Int => "int",
            Self::TextList => "vector[string]",
            Self::TextSet => "set[string]",
            Self::CountList => "vector[count]",
            Self::IntervalList => "vector[interval]",
            Self::AddressList => "vector[addr]",
            Self::Uri | Self::HostName | Self::FileId => "string",
            Self::FileIds => "vector[string]",
        }
    }

    /// The type in Parquet.
    pub const fn parquet_name(self) -> &'static str {
        match self {
            Self::Time => "timestamp (µs, UTC)",
            Self::Interval => "double (seconds)",
            Self::Text | Self::Enum | Self::Address | Self::Uri | Self::HostName | Self::FileId => {
                "string"
            }
            Self::Port => "uint16",
            Self::Count => "uint64",
            Self::Bool => "boolean",
            Self::Int => "int64",
            Self::TextList
            | Self::TextSet
            | Self::AddressList
            | Self::UidSet
            | Self::FileIds
            | Self::AddressSet => "list of string",
            Self::PortSet => "list of uint16",
            Self::CountList => "list of uint64",
            Self::IntervalList => "list of double (seconds)",
        }
    }
}

/// A column's value in one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// There is none.
    Unset,
    /// [`Kind::Time`].
    Time(Timestamp),
    /// [`Kind::Interval`], in nanoseconds.
    Interval(u64),
    /// [`Kind::Text`] or [`Kind::Enum`]: printable ASCII without quotes, backslashes, commas.
    Text(&'a str),
    /// [`Kind::Text`] or [`Kind::UidSet`]: one identifier.
    Uid(Uid),
    /// [`Kind::FileId`] or [`Kind::FileIds`]: one file. Made of a number by the writer, which
    /// knows the connection.
    File(FileId),
    /// [`Kind::Text`]: one Community ID.
    CommunityId(CommunityId),
    /// [`Kind::Address`].
    Address(IpAddr),
    /// [`Kind::Port`].
    Port(u16),
    /// [`Kind::Count`].
    Count(u64),
    /// [`Kind::Bool`].
    Bool(bool),
    /// [`Kind::AddressSet`]; not empty.
    Addresses(&'a [IpAddr]),
    /// [`Kind::PortSet`]; not empty.
    Ports(&'a [u16]),
    /// [`Kind::Text`]: two words, joined by a comma as Zeek joins several. Not in messages.
    Words(&'a [&'static str; 2]),
    /// [`Kind::TextSet`] of words of ours; not empty. Not in messages.
    Names(&'a [&'static str]),
    /// [`Kind::Text`] or [`Kind::Enum`] off the wire, any bytes; each format escapes them as its
    /// users expect. Only in messages, like those below.
    Bytes(&'a [u8]),
    /// [`Kind::Int`].
    Int(i64),
    /// A list of any kind: its members, of which some may be unset; may be empty.
    List(&'a [Value<'a>]),
}

impl<'a> Value<'a> {
    /// The count, none if there is no number.
    pub fn count(number: Option<u64>) -> Self {
        number.map_or(Self::Unset, Self::Count)
    }

    /// The addresses, none if there are none.
    pub const fn addresses(addresses: &'a [IpAddr]) -> Self {
        if addresses.is_empty() {
            Self::Unset
        } else {
            Self::Addresses(addresses)
        }
    }

    /// The ports, none if there are none.
    pub const fn ports(ports: &'a [u16]) -> Self {
        if ports.is_empty() {
            Self::Unset
        } else {
            Self::Ports(ports)
        }
    }

    /// The names, none if there are none.
    pub const fn names(names: &'a [&'static str]) -> Self {
        if names.is_empty() {
            Self::Unset
        } else {
            Self::Names(names)
        }
    }

    /// The text, none if it is empty.
    pub const fn text(text: &'a str) -> Self {
        if text.is_empty() {
            Self::Unset
        } else {
            Self::Text(text)
        }
    }

    /// The bytes, none if there are none.
    pub const fn bytes(bytes: &'a [u8]) -> Self {
        if bytes.is_empty() {
            Self::Unset
        } else {
            Self::Bytes(bytes)
        }
    }
}

/// Which of the formats that go by columns have a column: where what Zeek's users expect of a name
/// says less than ours, or something else, there is a column for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Logs {
    /// All of them.
    #[default]
    All,
    /// Zeek's, as TSV and JSON.
    OnlyZeek,
    /// CSV and Parquet.
    NotZeek,
}

impl Logs {
    /// Whether Zeek's logs have it.
    #[inline]
    pub const fn in_zeek(self) -> bool {
        !matches!(self, Self::NotZeek)
    }

    /// Whether CSV and Parquet have it.
    #[inline]
    pub const fn in_tables(self) -> bool {
        !matches!(self, Self::OnlyZeek)
    }
}

/// One column of a record type.
#[derive(Debug)]
pub struct Column<R: 'static> {
    /// The name, as in Zeek's logs where Zeek has such a column.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Which formats have it.
    pub logs: Logs,
    /// What it means: one sentence, for the documentation.
    pub doc: &'static str,
    /// Its value in a record.
    pub value: for<'a> fn(&'a R) -> Value<'a>,
}

// By hand, as what `derive` makes wants a record that is copied, too.
impl<R> Clone for Column<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Column<R> {}

/// A record as rows of columns.
pub trait Row: Sized + 'static {
    /// Its columns, in order.
    const COLUMNS: &'static [Column<Self>];
}
