//! Records of messages as text, by their schema.

use super::Formats;
use super::escape::{is_formula, put_csv, put_csv_member, put_json, put_json_part, put_zeek};
use super::eve::put_peers;
use super::schemas::{Columns, Field, Members, Node, Ready, Shape, Source};
use crate::batch::TextFormat;
use crate::text::{DateCache, Key, TextBuffer};
use flowpin_packet::Timestamp;
use flowpin_record::{CommunityId, MessagePlace, Value};

/// A record before it is text.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) ready: &'a Ready,
    pub(super) place: &'a MessagePlace,
    pub(super) values: &'a [Value<'a>],
    pub(super) community_id: Option<CommunityId>,
    /// As in its schema.
    pub(super) from_server: bool,
}

impl<'a> Message<'a> {
    /// The value of a column.
    pub(super) fn value(&self, field: &Field) -> Value<'a> {
        let place = self.place;
        match field.source {
            Source::Time => Value::Time(place.time),
            Source::Uid => Value::Uid(place.uid),
            Source::ClientAddress => Value::Address(place.client.address),
            Source::ClientPort => Value::Port(place.client.port),
            Source::ServerAddress => Value::Address(place.server.address),
            Source::ServerPort => Value::Port(place.server.port),
            Source::Own(number) => self.own(number),
            Source::CommunityId => self.community_id.map_or(Value::Unset, Value::CommunityId),
            Source::Transaction => Value::Count(u64::from(place.transaction)),
            Source::PacketNumber => Value::count(place.packet_number),
        }
    }

    /// How many values a column has in an array.
    #[inline]
    fn rows(&self, column: usize) -> usize {
        match self.values.get(column) {
            None | Some(Value::Unset) => 0,
            Some(Value::List(values)) => values.len(),
            _ => 1,
        }
    }

    fn own(&self, number: usize) -> Value<'a> {
        self.values.get(number).copied().unwrap_or(Value::Unset)
    }
}

/// Appends a record in all formats that are text, and returns how long it is in each.
pub(super) fn put_all(
    text: &mut TextBuffer,
    dates: &mut DateCache,
    formats: Formats,
    message: &Message<'_>,
) -> [u32; TextFormat::COUNT] {
    let mut lens = [0; TextFormat::COUNT];
    let [in_eve, tsv, json, in_csv] = &mut lens;
    let mut at = text.len();
    let mut since = |text: &TextBuffer| {
        let len = text.len() - core::mem::replace(&mut at, text.len());
        u32::try_from(len).unwrap_or(u32::MAX)
    };
    if formats.eve {
        eve(text, dates, message);
        *in_eve = since(text);
    }
    if formats.zeek_tsv {
        zeek_tsv(text, message);
        *tsv = since(text);
    }
    if formats.zeek_json {
        zeek_json(text, message);
        *json = since(text);
    }
    if formats.csv {
        csv(text, dates, message, formats.csv_safe);
        *in_csv = since(text);
    }
    lens
}

/// Appends a record as an event of EVE JSON.
fn eve(text: &mut TextBuffer, dates: &mut DateCache, message: &Message<'_>) {
    let place = message.place;
    let (source, destination) = if message.from_server {
        (place.server, place.client)
    } else {
        (place.client, place.server)
    };
    text.line(|line| {
        line.put(b"{\"timestamp\":\"");
        line.put_eve_time(dates, place.time);
        line.put(b"\",\"flow_id\":");
        line.put_u64(place.uid.flow_id());
        if let Some(number) = place.packet_number {
            line.put(b",\"pcap_cnt\":");
            line.put_u64(number);
        }
        line.put(b",\"event_type\":\"");
    });
    text.extend(message.ready.schema.name.as_bytes());
    text.line(|line| {
        line.put(b"\"");
        put_peers(line, place.protocol, source, destination);
        line.put(b",\"tx_id\":");
        line.put_u64(u64::from(place.transaction));
        if !place.app.is_empty() {
            line.put(b",\"app_proto\":\"");
            line.put_str(place.in_tools.suricata(place.protocol));
            line.put(b"\"");
        }
        if let Some(id) = message.community_id {
            line.put(b",\"community_id\":\"");
            line.put_community_id(&id);
            line.put(b"\"");
        }
    });
    let set = Columns::of(
        message
            .values
            .iter()
            .map(|value| !matches!(value, Value::Unset)),
    );
    let object = Object {
        message,
        set,
        at: None,
    };
    object.put_members(text, dates, &message.ready.tree);
    text.line(|line| {
        line.put(b",\"flowpin\":{\"uid\":\"");
        line.put(&place.uid.text());
        line.put(b"\"");
    });
    object.put_members(text, dates, &message.ready.under_own);
    text.put_first(b"}}\n", 3);
}

