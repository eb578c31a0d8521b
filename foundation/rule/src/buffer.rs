//! The buffers that rules may examine, and where the engine has them from.

use crate::buffers::{BUFFERS, PAYLOAD};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The number of a buffer: its place in [`BUFFERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u8);

impl BufferId {
    /// A packet's payload, or a stream's bytes: what rules without a buffer examine.
    pub const PAYLOAD: Self = Self(0);

    /// What the table says of it.
    pub fn info(self) -> &'static Buffer {
        BUFFERS.get(usize::from(self.0)).unwrap_or(&PAYLOAD)
    }
}

/// A buffer: a value of a message, or a part of a packet or stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// What rules call it.
    pub name: &'static str,
    /// Other names of it.
    pub aliases: &'static [&'static str],
    /// What rules call it behind a content (`content:"x"; http_uri;`).
    pub modifiers: &'static [&'static str],
    /// What its messages are of; empty: of anything.
    pub protocol: &'static str,
    /// Whether the client sends it; none: either side does.
    pub to_server: Option<bool>,
    /// Where it is from.
    pub source: BufferSource,
    /// What it holds: one sentence, for the documentation.
    pub doc: &'static str,
}

impl Buffer {
    /// Whether a message may have several of it: a rule that names it again asks for one more.
    pub fn is_many(&self) -> bool {
        match self.source {
            BufferSource::Column(_, path) => path.contains("[]") || MANY.contains(&self.name),
            BufferSource::Columns(..) => true,
            BufferSource::Http(part) => part == HttpPart::EachField,
            BufferSource::File | BufferSource::OfFile(_) | BufferSource::Certificate => true,
            _ => false,
        }
    }
}

/// Buffers of columns that are lists, though their path does not say so.
const MANY: [&str; 6] = [
    "tls.subjectaltname",
    "tls.alpn",
    "email.received",
    "sip.via",
    "ftp.reply",
    "smtp.rcpt_to",
];

/// Where the engine has a buffer from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSource {
    /// Payloads of packets, and streams.
    Payload,
    /// A header of the packet.
    Header(PacketHeader),
    /// The address of who sends, or of who receives, in binary: 4 or 16 bytes.
    Address {
        /// Of who sends.
        of_sender: bool,
    },
    /// A column of a parser's records: the schema, and the column's path in events. A list has as
    /// many buffers as values.
    Column(&'static str, &'static str),
    /// Several columns of a parser's records, likewise.
    Columns(&'static str, &'static [&'static str]),
    /// A column that rules compare as a number, of the client's records and of the server's: its
    /// values are in digits, or have names.
    Number(&'static str, [&'static str; 2], Codes),
    /// A column of which rules name a value: how they spell each, and what the column has.
    Word(
        &'static str,
        &'static str,
        &'static [(&'static str, &'static str)],
    ),
    /// A column that is a time, which rules compare.
    Time(&'static str, &'static str),
    /// Made of what HTTP's records have.
    Http(HttpPart),
    /// Bodies and other files, decoded.
    File,
    /// What is known of them beside their bytes: its path in records of files.
    OfFile(&'static str),
    /// Certificates of the server, each with a buffer of its own.
    Certificate,
    /// A part of a protocol's stream as it is sent, by its name behind `frame`.
    Frame(&'static str),
    /// What a parser says by this name and no record has: from here on, up to there.
    Said(&'static str, usize, usize),
}

impl BufferSource {
    /// Whether it is this column of these records, by its path in events; `from_server`: whether
    /// the server sends what they tell of.
    pub fn is_column(self, schema: &str, from_server: bool, path: &str) -> bool {
        match self {
            Self::Column(of, column) | Self::Word(of, column, _) | Self::Time(of, column) => {
                (of, column) == (schema, path)
            }
            Self::Number(of, [client, server], _) => {
                of == schema && path == if from_server { server } else { client }
            }
            Self::Columns(of, columns) => of == schema && columns.contains(&path),
            _ => false,
        }
    }
}

/// Names of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codes {
    /// They have none.
    None,
    /// Types of DNS records.
    DnsTypes,
    /// Response codes of DNS.
    DnsRcodes,
}

impl Codes {
    /// The number of a name, or of digits.
    ///
    /// ```
    /// use flowpin_rule::Codes;
    ///
    /// assert_eq!(Codes::DnsTypes.number("MX"), Some(15));
    /// assert_eq!(Codes::None.number("15"), Some(15));
    /// ```
    pub fn number(self, text: &str) -> Option<u64> {
        let named = match self {
            Self::None => None,
            Self::DnsTypes => flowpin_record::dns_type(text),
            Self::DnsRcodes => flowpin_record::dns_rcode(text),
        };
        named.map(u64::from).or_else(|| text.parse().ok())
    }
}

/// A header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketHeader {
    /// IPv4's.
    Ipv4,
    /// IPv6's.
    Ipv6,
    /// TCP's, with its options.
    Tcp,
    /// UDP's.
    Udp,
    /// That of ICMP.
    Icmpv4,
    /// That of ICMPv6.
    Icmpv6,
}

/// What rules examine of a request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpPart {
    /// The path, decoded, and the query.
    Uri,
    /// The target as it was sent.
    RawUri,
    /// The request's first line.
    RequestLine,
    /// The response's first line.
    ResponseLine,
    /// Version with its name.
    Protocol,
    /// All fields but those of cookies.
    Header,
    /// All fields.
    RawHeader,
    /// Names of the fields, each in a line, with an empty one before and behind.
    HeaderNames,
    /// First line and fields.
    Start,
    /// The host in small letters, without its port.
    Host,
    /// The field Host as it was sent.
    RawHost,
    /// The field of this name.
    Field(&'static str),
    /// Each field, as `Name: value`.
    EachField,
    /// The host, and the target as it was sent.
    Url,
    /// The body that the client sent.
    RequestBody,
    /// The body that the server sent.
    ResponseBody,
}

/// The buffer of a name, and whether that is the name of a modifier behind a content.
pub fn buffer(name: &str) -> Option<(BufferId, bool)> {
    // PERF: it is asked for each option of each rule: a fifth of what reading many rules took.
    static BY_NAME: LazyLock<HashMap<&str, (BufferId, bool)>> = LazyLock::new(|| {
        let mut names = HashMap::new();
        for (one, id) in BUFFERS.iter().zip((0..).map(BufferId)) {
            let own = [one.name].into_iter().chain(one.aliases.iter().copied());
            names.extend(own.map(|name| (name, (id, false))));
            names.extend(one.modifiers.iter().map(|&name| (name, (id, true))));
        }
        names
    });
    BY_NAME.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::{BufferId, BufferSource, buffer};
    use crate::buffers::BUFFERS;
    use std::collections::BTreeSet;

    /// Each name leads to one buffer.
    #[test]
    fn names_of_buffers_are_unique() {
        let mut names = BTreeSet::new();
        for one in BUFFERS {
            let all = [one.name].into_iter().chain(one.aliases.iter().copied());
            for name in all.chain(one.modifiers.iter().copied()) {
                assert!(names.insert(name), "{name} twice");
            }
        }
        assert_eq!(BufferId::PAYLOAD.info().source, BufferSource::Payload);
        assert!(
            buffer("http_uri")
                .is_some_and(|(id, is_behind)| { is_behind && id.info().name == "http.uri" })
        );
    }
}
