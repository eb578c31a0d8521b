//! The buffers that rules may examine, and where the engine has them from.

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
    let found = |of: fn(&Buffer) -> &'static [&'static str]| {
        BUFFERS.iter().position(|one| of(one).contains(&name))
    };
    let numbered = |at: usize| u8::try_from(at).ok().map(BufferId);
    let own = BUFFERS.iter().position(|one| one.name == name);
    if let Some(at) = own.or_else(|| found(|one| one.aliases)) {
        return numbered(at).map(|id| (id, false));
    }
    numbered(found(|one| one.modifiers)?).map(|id| (id, true))
}

const fn of(
    name: &'static str,
    (aliases, modifiers): (&'static [&'static str], &'static [&'static str]),
    (protocol, to_server): (&'static str, Option<bool>),
    source: BufferSource,
    doc: &'static str,
) -> Buffer {
    Buffer {
        name,
        aliases,
        modifiers,
        protocol,
        to_server,
        source,
        doc,
    }
}

const fn http(
    name: &'static str,
    (aliases, modifiers): (&'static [&'static str], &'static [&'static str]),
    to_server: Option<bool>,
    part: HttpPart,
    doc: &'static str,
) -> Buffer {
    of(
        name,
        (aliases, modifiers),
        ("http", to_server),
        BufferSource::Http(part),
        doc,
    )
}

/// A column of a parser's records.
const fn column(
    name: &'static str,
    aliases: &'static [&'static str],
    to_server: Option<bool>,
    (schema, path): (&'static str, &'static str),
    doc: &'static str,
) -> Buffer {
    of(
        name,
        (aliases, &[]),
        (schema, to_server),
        BufferSource::Column(schema, path),
        doc,
    )
}

const fn header(name: &'static str, which: PacketHeader, doc: &'static str) -> Buffer {
    of(
        name,
        (&[], &[]),
        ("", None),
        BufferSource::Header(which),
        doc,
    )
}

const CLIENT: Option<bool> = Some(true);
const SERVER: Option<bool> = Some(false);
const EITHER: Option<bool> = None;
const PLAIN: (&[&str], &[&str]) = (&[], &[]);

const PAYLOAD: Buffer = of(
    "pkt_data",
    PLAIN,
    ("", EITHER),
    BufferSource::Payload,
    "The payload of a packet, or the bytes of a stream: what is examined without a buffer.",
);

