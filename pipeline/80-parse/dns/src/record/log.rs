//! Builds one line of Zeek's `dns.log` per transaction.

use super::values::listed;
use crate::wire::codes::{class_name, opcode_name, rcode_name, type_name};
use crate::wire::message::{Header, Parsed, Section};
use Kind::{Bool, Count, HostName, Interval, IntervalList, Text, TextList};
use flowpin_packet::Timestamp;
use flowpin_record::{Kind, Logs, MessageColumn, MessageSchema, MessageSink, Value, ValueLists};

const fn log(name: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new(name, "", kind, doc)
}

/// What Zeek's log has in its own way.
const fn in_zeek(name: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    log(name, kind, doc).only_in(Logs::OnlyZeek)
}

/// What the other formats have beside it.
const fn elsewhere(column: MessageColumn) -> MessageColumn {
    column.only_in(Logs::NotZeek)
}

const COLUMNS: &[MessageColumn] = &[
    log("proto", Text, "`udp` or `tcp`."),
    log(
        "trans_id",
        Count,
        "The identifier that request and response share.",
    ),
    in_zeek(
        "rtt",
        Interval,
        "From the request to its response, if that has an answer.",
    ),
    elsewhere(log("rtt", Interval, "From the request to its response.")),
    in_zeek(
        "query",
        HostName,
        "The name asked for, in lower case; without a request the first answer's.",
    ),
    elsewhere(log("query", Text, "The name asked for, as it is spelled.")),
    in_zeek(
        "qclass",
        Count,
        "The class asked for; without a request none.",
    ),
    elsewhere(log("qclass", Count, "The class asked for.")),
    in_zeek("qclass_name", Text, "Its name."),
    elsewhere(log("qclass_name", Text, "Its name.")),
    in_zeek(
        "qtype",
        Count,
        "The type asked for; without a request none.",
    ),
    elsewhere(log("qtype", Count, "The type asked for.")),
    in_zeek("qtype_name", Text, "Its name."),
    elsewhere(log("qtype_name", Text, "Its name.")),
    log(
        "rcode",
        Count,
        "How the request ended; unset without a response.",
    ),
    log("rcode_name", Text, "Its name."),
    in_zeek(
        "AA",
        Bool,
        "An authority answered; false without an answer.",
    ),
    elsewhere(log("AA", Bool, "An authority answered.")),
    log("TC", Bool, "Request or response are shortened."),
    in_zeek("RD", Bool, "The request wanted recursion."),
    elsewhere(log("RD", Bool, "Recursion was wanted.")),
    in_zeek("RA", Bool, "Recursion is offered; false without an answer."),
    elsewhere(log("RA", Bool, "Recursion is offered.")),
    in_zeek("Z", Count, "The request's three bits Z, AD, CD."),
    elsewhere(log(
        "Z",
        Count,
        "The request's three bits Z, AD, CD; the response's without a request.",
    )),
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

/// Values of a line, each once.
const WIDTH: usize = 20;

/// Those that Zeek's log has in its own way, by their places among these.
const DIFFERENT: [usize; 10] = [RTT, QUERY, 4, 5, 6, 7, AA, RD, RA, Z];
const RTT: usize = 2;
const QUERY: usize = 3;
const AA: usize = 10;
const RD: usize = 12;
const RA: usize = 13;
const Z: usize = 14;

/// A value for each column: where they differ, Zeek's and then the other formats'.
fn columns<'v>(zeek: &[Value<'v>; WIDTH], ours: &[Value<'v>; WIDTH]) -> [Value<'v>; COLUMNS.len()] {
    let mut all = [Value::Unset; COLUMNS.len()];
    let mut places = all.iter_mut();
    for (number, (&zeek, &ours)) in zeek.iter().zip(ours).enumerate() {
        let values = [
            Some(zeek).filter(|_| DIFFERENT.contains(&number)),
            Some(ours),
        ];
        for value in values.into_iter().flatten() {
            if let Some(place) = places.next() {
                *place = value;
            }
        }
    }
    all
}

/// What Zeek says of a response: of the request nothing that was not seen, and of what the server
/// can do nothing without an answer.
fn as_zeek_has_it<'v>(
    mut values: [Value<'v>; WIDTH],
    has_request: bool,
    first_answer: Option<Value<'v>>,
) -> [Value<'v>; WIDTH] {
    if first_answer.is_none() {
        (values[RTT], values[AA], values[RA]) =
            (Value::Unset, Value::Bool(false), Value::Bool(false));
    }
    if !has_request {
        let [_, _, _, query, class, class_name, kind, kind_name, ..] = &mut values;
        *query = first_answer.unwrap_or(Value::Unset);
        [*class, *class_name, *kind, *kind_name] = [Value::Unset; 4];
        (values[RD], values[Z]) = (Value::Bool(false), Value::Count(0));
    }
    values
}

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
        sink.message(&DNS_LOG, request.at, &columns(&values, &values));
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
        let answered = parsed
            .records
            .iter()
            .find(|one| one.section == Section::Answer);
        let first_answer = answered.map(|record| Value::Bytes(parsed.text(record.name.text)));
        let zeek = as_zeek_has_it(values, request.is_some(), first_answer);
        let time = request.map_or(at, |request| request.at);
        sink.message(&DNS_LOG, time, &columns(&zeek, &values));
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
