//! Builds the event of one message.

use super::event_columns::{
    ADDITIONALS, ANSWERS, AUTHORITIES, EDNS, GROUPS, HEAD, LISTS, MDNS, QUERIES, WIDTH,
};
use super::values::{Hexadecimal, flag, listed};
use crate::wire::codes::{rcode_name, type_name};
use crate::wire::cursor::Cursor;
use crate::wire::message::{Parsed, Record, Section};
use crate::wire::text::ByteRange;
use core::ops::Range;
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSchema, MessageSink, Value, ValueLists};

/// Builds events; allocated once and reused for every message.
#[derive(Debug, Default)]
pub(crate) struct Event {
    /// All lists, concatenated: see [`Layout`].
    lists: ValueLists<1>,
}

/// When a message was seen, and how long after its request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    pub(crate) at: Timestamp,
    /// In nanoseconds.
    pub(crate) rtt: Option<u64>,
    /// Index of the message in its connection.
    pub(crate) number: u32,
}

impl Event {
    /// Reports a message to `sink`.
    pub(crate) fn report<S: MessageSink>(
        &mut self,
        parsed: &Parsed,
        message: &[u8],
        when: When,
        schema: &MessageSchema,
        sink: &mut S,
    ) {
        let flags = Hexadecimal::of(parsed.header.flags);
        let is_mdns = schema.name == MDNS.name;
        let words = flag_words(if is_mdns { parsed.header.flags } else { 0 });
        let [mut all] = self.lists.lend();
        let layout = Layout::of(parsed);
        all.resize(layout.total, Value::Unset);
        layout.fill(&mut all, parsed, message);
        if is_mdns {
            layout.lower_query_types(&mut all);
        }
        let mut values = [Value::Unset; WIDTH];
        let (head, rest) = values.split_at_mut(HEAD);
        for (to, from) in head.iter_mut().zip(head_values(parsed, when, flags.text())) {
            *to = from;
        }
        if is_mdns && let [_, _, _, _, flags, .., rcode, _] = head {
            let code = parsed.header.rcode();
            *flags = listed(words.get());
            *rcode = Value::count(parsed.header.is_response().then_some(code.into()));
        }
        let [options, other @ ..] = &layout.lists;
        for (to, list) in rest.iter_mut().zip(other) {
            if list.len > 0 {
                *to = Value::List(list.of(&all));
            }
        }
        let options = options.of(&all);
        if let Some(edns) = parsed.edns
            && let Some(to) = values.last_chunk_mut::<EDNS>()
        {
            let extended = u64::from(edns.extended_rcode);
            *to = [
                Value::Count(edns.version.into()),
                Value::Count(edns.udp_size.into()),
                flag(edns.dnssec_ok),
                Value::count(Some(extended).filter(|&code| code > 0)),
                listed(options),
            ];
        }
        sink.message(schema, when.at, &values);
        self.lists.take_back([all]);
    }
}

/// The flags of a header as words.
struct FlagWords {
    words: [Value<'static>; FLAGS.len()],
    len: usize,
}

impl FlagWords {
    fn get(&self) -> &[Value<'static>] {
        self.words.get(..self.len).unwrap_or_default()
    }
}

fn flag_words(flags: u16) -> FlagWords {
    let mut words = [Value::Unset; FLAGS.len()];
    let mut len = 0usize;
    let set = FLAGS.iter().filter(|(bit, _)| flags & bit != 0);
    for (place, (_, word)) in words.iter_mut().zip(set) {
        *place = Value::Text(word);
        len = len.saturating_add(1);
    }
    FlagWords { words, len }
}

/// RFC 1035 §4.1.1, RFC 4035 §3.
const FLAGS: [(u16, &str); 7] = [
    (0x0400, "aa"),
    (0x0200, "tc"),
    (0x0100, "rd"),
    (0x0080, "ra"),
    (0x0040, "z"),
    (0x0020, "ad"),
    (0x0010, "cd"),
];

/// Returns the values of the first columns.
fn head_values<'a>(parsed: &Parsed, when: When, flags: &'a [u8]) -> [Value<'a>; HEAD] {
    let header = parsed.header;
    let is_set = |bit: u16| flag(header.flags & bit != 0);
    let is_response = header.is_response();
    let rcode = rcode_name(header.rcode()).filter(|_| is_response);
    [
        Value::Count(3),
        Value::Text(if is_response { "response" } else { "request" }),
        Value::Count(when.number.into()),
        Value::Count(header.id.into()),
        Value::Bytes(flags),
        is_set(0x8000),
        is_set(0x0400),
        is_set(0x0200),
        is_set(0x0100),
        is_set(0x0080),
        is_set(0x0040),
        is_set(0x0020),
        is_set(0x0010),
        Value::Count(header.opcode().into()),
        rcode.map_or(Value::Unset, Value::Text),
        when.rtt.map_or(Value::Unset, Value::Interval),
    ]
}

