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

/// Where the engine has a buffer from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSource {
    /// Payloads of packets, and streams.
    Payload,
    /// A header of the packet.
    Header(PacketHeader),
    /// A column of a parser's records: the schema, and the column's path in events. A list has as
    /// many buffers as values.
    Column(&'static str, &'static str),
    /// Made of what HTTP's records have.
    Http(HttpPart),
    /// Bodies and other files, decoded.
    File,
    /// What is known of them beside their bytes: its path in records of files.
    OfFile(&'static str),
    /// Certificates of the server, each with a buffer of its own.
    Certificate,
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