/// Where members of a message get their values.
#[derive(Clone, Copy)]
struct Object<'a> {
    message: &'a Message<'a>,
    /// The columns that are set.
    set: Columns,
    /// In an array: of which of its objects.
    at: Option<usize>,
}

impl Object<'_> {
    /// Appends the members that are set, a comma before each.
    fn put_members(&self, text: &mut TextBuffer, dates: &mut DateCache, members: &Members) {
        for node in members.in_message(self.set) {
            self.put_member(text, dates, node);
        }
    }

    #[inline]
    fn put_member(&self, text: &mut TextBuffer, dates: &mut DateCache, node: &Node) {
        match node {
            Node::Leaf { key, column } => {
                let value = self.message.values.get(*column).unwrap_or(&Value::Unset);
                let value = self.at.map_or(value, |at| member(value, at));
                put_leaf(text, dates, key, value);
            }
            Node::Shaped { key, column, shape } => {
                let value = self.message.values.get(*column).unwrap_or(&Value::Unset);
                put_shaped(text, dates, key, value, *shape);
            }
            Node::Object {
                key,
                members,
                columns,
            } => self.put_object(text, dates, (key, members, columns)),
            Node::Array { key, members, .. } => {
                put_array(text, dates, self, key, members);
            }
        }
    }

    #[inline(never)]
    fn put_object(
        &self,
        text: &mut TextBuffer,
        dates: &mut DateCache,
        (key, members, columns): (&Key, &Members, &[usize]),
    ) {
        if columns.iter().any(|&column| self.message.rows(column) > 0) {
            let start = text.len();
            text.put_key(key);
            if !put_braced(text, |text| self.put_members(text, dates, members)) {
                text.truncate(start);
            }
        }
    }
}

/// Appends a member and its value, if it is set.
// PERF: what nearly all values are is written in one go, where there is room for all of it.
#[inline]
fn put_leaf(text: &mut TextBuffer, dates: &mut DateCache, key: &Key, value: &Value<'_>) {
    if matches!(value, Value::Unset) {
        return;
    }
    let mut is_whole = true;
    let before = text.len();
    text.line(|line| {
        line.put_key(key);
        match *value {
            Value::Count(count) => line.put_u64(count),
            Value::Bool(value) => line.put_bool(value),
            Value::Bytes(bytes) => is_whole = line.put_quoted(bytes),
            Value::Text(word) => is_whole = line.put_quoted(word.as_bytes()),
            Value::Address(address) => {
                line.put(b"\"");
                line.put_address_in_full(address);
                line.put(b"\"");
            }
            _ => is_whole = false,
        }
    });
    if !is_whole {
        text.truncate(before);
        text.put_key(key);
        put_json_value(text, Some(dates), value);
    }
}

/// Appends a member whose value is shown in another shape, if it is set.
#[cold]
fn put_shaped(
    text: &mut TextBuffer,
    dates: &mut DateCache,
    key: &Key,
    value: &Value<'_>,
    shape: Shape,
) {
    match (shape, *value) {
        (_, Value::Unset) => {}
        (Shape::Text, Value::Count(count)) => {
            text.put_key(key);
            text.line(|line| {
                line.put(b"\"");
                line.put_u64(count);
                line.put(b"\"");
            });
        }
        (Shape::List, Value::Bytes(bytes)) => {
            let mut parts = comma_parts(bytes)
                .filter(|part| !part.is_empty())
                .peekable();
            if parts.peek().is_none() {
                return;
            }
            text.put_key(key);
            for (index, part) in parts.enumerate() {
                text.extend(if index == 0 { b"[" } else { b"," });
                put_json(text, part);
            }
            text.extend(b"]");
        }
        (Shape::Path, Value::Bytes(bytes)) => {
            text.put_key(key);
            put_path(text, bytes);
        }
        (Shape::Path, Value::List(all)) => {
            text.put_key(key);
            for (index, one) in all.iter().enumerate() {
                text.extend(if index == 0 { b"[" } else { b"," });
                put_path(
                    text,
                    if let Value::Bytes(bytes) = one {
                        bytes
                    } else {
                        b""
                    },
                );
            }
            text.extend(b"]");
        }
        _ => put_leaf(text, dates, key, value),
    }
}

/// A mailbox in angle brackets.
fn put_path(text: &mut TextBuffer, mailbox: &[u8]) {
    text.extend(b"\"<");
    put_json_part(text, mailbox);
    text.extend(b">\"");
}