/// Position of each list in the array of all values: EDNS options, queries, answers, authorities,
/// additionals, groups.
// PERF: the lists share one allocation, and lists without values take none of it: most messages use
// few of the 50.
struct Layout {
    lists: [List; LISTS],
    total: usize,
}

#[derive(Clone, Copy, Default)]
struct List {
    from: u32,
    len: u32,
}

impl List {
    fn of<'v, 'a>(&self, all: &'v [Value<'a>]) -> &'v [Value<'a>] {
        let from = self.from as usize;
        all.get(from..from.saturating_add(self.len as usize))
            .unwrap_or_default()
    }
}

/// Indices of the lists.
const OPTIONS_AT: usize = 0;
const QUERIES_AT: usize = 1;
const SECTIONS_AT: [usize; 3] = [
    QUERIES_AT + QUERIES,
    QUERIES_AT + QUERIES + ANSWERS,
    QUERIES_AT + QUERIES + ANSWERS + AUTHORITIES,
];
const SECTIONS: [usize; 3] = [ANSWERS, AUTHORITIES, ADDITIONALS];
const GROUPS_AT: usize = QUERIES_AT + QUERIES + ANSWERS + AUTHORITIES + ADDITIONALS;

impl Layout {
    fn of(parsed: &Parsed) -> Self {
        let mut layout = Self {
            lists: [List::default(); LISTS],
            total: 0,
        };
        layout.add(OPTIONS_AT, 0..1, parsed.options.len());
        layout.add(QUERIES_AT, 0..QUERIES, parsed.questions.len());
        let mut counts = [0usize; 3];
        let mut special = [[false; 3]; 3];
        let mut grouped = [0usize; GROUPS];
        for record in &parsed.records {
            let section = record.section as usize;
            if let (Some(count), Some(special)) =
                (counts.get_mut(section), special.get_mut(section))
            {
                *count = count.saturating_add(1);
                if let Some(special) = special_of(record.kind).and_then(|at| special.get_mut(at)) {
                    *special = true;
                }
            }
            if let Some(count) = group_of(record).and_then(|at| grouped.get_mut(at)) {
                *count = count.saturating_add(1);
            }
        }
        // PERF: by reference, because a copy of the counts stalls on the partial writes just before
        // it.
        for (((&at, &width), &count), special) in
            SECTIONS_AT.iter().zip(&SECTIONS).zip(&counts).zip(&special)
        {
            if count == 0 {
                continue;
            }
            layout.add(at, 0..COMMON, count);
            for (columns, _) in SPECIAL.into_iter().zip(special).filter(|(_, is)| **is) {
                if columns.end <= width {
                    layout.add(at, columns, count);
                }
            }
        }
        for (at, &count) in grouped.iter().enumerate() {
            layout.add(GROUPS_AT, at..at.saturating_add(1), count);
        }
        layout
    }

