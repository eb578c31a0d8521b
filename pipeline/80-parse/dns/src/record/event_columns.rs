//! The columns of events, which are the same for all kinds of DNS.

use Kind::{Bool, Count, CountList, Interval, Text, TextList};
use flowpin_record::{Kind, MessageColumn, MessageSchema};

const fn event(eve: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new("", eve, kind, doc)
}

/// The columns under a protocol's own object. Their order is that of [`super::event::Event`].
macro_rules! columns {
    ($under:literal) => {
        &[
            event(concat!($under, ".version"), Count, "The form of this object: 3."),
            event(concat!($under, ".type"), Text, "`request` or `response`."),
            event(concat!($under, ".tx_id"), Count, "Which message of its connection, from 0."),
            event(concat!($under, ".id"), Count, "The message's identifier."),
            event(concat!($under, ".flags"), Text, "The header's flags, in hexadecimal digits."),
            event(concat!($under, ".qr"), Bool, "Whether it is a response; left out if not."),
            event(concat!($under, ".aa"), Bool, "An authority answers; left out if not."),
            event(concat!($under, ".tc"), Bool, "It is shortened; left out if not."),
            event(concat!($under, ".rd"), Bool, "Recursion is wanted; left out if not."),
            event(concat!($under, ".ra"), Bool, "Recursion is offered; left out if not."),
            event(concat!($under, ".z"), Bool, "The reserved bit is set; left out if not."),
            event(concat!($under, ".ad"), Bool, "The data are authentic; left out if not."),
            event(concat!($under, ".cd"), Bool, "Checking is not wanted; left out if not."),
            event(concat!($under, ".opcode"), Count, "What is asked for; 0: a query."),
            event(concat!($under, ".rcode"), Text, "How a request ended."),
            event(concat!($under, ".rtt"), Interval, "From the request to its response."),
            event(concat!($under, ".queries[].rrname"), TextList, "The names asked for."),
            event(concat!($under, ".queries[].rrtype"), TextList, "The types asked for."),
            columns!(@records $under, "answers", "rrname", TextList, "Answers' names."),
            columns!(@records $under, "answers", "rrtype", TextList, "Answers' types."),
            columns!(@records $under, "answers", "ttl", CountList, "Answers' times to live."),
            columns!(@records $under, "answers", "rdata", TextList, "What answers hold."),
            columns!(@records $under, "answers", "soa.mname", TextList, "SOA: first server."),
            columns!(@records $under, "answers", "soa.rname", TextList, "SOA: who is responsible."),
            columns!(@records $under, "answers", "soa.serial", CountList, "SOA: version."),
            columns!(@records $under, "answers", "soa.refresh", CountList, "SOA, in seconds."),
            columns!(@records $under, "answers", "soa.retry", CountList, "SOA, in seconds."),
            columns!(@records $under, "answers", "soa.expire", CountList, "SOA, in seconds."),
            columns!(@records $under, "answers", "soa.minimum", CountList, "SOA, in seconds."),
            columns!(@records $under, "answers", "srv.priority", CountList, "SRV."),
            columns!(@records $under, "answers", "srv.weight", CountList, "SRV."),
            columns!(@records $under, "answers", "srv.port", CountList, "SRV."),
            columns!(@records $under, "answers", "srv.name", TextList, "SRV: the server."),
            columns!(@records $under, "answers", "sshfp.fingerprint", TextList, "SSHFP."),
            columns!(@records $under, "answers", "sshfp.algo", CountList, "SSHFP: algorithm."),
            columns!(@records $under, "answers", "sshfp.type", CountList, "SSHFP: digest."),
            columns!(@records $under, "authorities", "rrname", TextList, "Authority: names."),
            columns!(@records $under, "authorities", "rrtype", TextList, "Authority: types."),
            columns!(@records $under, "authorities", "ttl", CountList, "Authority: times to live."),
            columns!(@records $under, "authorities", "rdata", TextList, "Authority: contents."),
            columns!(@records $under, "authorities", "soa.mname", TextList, "As in answers."),
            columns!(@records $under, "authorities", "soa.rname", TextList, "As in answers."),
            columns!(@records $under, "authorities", "soa.serial", CountList, "As in answers."),
            columns!(@records $under, "authorities", "soa.refresh", CountList, "As in answers."),
            columns!(@records $under, "authorities", "soa.retry", CountList, "As in answers."),
            columns!(@records $under, "authorities", "soa.expire", CountList, "As in answers."),
            columns!(@records $under, "authorities", "soa.minimum", CountList, "As in answers."),
            columns!(@records $under, "additionals", "rrname", TextList, "Additional: names."),
            columns!(@records $under, "additionals", "rrtype", TextList, "Additional: types."),
            columns!(@records $under, "additionals", "ttl", CountList, "Additional: TTLs."),
            columns!(@records $under, "additionals", "rdata", TextList, "Additional: contents."),
            columns!(@grouped $under, "A", "Addresses in answers."),
            columns!(@grouped $under, "AAAA", "Addresses in answers."),
            columns!(@grouped $under, "CNAME", "Canonical names in answers."),
            columns!(@grouped $under, "MX", "Mail servers in answers."),
            columns!(@grouped $under, "NS", "Name servers in answers."),
            columns!(@grouped $under, "PTR", "Names in answers."),
            columns!(@grouped $under, "TXT", "Texts in answers."),
            columns!(@grouped $under, "NULL", "Bytes in answers."),
            event(concat!($under, ".edns.version"), Count, "EDNS version."),
            event(concat!($under, ".edns.udp_size"), Count, "The sender's size of datagrams."),
            event(concat!($under, ".edns.do"), Bool, "DNSSEC is wanted; left out if not."),
            event(concat!($under, ".edns.extended_rcode"), Count, "Upper bits of the answer's \
                code; left out if 0."),
            event(concat!($under, ".edns.options"), TextList, "EDNS options: `ECS`, `COOKIE`, …"),
        ]
    };
    (@records $under:literal, $section:literal, $key:literal, $kind:expr, $doc:literal) => {
        event(concat!($under, ".", $section, "[].", $key), $kind, $doc)
    };
    (@grouped $under:literal, $kind:literal, $doc:literal) => {
        event(concat!($under, ".grouped.", $kind), TextList, $doc)
    };
}