/// The parts between commas, without blanks around them. Commas in quotes and in angle brackets
/// separate nothing (RFC 5322 §3.2.4, §3.4).
fn comma_parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut is_quoted, mut is_escaped, mut is_angled) = (false, false, false);
    let parts = bytes.split(move |&byte| {
        if core::mem::take(&mut is_escaped) {
            return false;
        }
        match byte {
            b'\\' => is_escaped = is_quoted,
            b'"' => is_quoted = !is_quoted,
            b'<' | b'>' if !is_quoted => is_angled = byte == b'<',
            b',' => return !is_quoted && !is_angled,
            _ => {}
        }
        false
    });
    parts.map(<[u8]>::trim_ascii)
}

/// Appends the objects of an array, if there are any.
// PERF: most members of arrays are set in few messages: those that are not are left out once, not
// once for each object.
#[inline(never)]
fn put_array(
    text: &mut TextBuffer,
    dates: &mut DateCache,
    object: &Object<'_>,
    key: &Key,
    members: &Members,
) {
    let message = object.message;
    let rows = |node: &Node| match node {
        Node::Leaf { column, .. } | Node::Shaped { column, .. } => message.rows(*column),
        Node::Object { columns, .. } | Node::Array { columns, .. } => {
            let rows = columns.iter().map(|&column| message.rows(column));
            rows.max().unwrap_or(0)
        }
    };
    let mut known = [None; MEMBERS_KNOWN];
    let mut known_len = 0;
    let mut count = 0;
    for node in members.in_message(object.set) {
        let rows = rows(node);
        count = rows.max(count);
        if rows > 0 {
            if let Some(place) = known.get_mut(known_len) {
                *place = Some(node);
            }
            known_len += 1;
        }
    }
    if count == 0 {
        return;
    }
    let known = known.get(..known_len);
    text.put_key(key);
    for index in 0..count {
        text.put_first(if index == 0 { b"[" } else { b"," }, 1);
        let object = Object {
            at: Some(index),
            ..*object
        };
        let is_any = put_braced(text, |text| match known {
            Some(known) => {
                for node in known.iter().flatten() {
                    object.put_member(text, dates, node);
                }
            }
            None => object.put_members(text, dates, members),
        });
        if !is_any {
            text.put_first(b"{}", 2);
        }
    }
    text.put_first(b"]", 1);
}

/// Of arrays with more members that are set, all are looked at in each object.
const MEMBERS_KNOWN: usize = 32;

/// Appends an object with its braces; nothing, and returns false, if no member is set.
fn put_braced(text: &mut TextBuffer, put: impl FnOnce(&mut TextBuffer)) -> bool {
    let start = text.len();
    put(text);
    if text.len() == start {
        return false;
    }
    // In the place of the first member's comma.
    text.set(start, b'{');
    text.put_first(b"}", 1);
    true
}

/// What stands at a place of a list; anything else is a list of itself.
#[inline]
fn member<'v>(value: &'v Value<'v>, at: usize) -> &'v Value<'v> {
    match value {
        Value::List(values) => values.get(at).unwrap_or(&Value::Unset),
        value if at == 0 => value,
        _ => &Value::Unset,
    }
}

/// Appends a record as Zeek writes it, separated by tabs.
fn zeek_tsv(text: &mut TextBuffer, message: &Message<'_>) {
    let mut separate = false;
    for field in message.ready.fields.iter().filter(|field| field.zeek) {
        if separate {
            text.extend(b"\t");
        }
        separate = true;
        match message.value(field) {
            Value::List([]) => text.extend(b"(empty)"),
            Value::List(values) => {
                for (index, &value) in values.iter().enumerate() {
                    if index > 0 {
                        text.extend(b",");
                    }
                    put_zeek_value(text, value, true);
                }
            }
            value => put_zeek_value(text, value, false),
        }
    }
    text.extend(b"\n");
}

fn put_zeek_value(text: &mut TextBuffer, value: Value<'_>, in_set: bool) {
    match value {
        Value::Unset => text.extend(b"-"),
        Value::Bool(value) => text.extend(if value { b"T" } else { b"F" }),
        Value::Bytes(bytes) => put_zeek(text, bytes, in_set),
        Value::Text(bytes) => put_zeek(text, bytes.as_bytes(), in_set),
        value => put_simple(text, value),
    }
}