    /// Reserves `len` values in each of the lists `lists`, relative to `at`.
    #[inline]
    fn add(&mut self, at: usize, lists: Range<usize>, len: usize) {
        if len == 0 {
            return;
        }
        let lists = at.saturating_add(lists.start)..at.saturating_add(lists.end);
        for list in self.lists.get_mut(lists).unwrap_or_default() {
            *list = List {
                from: u32::try_from(self.total).unwrap_or(u32::MAX),
                len: u32::try_from(len).unwrap_or(0),
            };
            self.total = self.total.saturating_add(len);
        }
    }

    /// Converts the types in mDNS questions to lower case, as Suricata does.
    fn lower_query_types(&self, all: &mut [Value<'_>]) {
        let Some(list) = self.lists.get(QUERIES_AT.saturating_add(1)) else {
            return;
        };
        let from = list.from as usize;
        let types = all.get_mut(from..from.saturating_add(list.len as usize));
        for value in types.unwrap_or_default() {
            if let Value::Text(name) = value {
                *value = Value::Text(lower(name));
            }
        }
    }

    fn put<'a>(&self, all: &mut [Value<'a>], list: usize, row: usize, value: Value<'a>) {
        let list = self.lists.get(list).filter(|list| row < list.len as usize);
        let place = list.and_then(|list| all.get_mut((list.from as usize).saturating_add(row)));
        if let Some(place) = place {
            *place = value;
        }
    }

    fn fill<'a>(&self, all: &mut [Value<'a>], parsed: &'a Parsed, message: &[u8]) {
        for (row, option) in parsed.options.iter().enumerate() {
            self.put(all, OPTIONS_AT, row, Value::Bytes(parsed.text(*option)));
        }
        for (row, question) in parsed.questions.iter().enumerate() {
            let name = Value::Bytes(parsed.text(question.name.text));
            self.put(all, QUERIES_AT, row, name);
            let kind = kind(parsed, question.kind, question.kind_text);
            self.put(all, QUERIES_AT + 1, row, kind);
        }
        let mut rows = [0usize; 3];
        let mut grouped = [0usize; GROUPS];
        for record in &parsed.records {
            let section = record.section as usize;
            let (Some(row), Some(&at), Some(&width)) = (
                rows.get_mut(section),
                SECTIONS_AT.get(section),
                SECTIONS.get(section),
            ) else {
                continue;
            };
            let common = common_of(parsed, record, message);
            for (column, value) in common.into_iter().enumerate() {
                self.put(all, at.saturating_add(column), *row, value);
            }
            if let Some(columns) = special_of(record.kind).and_then(|at| SPECIAL.get(at))
                && columns.end <= width
            {
                let values = special_values(parsed, record, message);
                for (column, value) in columns.clone().zip(values) {
                    self.put(all, at.saturating_add(column), *row, value);
                }
            }
            *row = row.saturating_add(1);
            if let Some(group) = group_of(record)
                && let Some(row) = grouped.get_mut(group)
            {
                let [.., contents] = common;
                self.put(all, GROUPS_AT.saturating_add(group), *row, contents);
                *row = row.saturating_add(1);
            }
        }
    }
}

/// Columns of every record: name, type, time to live, contents.
const COMMON: usize = 4;
/// Columns of SOA, SRV and SSHFP among those of an answer.
const SPECIAL: [Range<usize>; 3] = [4..11, 11..15, 15..18];
/// SOA has the most.
const SPECIAL_MAX: usize = 7;

/// Returns the index of a type in [`SPECIAL`].
const fn special_of(kind: u16) -> Option<usize> {
    match kind {
        SOA => Some(0),
        SRV => Some(1),
        SSHFP => Some(2),
        _ => None,
    }
}

