//! How the table of buffers writes its rows.

use crate::buffer::{Buffer, BufferSource, Codes, HttpPart, PacketHeader};

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

pub(crate) const fn http(
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
pub(crate) const fn number(
    name: &'static str,
    to_server: Option<bool>,
    (schema, path): (&'static str, &'static str),
    codes: Codes,
    doc: &'static str,
) -> Buffer {
    let source = BufferSource::Number(schema, [path, path], codes);
    of(name, PLAIN, (schema, to_server), source, doc)
}

/// A frame of SIP.
pub(crate) const fn frame(name: &'static str, frame: &'static str, doc: &'static str) -> Buffer {
    of(
        name,
        PLAIN,
        ("sip", EITHER),
        BufferSource::Frame(frame),
        doc,
    )
}

pub(crate) const fn address(name: &'static str, of_sender: bool, doc: &'static str) -> Buffer {
    let source = BufferSource::Address { of_sender };
    of(name, PLAIN, ("", EITHER), source, doc)
}

/// A hash of a file, from its own record.
pub(crate) const fn hash(name: &'static str, path: &'static str, doc: &'static str) -> Buffer {
    let source = BufferSource::Column("fileinfo", path);
    of(name, PLAIN, ("", EITHER), source, doc)
}

/// A column of which rules name a value.
pub(crate) const fn word(
    name: &'static str,
    to_server: Option<bool>,
    (schema, path): (&'static str, &'static str),
    words: &'static [(&'static str, &'static str)],
    doc: &'static str,
) -> Buffer {
    let source = BufferSource::Word(schema, path, words);
    of(name, PLAIN, (schema, to_server), source, doc)
}

pub(crate) const fn header(name: &'static str, which: PacketHeader, doc: &'static str) -> Buffer {
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
pub(crate) const DNS_NAMES: [&str; 7] = [
    "dns.queries[].rrname",
    "dns.answers[].rrname",
    "dns.answers[].rdata",
    "dns.authorities[].rrname",
    "dns.authorities[].rdata",
    "dns.additionals[].rrname",
    "dns.additionals[].rdata",
];
/// The same of mDNS.
pub(crate) const MDNS_NAMES: [&str; 4] = [
    "mdns.queries[].rrname",
    "mdns.answers[].rrname",
    "mdns.authorities[].rrname",
    "mdns.additionals[].rrname",
];
/// Types that are asked for, and of answers.
pub(crate) const DNS_TYPES: [&str; 2] = ["dns.queries[].rrtype", "dns.answers[].rrtype"];
/// How rules spell TLS's versions.
pub(crate) const TLS_VERSIONS: [(&str, &str); 4] = [
    ("1.0", "TLSv1"),
    ("1.1", "TLS 1.1"),
    ("1.2", "TLS 1.2"),
    ("1.3", "TLS 1.3"),
];
/// How rules spell what is so, and what is not.
pub(crate) const YES_AND_NO: [(&str, &str); 8] = [
    ("yes", "yes"),
    ("true", "yes"),
    ("on", "yes"),
    ("1", "yes"),
    ("no", "no"),
    ("false", "no"),
    ("off", "no"),
    ("0", "no"),
];
