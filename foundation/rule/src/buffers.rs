//! The table of all buffers.

use crate::buffer::{Buffer, BufferSource, Codes, HttpPart, PacketHeader};
use crate::buffers_of_texts::*;

pub(crate) const fn of(
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
pub(crate) const fn column(
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

/// A column that rules compare as a number.
const fn number(
    name: &'static str,
    to_server: Option<bool>,
    (schema, path): (&'static str, &'static str),
    codes: Codes,
    doc: &'static str,
) -> Buffer {
    let source = BufferSource::Number(schema, [path, path], codes);
    of(name, PLAIN, (schema, to_server), source, doc)
}

const fn address(name: &'static str, of_sender: bool, doc: &'static str) -> Buffer {
    let source = BufferSource::Address { of_sender };
    of(name, PLAIN, ("", EITHER), source, doc)
}

/// A hash of a file, from its own record.
const fn hash(name: &'static str, path: &'static str, doc: &'static str) -> Buffer {
    let source = BufferSource::Column("fileinfo", path);
    of(name, PLAIN, ("", EITHER), source, doc)
}

/// A column of which rules name a value.
const fn word(
    name: &'static str,
    to_server: Option<bool>,
    (schema, path): (&'static str, &'static str),
    words: &'static [(&'static str, &'static str)],
    doc: &'static str,
) -> Buffer {
    let source = BufferSource::Word(schema, path, words);
    of(name, PLAIN, (schema, to_server), source, doc)
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

pub(crate) const CLIENT: Option<bool> = Some(true);
pub(crate) const SERVER: Option<bool> = Some(false);
pub(crate) const EITHER: Option<bool> = None;
pub(crate) const PLAIN: (&[&str], &[&str]) = (&[], &[]);

/// Names in responses.
const DNS_NAMES: [&str; 4] = [
    "dns.queries[].rrname",
    "dns.answers[].rrname",
    "dns.authorities[].rrname",
    "dns.additionals[].rrname",
];
/// Types that are asked for, and of answers.
const DNS_TYPES: [&str; 2] = ["dns.queries[].rrtype", "dns.answers[].rrtype"];
/// How rules spell TLS's versions.
const TLS_VERSIONS: [(&str, &str); 4] = [
    ("1.0", "TLSv1"),
    ("1.1", "TLS 1.1"),
    ("1.2", "TLS 1.2"),
    ("1.3", "TLS 1.3"),
];
/// How rules spell what is so, and what is not.
const YES_AND_NO: [(&str, &str); 8] = [
    ("yes", "yes"),
    ("true", "yes"),
    ("on", "yes"),
    ("1", "yes"),
    ("no", "no"),
    ("false", "no"),
    ("off", "no"),
    ("0", "no"),
];

pub(crate) const PAYLOAD: Buffer = of(
    "pkt_data",
    PLAIN,
    ("", EITHER),
    BufferSource::Payload,
    "The payload of a packet, or the bytes of a stream: what is examined without a buffer.",
);

/// All buffers; the first one is the payload.
pub static BUFFERS: &[Buffer] = &[
    PAYLOAD,
    http(
        "http.uri",
        (&[], &["http_uri"]),
        CLIENT,
        HttpPart::Uri,
        "The path of the request, decoded, and its query.",
    ),
    http(
        "http.uri.raw",
        (&[], &["http_raw_uri"]),
        CLIENT,
        HttpPart::RawUri,
        "The request's target as it was sent.",
    ),
    http(
        "http.method",
        (&[], &["http_method"]),
        CLIENT,
        HttpPart::Field(":method"),
        "The request's method.",
    ),
    http(
        "http.protocol",
        (&["http_protocol", "http_version"], &[]),
        EITHER,
        HttpPart::Protocol,
        "The version with its name, as `HTTP/1.1`.",
    ),
    http(
        "http.request_line",
        (&["http_request_line"], &[]),
        CLIENT,
        HttpPart::RequestLine,
        "The request's first line.",
    ),
    http(
        "http.response_line",
        (&["http_response_line"], &[]),
        SERVER,
        HttpPart::ResponseLine,
        "The response's first line.",
    ),
    http(
        "http.header",
        (&[], &["http_header"]),
        EITHER,
        HttpPart::Header,
        "All fields but those of cookies, each in a line.",
    ),
    http(
        "http.header.raw",
        (&[], &["http_raw_header"]),
        EITHER,
        HttpPart::RawHeader,
        "All fields, each in a line.",
    ),
    http(
        "http.header_names",
        (&["http_header_names"], &[]),
        EITHER,
        HttpPart::HeaderNames,
        "The names of all fields, each in a line, with an empty line before and after them.",
    ),
    http(
        "http.start",
        (&["http_start"], &[]),
        EITHER,
        HttpPart::Start,
        "The first line and all fields.",
    ),
    http(
        "http.url",
        PLAIN,
        CLIENT,
        HttpPart::Url,
        "The host in small letters and the target as it was sent: `www.example.org/a?b`.",
    ),
    http(
        "http.host",
        (&[], &["http_host"]),
        CLIENT,
        HttpPart::Host,
        "The host in small letters, without its port.",
    ),
    http(
        "http.host.raw",
        (&[], &["http_raw_host"]),
        CLIENT,
        HttpPart::RawHost,
        "The field Host as it was sent.",
    ),
    http(
        "http.user_agent",
        (&[], &["http_user_agent"]),
        CLIENT,
        HttpPart::Field("user-agent"),
        "User-Agent.",
    ),
    http(
        "http.referer",
        (&["http_referer"], &[]),
        CLIENT,
        HttpPart::Field("referer"),
        "Referer.",
    ),
    http(
        "http.cookie",
        (&[], &["http_cookie"]),
        EITHER,
        HttpPart::Field("cookie"),
        "Cookie, or what the server set.",
    ),
    http(
        "http.accept",
        (&["http_accept"], &[]),
        CLIENT,
        HttpPart::Field("accept"),
        "Accept.",
    ),
    http(
        "http.accept_enc",
        (&["http_accept_enc"], &[]),
        CLIENT,
        HttpPart::Field("accept-encoding"),
        "Accept-Encoding.",
    ),
    http(
        "http.accept_lang",
        (&["http_accept_lang"], &[]),
        CLIENT,
        HttpPart::Field("accept-language"),
        "Accept-Language.",
    ),
    http(
        "http.connection",
        (&["http_connection"], &[]),
        EITHER,
        HttpPart::Field("connection"),
        "Connection.",
    ),
    http(
        "http.content_type",
        (&["http_content_type"], &[]),
        EITHER,
        HttpPart::Field("content-type"),
        "Content-Type.",
    ),
    http(
        "http.content_len",
        (&["http_content_len"], &[]),
        EITHER,
        HttpPart::Field("content-length"),
        "Content-Length.",
    ),
    http(
        "http.server",
        (&[], &[]),
        SERVER,
        HttpPart::Field("server"),
        "Server.",
    ),
    http(
        "http.location",
        (&[], &[]),
        SERVER,
        HttpPart::Field("location"),
        "Location.",
    ),
    http(
        "http.stat_code",
        (&[], &["http_stat_code"]),
        SERVER,
        HttpPart::Field(":status"),
        "The response's status.",
    ),
    http(
        "http.stat_msg",
        (&[], &["http_stat_msg"]),
        SERVER,
        HttpPart::Field(":reason"),
        "The phrase after the status.",
    ),
    http(
        "http.request_header",
        (&[], &[]),
        CLIENT,
        HttpPart::EachField,
        "Each field of the request, as `Name: value`.",
    ),
    http(
        "http.response_header",
        (&[], &[]),
        SERVER,
        HttpPart::EachField,
        "Each field of the response, as `Name: value`.",
    ),
    http(
        "http.request_body",
        (&[], &["http_client_body"]),
        CLIENT,
        HttpPart::RequestBody,
        "The request's body.",
    ),
    http(
        "http.response_body",
        (&[], &["http_server_body"]),
        SERVER,
        HttpPart::ResponseBody,
        "The response's body, decoded.",
    ),
    of(
        "file.data",
        (&["file_data"], &[]),
        ("", EITHER),
        BufferSource::File,
        "A file that the connection carries, decoded: bodies of HTTP, parts of mails.",
    ),
    of(
        "file.name",
        PLAIN,
        ("", EITHER),
        BufferSource::OfFile("fileinfo.filename"),
        "The name of a file: the sender's, or the end of the target's path.",
    ),
    of(
        "file.size",
        PLAIN,
        ("", EITHER),
        BufferSource::OfFile("fileinfo.size"),
        "The length of a file in bytes, as digits: `filesize` compares it.",
    ),
    hash(
        "file.md5",
        "fileinfo.md5",
        "A file's MD5, as digits: `filemd5` looks it up.",
    ),
    hash(
        "file.sha1",
        "fileinfo.sha1",
        "A file's SHA-1, as digits: `filesha1` looks it up.",
    ),
    hash(
        "file.sha256",
        "fileinfo.sha256",
        "A file's SHA-256, as digits: `filesha256` looks it up.",
    ),
    column(
        "dns.query",
        &["dns_query"],
        CLIENT,
        ("dns", "dns.queries[].rrname"),
        "A name that the client asks for.",
    ),
    column(
        "dns.queries.rrname",
        &["dns.query.name"],
        EITHER,
        ("dns", "dns.queries[].rrname"),
        "A name that is asked for, also as the answer repeats it.",
    ),
    column(
        "dns.answers.rrname",
        &["dns.answer.name"],
        SERVER,
        ("dns", "dns.answers[].rrname"),
        "The name of an answer.",
    ),
    column(
        "dns.authorities.rrname",
        &[],
        SERVER,
        ("dns", "dns.authorities[].rrname"),
        "The name of an authority.",
    ),
    column(
        "dns.additionals.rrname",
        &[],
        SERVER,
        ("dns", "dns.additionals[].rrname"),
        "The name of an additional record.",
    ),
    of(
        "dns.response.rrname",
        PLAIN,
        ("dns", SERVER),
        BufferSource::Columns("dns", &DNS_NAMES),
        "A name in a response: asked for, of an answer, an authority or an additional record.",
    ),
    number(
        "dns.opcode",
        EITHER,
        ("dns", "dns.opcode"),
        Codes::None,
        "A number: what is asked for.",
    ),
    number(
        "dns.rcode",
        SERVER,
        ("dns", "dns.rcode"),
        Codes::DnsRcodes,
        "A number, or its name: how the request ended.",
    ),
    of(
        "dns.rrtype",
        PLAIN,
        ("dns", EITHER),
        BufferSource::Number("dns", DNS_TYPES, Codes::DnsTypes),
        "A number, or its name: a type that the client asks for, or of a record in the response.",
    ),
    column(
        "mdns.queries.rrname",
        &[],
        EITHER,
        ("mdns", "mdns.queries[].rrname"),
        "A name that is asked for by mDNS.",
    ),
    column(
        "mdns.answers.rrname",
        &[],
        EITHER,
        ("mdns", "mdns.answers[].rrname"),
        "The name of an answer by mDNS.",
    ),
    column(
        "tls.sni",
        &["tls_sni"],
        CLIENT,
        ("tls", "tls.sni"),
        "The server name that the client sent.",
    ),
    column(
        "tls.cert_subject",
        &["tls.subject", "tls_cert_subject"],
        SERVER,
        ("tls", "tls.subject"),
        "The subject of the server's certificate.",
    ),
    column(
        "tls.cert_issuer",
        &["tls.issuerdn", "tls_cert_issuer"],
        SERVER,
        ("tls", "tls.issuerdn"),
        "The issuer of the server's certificate.",
    ),
    of(
        "tls.certs",
        (&[], &[]),
        ("tls", SERVER),
        BufferSource::Certificate,
        "A certificate of the server's chain, as it was sent (DER).",
    ),
    column(
        "tls.cert_serial",
        &["tls_cert_serial"],
        SERVER,
        ("tls", "tls.serial"),
        "The serial number of the server's certificate.",
    ),
    column(
        "tls.cert_fingerprint",
        &["tls.fingerprint", "tls_cert_fingerprint"],
        SERVER,
        ("tls", "tls.fingerprint"),
        "SHA-1 of the server's certificate.",
    ),
    word(
        "tls.version",
        SERVER,
        ("tls", "tls.version"),
        &TLS_VERSIONS,
        "The version: `1.0`, `1.1`, `1.2` or `1.3`.",
    ),
    column(
        "tls.subjectaltname",
        &[],
        SERVER,
        ("tls", "tls.subjectaltname"),
        "Another name in the server's certificate.",
    ),
    column(
        "tls.alpn",
        &[],
        EITHER,
        ("tls", "tls.client_alpns"),
        "A protocol that the client offers.",
    ),
    column(
        "ja3.hash",
        &["ja3_hash"],
        CLIENT,
        ("tls", "tls.ja3.hash"),
        "The JA3 fingerprint of the client's hello.",
    ),
    column(
        "ja3.string",
        &["ja3_string"],
        CLIENT,
        ("tls", "tls.ja3.string"),
        "What the JA3 fingerprint is made of.",
    ),
    column(
        "ja3s.hash",
        &[],
        SERVER,
        ("tls", "tls.ja3s.hash"),
        "The JA3S fingerprint of the server's hello.",
    ),
    column(
        "ja3s.string",
        &[],
        SERVER,
        ("tls", "tls.ja3s.string"),
        "What the JA3S fingerprint is made of.",
    ),
    column(
        "ja4.hash",
        &["ja4_hash"],
        CLIENT,
        ("tls", "tls.ja4"),
        "The JA4 fingerprint of the client's hello.",
    ),
    column(
        "quic.sni",
        &[],
        CLIENT,
        ("quic", "quic.sni"),
        "The server name that the client sent.",
    ),
    column(
        "quic.version",
        &[],
        CLIENT,
        ("quic", "quic.version"),
        "The version of QUIC.",
    ),
    column(
        "ftp.command",
        &[],
        CLIENT,
        ("ftp", "ftp.command"),
        "The command.",
    ),
    column(
        "ftp.command_data",
        &[],
        CLIENT,
        ("ftp", "ftp.command_data"),
        "The command's argument.",
    ),
    column(
        "ftp.completion_code",
        &[],
        SERVER,
        ("ftp", "ftp.completion_code"),
        "The code of a reply.",
    ),
    column(
        "ftp.reply",
        &[],
        SERVER,
        ("ftp", "ftp.reply"),
        "A line of a reply, without its code.",
    ),
    number(
        "ftp.dynamic_port",
        EITHER,
        ("ftp", "ftp.dynamic_port"),
        Codes::None,
        "A number: the port where the data connection is waited for.",
    ),
    word(
        "ftp.mode",
        EITHER,
        ("ftp", "ftp.mode"),
        &[("active", "active"), ("passive", "passive")],
        "`active` or `passive`: who opens the data connection.",
    ),
    word(
        "ftp.reply_received",
        SERVER,
        ("ftp", "ftp.reply_received"),
        &YES_AND_NO,
        "`yes` or `no`: whether the last reply has come.",
    ),
    SMTP_HELO,
    SMTP_MAIL_FROM,
    SMTP_RCPT_TO,
    EMAIL_FROM,
    EMAIL_TO,
    EMAIL_CC,
    EMAIL_SUBJECT,
    EMAIL_DATE,
    EMAIL_MESSAGE_ID,
    EMAIL_X_MAILER,
    EMAIL_RECEIVED,
    SIP_METHOD,
    SIP_URI,
    SIP_REQUEST_LINE,
    SIP_STAT_CODE,
    SIP_STAT_MSG,
    SIP_RESPONSE_LINE,
    SIP_PROTOCOL,
    SIP_FROM,
    SIP_TO,
    SIP_VIA,
    SIP_USER_AGENT,
    SIP_CONTENT_TYPE,
    SIP_CONTENT_LENGTH,
    address("ip.src", true, "The sender's address, in binary."),
    address("ip.dst", false, "The receiver's address, in binary."),
    header("ipv4.hdr", PacketHeader::Ipv4, "The header of IPv4."),
    header("ipv6.hdr", PacketHeader::Ipv6, "The header of IPv6."),
    header("tcp.hdr", PacketHeader::Tcp, "The header of TCP."),
    header("udp.hdr", PacketHeader::Udp, "The header of UDP."),
    header("icmpv4.hdr", PacketHeader::Icmpv4, "The header of ICMP."),
    header("icmpv6.hdr", PacketHeader::Icmpv6, "The header of ICMPv6."),
];
