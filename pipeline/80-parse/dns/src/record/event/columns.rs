//! The columns of events, shared by DNS, mDNS and LLMNR.

use super::typed::TYPED;
use Kind::{Bool, Count, CountList, Interval, Text, TextList};
use flowpin_record::{Kind, MessageColumn, MessageSchema};

const fn event(eve: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new("", eve, kind, doc)
}

/// The columns of events, in the order of [`super::Event`]. Suricata's objects for mDNS and LLMNR
/// have fewer fields than that for DNS, write flags and codes differently, and name what records
/// hold by the records' types.
///
/// `$under` is the object for fields of all Suricata objects, `$more` that for fields of DNS only,
/// `$own` that for fields of none, `$typed` what records hold by their types. `$form` is `dns`, or
/// `typed`: flags are words, and what records hold is not told twice.
macro_rules! columns {
    ($under:literal, $more:literal, $own:literal, $form:ident $(, $typed:expr)*) => {
        &[
            columns!(@only $form, "dns.version", Count, "The form of this object: 3."),
            event(concat!($under, ".type"), Text, "`request` or `response`."),
            columns!(@only $form, "dns.tx_id", Count, "Which message of its connection, from 0."),
            event(concat!($under, ".id"), Count, "The message's identifier."),
            columns!(@flags $form, concat!($under, ".flags")),
            columns!(@only $form, "dns.qr", Bool, "Whether it is a response; left out if not."),
            columns!(@only $form, "dns.aa", Bool, "An authority answers; left out if not."),
            columns!(@only $form, "dns.tc", Bool, "It is shortened; left out if not."),
            columns!(@only $form, "dns.rd", Bool, "Recursion is wanted; left out if not."),
            columns!(@only $form, "dns.ra", Bool, "Recursion is offered; left out if not."),
            columns!(@only $form, "dns.z", Bool, "The reserved bit is set; left out if not."),
            columns!(@only $form, "flowpin.ad", Bool, "The data are authentic; left out if not."),
            columns!(@only $form, "flowpin.cd", Bool, "Checking is not wanted; left out if not."),
            event(concat!($under, ".opcode"), Count, "What is asked for; 0: a query."),
            columns!(@rcode $form, concat!($under, ".rcode")),
            event(concat!($own, ".rtt"), Interval, "From the request to its response."),
            event(concat!($under, ".queries[].rrname"), TextList, "The names asked for."),
            event(concat!($under, ".queries[].rrtype"), TextList, "The types asked for."),
            columns!(@records $under, "answers", "rrname", TextList, "Answers' names."),
            columns!(@records $more, "answers", "rrtype", TextList, "Answers' types."),
            columns!(@records $more, "answers", "ttl", CountList, "Answers' times to live."),
            columns!(@records $more, "answers", "rdata", TextList, "What answers hold."),
            columns!(@records $more, "answers", "soa.mname", TextList, "SOA: first server."),
            columns!(@records $more, "answers", "soa.rname", TextList, "SOA: who is responsible."),
            columns!(@records $more, "answers", "soa.serial", CountList, "SOA: version."),
            columns!(@records $more, "answers", "soa.refresh", CountList, "SOA, in seconds."),
            columns!(@records $more, "answers", "soa.retry", CountList, "SOA, in seconds."),
            columns!(@records $more, "answers", "soa.expire", CountList, "SOA, in seconds."),
            columns!(@records $more, "answers", "soa.minimum", CountList, "SOA, in seconds."),
            columns!(@only $form, "dns.answers[].srv.priority", CountList, "SRV."),
            columns!(@only $form, "dns.answers[].srv.weight", CountList, "SRV."),
            columns!(@only $form, "dns.answers[].srv.port", CountList, "SRV."),
            columns!(@only $form, "dns.answers[].srv.name", TextList, "SRV: the server."),
            columns!(@records $more, "answers", "sshfp.fingerprint", TextList, "SSHFP."),
            columns!(@records $more, "answers", "sshfp.algo", CountList, "SSHFP: algorithm."),
            columns!(@records $more, "answers", "sshfp.type", CountList, "SSHFP: digest."),
            columns!(@records $under, "authorities", "rrname", TextList, "Authority: names."),
            columns!(@records $more, "authorities", "rrtype", TextList, "Authority: types."),
            columns!(@records $more, "authorities", "ttl", CountList, "Authority: times to live."),
            columns!(@records $more, "authorities", "rdata", TextList, "Authority: contents."),
            columns!(@records $more, "authorities", "soa.mname", TextList, "As in answers."),
            columns!(@records $more, "authorities", "soa.rname", TextList, "As in answers."),
            columns!(@records $more, "authorities", "soa.serial", CountList, "As in answers."),
            columns!(@records $more, "authorities", "soa.refresh", CountList, "As in answers."),
            columns!(@records $more, "authorities", "soa.retry", CountList, "As in answers."),
            columns!(@records $more, "authorities", "soa.expire", CountList, "As in answers."),
            columns!(@records $more, "authorities", "soa.minimum", CountList, "As in answers."),
            columns!(@records $under, "additionals", "rrname", TextList, "Additional: names."),
            columns!(@records $more, "additionals", "rrtype", TextList, "Additional: types."),
            columns!(@records $more, "additionals", "ttl", CountList, "Additional: TTLs."),
            columns!(@records $more, "additionals", "rdata", TextList, "Additional: contents."),
            columns!(@only $form, "dns.grouped.A", TextList, "Addresses in answers."),
            columns!(@only $form, "dns.grouped.AAAA", TextList, "Addresses in answers."),
            columns!(@only $form, "dns.grouped.CNAME", TextList, "Canonical names in answers."),
            columns!(@only $form, "dns.grouped.MX", TextList, "Mail servers in answers."),
            columns!(@only $form, "dns.grouped.NS", TextList, "Name servers in answers."),
            columns!(@only $form, "dns.grouped.PTR", TextList, "Names in answers."),
            columns!(@only $form, "dns.grouped.TXT", TextList, "Texts in answers."),
            columns!(@only $form, "dns.grouped.NULL", TextList, "Bytes in answers."),
            event(concat!($own, ".edns.version"), Count, "EDNS version."),
            event(concat!($own, ".edns.udp_size"), Count, "The sender's size of datagrams."),
            event(concat!($own, ".edns.do"), Bool, "DNSSEC is wanted; left out if not."),
            event(concat!($own, ".edns.extended_rcode"), Count, "Upper bits of the answer's \
                code; left out if 0."),
            event(concat!($own, ".edns.options"), TextList, "EDNS options: `ECS`, `COOKIE`, …"),
            $($typed,)*
        ]
    };
    (@flags typed, $path:expr) => {
        event($path, TextList, "The header's flags: `aa`, `tc`, `rd`, `ra`, `z`, `ad`, `cd`.")
    };
    (@flags dns, $path:expr) => {
        event($path, Text, "The header's flags, in hexadecimal digits.")
    };
    (@rcode typed, $path:expr) => {
        event($path, Count, "How a request ended, by its number.")
    };
    (@rcode dns, $path:expr) => {
        event($path, Text, "How a request ended.")
    };
    (@records $under:literal, $section:literal, $key:literal, $kind:expr, $doc:literal) => {
        event(concat!($under, ".", $section, "[].", $key), $kind, $doc)
    };
    (@only dns, $path:literal, $kind:expr, $doc:literal) => {
        event($path, $kind, $doc)
    };
    (@only typed, $path:literal, $kind:expr, $doc:literal) => {
        event("", $kind, $doc)
    };
}