/// Returns the group for the contents of an answer: see [`GROUPS`]. Prerequisites of an update have
/// no contents (RFC 2136 §2.4); they are in no group, nor are contents that violate the rules of
/// their type.
#[inline]
fn group_of(record: &Record) -> Option<usize> {
    if record.section != Section::Answer || record.rdata.is_bad || record.rdata.raw.len() == 0 {
        return None;
    }
    Some(match record.kind {
        1 => 0,
        28 => 1,
        5 => 2,
        15 => 3,
        2 => 4,
        12 => 5,
        16 => 6,
        10 => 7,
        _ => return None,
    })
}

/// Returns the values of a record in the columns that every record has.
fn common_of<'a>(parsed: &'a Parsed, record: &Record, message: &[u8]) -> [Value<'a>; COMMON] {
    let name = Value::Bytes(parsed.text(record.name.text));
    let kind_of = kind(parsed, record.kind, record.kind_text);
    if record.kind == OPT {
        return [name, kind_of, Value::Unset, Value::Unset];
    }
    let ttl = Value::Count(record.ttl.into());
    [name, kind_of, ttl, contents(parsed, record, message)]
}

/// Returns the values of a record in the columns of its type, in order.
fn special_values<'a>(
    parsed: &'a Parsed,
    record: &Record,
    message: &[u8],
) -> [Value<'a>; SPECIAL_MAX] {
    let mut values = [Value::Unset; SPECIAL_MAX];
    if record.rdata.is_bad {
        return values;
    }
    let raw = record.rdata.raw.range();
    let text = |place: ByteRange| Value::Bytes(parsed.text(place));
    let [first, last] = record.rdata.names;
    let [one, two, three, four, ..] = &mut values;
    match record.kind {
        SOA => {
            *one = text(first);
            *two = text(last);
            let mut numbers = Cursor::new(message, raw.end.saturating_sub(20), raw.end);
            for number in values.iter_mut().skip(2) {
                *number = Value::count(numbers.u32().ok().map(u64::from));
            }
        }
        SRV => {
            let mut numbers = Cursor::new(message, raw.start, raw.end);
            for number in [one, two, three] {
                *number = Value::count(numbers.u16().ok().map(u64::from));
            }
            *four = text(last);
        }
        SSHFP => {
            let mut numbers = Cursor::new(message, raw.start, raw.end);
            *one = text(record.rdata.fingerprint);
            for number in [two, three] {
                *number = Value::count(numbers.u8().ok().map(u64::from));
            }
        }
        _ => {}
    }
    values
}

/// Returns the contents of a record: an address, the name of a mail server without its preference,
/// or the text.
fn contents<'a>(parsed: &'a Parsed, record: &Record, message: &[u8]) -> Value<'a> {
    if let Some(address) = record.rdata.address(record.kind, message) {
        return Value::Address(address);
    }
    let [_, name] = record.rdata.names;
    let place = if record.kind == MX && !record.rdata.is_bad {
        name
    } else {
        record.rdata.text
    };
    Value::Bytes(parsed.text(place))
}

/// Returns the types that mDNS uses (RFC 6762, RFC 6763) in lower case, and other names unchanged.
fn lower(name: &str) -> &str {
    match name {
        "A" => "a",
        "AAAA" => "aaaa",
        "ANY" => "any",
        "CNAME" => "cname",
        "HINFO" => "hinfo",
        "HTTPS" => "https",
        "NS" => "ns",
        "NSEC" => "nsec",
        "PTR" => "ptr",
        "SOA" => "soa",
        "SRV" => "srv",
        "SVCB" => "svcb",
        "TXT" => "txt",
        other => other,
    }
}

/// Returns the name of a type, or `TYPE` and its number.
fn kind<'a>(parsed: &'a Parsed, kind: u16, otherwise: ByteRange) -> Value<'a> {
    match type_name(kind) {
        Some("*") => Value::Text("ANY"),
        Some(name) => Value::Text(name),
        None => Value::Bytes(parsed.text(otherwise)),
    }
}

const SOA: u16 = 6;
const MX: u16 = 15;
const SRV: u16 = 33;
const OPT: u16 = 41;
const SSHFP: u16 = 44;