/// Appends a record as Zeek's JSON writer has it: unset columns are left out.
fn zeek_json(text: &mut TextBuffer, message: &Message<'_>) {
    let mut first = true;
    for field in message.ready.fields.iter().filter(|field| field.zeek) {
        let value = message.value(field);
        if value == Value::Unset {
            continue;
        }
        text.extend(if first { b"{\"" } else { b",\"" });
        first = false;
        text.extend(field.name.as_bytes());
        text.extend(b"\":");
        put_json_value(text, None, &value);
    }
    text.extend(b"}\n");
}

/// Appends a value as JSON; times as EVE has them if there are `dates`, else as Zeek does.
fn put_json_value(text: &mut TextBuffer, mut dates: Option<&mut DateCache>, value: &Value<'_>) {
    match (*value, dates.as_deref_mut()) {
        (Value::Unset, _) => text.extend(b"null"),
        (Value::Bool(value), _) => text.extend(if value { b"true" } else { b"false" }),
        (Value::Bytes(bytes), _) => put_json(text, bytes),
        (Value::Text(bytes), _) => put_json(text, bytes.as_bytes()),
        (Value::Count(count), _) => {
            text.line(|line| line.put_u64(count));
        }
        (Value::Time(time), Some(dates)) => {
            text.line(|line| {
                line.put(b"\"");
                line.put_eve_time(dates, time);
                line.put(b"\"");
            });
        }
        (Value::Uid(_) | Value::CommunityId(_), _) => {
            text.extend(b"\"");
            put_simple(text, *value);
            text.extend(b"\"");
        }
        (Value::Address(address), dates) => {
            let in_full = dates.is_some();
            text.line(|line| {
                line.put(b"\"");
                if in_full {
                    line.put_address_in_full(address);
                } else {
                    line.put_address(address);
                }
                line.put(b"\"");
            });
        }
        (Value::List(values), _) => {
            text.extend(b"[");
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.extend(b",");
                }
                put_json_value(text, dates.as_deref_mut(), value);
            }
            text.extend(b"]");
        }
        (value, _) => put_simple(text, value),
    }
}

/// Appends a record as comma-separated values: all columns, nothing where one is unset.
fn csv(text: &mut TextBuffer, dates: &mut DateCache, message: &Message<'_>, safe: bool) {
    for (index, field) in message.ready.fields.iter().enumerate() {
        if index > 0 {
            text.extend(b",");
        }
        match message.value(field) {
            Value::List(values) => put_csv_list(text, dates, values, safe),
            Value::Bytes(bytes) => put_csv(text, bytes, safe),
            Value::Text(word) => put_csv(text, word.as_bytes(), safe),
            value => put_csv_value(text, dates, value),
        }
    }
    text.extend(b"\n");
}

fn put_csv_value(text: &mut TextBuffer, dates: &mut DateCache, value: Value<'_>) {
    match value {
        Value::Unset => {}
        Value::Time(time) => {
            text.line(|line| line.put_rfc3339_time(dates, time));
        }
        Value::Interval(nanos) => {
            text.line(|line| line.put_seconds_nanos(nanos));
        }
        Value::Bool(value) => text.extend(if value { b"true" } else { b"false" }),
        value => put_simple(text, value),
    }
}

/// Always quoted, so that members need not be looked at before.
fn put_csv_list(text: &mut TextBuffer, dates: &mut DateCache, values: &[Value<'_>], safe: bool) {
    text.extend(b"\"");
    if let Some(Value::Bytes(first)) = values.first()
        && safe
        && is_formula(first)
    {
        text.extend(b"'");
    }
    for (index, &value) in values.iter().enumerate() {
        if index > 0 {
            text.extend(b" ");
        }
        match value {
            Value::Bytes(bytes) => put_csv_member(text, bytes),
            Value::Text(bytes) => put_csv_member(text, bytes.as_bytes()),
            value => put_csv_value(text, dates, value),
        }
    }
    text.extend(b"\"");
}

/// Appends a value that is written alike everywhere and needs no escape.
fn put_simple(text: &mut TextBuffer, value: Value<'_>) {
    text.line(|line| match value {
        Value::Time(Timestamp(nanos)) | Value::Interval(nanos) => line.put_seconds_micros(nanos),
        Value::Uid(uid) => line.put(&uid.text()),
        Value::CommunityId(id) => line.put_community_id(&id),
        Value::Address(address) => line.put_address(address),
        Value::Port(port) => line.put_u64(u64::from(port)),
        Value::Count(count) => line.put_u64(count),
        Value::Int(number) => {
            if number < 0 {
                line.put(b"-");
            }
            line.put_u64(number.unsigned_abs());
        }
        // Lists of messages are lists of values; the rest its caller has written.
        _ => debug_assert!(false, "not a value of a message"),
    });
}