const DNS_COLUMNS: &[MessageColumn] = columns!("dns");
const MDNS_COLUMNS: &[MessageColumn] = columns!("mdns");
const LLMNR_COLUMNS: &[MessageColumn] = columns!("llmnr");

/// Events of DNS messages.
pub static DNS: MessageSchema =
    MessageSchema::new("dns", "A DNS message.", DNS_COLUMNS).only_events();

/// Events of mDNS messages.
pub static MDNS: MessageSchema =
    MessageSchema::new("mdns", "An mDNS message.", MDNS_COLUMNS).only_events();

/// Events of LLMNR messages.
pub static LLMNR: MessageSchema =
    MessageSchema::new("llmnr", "An LLMNR message.", LLMNR_COLUMNS).only_events();

/// The same of messages that the server sends.
pub(crate) static FROM_SERVER: [MessageSchema; 3] = [
    MessageSchema::new("dns", "A DNS message.", DNS_COLUMNS)
        .only_events()
        .from_server(),
    MessageSchema::new("mdns", "An mDNS message.", MDNS_COLUMNS)
        .only_events()
        .from_server(),
    MessageSchema::new("llmnr", "An LLMNR message.", LLMNR_COLUMNS)
        .only_events()
        .from_server(),
];

/// Places in the columns.
pub(super) const HEAD: usize = 16;
pub(super) const QUERIES: usize = 2;
pub(super) const ANSWERS: usize = 18;
pub(super) const AUTHORITIES: usize = 11;
pub(super) const ADDITIONALS: usize = 4;
pub(super) const GROUPS: usize = 8;
pub(super) const EDNS: usize = 5;
pub(super) const WIDTH: usize = DNS_COLUMNS.len();

/// Lists of an event: all columns that are.
pub(super) const LISTS: usize = QUERIES + ANSWERS + AUTHORITIES + ADDITIONALS + GROUPS + 1;

const _: () = assert!(HEAD + LISTS - 1 + EDNS == WIDTH);