/// The columns of protocols of the link, in the order of [`super::typed`].
macro_rules! local {
    ($under:literal) => {
        local!(@all $under, "answers", "authorities", "additionals")
    };
    (@all $under:literal, $one:literal, $two:literal, $three:literal) => {
        columns!(
            $under, "flowpin", "flowpin", typed,
            local!(@of $under, $one, "a", TextList, "A: the address."),
            local!(@of $under, $one, "aaaa", TextList, "AAAA: the address."),
            local!(@of $under, $one, "cname", TextList, "CNAME: the name."),
            local!(@of $under, $one, "mx", TextList, "MX: the server."),
            local!(@of $under, $one, "ns", TextList, "NS: the server."),
            local!(@of $under, $one, "ptr", TextList, "PTR: the name."),
            local!(@of $under, $one, "txt", TextList, "TXT: its strings, an array."),
            local!(@of $under, $one, "srv.priority", CountList, "SRV."),
            local!(@of $under, $one, "srv.weight", CountList, "SRV."),
            local!(@of $under, $one, "srv.port", CountList, "SRV."),
            local!(@of $under, $one, "srv.name", TextList, "SRV: the server."),
            local!(@of $under, $two, "a", TextList, "As in answers."),
            local!(@of $under, $two, "aaaa", TextList, "As in answers."),
            local!(@of $under, $two, "cname", TextList, "As in answers."),
            local!(@of $under, $two, "mx", TextList, "As in answers."),
            local!(@of $under, $two, "ns", TextList, "As in answers."),
            local!(@of $under, $two, "ptr", TextList, "As in answers."),
            local!(@of $under, $two, "txt", TextList, "As in answers."),
            local!(@of $under, $two, "srv.priority", CountList, "As in answers."),
            local!(@of $under, $two, "srv.weight", CountList, "As in answers."),
            local!(@of $under, $two, "srv.port", CountList, "As in answers."),
            local!(@of $under, $two, "srv.name", TextList, "As in answers."),
            local!(@of $under, $three, "a", TextList, "As in answers."),
            local!(@of $under, $three, "aaaa", TextList, "As in answers."),
            local!(@of $under, $three, "cname", TextList, "As in answers."),
            local!(@of $under, $three, "mx", TextList, "As in answers."),
            local!(@of $under, $three, "ns", TextList, "As in answers."),
            local!(@of $under, $three, "ptr", TextList, "As in answers."),
            local!(@of $under, $three, "txt", TextList, "As in answers."),
            local!(@of $under, $three, "srv.priority", CountList, "As in answers."),
            local!(@of $under, $three, "srv.weight", CountList, "As in answers."),
            local!(@of $under, $three, "srv.port", CountList, "As in answers."),
            local!(@of $under, $three, "srv.name", TextList, "As in answers.")
        )
    };
    (@of $under:literal, $section:literal, $key:literal, $kind:expr, $doc:literal) => {
        event(concat!($under, ".", $section, "[].", $key), $kind, $doc)
    };
}

