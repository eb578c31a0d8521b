//! Builds one line of Zeek's `dns.log` per transaction.

use super::values::listed;
use crate::wire::codes::{class_name, opcode_name, rcode_name, type_name};
use crate::wire::message::{Header, Parsed, Section};
use Kind::{Bool, Count, Interval, IntervalList, Text, TextList};
use flowpin_packet::Timestamp;
use flowpin_record::{Kind, MessageColumn, MessageSchema, MessageSink, Value, ValueLists};

const fn log(name: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new(name, "", kind, doc)
}

const COLUMNS: &[MessageColumn] = &[
    log("proto", Text, "`udp` or `tcp`."),
    log(
        "trans_id",
        Count,
        "The identifier that request and response share.",
    ),
    log("rtt", Interval, "From the request to its response."),
    log("query", Text, "The name asked for, as it is spelled."),
    log("qclass", Count, "The class asked for."),
    log("qclass_name", Text, "Its name."),
    log("qtype", Count, "The type asked for."),
    log("qtype_name", Text, "Its name."),
    log(
        "rcode",
        Count,
        "How the request ended; unset without a response.",
    ),
    log("rcode_name", Text, "Its name."),
    log("AA", Bool, "An authority answered."),
    log("TC", Bool, "Request or response are shortened."),
    log("RD", Bool, "Recursion was wanted."),
    log("RA", Bool, "Recursion is offered."),
    log(
        "Z",
        Count,
        "The request's three bits Z, AD, CD; the response's without a request.",
    ),
    log("answers", TextList, "What the answers hold."),
    log("TTLs", IntervalList, "How long each may be kept."),
    log("rejected", Bool, "The request was refused."),
    log("opcode", Count, "What was asked for; 0: a query."),
    log("opcode_name", Text, "Its name."),
];

/// The log of DNS transactions, in the file that Zeek uses for it.
pub static DNS_LOG: MessageSchema = MessageSchema::in_file(
    "dns_log",
    "dns",
    "A DNS request with its response, or one of them alone; mDNS and LLMNR, too.",
    COLUMNS,
)
.only_columns();

const WIDTH: usize = COLUMNS.len();

/// The request of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) at: Timestamp,
    pub(crate) header: Header,
    pub(crate) kind: u16,
    pub(crate) class: u16,
    /// Text of the name.
    pub(crate) name: &'a [u8],
}

/// Builds lines; allocated once and reused for every transaction.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lists: ValueLists<2>,
}

impl Log {
    /// Reports a request without a response to `sink`.
    pub(crate) fn request<S: MessageSink>(
        &self,
        request: &Request<'_>,
        proto: &'static str,
        sink: &mut S,
    ) {
        let header = request.header;
        let mut values = common(header, proto);
        let [_, _, _, query, class, class_name, kind, kind_name, ..] = &mut values;
        if header.counts != [0; 4] {
            *query = Value::Bytes(request.name);
            [*class, *class_name] = class_of(request.class);
            [*kind, *kind_name] = kind_of(request.kind);
        }
        sink.message(&DNS_LOG, request.at, &values);
    }

    /// Reports a response to `sink`, with its request if that was seen.
    pub(crate) fn response<S: MessageSink>(
        &mut self,
        (parsed, message): (&Parsed, &[u8]),
        request: Option<&Request<'_>>,
        at: Timestamp,
        proto: &'static str,
        sink: &mut S,
    ) {
        let header = parsed.header;
        let mut values = common(request.map_or(header, |request| request.header), proto);
        let mut lists = self.lists.lend();
        let [answers, ttls] = &mut lists;
        for record in &parsed.records {
            if record.section != Section::Answer {
                continue;
            }
            let address = record.rdata.address(record.kind, message);
            answers.push(match address {
                Some(address) => Value::Address(address),
                None => Value::Bytes(parsed.text(record.rdata.zeek)),
            });
            ttls.push(Value::Interval(u64::from(record.ttl).saturating_mul(NANOS)));
        }
        let [
            _,
            _,
            rtt,
            query,
            class,
            class_name,
            kind,
            kind_name,
            rest @ ..,
        ] = &mut values;
        *rtt = request.map_or(Value::Unset, |request| {
            Value::Interval(at.nanos_since(request.at))
        });
        if let Some(request) = request {
            *query = Value::Bytes(request.name);
            [*class, *class_name] = class_of(request.class);
            [*kind, *kind_name] = kind_of(request.kind);
        } else if let Some(question) = parsed.questions.first() {
            *query = Value::Bytes(parsed.text(question.name.text));
            [*class, *class_name] = class_of(question.class);
            [*kind, *kind_name] = kind_of(question.kind);
        } else if let Some(record) = parsed.records.first() {
            *query = Value::Bytes(parsed.text(record.name.text));
        }
        let [
            rcode,
            rcode_text,
            aa,
            tc,
            _,
            ra,
            _,
            answers_to,
            ttls_to,
            rejected,
            ..,
        ] = rest;
        let code = header.rcode();
        *rcode = Value::Count(code.into());
        *rcode_text = rcode_name(code).map_or(Value::Unset, Value::Text);
        *aa = Value::Bool(header.flags & 0x0400 != 0);
        *ra = Value::Bool(header.flags & 0x0080 != 0);
        let shortened = request.map_or(0, |request| request.header.flags) | header.flags;
        *tc = Value::Bool(shortened & 0x0200 != 0);
        let [questions, ..] = header.counts;
        *rejected = Value::Bool(code == REFUSED || (code != 0 && questions == 0));
        *answers_to = listed(answers);
        *ttls_to = listed(ttls);
        sink.message(&DNS_LOG, request.map_or(at, |request| request.at), &values);
        self.lists.take_back(lists);
    }
}

/// Returns the values of every transaction, from the header of its request.
fn common<'a>(header: Header, proto: &'static str) -> [Value<'a>; WIDTH] {
    let mut values = [Value::Unset; WIDTH];
    let is_set = |bit: u16| Value::Bool(header.flags & bit != 0);
    let opcode = header.opcode();
    let [first, id, _, _, _, _, _, _, _, _, rest @ ..] = &mut values;
    *first = Value::Text(proto);
    *id = Value::Count(header.id.into());
    let [aa, tc, rd, ra, z, _, _, rejected, code, code_name] = rest;
    [*aa, *ra, *rejected] = [Value::Bool(false); 3];
    *tc = is_set(0x0200);
    *rd = is_set(0x0100);
    *z = Value::Count(u64::from(header.flags >> 4 & 7));
    *code = Value::Count(opcode.into());
    *code_name = opcode_name(opcode).map_or(Value::Unset, Value::Text);
    values
}

fn class_of(class: u16) -> [Value<'static>; 2] {
    let name = class_name(class).map_or(Value::Unset, Value::Text);
    [Value::Count(class.into()), name]
}

fn kind_of(kind: u16) -> [Value<'static>; 2] {
    let name = type_name(kind).map_or(Value::Unset, Value::Text);
    [Value::Count(kind.into()), name]
}

const REFUSED: u16 = 5;
const NANOS: u64 = 1_000_000_000;