/// All buffers; the first one is the payload.
#[rustfmt::skip]
pub static BUFFERS: &[Buffer] = &[
    PAYLOAD,
    http("http.uri", (&[], &["http_uri"]), CLIENT, HttpPart::Uri, "The path of the request, decoded, and its query."),
    http("http.uri.raw", (&[], &["http_raw_uri"]), CLIENT, HttpPart::RawUri, "The request's target as it was sent."),
    http("http.method", (&[], &["http_method"]), CLIENT, HttpPart::Field(":method"), "The request's method."),
    http("http.protocol", (&["http_protocol", "http_version"], &[]), EITHER, HttpPart::Protocol, "The version with its name, as `HTTP/1.1`."),
    http("http.request_line", (&["http_request_line"], &[]), CLIENT, HttpPart::RequestLine, "The request's first line."),
    http("http.response_line", (&["http_response_line"], &[]), SERVER, HttpPart::ResponseLine, "The response's first line."),
    http("http.header", (&[], &["http_header"]), EITHER, HttpPart::Header, "All fields but those of cookies, each in a line."),
    http("http.header.raw", (&[], &["http_raw_header"]), EITHER, HttpPart::RawHeader, "All fields, each in a line."),
    http("http.header_names", (&["http_header_names"], &[]), EITHER, HttpPart::HeaderNames, "The names of all fields, each in a line, with an empty line before and after them."),
    http("http.start", (&["http_start"], &[]), EITHER, HttpPart::Start, "The first line and all fields."),
    http("http.host", (&[], &["http_host"]), CLIENT, HttpPart::Host, "The host in small letters, without its port."),
    http("http.host.raw", (&[], &["http_raw_host"]), CLIENT, HttpPart::RawHost, "The field Host as it was sent."),
    http("http.user_agent", (&[], &["http_user_agent"]), CLIENT, HttpPart::Field("user-agent"), "User-Agent."),
    http("http.referer", (&["http_referer"], &[]), CLIENT, HttpPart::Field("referer"), "Referer."),
    http("http.cookie", (&[], &["http_cookie"]), EITHER, HttpPart::Field("cookie"), "Cookie, or what the server set."),
    http("http.accept", (&["http_accept"], &[]), CLIENT, HttpPart::Field("accept"), "Accept."),
    http("http.accept_enc", (&["http_accept_enc"], &[]), CLIENT, HttpPart::Field("accept-encoding"), "Accept-Encoding."),
    http("http.accept_lang", (&["http_accept_lang"], &[]), CLIENT, HttpPart::Field("accept-language"), "Accept-Language."),
    http("http.connection", (&["http_connection"], &[]), EITHER, HttpPart::Field("connection"), "Connection."),
    http("http.content_type", (&["http_content_type"], &[]), EITHER, HttpPart::Field("content-type"), "Content-Type."),
    http("http.content_len", (&["http_content_len"], &[]), EITHER, HttpPart::Field("content-length"), "Content-Length."),
    http("http.server", (&[], &[]), SERVER, HttpPart::Field("server"), "Server."),
    http("http.location", (&[], &[]), SERVER, HttpPart::Field("location"), "Location."),
    http("http.stat_code", (&[], &["http_stat_code"]), SERVER, HttpPart::Field(":status"), "The response's status."),
    http("http.stat_msg", (&[], &["http_stat_msg"]), SERVER, HttpPart::Field(":reason"), "The phrase after the status."),
    http("http.request_header", (&[], &[]), CLIENT, HttpPart::EachField, "Each field of the request, as `Name: value`."),
    http("http.response_header", (&[], &[]), SERVER, HttpPart::EachField, "Each field of the response, as `Name: value`."),
    http("http.request_body", (&[], &["http_client_body"]), CLIENT, HttpPart::RequestBody, "The request's body."),
    http("http.response_body", (&[], &["http_server_body"]), SERVER, HttpPart::ResponseBody, "The response's body, decoded."),
    of("file.data", (&["file_data"], &[]), ("", EITHER), BufferSource::File, "A file that the connection carries, decoded: bodies of HTTP."),
    column("dns.query", &["dns_query", "dns.query.name", "dns.queries.rrname"], EITHER, ("dns", "dns.queries[].rrname"), "A name that is asked for."),
    column("dns.answers.rrname", &["dns.answer.name"], SERVER, ("dns", "dns.answers[].rrname"), "The name of an answer."),
    column("dns.authorities.rrname", &[], SERVER, ("dns", "dns.authorities[].rrname"), "The name of an authority."),
    column("dns.additionals.rrname", &[], SERVER, ("dns", "dns.additionals[].rrname"), "The name of an additional record."),
    column("mdns.queries.rrname", &[], EITHER, ("mdns", "mdns.queries[].rrname"), "A name that is asked for by mDNS."),
    column("mdns.answers.rrname", &[], EITHER, ("mdns", "mdns.answers[].rrname"), "The name of an answer by mDNS."),
    column("tls.sni", &["tls_sni"], CLIENT, ("tls", "tls.sni"), "The server name that the client sent."),
    column("tls.cert_subject", &["tls.subject", "tls_cert_subject"], SERVER, ("tls", "tls.subject"), "The subject of the server's certificate."),
    column("tls.cert_issuer", &["tls.issuerdn", "tls_cert_issuer"], SERVER, ("tls", "tls.issuerdn"), "The issuer of the server's certificate."),
    column("tls.cert_serial", &["tls_cert_serial"], SERVER, ("tls", "tls.serial"), "The serial number of the server's certificate."),
    column("tls.cert_fingerprint", &["tls.fingerprint", "tls_cert_fingerprint"], SERVER, ("tls", "tls.fingerprint"), "SHA-1 of the server's certificate."),
    column("tls.version", &[], SERVER, ("tls", "tls.version"), "The version that the server chose; its value stands behind it, as `tls.version:1.2`."),
    column("tls.subjectaltname", &[], SERVER, ("tls", "tls.subjectaltname"), "Another name in the server's certificate."),
    column("tls.alpn", &[], EITHER, ("tls", "tls.client_alpns"), "A protocol that the client offers."),
    column("ja3.hash", &["ja3_hash"], CLIENT, ("tls", "tls.ja3.hash"), "The JA3 fingerprint of the client's hello."),
    column("ja3.string", &["ja3_string"], CLIENT, ("tls", "tls.ja3.string"), "What the JA3 fingerprint is made of."),
    column("ja3s.hash", &[], SERVER, ("tls", "tls.ja3s.hash"), "The JA3S fingerprint of the server's hello."),
    column("ja3s.string", &[], SERVER, ("tls", "tls.ja3s.string"), "What the JA3S fingerprint is made of."),
    column("ja4.hash", &["ja4_hash"], CLIENT, ("tls", "tls.ja4"), "The JA4 fingerprint of the client's hello."),
    column("quic.sni", &[], CLIENT, ("quic", "quic.sni"), "The server name that the client sent."),
    column("quic.version", &[], CLIENT, ("quic", "quic.version"), "The version of QUIC."),
    column("ftp.command", &[], CLIENT, ("ftp", "ftp.command"), "The command."),
    column("ftp.command_data", &[], CLIENT, ("ftp", "ftp.command_data"), "The command's argument."),
    column("ftp.completion_code", &[], SERVER, ("ftp", "ftp.completion_code"), "The code of a reply."),
    column("ftp.reply", &[], SERVER, ("ftp", "ftp.reply"), "A line of a reply, without its code."),
    header("ipv4.hdr", PacketHeader::Ipv4, "The header of IPv4."),
    header("ipv6.hdr", PacketHeader::Ipv6, "The header of IPv6."),
    header("tcp.hdr", PacketHeader::Tcp, "The header of TCP."),
    header("udp.hdr", PacketHeader::Udp, "The header of UDP."),
    header("icmpv4.hdr", PacketHeader::Icmpv4, "The header of ICMP."),
    header("icmpv6.hdr", PacketHeader::Icmpv6, "The header of ICMPv6."),
];

#[cfg(test)]
mod tests {
    use super::{BUFFERS, BufferId, BufferSource, buffer};
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