const DNS_COLUMNS: &[MessageColumn] = columns!("dns", "dns", "flowpin", dns);
const MDNS_COLUMNS: &[MessageColumn] = local!("mdns");
const LLMNR_COLUMNS: &[MessageColumn] = local!("llmnr");

/// Events of DNS messages.
pub static DNS: MessageSchema =
    MessageSchema::new("dns", "A DNS message.", DNS_COLUMNS).only_events();

/// Events of mDNS messages.
pub static MDNS: MessageSchema =
    MessageSchema::new("mdns", "An mDNS message.", MDNS_COLUMNS).only_events();

/// Events of LLMNR messages.
pub static LLMNR: MessageSchema =
    MessageSchema::new("llmnr", "An LLMNR message.", LLMNR_COLUMNS).only_events();

/// The same schemas for messages from the server.
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

/// Numbers of columns.
pub(super) const HEAD: usize = 16;
pub(super) const QUERIES: usize = 2;
pub(super) const ANSWERS: usize = 18;
pub(super) const AUTHORITIES: usize = 11;
pub(super) const ADDITIONALS: usize = 4;
pub(super) const GROUPS: usize = 8;
pub(super) const EDNS: usize = 5;
pub(super) const WIDTH: usize = DNS_COLUMNS.len();

/// Number of lists in an event: all columns that are lists.
pub(super) const LISTS: usize = QUERIES + ANSWERS + AUTHORITIES + ADDITIONALS + GROUPS + 1;

const _: () = assert!(HEAD + LISTS - 1 + EDNS == WIDTH);
const _: () = assert!(WIDTH + TYPED == MDNS_COLUMNS.len());
